import type { ValueField } from '../../../engine/definition/fields.ts'
import { capital } from '../../../foundation/texts/label.ts'
import { orOf, type Phrase, t } from '../../../foundation/texts/text.ts'
import { INT32_MAX, INT32_MIN } from '../../../foundation/values/int32.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import type { Writing } from '../../html/numbers.ts'
import { type Form, textIn } from '../../html/request.ts'
import type { Wire } from '../frame/pages.ts'
import { isCoded } from './codes.ts'
import { type List, type Service, targetService, type Value } from './services.ts'

/** The text of a value as programs write it. */
export function plainText(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}

/** The text of a value in a form, with numbers as its reader types them. */
export function typedOf(value: unknown, { typed }: Writing): string {
  return typeof value === 'number' ? typed(value) : plainText(value)
}

export function itemsIn(record: Wire, list: List): readonly Wire[] {
  return (record[list.name] ?? []) as readonly Wire[]
}

/** What a record is called by its definition, and the values that say it; empty: it says none, or none is set. */
export function calledBy(groups: Service['called'], textOf: (value: Value) => string) {
  const values = groups.find((group) => group.some((value) => textOf(value) !== '')) ?? []
  const texts = values.map((value) => textOf(value).trim()).filter((text) => text !== '')
  return { name: texts.join(' '), values }
}

/** Whether a value says more than nothing has been set. */
export function isSet(field: ValueField, value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== field.default
}

/** Whether a box of a form is ticked. Browsers send nothing for one that is not. */
export function isTicked(form: Form, name: string): boolean {
  return !['', 'false'].includes(textIn(form, name))
}

/** Whether tables align it as a number. References and numbers of the store's lists have names. */
export function isNumber(value: Value): boolean {
  const { kind } = value.field
  return (kind === 'decimal' || kind === 'integer') && value.refersTo === null && !isCoded(value)
}

type Named = Pick<Service, 'titles' | 'called' | 'oneTitle' | 'key' | 'number'>

/** The number by which people know a record; empty: its key. */
export function numberOf({ number }: Pick<Service, 'number'>, record: Wire): string {
  return number.map(({ path }) => plainText(valueIn(record, path))).join('')
}

/** What a record is called. */
export function titleOf({ titles, called, oneTitle, key, number }: Named, record: Wire): Phrase {
  const textOf = ({ path }: Value) => plainText(valueIn(record, path))
  if (number.length > 0) return t('{record} {id}', { record: oneTitle, id: numberOf({ number }, record) })
  const { name } = calledBy(called, textOf)
  if (name !== '') return name
  const texts = titles.map(textOf).filter((text) => text !== '')
  if (texts.length > 0) return texts.join(' · ')
  return t('{record} {id}', { record: oneTitle, id: textOf(key) })
}

/** Whether a form may give it. */
export function isWritable({ field }: Value, kind: 'create' | 'update'): boolean {
  return field.access === 'rw' || field.access === 'wo' || (field.access === 'new' && kind === 'create')
}

/** What fields and lists mean whose labels do not suffice, for `meanings.eta`. */
export function meaningsOf(values: readonly (Value | List)[]) {
  return values.flatMap(({ label, explains }) => (explains === undefined ? [] : [{ label, text: explains }]))
}

/** The meaning of a list, of what a form has of its items, and of the lists in it. */
export function meaningsInList(list: List): ReturnType<typeof meaningsOf> {
  const isTyped = (value: Value) => isWritable(value, 'create') || list.field.keyFrom === 'caller'
  return [...meaningsOf([list, ...list.values.filter(isTyped)]), ...list.lists.flatMap(meaningsInList)]
}

/** Texts above this length have a field of several lines. */
export const LINE_MAX = 255

/** Whether a form has a field of several lines for it. */
export function hasLines({ kind, bounds: { maxLength = LINE_MAX }, access }: ValueField): boolean {
  return kind === 'text' && access !== 'wo' && maxLength > LINE_MAX
}

export interface Input {
  readonly type: 'checkbox' | 'select' | 'country' | 'textarea' | 'password' | 'datetime-local' | 'text' | 'reference'
  readonly attributes: Readonly<Record<string, string | number>>
  readonly choices: readonly (readonly [value: string, text: Phrase])[]
  /** What is allowed, in words; empty: what the field itself shows. */
  readonly hint: Phrase
}

/** The form's field for a value, with its bounds. `typed` is what it shows, which a choice of texts has too. */
export function inputOf(value: Value, typed = ''): Input {
  const { hint } = value.field
  const input = plainInputOf(value, typed)
  return hint === '' ? input : { ...input, hint: t(hint) }
}

function plainInputOf({ field, refersTo }: Value, typed: string): Input {
  const { kind, bounds, access } = field
  const none = { attributes: {}, choices: [], hint: '' }
  if (kind === 'boolean') return { ...none, type: 'checkbox' }
  if (bounds.values !== undefined) {
    return { ...none, type: 'select', choices: bounds.values.map((value) => [value, value === '' ? t('None') : value]) }
  }
  if (field.offered !== undefined) return { ...none, type: 'select', choices: offeredChoices(field.offered, typed) }
  const codes = codesOf(field)
  if (codes.length > 0) {
    const choices = codes.map(([code, meaning]) => [code, t(capital(meaning))] as const)
    return { ...none, type: 'select', choices }
  }
  if (kind === 'date') return { ...none, type: 'datetime-local', attributes: { step: 1 } }
  if (field.isCountry) return { ...none, type: 'country' }
  if (kind === 'text') {
    const { maxLength = LINE_MAX } = bounds
    const attributes = { maxlength: maxLength }
    if (access === 'wo')
      return { ...none, type: 'password', attributes: { ...attributes, autocomplete: 'new-password' } }
    if (hasLines(field))
      return { ...none, type: 'textarea', attributes: { ...attributes, rows: field.isHtml ? 10 : 2 } }
    return {
      ...none,
      type: 'text',
      attributes,
      hint: maxLength < LINE_MAX ? t('At most {maxLength, number} characters', { maxLength }) : '',
    }
  }
  const isWhole = kind === 'integer'
  if (refersTo !== null) return { ...none, ...referenceInput(targetService(refersTo), field) }
  return { ...none, type: 'text', attributes: { inputmode: isWhole ? 'numeric' : 'decimal' }, hint: rangeOf(field) }
}

/** The numbers that a field takes, with what each means; empty: it takes numbers without a meaning, too. */
export function codesOf({
  meanings = {},
  bounds: { min, max },
}: ValueField): (readonly [code: string, meaning: string])[] {
  if (min === undefined || max === undefined || Object.keys(meanings).length !== max - min + 1) return []
  return Object.entries(meanings).toSorted(([one], [other]) => Number(one) - Number(other))
}

/** Texts are compared without regard to case; what is stored stays, also where it is another. */
function offeredChoices(offered: Readonly<Record<string, string>>, typed: string): Input['choices'] {
  const isTyped = (name: string) => name.toLowerCase() === typed.toLowerCase()
  const known = Object.entries(offered).map(([name, meaning]) => {
    return [isTyped(name) ? typed : name, t('{name}: {meaning}', { name, meaning: t(meaning) })] as const
  })
  const others = typed === '' || Object.keys(offered).some(isTyped) ? [] : [[typed, typed] as const]
  return [['', t('Not chosen')], ...known, ...others]
}

function referenceInput({ path, searches }: Service, { bounds }: ValueField) {
  const others = searches.map(({ value }) => value.label)
  const ways = orOf([t('Number'), ...others])
  const hint = bounds.min === 0 ? t('{ways}; 0 for none', { ways }) : ways
  const attributes = { maxlength: LINE_MAX, autocomplete: 'off', 'data-search': `${path}/search` }
  return { type: 'reference' as const, attributes, hint }
}

/** Bounds that are narrower than those of every number. */
function rangeOf({ kind, bounds: { min = INT32_MIN, max = INT32_MAX } }: ValueField): Phrase {
  const isBounded = min > INT32_MIN && max < INT32_MAX
  if (isBounded) return t('From {min, number} to {max, number}', { min, max })
  if (min === 0) return t('Not below 0')
  return kind === 'integer' ? t('A whole number') : ''
}
