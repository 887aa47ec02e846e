import { databaseError } from '../../foundation/database/outage.ts'
import type { ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { columnPath } from './fields.ts'
import { refused } from './refused.ts'
import type { Resource } from './resource.ts'

type Doing = 'write' | 'deletion' | 'import'
type Refusal = [field: string, message: string, code: ErrorCode]

/**
 * Maps constraint violations and unfit values to refusals; the first match applies. PostgreSQL reports a missing target
 * and a remaining reference with the same code, constraint and table, so the operation decides.
 */
const meanings: readonly {
  /** Matches SQLSTATE and constraint: `{table}_{column}_key`, `{table}_storeId_{column}_fkey`, `{table}_pkey`. */
  readonly found: RegExp
  /** Omitted: any operation. */
  readonly doing?: Doing
  /** Null: the meaning does not apply. */
  readonly refusal: (resource: Resource, table: string, column: string) => Refusal | null
}[] = [
  // The sum of two numbers within their bounds can exceed the bound.
  { found: /^22003/, refusal: () => ['', 'A number becomes larger than can be stored', 'out-of-range'] },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_key$/,
    refusal: (resource, table, column) => {
      const field = fieldOf(resource, table, column)
      return [field, `${field} is already used by another ${resource.typeName}`, 'not-unique']
    },
  },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_fkey$/,
    doing: 'deletion',
    refusal: ({ resultKey, typeName }, table) => {
      return [resultKey, `This ${typeName} cannot be deleted: ${table} records refer to it`, 'in-use']
    },
  },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_fkey$/,
    refusal: (resource, table, column) => {
      const field = fieldOf(resource, table, column)
      return [field, `${field} refers to a record that does not exist`, 'unknown-reference']
    },
  },
  {
    found: /^\w+ (\w+)_pkey$/,
    doing: 'import',
    refusal: ({ fields, typeName }, table) => {
      const [list] = fields.entries.find(([, field]) => field.kind === 'list' && field.rows?.table === table) ?? []
      return list === undefined ? null : ['', `${list} has an id that an item of another ${typeName} has`, 'not-unique']
    },
  },
  // SQLSTATE classes 22 (data exception) and 23 (constraint violation).
  {
    found: /^2[23]/,
    doing: 'import',
    refusal: () => ['', 'The record holds a value that cannot be stored', 'invalid-value'],
  },
]

/** Translates a database error into a refusal (400); null for any other error. */
export function refusalOf(error: unknown, resource: Resource, doing: Doing = 'write'): StoreFailure | null {
  const violation = databaseError(error)
  if (violation === null) return null
  const text = `${violation.code} ${violation.constraint ?? ''}`
  for (const { found, refusal, doing: only = doing } of meanings) {
    const [match, table = '', column = ''] = found.exec(text) ?? []
    if (match === undefined || only !== doing) continue
    const [field, message, code] = refusal(resource, table, column) ?? []
    if (message !== undefined) return refused(field ?? '', message, code)
  }
  return null
}

/** The wire path of a column of the resource's table, or of one of its lists' tables. */
export function fieldOf(resource: Resource, table: string, column: string): string {
  if (table === resource.table) return columnPath(resource.storedFields, column)?.join('.') ?? column
  for (const [name, field] of resource.fields.entries) {
    if (field.kind !== 'list' || field.rows?.table !== table) continue
    const member = columnPath(field.fields, column)
    if (member !== undefined) return [name, ...member].join('.')
  }
  return column
}
