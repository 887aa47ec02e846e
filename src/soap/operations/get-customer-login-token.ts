import type { Operation } from '../operation.ts'

export const getCustomerLoginToken: Operation = async () => {
  throw new Error('not written yet')
}
