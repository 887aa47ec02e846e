import type { Operation } from '../operation.ts'

export const getOrder: Operation = async () => {
  throw new Error('not written yet')
}
