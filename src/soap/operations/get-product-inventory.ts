import type { Operation } from '../operation.ts'

export const getProductInventory: Operation = async () => {
  throw new Error('not written yet')
}
