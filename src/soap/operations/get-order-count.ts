import type { Operation } from '../operation.ts'

export const getOrderCount: Operation = async () => {
  throw new Error('not written yet')
}
