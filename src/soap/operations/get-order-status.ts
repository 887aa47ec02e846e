import type { Operation } from '../operation.ts'

export const getOrderStatus: Operation = async () => {
  throw new Error('not written yet')
}
