import type { Operation } from '../operation.ts'

export const editCustomer: Operation = async () => {
  throw new Error('not written yet')
}
