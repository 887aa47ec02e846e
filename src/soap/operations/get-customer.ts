import type { Operation } from '../operation.ts'

export const getCustomer: Operation = async () => {
  throw new Error('not written yet')
}
