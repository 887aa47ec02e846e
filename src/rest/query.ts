import type { Query } from '../engine/read.ts'
import { StoreFailure } from '../values/failure.ts'

/**
 * The query parameters of an address: names in lower case, parameters without a value omitted (rest-resources §0.2).
 * The first value of a repeated parameter applies, as in the public service. Throws `bad-request` for invalid
 * percent-encoding.
 */
export function readQuery(url: string): Query {
  const query = new Map<string, string>()
  const start = url.indexOf('?')
  if (start === -1) return query
  for (const parameter of url.slice(start + 1).split('&')) {
    const equals = parameter.indexOf('=')
    const value = equals === -1 ? '' : parameter.slice(equals + 1)
    if (value === '') continue
    const name = decode(parameter.slice(0, equals), '').toLowerCase()
    if (!query.has(name)) query.set(name, decode(value, name))
  }
  return query
}

function decode(text: string, field: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    const what = field === '' ? 'The name of a query parameter' : field
    throw new StoreFailure('bad-request', `${what} is not validly percent-encoded`, { field })
  }
}
