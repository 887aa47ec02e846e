import { BODY_BYTES_MAX } from '../../access/applications/calls/call-log.ts'
import type { Field, FieldSet } from '../../engine/definition/fields.ts'
import { isRecord } from '../../engine/definition/input.ts'
import { LongNumber } from '../../foundation/values/long-number.ts'

const CUT = '…'
/** What stands for a value that is not kept. */
export const LEFT_OUT = '(not kept)'

/**
 * Returns records of a request as JSON, for the log of calls: one record, or a list of several, cut at 16 kB. Names stay, and so
 * do the values of members that the type knows, except those of write-only members and of cards. Card numbers, `secrets` and the
 * user of an address in any other value or name are left out too. Takes no more time for a larger body.
 */
export function refusedBody(records: readonly unknown[], { fields }: { fields: FieldSet }, secrets: readonly string[]) {
  let text = ''
  for (const piece of records.length === 1 ? recordPieces(records[0], fields) : listPieces(records, fields)) {
    text += piece
    if (text.length > BODY_BYTES_MAX) break
  }
  return cut(text)

  function* listPieces(items: readonly unknown[], of: FieldSet): Generator<string> {
    let before = '['
    for (const item of items) {
      yield before
      yield* recordPieces(item, of)
      before = ','
    }
    yield before === '[' ? '[]' : ']'
  }

  function* recordPieces(record: unknown, of: FieldSet): Generator<string> {
    if (!isRecord(record)) return yield quoted(LEFT_OUT)
    let before = '{'
    for (const [name, value] of Object.entries(record)) {
      yield `${before}${quoted(safe(name))}:`
      yield* memberPieces(value, knownField(of, name))
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }

  function* memberPieces(value: unknown, field: Field | undefined): Generator<string> {
    if (field?.kind === 'object') yield* recordPieces(value, field.fields)
    else if (field?.kind === 'list' && Array.isArray(value)) yield* listPieces(value, field.fields)
    else yield field === undefined || field.kind === 'list' ? quoted(LEFT_OUT) : scalar(value)
  }

  function scalar(value: unknown): string {
    if (value === null || typeof value === 'boolean') return String(value)
    if (typeof value === 'string') return quoted(safe(value))
    if (typeof value !== 'number' && !(value instanceof LongNumber)) return quoted(LEFT_OUT)
    const digits = String(value)
    return safe(digits) === digits ? digits : quoted(LEFT_OUT)
  }

  function safe(given: string): string {
    // Longer than what is kept, so that nothing is cut into a part that is not recognised.
    const start = given.slice(0, 2 * BODY_BYTES_MAX)
    const own = secrets.reduce((rest, secret) => rest.replaceAll(secret, LEFT_OUT), start)
    return withoutCardNumbers(own.replace(userOfUrl, `//${LEFT_OUT}@`))
  }
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

/** Cuts after a whole character. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= BODY_BYTES_MAX) return text
  const kept = bytes.subarray(0, BODY_BYTES_MAX - Buffer.byteLength(CUT))
  return new TextDecoder().decode(kept, { stream: true }) + CUT
}

/** The field of a member whose value may be kept. */
function knownField(fields: FieldSet, given: string): Field | undefined {
  const name = fields.byLowerName.get(given.toLowerCase()) ?? ''
  const field = fields.get(name)
  const isSecret = field !== undefined && 'access' in field && field.access === 'wo'
  return isSecret || isOfCard.test(name) ? undefined : field
}

/** CardNumber, CardExpirationMonth and so on. */
const isOfCard = /^Card[A-Z]/

/** User name and password, such as in the Url of a webhook. */
const userOfUrl = /\/\/[^\s/?#@]+@/g

/** Groups of digits, 13 or more in all. */
const digitGroups = /\d(?:[ -]?\d){12,}/g
const CARD_DIGITS_MIN = 13
const CARD_DIGITS_MAX = 19

function withoutCardNumbers(text: string): string {
  return text.replace(digitGroups, (found) => {
    // Groups at even places, what is between them at odd ones. A quantity or a date may stand beside the number.
    const parts = found.split(/([ -])/)
    let kept = ''
    for (let first = 0; first < parts.length; ) {
      const end = cardNumberEnd(parts, first)
      kept += end === null ? `${parts[first]}${parts[first + 1] ?? ''}` : `${LEFT_OUT}${parts[end + 1] ?? ''}`
      first = (end ?? first) + 2
    }
    return kept
  })
}

/** The place of the last group of a card number that begins with the group at `first`; null: none does. */
function cardNumberEnd(parts: readonly string[], first: number): number | null {
  let digits = ''
  for (let last = first; last < parts.length && digits.length < CARD_DIGITS_MAX; last += 2) {
    digits += parts[last]
    const isLong = digits.length >= CARD_DIGITS_MIN && digits.length <= CARD_DIGITS_MAX
    if (isLong && isCardNumber(digits)) return last
  }
  return null
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812). */
function isCardNumber(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
