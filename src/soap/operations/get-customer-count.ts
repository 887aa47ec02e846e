import { countRecords } from '../../engine/read.ts'
import { customers } from '../../resources/customers/customers.ts'
import { element, rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'

/** How many customers the store has; none is 0, not an error. */
export const getCustomerCount: Operation = async ({ caller }) => {
  const count = await countRecords(caller, customers, new Map())
  return rootElement('CustomerCountResponse', element('CustomerCount', String(count)))
}
