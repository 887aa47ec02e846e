import { date, type Field, type Fields, fieldSet, type ObjectType, type Scalar } from '../engine/fields.ts'
import { writeDate } from '../values/dates.ts'

/** How endpoints of Webhooks show a `T`: the record's name in XML, its fields, and its JSON text. */
export interface ShownType<T> extends ObjectType {
  readonly members: Fields
  /** Returns the record's JSON text, with times in the store's zone. */
  readonly text: (from: T, timeZone: string) => string
}

/** A value that is already JSON text, so that records are not parsed. */
export interface JsonText {
  readonly json: string
}

/** The fields and their values by wire name, in wire order. Null: the field's default. */
export type Members<T> = Readonly<
  Record<string, readonly [field: Field, value: (from: T, timeZone: string) => Scalar | Date | JsonText | null]>
>

/** Declares how a `T` is shown. */
export function shownType<T>(typeName: string, members: Members<T>): ShownType<T> {
  const entries = Object.entries(members)
  const fields = Object.fromEntries(entries.map(([name, [field]]) => [name, field]))
  const text = (from: T, timeZone: string) =>
    `{${entries.map(([name, [field, value]]) => `"${name}":${jsonOf(field, value(from, timeZone), timeZone)}`).join(',')}}`
  return { typeName, members: fields, fields: fieldSet(fields), text }
}

function jsonOf(field: Field, value: Scalar | Date | JsonText | null, timeZone: string): string {
  if (value === null) return JSON.stringify('default' in field ? field.default : null)
  if (value instanceof Date) return JSON.stringify(writeDate(value, timeZone))
  return typeof value === 'object' ? value.json : JSON.stringify(value)
}

/** The access of all fields that callers cannot send. */
export const readOnly = { access: 'ro' } as const

/** A time that the platform sets. */
export const time = date(readOnly)
