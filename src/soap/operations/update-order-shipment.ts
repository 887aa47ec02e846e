import type { Operation } from '../operation.ts'

export const updateOrderShipment: Operation = async () => {
  throw new Error('not written yet')
}
