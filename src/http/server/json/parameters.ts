import { z } from 'zod'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
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

/** Returns the ids in an address by their parameter names. */
export function readIds<Name extends string>(params: unknown, ...names: Name[]): Record<Name, number> {
  return readInput(idsInputs.get(names.join()) ?? idsInput(names), params) as Record<Name, number>
}

type IdsInput = ReturnType<typeof namedObject<Record<string, ReturnType<typeof wholeNumber>>>>

/** Made once for the same names of parameters, because making a schema takes longer than reading by it. */
const idsInputs = new Map<string, IdsInput>()

export function idsInput(names: readonly string[]): IdsInput {
  const made = namedObject(Object.fromEntries(names.map((name) => [name, wholeNumber(1, INT32_MAX)])))
  idsInputs.set(names.join(), made)
  return made
}

export function wholeNumber(smallest: number, largest: number) {
  const allowed = `must be a whole number from ${smallest} to ${largest}`
  return z
    .string(allowed)
    .regex(/^\d{1,16}$/, allowed)
    .transform(Number)
    .pipe(z.int(allowed).min(smallest, allowed).max(largest, allowed))
}
