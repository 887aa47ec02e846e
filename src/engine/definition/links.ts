import { identifier, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import type { Document } from './stored-row.ts'

/**
 * How records refer to another one: by their own column that holds the target's id, or by rows of a table with both
 * ids. If the link makes a list (`RelatedSubResource`), the table has at most one row for each pair.
 */
export type Link = { readonly column: string } | TableLink

export interface TableLink {
  readonly table: string
  /** The column that holds the target's id. */
  readonly column: string
  /** The column that holds the referring record's id. */
  readonly record: string
}

export function isTableLink(link: Link): link is TableLink {
  return 'table' in link
}

/**
 * Matches records `t` of the store that refer to this one. The sub-select must not depend on `t`: PostgreSQL 15 would
 * run it for each record of the store.
 */
export function linkedTo(link: Link, store: { readonly id: number }, id: number): Sql {
  if (!isTableLink(link)) return sql`t.${identifier(link.column)} = ${id}::int`
  const [table, record, column] = [identifier(link.table), identifier(link.record), identifier(link.column)]
  return sql`t."id" IN (
    SELECT l.${record} FROM ${table} l WHERE l."storeId" = ${storeId(store)} AND l.${column} = ${id}::int)`
}

/** A reference from other records to those of a resource, and the rule for deletions of its target. */
export interface Referrer {
  /** The table of the referring records; has `updatedAt` and `updatedBy`. */
  readonly table: string
  /** The wire paths of the reference, without indices: `CategoryList.CategoryID`. */
  readonly fields: readonly string[]
  /** A link, or a condition that the referring record `t` names the record with this id. */
  readonly by: Link | ((id: number) => Sql)
  /** `refuse`: records with references cannot be deleted. `clear`: references are removed, and their records changed. */
  readonly rule: 'refuse' | 'clear'
  /** A cleared reference raises no event of its record: there may be too many for one transaction, and the deletion itself is told. */
  readonly isUntold?: boolean
  /** Removes a reference from the `details` document, where no foreign key clears it. */
  readonly without?: (details: Document, id: number) => Document
}
