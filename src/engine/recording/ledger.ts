import { locks } from '../../foundation/database/advisory-locks.ts'
import { execute, type Transaction } from '../../foundation/database/client.ts'
import { anyOf, identifier, join, storeId } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import { type Fields, fieldSet } from '../definition/fields.ts'
import { compileReader } from '../definition/reader.ts'
import type { Ledger } from '../definition/resource.ts'
import { columnDefaults, type Row } from '../definition/stored-row.ts'

export function defineLedger(definition: Omit<Ledger, 'fields' | 'reader'> & { fields: Fields }): Ledger {
  const fields = fieldSet(definition.fields)
  return { ...definition, fields, reader: compileReader(fields) }
}

/** Rows of a ledger in a transfer line. */
export interface LedgerPiece {
  /** The number of rows in the record's earlier lines; above 0 the line contains only these rows. */
  readonly after: number
  /** By column. */
  readonly rows: readonly Row[]
}

/** Appends the rows of each record; the database numbers them in this order. */
export async function appendPieces(
  caller: Caller,
  ledger: Ledger,
  pieces: readonly { readonly id: number; readonly piece: LedgerPiece }[],
): Promise<void> {
  const defaults = columnDefaults(ledger.fields, caller.now())
  const rows = pieces.flatMap(({ id, piece }) =>
    piece.rows.map((row) => ({ ...defaults, ...row, storeId: caller.store.id, [ledger.parent]: id })),
  )
  const [first] = rows
  if (first === undefined) return
  const columns = join(Object.keys(first).map(identifier))
  const table = identifier(ledger.table)
  await execute(caller.db)`
    INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::text::json)`
}

/**
 * Lets the transaction delete rows of a ledger: `alone`, where it replaces rows of any record by others, or with those who delete rows
 * of records that they have locked. Waits for the others. Without it, rows that one of them has just written would escape the other.
 */
export async function lockLedger(db: Transaction, { alone }: { readonly alone: boolean }): Promise<void> {
  const lock = identifier(alone ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared')
  await execute(db)`SELECT ${lock}(${locks.ledger}::int, 0)`
}

/** Deletes all but the first `kept` rows of each of these records. */
export async function cutLedger(caller: Caller, ledger: Ledger, recordIds: readonly number[], kept: number) {
  await lockLedger(caller.db, { alone: false })
  const [table, parent] = [identifier(ledger.table), identifier(ledger.parent)]
  await execute(caller.db)`
    DELETE FROM ${table} l USING (
      SELECT t."id", row_number() OVER (PARTITION BY t.${parent} ORDER BY t."id") AS "place"
      FROM ${table} t WHERE t."storeId" = ${storeId(caller.store)} AND t.${parent} = ${anyOf(recordIds)}) behind
    WHERE l."id" = behind."id" AND behind."place" > ${kept}::int`
}
