import { databaseError } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Resource } from './define.ts'
import { columnPath, type FieldSet } from './fields.ts'

/**
 * The refusal that a violated constraint or an overflow means, or null for any other error.
 * Constraints are named `{table}_{column}_key` and `{table}_storeId_{column}_fkey`; the column leads to the wire field.
 * `change` decides what a violated foreign key means, because PostgreSQL reports a missing target and a remaining
 * reference by the same code, constraint and table: in a deletion another record still refers to this one.
 */
export function refusalOf(
  error: unknown,
  resource: Resource,
  change: 'write' | 'deletion' = 'write',
): StoreFailure | null {
  const found = databaseError(error)
  // Two numbers within their bounds can add up to one that is not.
  if (found?.code === '22003') return new StoreFailure('bad-request', 'A number becomes larger than can be stored')
  if (found?.constraint === undefined) return null
  const [, table, column, kind] = /^([A-Za-z]+)_(?:storeId_)?(\w+)_(fkey|key)$/.exec(found.constraint) ?? []
  if (table === undefined || column === undefined) return null
  if (kind === 'key') {
    const field = fieldOf(resource, table, column)
    return new StoreFailure('bad-request', `${field} is already used by another ${resource.typeName}`, { field })
  }
  if (change === 'deletion') {
    const message = `This ${resource.typeName} cannot be deleted: ${table} records refer to it`
    return new StoreFailure('bad-request', message, { field: resource.resultKey })
  }
  const field = fieldOf(resource, table, column)
  return new StoreFailure('bad-request', `${field} refers to a record that does not exist`, { field })
}

/** The wire path of a column of the resource's table, or of one of its lists' tables. */
export function fieldOf(resource: Resource, table: string, column: string): string {
  if (table === resource.table) return pathOf(resource.storedFields, column) ?? column
  for (const [name, field] of resource.fields.entries) {
    if (field.kind !== 'list' || field.rows?.table !== table) continue
    const member = pathOf(field.fields, column)
    if (member !== undefined) return `${name}.${member}`
  }
  return column
}

function pathOf(fields: FieldSet, column: string): string | undefined {
  return columnPath(fields, column)?.join('.')
}
