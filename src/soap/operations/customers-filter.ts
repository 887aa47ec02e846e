import { exactly, type Filters } from '../../engine/filters.ts'
import type { Query } from '../../engine/read.ts'
import { ResultError } from '../result-errors.ts'

/** What customersFilter may name (soap-cartapi 4.1); each an equality without regard to case. */
export const customersFilters: Filters = {
  firstname: exactly('firstName'),
  lastname: exactly('lastName'),
  email: exactly('email'),
  countrycode: exactly('country'),
  statecode: exactly('state'),
  city: exactly('city'),
  phone: exactly('phone'),
}

/** Every name with the longest value that its column holds makes some 600 characters. */
const LENGTH_MAX = 2_000

/**
 * Reads `name=value,name=value`: names in any case, blanks around names and values left out, and so is what is blank between
 * two commas. A value without text asks for customers that have none there. Refuses (43) an unknown name, a name that comes
 * twice (one of two different values could never fit), and what is no pair, as a value with a comma makes it.
 */
export function readCustomersFilter(given: string): Query {
  if (given.length > LENGTH_MAX) throw refused(`is longer than ${LENGTH_MAX} characters`)
  const query = new Map<string, string>()
  for (const pair of given.split(',')) {
    if (pair.trim() === '') continue
    const [, before = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    const name = before.trim().toLowerCase()
    if (!Object.hasOwn(customersFilters, name)) {
      throw refused(`must be pairs of name=value; names are ${Object.keys(customersFilters).join(', ')}`)
    }
    if (query.has(name)) throw refused(`names ${name} twice`)
    query.set(name, value.trim())
  }
  return query
}

function refused(problem: string): ResultError {
  return new ResultError('invalidData', `customersFilter ${problem}`)
}
