import type { Operation } from '../operation.ts'

export const updateOrderStatus: Operation = async () => {
  throw new Error('not written yet')
}
