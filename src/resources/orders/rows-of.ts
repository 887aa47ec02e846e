import type { Caller } from '../../engine/caller.ts'
import { hasRows, type ListField } from '../../engine/fields.ts'
import type { Row } from '../../engine/merge.ts'
import { readRows } from '../../engine/write.ts'

/** The stored rows of a list that lies in a table, of one record. */
export function rowsOf(caller: Caller, field: ListField, id: number): Promise<Row[]> {
  if (!hasRows(field)) throw new Error(`${field.typeName} has no table`)
  return readRows(caller, field, field.rows, id)
}
