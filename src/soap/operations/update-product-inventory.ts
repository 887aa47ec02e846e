import type { Operation } from '../operation.ts'

export const updateProductInventory: Operation = async () => {
  throw new Error('not written yet')
}
