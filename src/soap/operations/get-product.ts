import type { Operation } from '../operation.ts'

export const getProduct: Operation = async () => {
  throw new Error('not written yet')
}
