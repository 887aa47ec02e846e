import { type Field, type Fields, fieldSet, type ObjectType, type Scalar } from '../../engine/definition/fields.ts'
import { writeDate } from '../../foundation/values/dates.ts'

/** How endpoints of Webhooks show a `T`: the record's name in XML, its fields, and its JSON text. */
export interface ShownType<T> extends ObjectType {
  readonly members: Fields
  /** Returns the record's JSON text, with times in the store's zone. */
  readonly text: (from: T, timeZone: string) => string
}

/** A value that is already JSON text, so that records are not parsed. */
interface JsonText {
  readonly json: string
}

type Value = Scalar | Date | JsonText | null

/** The fields by wire name, in wire order, and the property of `T` with the value, or its JSON. Null: the default, or of an optional one no member. */
export type Members<T> = Readonly<
  Record<string, readonly [field: Field, value: keyof T | ((from: T, timeZone: string) => JsonText)]>
>

/** Declares how a `T` is shown, and what it is. Callers can send none of the fields. */
export function shownType<T>(typeName: string, description: string, members: Members<T>): ShownType<T> {
  const entries = Object.entries(members)
  const fields = Object.fromEntries(
    entries.map(([name, [field]]) => [name, field.kind === 'object' ? field : { ...field, access: 'ro' as const }]),
  )
  const text = (from: T, timeZone: string) => {
    const texts = entries.flatMap(([name, [field, value]]) => {
      const shown = typeof value === 'function' ? value(from, timeZone) : (from[value] as Value)
      const isLeftOut = shown === null && 'isOptional' in field && field.isOptional
      return isLeftOut ? [] : [`"${name}":${jsonOf(field, shown, timeZone)}`]
    })
    return `{${texts.join(',')}}`
  }
  return { typeName, description, members: fields, fields: fieldSet(fields), text }
}

function jsonOf(field: Field, value: Value, timeZone: string): string {
  if (value === null) return JSON.stringify('default' in field ? field.default : null)
  if (value instanceof Date) return JSON.stringify(writeDate(value, timeZone))
  return typeof value === 'object' ? value.json : JSON.stringify(value)
}
