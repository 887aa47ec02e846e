import type { Text } from '../../../../foundation/texts/text.ts'
import type { NumberKind } from '../../../../foundation/values/typed-number.ts'
import { numberText, type Writing } from '../../../html/numbers.ts'
import { type Form, textIn } from '../../../html/request.ts'

// The numbers of a form with lines: those of an order, a return or a parcel, and the charges beside them.

export interface LineField {
  /** In the form, such as `Line.7.ItemQuantity`. */
  readonly name: string
  /** In the body, such as `OrderItemList[2].ItemQuantity`. */
  readonly path: string
  readonly label: Text
  readonly kind?: NumberKind
  readonly stored: number
}

/** What somebody typed into a form, and how they write numbers. */
export interface TypedForm {
  readonly typed: Form
  readonly writing: Writing
}

/** The fields of a form for what is stored. */
export function storedTexts(fields: readonly LineField[], { typed }: Writing): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, stored }) => [name, typed(stored)]))
}

export function labelsOf(fields: readonly Pick<LineField, 'name' | 'label'>[]): Record<string, Text> {
  return Object.fromEntries(fields.map(({ name, label }) => [name, label]))
}

/** Returns a function that finds the form's name for a field of the body. Another member of a line has the name of its first one. */
export function namesIn(fields: readonly Pick<LineField, 'name' | 'path'>[]): (field: string) => string {
  const lineOf = (path: string) => path.replace(/\.\w+$/, '')
  const names = new Map(fields.toReversed().map(({ path, name }) => [lineOf(path), name]))
  for (const { path, name } of fields) names.set(path, name)
  return (field) => names.get(field) ?? names.get(lineOf(field)) ?? field
}

/** The members that differ from what is stored, as texts for a body. An emptied one is 0. Throws (400, naming the field). */
export function changedMembers(fields: readonly LineField[], form: TypedForm): Record<string, string> {
  const members = fields.flatMap((field) => {
    const text = changedText(field, form)
    return text === null ? [] : [[field.path.split('.').at(-1), text]]
  })
  return Object.fromEntries(members)
}

/** Null: it does not differ. */
export function changedText({ name, kind, stored }: LineField, { typed, writing }: TypedForm): string | null {
  // A program may have stored more decimals than a person writes.
  if (typed[name] === undefined || textIn(typed, name).trim() === writing.typed(stored)) return null
  const text = numberText(typed, name, writing, kind) || '0'
  return text === String(stored) ? null : text
}
