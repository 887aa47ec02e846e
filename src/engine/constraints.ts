import { databaseError } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Resource } from './define.ts'
import { columnPath } from './fields.ts'

/** What was done when the database refused it. */
type Doing = 'write' | 'deletion' | 'import'

interface Meaning {
  /** Of the SQLSTATE and the name of the constraint: `{table}_{column}_key`, `{table}_storeId_{column}_fkey`, `{table}_pkey`. */
  readonly found: RegExp
  /** Absent: always. */
  readonly doing?: Doing
  /** The field that is named, and the refusal's text; null: it means something else. */
  readonly refusal: (resource: Resource, table: string, column: string) => [field: string, message: string] | null
}

/**
 * From violations of constraints, and values that do not fit, to refusals; the first that fits counts. PostgreSQL reports a
 * missing target and a remaining reference by the same code, constraint and table, so that it depends on what was done.
 */
const meanings: readonly Meaning[] = [
  // Two numbers within their bounds can add up to one that is not.
  { found: /^22003/, refusal: () => ['', 'A number becomes larger than can be stored'] },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_key$/,
    refusal: (resource, table, column) => {
      const field = fieldOf(resource, table, column)
      return [field, `${field} is already used by another ${resource.typeName}`]
    },
  },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_fkey$/,
    doing: 'deletion',
    refusal: ({ resultKey, typeName }, table) => [
      resultKey,
      `This ${typeName} cannot be deleted: ${table} records refer to it`,
    ],
  },
  {
    found: /^\w+ ([A-Za-z]+)_(?:storeId_)?(\w+)_fkey$/,
    refusal: (resource, table, column) => {
      const field = fieldOf(resource, table, column)
      return [field, `${field} refers to a record that does not exist`]
    },
  },
  {
    found: /^\w+ (\w+)_pkey$/,
    doing: 'import',
    refusal: ({ fields, typeName }, table) => {
      const [list] = fields.entries.find(([, field]) => field.kind === 'list' && field.rows?.table === table) ?? []
      return list === undefined ? null : ['', `${list} has an id that an item of another ${typeName} has`]
    },
  },
  // Classes 22 and 23: what was given cannot be kept.
  { found: /^2[23]/, doing: 'import', refusal: () => ['', 'The record holds a value that cannot be stored'] },
]

/** The refusal (400) that an error of the database means, or null for any other error. */
export function refusalOf(error: unknown, resource: Resource, doing: Doing = 'write'): StoreFailure | null {
  const violation = databaseError(error)
  if (violation === null) return null
  const text = `${violation.code} ${violation.constraint ?? ''}`
  for (const { found, refusal, doing: only = doing } of meanings) {
    const [match, table = '', column = ''] = found.exec(text) ?? []
    if (match === undefined || only !== doing) continue
    const [field, message] = refusal(resource, table, column) ?? []
    if (message !== undefined) return new StoreFailure('bad-request', message, { field: field ?? '' })
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
