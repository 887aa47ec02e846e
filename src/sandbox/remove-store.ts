import { type Db, execute, queryRows } from '../database/client.ts'
import { constant, identifier, sql } from '../database/sql.ts'
import { inBatches } from '../database/sweeper.ts'

// Deletes every row of a store, whatever tables there are.

const BATCH_MAX = 500

/**
 * What outlives a store: what people did is the operator's to know, and a token that ended must never work again. The store's own row
 * goes last.
 */
const kept = ['AuditEntry', 'EndedToken', 'TestStore']

/** The tables with rows of stores, each before those that it refers to. */
async function tablesOfStores(db: Db): Promise<string[]> {
  const tables = await queryRows<{ name: string; parents: string[] }>(
    db,
    sql`
    SELECT c.relname::text AS "name", ARRAY (
      SELECT p.relname::text FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND p.oid <> c.oid) AS "parents"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'storeId' AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY c.relname`,
  )
  const left = new Map(tables.filter(({ name }) => !kept.includes(name)).map(({ name, parents }) => [name, parents]))
  const ordered: string[] = []
  while (left.size > 0) {
    const referredTo = new Set([...left.values()].flat())
    const free = [...left.keys()].filter((name) => !referredTo.has(name))
    if (free.length === 0) throw new Error(`The tables ${[...left.keys()].join(', ')} refer to one another in a circle`)
    for (const name of free) left.delete(name)
    ordered.push(...free)
  }
  return ordered
}

/**
 * Deletes the rows of a store, 500 in a statement and with rests between them, while `goesOn` says so. Returns whether none was
 * left: what requests add meanwhile is found by the next call.
 */
export async function removeRows(db: Db, storeId: number, goesOn: () => Promise<boolean>): Promise<boolean> {
  let isStopped = false
  let isEmpty = true
  for (const table of await tablesOfStores(db)) {
    const rows = identifier(table)
    await inBatches(
      () => isStopped,
      true,
      async () => {
        isStopped = !(await goesOn())
        if (isStopped) return null
        const deleted = await execute(
          db,
          sql`DELETE FROM ${rows} WHERE ctid = ANY (ARRAY (
          SELECT ctid FROM ${rows} WHERE "storeId" = ${storeId}::int LIMIT ${constant(BATCH_MAX)}))`,
        )
        if (deleted > 0) isEmpty = false
        return deleted === BATCH_MAX ? true : null
      },
    )
    if (isStopped) return false
  }
  return isEmpty
}
