import { refusedFields } from '../../../../html/page-routes.ts'
import { linesIn } from '../../../../html/request.ts'
import { type Fault, StoreFailure } from '../../../../values/failure.ts'

// The form has the fields of CartAPI in the JSON body, except that Enabled is the text `true` or `false`, and Addresses
// is one text with an address or block per line.

type Form = Readonly<Record<string, string | string[]>>

const switches = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
])

/** Converts the form to the JSON body. A missing field stays unchanged. */
export function settingsIn({ Enabled, Addresses }: Form): Record<string, unknown> {
  return {
    ...(Enabled !== undefined && { Enabled: switches.get(Enabled) ?? Enabled }),
    ...(Addresses !== undefined && { Addresses: linesOf(Addresses).map(({ text }) => text) }),
  }
}

/** Returns the submitted values, to show the form again. */
export function typedIn({ Enabled, Addresses }: Form): Record<string, unknown> {
  return { Enabled: String(Enabled), Addresses: [Addresses ?? ''].flat().join('\n') }
}

/** Converts an error to name the form's fields and the invalid lines. */
export function inForm(error: unknown, { Addresses = '' }: Form): unknown {
  if (!(error instanceof StoreFailure) || error.faults.length === 0) return error
  const wrong = error.faults.flatMap(({ field }) => {
    const index = /^CartAPI\.Addresses\.(\d+)$/.exec(field)?.[1]
    return index === undefined ? [] : [Number(index)]
  })
  const others = error.faults
    .filter(({ field }) => !field.startsWith('CartAPI.Addresses.'))
    .map(({ field, problem }) => ({ field: field.replace('CartAPI.', ''), problem }))
  const faults = wrong.length > 0 ? [...others, faultOfLines(linesOf(Addresses), wrong)] : others
  return refusedFields(faults, error.kind)
}

const LINES_SHOWN_MAX = 3
const LINE_SHOWN_LENGTH_MAX = 50

function faultOfLines(lines: readonly Line[], wrong: readonly number[]): Fault {
  const shown = wrong.slice(0, LINES_SHOWN_MAX).map((index) => {
    const { number, text } = lines[index] ?? { number: index + 1, text: '' }
    return `line ${number} (“${text.slice(0, LINE_SHOWN_LENGTH_MAX).toWellFormed()}”)`
  })
  const more = wrong.length > shown.length ? ` and ${wrong.length - shown.length} more` : ''
  return {
    field: 'Addresses',
    problem: `must each be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24; wrong: ${shown.join(', ')}${more}`,
  }
}

interface Line {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
}

/** Returns the non-empty lines. */
function linesOf(typed: string | string[]): readonly Line[] {
  return linesIn(typed)
    .map((text, index) => ({ number: index + 1, text }))
    .filter(({ text }) => text !== '')
}
