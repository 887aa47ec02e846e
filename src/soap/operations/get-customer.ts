import { exactly, type Filters } from '../../engine/filters.ts'
import { type Query, readPage } from '../../engine/read.ts'
import { readGroupNames } from '../../resources/customer-groups/group-names.ts'
import { customers } from '../../resources/customers/customers.ts'
import type { Operation } from '../operation.ts'
import { customerElements, customerReader, groupIdOf } from '../records/customer.ts'
import { ResultError } from '../result.ts'
import { readBatch, writePage } from './page.ts'

/** A page of the customers that match customersFilter, by their ids. Refuses (47) an empty page. */
export const getCustomer: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const query = readFilter(parameters.text('customersFilter'))
  const page = await readPage(caller, customers, { reader: customerReader, filters }, { query, ...batch })
  if (page.length === 0) throw new ResultError('customerNotFound', 'There is no customer that fits, from startNum on')
  const groupIds = page.map(groupIdOf).filter((id) => id !== 0)
  const groupNames = await readGroupNames(caller, groupIds)
  return writePage('CustomersRequestResponse', page, (customer) => customerElements.write(customer, groupNames))
}

/** The names in customersFilter (soap-cartapi §4.1); each is an equality without regard to case. */
const filters: Filters = {
  firstname: exactly('firstName'),
  lastname: exactly('lastName'),
  email: exactly('email'),
  countrycode: exactly('country'),
  statecode: exactly('state'),
  city: exactly('city'),
  phone: exactly('phone'),
}

/** Every name with the longest value that its column holds makes some 600 characters. */
const FILTER_LENGTH_MAX = 2_000

/**
 * Reads `name=value,name=value`: names in any case, without blanks around names and values, and without empty pairs. An empty
 * value asks for customers that have none there. Refuses (43) an unknown name, a name that comes twice, and what is no pair,
 * such as the rest of a value with a comma.
 */
function readFilter(text: string): Query {
  if (text.length > FILTER_LENGTH_MAX) throw wrongFilter(`is longer than ${FILTER_LENGTH_MAX} characters`)
  const query = new Map<string, string>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const [, before = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    const name = before.trim().toLowerCase()
    if (!Object.hasOwn(filters, name)) {
      throw wrongFilter(`must be pairs of name=value; names are ${Object.keys(filters).join(', ')}`)
    }
    if (query.has(name)) throw wrongFilter(`names ${name} twice`)
    query.set(name, value.trim())
  }
  return query
}

function wrongFilter(problem: string): ResultError {
  return new ResultError('invalidData', `customersFilter ${problem}`)
}
