import pg from 'pg'
import { type Query, qualified } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Table } from '../backup/tables.ts'

/** By which values have one text, whatever role and server have. Until the end of the transaction. */
const forms = `SET LOCAL TimeZone = 'UTC'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'`

/** Throws `StartupError` unless both databases, each in a transaction, have the same rows of the tables. */
export async function compareTables(source: Query, target: Query, tables: readonly Table[]): Promise<void> {
  await Promise.all([source.query(forms), target.query(forms)])
  for (const table of tables) {
    const [one, other] = await Promise.all([contentsOf(source, table), contentsOf(target, table)])
    if (one === other) continue
    throw new StartupError(
      `The table ${table.name} is not the same in both databases (${one}; ${other}). Run the command again, and if that does not help, find out how the disk of the target is`,
    )
  }
}

/** The database adds up 64 bits of the SHA-256 of each row, so that the order of the rows does not matter. */
async function contentsOf({ query }: Query, { name, columns }: Table): Promise<string | undefined> {
  const [contents] = await query<{ text: string }>(`
    SELECT concat(count(*), ' rows, sum ', sum(('x' || encode(substring("hash" FOR 8), 'hex'))::bit(64)::bigint)) AS "text"
    FROM (SELECT sha256(convert_to(row_to_json(r)::text, 'UTF8')) AS "hash"
      FROM (SELECT ${columns.map((column) => pg.escapeIdentifier(column)).join(', ')} FROM ${qualified(name)}) r) h`)
  return contents?.text
}
