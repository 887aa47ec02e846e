import { identifier, type Sql, sql, storeId } from '../database/sql.ts'

/**
 * How records refer to another one: by a column of their own, or by rows of a table that has both ids. Such a table has at
 * most one row for a record and a target where the link makes a list (`RelatedSubResource`).
 */
export type Link = ColumnLink | TableLink

export interface ColumnLink {
  /** Holds the target's id. */
  readonly column: string
}

export interface TableLink extends ColumnLink {
  readonly table: string
  /** Its column that holds the id of the record that refers. */
  readonly record: string
}

export function isTableLink(link: Link): link is TableLink {
  return 'table' in link
}

/**
 * Records of the store that refer to this one, as a condition over `t`. The sub-select does not depend on `t`: PostgreSQL 15
 * would run one that does for each record of the store.
 */
export function linkedTo(link: Link, store: { readonly id: number }, id: number): Sql {
  if (!isTableLink(link)) return sql`t.${identifier(link.column)} = ${id}::int`
  const [table, record, column] = [identifier(link.table), identifier(link.record), identifier(link.column)]
  return sql`t."id" IN (
    SELECT l.${record} FROM ${table} l WHERE l."storeId" = ${storeId(store)} AND l.${column} = ${id}::int)`
}
