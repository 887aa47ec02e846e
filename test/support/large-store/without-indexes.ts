import type pg from 'pg'

/** By which triggers look for what an order has of a table. Without them each row would cost as much as all before it. */
const usedByTriggers = ['"OrderShipment_storeId_orderId_id_idx"', '"OrderTransaction_storeId_orderId_id_idx"']

/**
 * Runs `work`, which fills these tables, without their indexes and foreign keys, and makes these anew behind it: a tenth of the
 * time of keeping them for each row. The primary keys and what triggers use stay. Triggers run as ever.
 */
export async function withoutIndexes(
  client: pg.ClientBase,
  tables: readonly string[],
  work: () => Promise<void>,
  onMade: () => void = () => {},
): Promise<void> {
  const names = [tables.map((table) => `"${table}"`)]
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS "table", quote_ident(conname) AS "name", pg_get_constraintdef(oid) AS "definition"
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY ($1::text[]::regclass[])`,
    names,
  )
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS "name", pg_get_indexdef(indexrelid) AS "definition" FROM pg_index
     WHERE NOT indisprimary AND indrelid = ANY ($1::text[]::regclass[])
       AND indexrelid <> ALL ($2::text[]::regclass[])`,
    [...names, usedByTriggers],
  )
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
  await work()
  await client.query(`SET maintenance_work_mem = '512MB'`)
  for (const { definition } of indexes) {
    await client.query(definition)
    onMade()
  }
  for (const { table, name, definition } of keys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
    onMade()
  }
}
