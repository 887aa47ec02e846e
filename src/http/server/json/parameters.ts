import { z } from 'zod'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'

export const PAGE_LIMIT_DEFAULT = 100
export const PAGE_LIMIT_MAX = 500

/** Validates `limit` (1 to 500, default 100) and `offset` (records to skip, default 0) of a list. */
export const pageQuery = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .describe('The maximum number of records on the page.'),
  offset: wholeNumber(0, INT32_MAX).default(0).describe('The number of records to skip.'),
})

const NO_ID = `must be a whole number from 1 to ${INT32_MAX}`

/** Returns the ids in an address by their parameter names. Throws a 400 for what no record can have. */
export function readIds<Name extends string>(params: unknown, ...names: Name[]): Record<Name, number> {
  const texts = params as Readonly<Record<Name, string>>
  const read = names.map((name) => ({ name, id: /^\d{1,16}$/.test(texts[name]) ? Number(texts[name]) : 0 }))
  const faults = read.filter(({ id }) => id < 1 || id > INT32_MAX).map(({ name }) => ({ field: name, problem: NO_ID }))
  if (faults.length > 0) {
    const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
    throw new StoreFailure('invalid-value', message, { field: faults[0]?.field ?? '', faults })
  }
  return Object.fromEntries(read.map(({ name, id }) => [name, id])) as Record<Name, number>
}

export function wholeNumber(smallest: number, largest: number) {
  const allowed = `must be a whole number from ${smallest} to ${largest}`
  return z
    .string(allowed)
    .regex(/^\d{1,16}$/, allowed)
    .transform(Number)
    .pipe(z.int(allowed).min(smallest, allowed).max(largest, allowed))
}
