import { countRecords } from '../../engine/read.ts'
import { customers } from '../../resources/customers/customers.ts'
import type { Operation } from '../operation.ts'
import { writeResult } from '../result.ts'

/** Counts the customers of the store; none is 0, not an error. */
export const getCustomerCount: Operation = async ({ caller }) => {
  return writeResult('CustomerCountResponse', { CustomerCount: await countRecords(caller, customers, new Map()) })
}
