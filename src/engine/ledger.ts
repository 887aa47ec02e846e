import { anyOf, identifier, join, sql, storeId } from '../database/sql.ts'
import type { Caller } from './caller.ts'
import type { Resource } from './define.ts'
import { type FieldSet, type Fields, fieldSet } from './fields.ts'
import { columnDefaults, type Row } from './merge.ts'
import { compileReader, type Reader } from './reader.ts'

/**
 * Append-only rows that belong to a record and are not part of it on the wire: the stock movements of a product. They
 * can be many, so export and import carry them in pieces. The database numbers them in order.
 */
export interface Ledger {
  /** The name in transfer lines. */
  readonly name: string
  readonly table: string
  /** The column that holds the record's id. */
  readonly parent: string
  readonly fields: FieldSet
  /** Reads a row as `t`. */
  readonly reader: Reader
  /** Appends the missing row of each of these records, which an import without ledger rows has just written. */
  readonly complete: (caller: Caller, resource: Resource, recordIds: readonly number[]) => Promise<void>
}

export function defineLedger(definition: Omit<Ledger, 'fields' | 'reader'> & { fields: Fields }): Ledger {
  const fields = fieldSet(definition.fields)
  return { ...definition, fields, reader: compileReader(fields) }
}

/** A row of a ledger for `insertLedgerRows`; `columns` are the values in the transfer line. */
export function ledgerRow(caller: Caller, ledger: Ledger, recordId: number, columns: Row): Row {
  const defaults = columnDefaults(ledger.fields, caller.now())
  return { ...defaults, ...columns, storeId: caller.store.id, [ledger.parent]: recordId }
}

/** Appends rows; the database numbers them in this order. */
export async function insertLedgerRows(caller: Caller, ledger: Ledger, rows: readonly Row[]): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = join(Object.keys(first).map(identifier))
  const table = identifier(ledger.table)
  await caller.db.$executeRaw(sql`
    INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::text::json)`)
}

/** Deletes all but the first `kept` rows of each of these records. */
export async function cutLedger(
  caller: Caller,
  ledger: Ledger,
  recordIds: readonly number[],
  kept: number,
): Promise<void> {
  const [table, parent] = [identifier(ledger.table), identifier(ledger.parent)]
  await caller.db.$executeRaw(sql`
    DELETE FROM ${table} l USING (
      SELECT t."id", row_number() OVER (PARTITION BY t.${parent} ORDER BY t."id") AS "place"
      FROM ${table} t WHERE t."storeId" = ${storeId(caller.store)} AND t.${parent} = ${anyOf(recordIds)}) behind
    WHERE l."id" = behind."id" AND behind."place" > ${kept}::int`)
}
