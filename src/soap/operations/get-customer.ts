import { readPage } from '../../engine/read.ts'
import { readGroupNames } from '../../resources/customer-groups/group-names.ts'
import { customers } from '../../resources/customers/customers.ts'
import type { Operation } from '../operation.ts'
import { textParameter } from '../parameters.ts'
import { customerReader, groupIdOf, writeCustomer } from '../records/customer.ts'
import { ResultError } from '../result-errors.ts'
import { readBatch, writePage } from './batch.ts'
import { customersFilters, readCustomersFilter } from './customers-filter.ts'

/** A page of the customers that fit the filter, by their ids; where there is none, also past the end, 47. */
export const getCustomer: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const query = readCustomersFilter(textParameter(parameters, 'customersFilter'))
  const source = { reader: customerReader, filters: customersFilters }
  const page = await readPage(caller, customers, source, { query, ...batch })
  if (page.length === 0) throw new ResultError('customerNotFound', 'There is no customer that fits, from startNum on')
  const groupNames = await readGroupNames(
    caller,
    page.map(groupIdOf).filter((id) => id !== 0),
  )
  return writePage('CustomersRequestResponse', page, (customer) => writeCustomer(customer, groupNames))
}
