import type { FieldSet } from './fields.ts'
import type { Json } from './input.ts'

/** A stored row by column name; `details` is its document. */
export type Row = Record<string, Json>
export type Document = { [name: string]: Json }

/** A record's row and the rows of the table lists that the change touches, by wire name. */
export interface Stored {
  row: Row
  lists: Record<string, Row[]>
}

/** The column values of these fields in a new row. */
export function columnDefaults({ leaves }: FieldSet, now: Date): Row {
  const row: Row = {}
  for (const { field } of leaves) {
    if (field.kind === 'list' || field.column === undefined) continue
    const unset = field.nullable || field.kind === 'date' ? null : field.default
    row[field.column] = field.defaultNow ? now.toISOString() : unset
  }
  return row
}
