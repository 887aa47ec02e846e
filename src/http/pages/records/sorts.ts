import type { Filter, FilterKind } from '../../../engine/definition/filters.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import type { Order } from '../../../engine/reading/read.ts'
import { type Sql, sql } from '../../../foundation/database/sql.ts'
import type { Value } from './services.ts'

export interface Sorting {
  readonly value: Value
  readonly by: Omit<Order, 'isDescending'>
  readonly kind: FilterKind | 'id'
}

const typeOf: Partial<Record<FilterKind, Sql>> = {
  integer: sql`int`,
  number: sql`numeric`,
  since: sql`timestamptz`,
  until: sql`timestamptz`,
}

/** What a list can be sorted by: the identifier, and columns with an index for a range. */
export function sortsOf({ filters }: Resource, values: readonly Value[], key: Value): Sorting[] {
  const sorts = new Map<string, Sorting>([['id', { value: key, by: { column: 'id', type: sql`int` }, kind: 'id' }]])
  for (const { kind, column } of Object.values(filters) as Filter[]) {
    const type = typeOf[kind]
    const value = values.find(({ field }) => field.column === column)
    if (column === undefined || type === undefined || value === undefined || value.field.nullable) continue
    sorts.set(column, { value, by: { column, type }, kind })
  }
  return [...sorts.values()]
}
