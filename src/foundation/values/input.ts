import { z } from 'zod'
import { type ErrorCode, type Fault, StoreFailure } from './failure.ts'
import { roundNumbers } from './long-number.ts'

const NAMES_SHOWN_MAX = 5
const NAME_SHOWN_LENGTH_MAX = 50

/** An object whose property names match case-insensitively. Unknown and repeated properties are refused by name. */
export function namedObject<S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape)
  const canonical = new Map(names.map((name) => [name.toLowerCase(), name]))
  const object = z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownNames(issue.keys as string[], names) : 'must be an object',
  })
  return z.preprocess((value, context) => withNames(value, canonical, context), object)
}

function unknownNames(keys: string[], names: string[]): string {
  const shown = keys.slice(0, NAMES_SHOWN_MAX).map((key) => key.slice(0, NAME_SHOWN_LENGTH_MAX))
  const more = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ''
  return `has no property ${shown.join(', ')}${more}; allowed are ${names.join(', ')}`
}

function withNames(value: unknown, canonical: ReadonlyMap<string, string>, context: z.core.$RefinementCtx): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const named = new Map<string, unknown>()
  for (const [given, member] of Object.entries(value)) {
    const name = canonical.get(given.toLowerCase()) ?? given
    if (named.has(name)) context.addIssue({ code: 'custom', path: [name], message: 'is given twice' })
    named.set(name, member)
  }
  return Object.fromEntries(named)
}

/** Characters that nobody sees, or that turn the direction of writing. Not the joiners, which scripts and emoji need. */
export const UNSEEN = /[\p{Zl}\p{Zp}\p{Bidi_C}\u00ad\u180e\u200b\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** One line of text, such as a name, trimmed, without characters that nobody sees. `lengthMin` 0: it may be empty. */
export function text(lengthMax: number, lengthMin: 0 | 1 = 1) {
  const allowed = `must be a text of ${lengthMin} to ${lengthMax} characters on one line`
  const line = z.string(allowed).trim().min(lengthMin, allowed).max(lengthMax, allowed).refine(isOneLine, allowed)
  return line.superRefine((given, context) => {
    const [found] = given.match(UNSEEN) ?? []
    const shown = `U+${found?.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
    if (found) context.addIssue(`has the character ${shown}, which nobody sees; leave it out`)
  })
}

/** A text of several lines, or none, trimmed, with line breaks as LF. */
export function lines(lengthMax: number) {
  const allowed = `must be a text of at most ${lengthMax} characters`
  const isStorable = (given: string) => given.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(given)
  const unbroken = z.string(allowed).transform((given) => given.replaceAll('\r\n', '\n').trim())
  return unbroken.pipe(z.string().max(lengthMax, allowed).refine(isStorable, allowed))
}

/** Whether PostgreSQL can store the text, and it has no line breaks or other control characters. */
export function isOneLine(given: string): boolean {
  return given.isWellFormed() && !/\p{Cc}/u.test(given)
}

/** Parses `input` by `schema`. Throws a 400 that names every problem, and the field of the first. `whole` names the input itself. */
export function readInput<S extends z.ZodType>(schema: S, input: unknown, whole = 'The body'): z.output<S> {
  const parsed = schema.safeParse(roundNumbers(input), { reportInput: true })
  if (parsed.success) return parsed.data
  const unknown = parsed.error.issues.filter(isOfUnknown)
  // A mistyped name comes before the missing one that it causes.
  const issues = [...unknown, ...parsed.error.issues.filter((issue) => !isOfUnknown(issue))]
  const isQuery = whole === 'The query'
  const codeOf = (issue: z.core.$ZodIssue) => (isQuery && isOfUnknown(issue) ? 'unknown-parameter' : codeOfIssue(issue))
  const faults = new Map<string, Fault>()
  for (const issue of issues) {
    const field = issue.path.join('.')
    if (!faults.has(field)) faults.set(field, { field, problem: problemOf(issue), code: codeOf(issue) })
  }
  const inWords = (all: readonly Fault[]) => all.map(({ field, problem }) => `${field || whole} ${problem}`).join('; ')
  const all = [...faults.values()]
  // The log omits the names, because an unknown property may be named by a key or a password.
  const problem = 'has a property that is not allowed'
  const withoutNames = unknown.map(({ path }) => ({ field: path.join('.'), problem }))
  throw new StoreFailure(all[0]?.code ?? 'invalid-value', inWords(all), {
    status: 400,
    field: fieldOf(issues[0]),
    faults: all,
    ...(unknown.length > 0 && { logMessage: inWords(withoutNames) }),
  })
}

function isOfUnknown({ code }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys'
}

/** The code of what zod found. Only its own bounds say that something is too long or beyond a range. */
export function codeOfIssue(issue: z.core.$ZodIssue): ErrorCode {
  if (isOfUnknown(issue)) return 'unknown-field'
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'missing-field'
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return 'invalid-value'
  if (issue.origin === 'array') return issue.code === 'too_big' ? 'too-many-items' : 'missing-field'
  if (issue.origin !== 'string') return 'out-of-range'
  return issue.code === 'too_big' ? 'too-long' : issue.minimum === 1 ? 'missing-field' : 'invalid-value'
}

function problemOf(issue: z.core.$ZodIssue): string {
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  return missing ? `is missing and ${issue.message}` : issue.message
}

function fieldOf(issue: z.core.$ZodIssue | undefined): string {
  const names = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : (issue?.path ?? [])
  return names.join('.').slice(0, NAME_SHOWN_LENGTH_MAX)
}
