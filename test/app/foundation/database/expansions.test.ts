import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { knownMigrations, readMigration } from '../../../../src/foundation/database/migration.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { programVersion } from '../../../../src/foundation/process/version.ts'
import { openClient } from '../../../support/client.ts'
import { createDatabase } from '../../../support/database.ts'

// A migration beside which servers go on expands: in no filled table does it read, write or rewrite rows, so that each of its locks, however
// strong, is over at once. An index of a filled table is built concurrently, rows are rewritten in slices.

/** The last one of the time when servers were stopped for an upgrade. */
const LAST_ALONE = '20261128221233_upgrades_done'
const all = knownMigrations()
const later = all.slice(all.indexOf(LAST_ALONE) + 1)

const ends: (() => Promise<void>)[] = []
afterAll(() => Promise.all(ends.map((end) => end())))

let filled: pg.Client
beforeAll(async () => {
  filled = await filledBefore()
  await filled.query(`ALTER TABLE "Product" ADD COLUMN "optional" TEXT DEFAULT 'x'`)
})

test.each(later.map((name) => [name]))('%s expands, or says that no server may run on it', async (name) => {
  const { oldest, index, sql } = readMigration(name)
  const client = await filledBefore(name)

  expect(sql).toMatch(/^-- Servers from \d+\.\d+\.\d+ on may run on it\.\n/)
  if (oldest !== programVersion && index === null) expect(await faultsOf(client, sql)).toEqual([])
})

test.each([
  ['another type', `ALTER TABLE "Product" ALTER COLUMN "optional" TYPE "char"`, 'Product is rewritten'],
  ['a volatile default', `ALTER TABLE "Product" ADD COLUMN "x" UUID DEFAULT gen_random_uuid()`, 'Product is rewritten'],
  [
    'a generated column',
    `ALTER TABLE "Product" ADD COLUMN "x" TEXT GENERATED ALWAYS AS (lower("sku")) STORED`,
    'Product is rewritten',
  ],
  ['a column that must be given', `ALTER TABLE "Product" ALTER COLUMN "optional" SET NOT NULL`, 'Product is read'],
  ['a check', `ALTER TABLE "Product" ADD CONSTRAINT "x" CHECK ("sku" <> 'y')`, 'Product is read'],
  [
    'a foreign key',
    `ALTER TABLE "Product" ADD CONSTRAINT "x" FOREIGN KEY ("storeId") REFERENCES "Store" ("id")`,
    'Product is read',
  ],
  ['an update', `UPDATE "Product" SET "sku" = 'y'`, 'Product is written'],
  ['an index', `CREATE INDEX "x" ON "Product" ("sku")`, 'Product is read'],
])('%s of a filled table is no expansion', async (_kind, sql, fault) => {
  expect(await faultsOf(filled, sql)).toContain(fault)
})

test.each([
  ['a column with a constant default', `ALTER TABLE "Product" ADD COLUMN "x" TEXT NOT NULL DEFAULT 'y'`],
  ['a check of new rows', `ALTER TABLE "Product" ADD CONSTRAINT "x" CHECK ("sku" <> 'y') NOT VALID`],
  [
    'a foreign key of new rows',
    `ALTER TABLE "Product" ADD CONSTRAINT "x" FOREIGN KEY ("storeId") REFERENCES "Store" ("id") NOT VALID`,
  ],
  ['a table', `CREATE TABLE "x" ("id" INT PRIMARY KEY REFERENCES "Store" ("id"))`],
])('%s is an expansion', async (_kind, sql) => {
  expect(await faultsOf(filled, sql)).toEqual([])
})

/** A database as it is before a migration, or after all, with a row in every table. */
async function filledBefore(name?: string): Promise<pg.Client> {
  const { url, drop } = await createDatabase()
  const until = name === undefined ? undefined : all[all.indexOf(name) - 1]
  await migrate(url, () => {}, until)
  const client = await openClient(url)
  ends.push(async () => {
    await client.end()
    await drop()
  })
  await fill(client)
  return client
}

interface Column {
  readonly table: string
  readonly name: string
  readonly value: string
}

/** What checks of the tables ask for beyond the type. */
const chosen: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Alert: { operatorId: '1' },
  Application: { kind: `'existing'` },
  Delivery: { state: `'delivered'` },
  Invitation: { role: `'manager'` },
  Mail: { state: `'sent'` },
  PersonToken: { developerId: '1' },
  Store: { timeZone: `'UTC'` },
  StoreUser: { role: `'owner'` },
  Webhook: { format: `'JSON'` },
}

/** Their rows come with those of others. */
const byTriggers = ['PaymentSum', 'RecordCount', 'ReferencedVersion', 'SalesSum']

/** Puts a row into each table. All ids are 1, so that references are right as soon as the table that they lead to has its row. */
async function fill(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Column>(`
    SELECT relname AS "table", attname AS "name", CASE
        WHEN typcategory = 'N' THEN '1' WHEN typcategory = 'B' THEN 'true' WHEN typcategory = 'D' THEN 'now()'
        WHEN typcategory = 'A' THEN quote_literal('{}') WHEN typname IN ('json', 'jsonb') THEN quote_literal('{}')
        WHEN typname = 'uuid' THEN 'gen_random_uuid()'
        WHEN typcategory = 'E' THEN (SELECT quote_literal(min(enumlabel)) FROM pg_enum WHERE enumtypid = t.oid)
        ELSE quote_literal('x') END || '::' || format_type(t.oid, NULL) AS "value"
    FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid JOIN pg_type t ON t.oid = atttypid
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
      AND attnotnull AND attgenerated = '' AND relname NOT LIKE '\\_%'`)
  const waiting = Map.groupBy(rows, ({ table }) => table)
  for (const table of byTriggers) waiting.delete(table)
  while (waiting.size > 0) {
    const before = waiting.size
    let reason: unknown
    for (const [table, columns] of waiting) {
      const values = { ...Object.fromEntries(columns.map(({ name, value }) => [name, value])), ...chosen[table] }
      const names = Object.keys(values).map((name) => `"${name}"`)
      await client.query(`INSERT INTO "${table}" (${names}) VALUES (${Object.values(values)})`).then(
        () => waiting.delete(table),
        (error) => {
          reason = error
        },
      )
    }
    if (waiting.size === before) throw new Error(`No row for ${[...waiting.keys()]}`, { cause: reason })
  }
}

interface Seen {
  readonly table: string
  readonly file: string
  readonly read: string
  readonly written: string
}

/** What a statement does to filled tables, tried in a transaction that is rolled back. */
async function faultsOf(client: pg.Client, sql: string): Promise<string[]> {
  await client.query('BEGIN')
  try {
    const before = await look(client)
    await client.query(sql)
    const after = new Map((await look(client)).map((seen) => [seen.table, seen]))
    return before.flatMap(({ table, file, read, written }) => {
      const now = after.get(table)
      return [
        ...(now?.file === file ? [] : [`${table} is rewritten`]),
        ...(now?.read === read ? [] : [`${table} is read`]),
        ...(now?.written === written ? [] : [`${table} is written`]),
      ]
    })
  } finally {
    await client.query('ROLLBACK')
  }
}

/** The file of each table, and how many of its rows this session has read and written. */
async function look(client: pg.Client): Promise<Seen[]> {
  const { rows } = await client.query<Seen>(`
    SELECT relname AS "table", pg_relation_filenode(relid)::text AS "file", seq_tup_read::text AS "read",
      (n_tup_ins + n_tup_upd + n_tup_del)::text AS "written"
    FROM pg_stat_xact_user_tables WHERE relname NOT LIKE '\\_%'`)
  return rows
}
