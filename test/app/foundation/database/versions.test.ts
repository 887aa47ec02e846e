import { describe, expect, onTestFinished, test } from 'vitest'
import { keepConnected } from '../../../../src/foundation/database/connection.ts'
import { slicedMigrations } from '../../../../src/foundation/database/migration.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { lockProcess, noteLostLock } from '../../../../src/foundation/database/process-lock.ts'
import type { Log } from '../../../../src/foundation/process/log.ts'
import { programVersion } from '../../../../src/foundation/process/version.ts'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { otherVersion } from '../../../support/other-version.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { sharedServer } from '../../../support/store.ts'

// This version beside a later one on one database. The later one is this tree with a migration of its own.

const beside = `-- Servers from ${programVersion} on may run on it.`
const server = await sharedServer({}, cloneDatabase)
const { url } = server.database
const client = await shared(openClient(url))
// Nothing of this version is left to be rewritten.
for (const { name } of slicedMigrations()) {
  await client.query(`INSERT INTO "Upgrade" ("name", "doneAt") VALUES ($1, now())`, [name])
}

/** Migrates as a later version, and returns what it applied. */
async function upgrade(migration: string, slices?: string, name = nextName()) {
  const { later } = laterOf(name, migration, slices)
  return { applied: await (await later.load('foundation/database/migrations.ts')).migrate(url), later, name }
}

function laterOf(name: string, migration: string, slices?: string) {
  const later = otherVersion('9.0.0', { [name]: { migration, ...(slices && { slices }) } })
  onTestFinished(later.remove)
  return { later }
}

let serial = 0
const nextName = () => `2999${String(++serial).padStart(10, '0')}_later`

/** For the next test, which has a later version of its own. */
async function forget(name: string): Promise<void> {
  await client.query('DELETE FROM "_prisma_migrations" WHERE "migration_name" = $1', [name])
}

test('a server goes on while all tables get a column, and keeps what only a later version knows', async () => {
  const shop = await server.openStore()
  const optionsOf = (name: string) => ({ OptionSetList: [{ OptionSetName: name, OptionList: [{ OptionName: 'S' }] }] })
  const work = async (run: string) => {
    const group = await shop.add('/CustomerGroups', { Name: run })
    const SKUInfo = { SKU: run, Name: 'Lamp', Price: 25, Stock: 5 }
    const product = await shop.add('/Products', { SKUInfo, Keywords: 'warm', ...optionsOf('Colour') })
    const Email = `${run}@customers.example`
    const customer = await shop.add('/Customers', { Email, Password: 'correct horse battery', CustomerGroupID: group })
    const order = await shop.placeOrder([{ ItemID: run, ItemQuantity: 1 }], { CustomerID: customer })
    await client.query(`UPDATE "Product" SET "details" = "details"::jsonb || '{"Later": "kept"}' WHERE "sku" = $1`, [
      run,
    ])
    const changes = [
      [`/Products/${product}`, { SKUInfo: { Stock: 3 }, Keywords: 'cold', ...optionsOf('Size') }],
      [`/Orders/${order}`, { OrderStatusID: 4 }],
    ] as const
    for (const [path, body] of changes) {
      expect((await shop.call('PUT', path, { body })).statusCode).toBe(200)
      expect((await shop.call('GET', path)).statusCode).toBe(200)
    }
  }
  const tables = await client.query<{ name: string }>(
    `SELECT relname AS "name" FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  )
  const widened = tables.rows.map(({ name }) => `ALTER TABLE "${name}" ADD COLUMN "later" TEXT NOT NULL DEFAULT 'new';`)
  await work('before')
  const { applied, name } = await upgrade(`${beside}\n${widened.join('\n')}`)
  await work('behind')

  expect(applied).toEqual([name])
  expect(await migrate(url)).toEqual([])
  const { rows } = await client.query(`SELECT DISTINCT "later", "details" ->> 'Later' AS "kept" FROM "Product"`)
  expect(rows).toEqual([{ later: 'new', kept: 'kept' }])
  await forget(name)
})

test.each([
  ['that names none', 'SELECT 1;', /start version 9\.0\.0 or a newer one/],
  ['that names a later version', '-- Servers from 8.0.0 on may run on it.\n', /start version 8\.0\.0 or a newer one/],
])('a database with a migration %s is refused', async (_what, sql, reason) => {
  const { name } = await upgrade(sql)

  await expect(migrate(url)).rejects.toThrow(reason)
  await forget(name)
})

describe('beside a server of this version', () => {
  test('a migration that it may not run on is refused before it begins', async () => {
    await runBeside()
    const name = nextName()

    await expect(upgrade('CREATE TABLE "Alone" ();', undefined, name)).rejects.toThrow(
      `Migration ${name} cannot be applied beside servers of version ${programVersion}. Stop them all, and start again`,
    )
    expect((await client.query(`SELECT to_regclass('"Alone"') AS "table"`)).rows).toEqual([{ table: null }])
  })

  test('an index is built while somebody writes, whatever a kill has left of it', async () => {
    const statement = 'CREATE INDEX CONCURRENTLY "Product_later_idx" ON "Product" ("storeId", "name");'
    const isValid = async () =>
      (
        await client.query(
          `SELECT "indisvalid" AS "isValid" FROM pg_index WHERE "indexrelid" = to_regclass('"Product_later_idx"')`,
        )
      ).rows
    // What a kill leaves: an index that nobody completes.
    const writer = await ofTest(openClient(url))
    await writer.query('BEGIN; LOCK TABLE "Product" IN ROW EXCLUSIVE MODE')
    await client.query(`SET lock_timeout = 100`)
    await expect(client.query(statement)).rejects.toThrow('lock timeout')
    await client.query(`SET lock_timeout = 0`)
    expect(await isValid()).toEqual([{ isValid: false }])

    const upgraded = upgrade(`${beside}\n${statement}`)
    const building = () =>
      client.query(
        `SELECT FROM pg_stat_activity WHERE "query" LIKE '%DROP INDEX CONCURRENTLY%' AND "wait_event_type" = 'Lock'`,
      )
    await expect.poll(async () => (await building()).rows.length).toBe(1)
    await client.query('UPDATE "Product" SET "name" = "name"')
    await writer.query('COMMIT')

    const { applied, name } = await upgraded
    expect(applied).toEqual([name])
    expect(await isValid()).toEqual([{ isValid: true }])
    await forget(name)
    expect((await upgrade(`${beside}\n${statement}`, undefined, name)).applied).toEqual([name])
    await forget(name)
  })
})

test('what the next start would do is said before, and nothing is done', async () => {
  const [alone, index, sliced] = [nextName(), nextName(), nextName()]
  const later = otherVersion('9.0.0', {
    [alone]: { migration: 'SELECT 1;' },
    [index]: { migration: `${beside}\nCREATE INDEX CONCURRENTLY "Order_x_idx" ON "Order" ("storeId");` },
    [sliced]: {
      migration: `${beside}\nSELECT 1;`,
      slices: `-- Slices of "Order" by "storeId", "id".\nUPDATE "Order" r SET "id" = "id" WHERE $slice;`,
    },
  })
  onTestFinished(later.remove)
  await runBeside()
  const { planUpgrade } = await later.load('operations/installation/upgrade-plan.ts')

  const { steps, running, toStop } = await planUpgrade(url)

  expect(steps).toEqual([
    `${alone}: no server of the version before may run; it takes up to two minutes for a million orders`,
    expect.stringMatching(
      `^${index}: builds an index of about .* rows of Order while the table is read and written: some `,
    ),
    `${sliced}: at once; nobody waits longer than 0.4 s`,
    expect.stringMatching(
      `^${sliced}: rewrites about .* rows of Order after the start, while the store is open: some `,
    ),
  ])
  expect([running, toStop]).toEqual([[programVersion], [programVersion]])
  expect(await migrate(url)).toEqual([])
})

/** Holds the lock of a process, as a server does, until the end of the test or before. */
async function runBeside(): Promise<() => Promise<void>> {
  const kept = await keepConnected(url, { setUp: lockProcess, onLost: noteLostLock })
  const stop = async () => {
    noteLostLock()
    await kept.stop()
  }
  onTestFinished(stop)
  return stop
}

describe('rows that are rewritten in slices', () => {
  const rows = 2_300
  const expansion = `${beside}
    CREATE TABLE IF NOT EXISTS "Sliced" ("storeId" INT, "id" INT, "text" TEXT NOT NULL, "length" INT, PRIMARY KEY ("storeId", "id"));`
  const slices = `-- Slices of "Sliced" by "storeId", "id".
    UPDATE "Sliced" r SET "length" = coalesce("length", 0) + length("text") WHERE $slice;`
  const left = async () =>
    (await client.query('SELECT count(*)::int AS "count" FROM "Sliced" WHERE "length" IS NULL')).rows[0].count
  const fill = () => client.query(`INSERT INTO "Sliced" SELECT 1 + n % 2, n, 'text' FROM generate_series(1, ${rows}) n`)

  test('go on behind a stop, are each written once, and are done once', async () => {
    const { later, name } = await upgrade(expansion, slices)
    await fill()
    const log: string[] = []
    const { createUpgrades, upgradeFigures } = await later.load('operations/installation/upgrades.ts')
    const { connect, inTransaction, queryIn } = await later.load('foundation/database/client.ts')
    const db = await ofTest(connect(url))
    const shown = async () => {
      const values: number[] = []
      await inTransaction(db, (tx) => upgradeFigures.ask(tx, (_name, value) => values.push(value), new Date()))
      return values.slice(-1)
    }
    const start = () => createUpgrades({ db, log: logTo(log) })
    const first = start()
    first.wake()
    await expect.poll(left, { interval: 5 }).toBeLessThan(rows)
    await first.stop()
    const holder = await openClient(url)
    await holder.query(`BEGIN; UPDATE "Sliced" SET "text" = 'text' WHERE "length" IS NULL`)
    const { rewriteSlice } = await later.load('foundation/database/slices.ts')
    const { readMigration } = await later.load('foundation/database/migration.ts')
    const { isLockTimeout } = await later.load('foundation/database/outage.ts')
    const held = inTransaction(db, (tx) => rewriteSlice(queryIn(tx), readMigration(name)))
    await expect(held).rejects.toSatisfy(isLockTimeout)
    await holder.query('ROLLBACK')
    await holder.end()
    expect(await left()).toBeGreaterThan(0)
    expect(await shown()).toEqual([expect.any(Number)])

    const both = [start(), start()]
    for (const each of both) each.wake()
    await Promise.all(both.map((each) => each.idle()))

    expect((await client.query('SELECT DISTINCT "length" FROM "Sliced"')).rows).toEqual([{ length: 4 }])
    expect(await shown()).toEqual([0])
    expect(log).toEqual([`rows of an upgrade are rewritten ${name} ${rows}`])
    await forget(name)
  })

  test('are finished before a migration that needs them', async () => {
    const { name } = await upgrade(expansion, slices)
    await client.query('TRUNCATE "Sliced"')
    await fill()
    await client.query('ANALYZE "Sliced"')
    const last = nextName()
    const contracting = otherVersion('9.1.0', {
      [name]: { migration: expansion, slices },
      [last]: {
        migration: `${beside}\n-- It needs the slices of ${name}.\nALTER TABLE "Sliced" ALTER COLUMN "length" SET NOT NULL;`,
      },
    })
    onTestFinished(contracting.remove)
    const said: string[] = []
    const stop = await runBeside()
    await expect((await contracting.load('foundation/database/migrations.ts')).migrate(url)).rejects.toThrow(
      `Servers still rewrite rows for migration ${name}: 0 of about ${rows} rows are done. Start again when all are`,
    )
    await stop()

    const applied = await (await contracting.load('foundation/database/migrations.ts')).migrate(url, (message) =>
      said.push(message),
    )

    expect(applied).toEqual([last])
    expect(said).toEqual([
      `Migration ${name} has rewritten 0 of about ${rows} rows; the rest is rewritten now, in some 1 s`,
    ])
    expect(await left()).toBe(0)
    for (const each of [name, last]) await forget(each)
  })
})

function logTo(lines: string[]): Log {
  return {
    info: ({ migration, rows }: { migration: string; rows: number }, message: string) =>
      lines.push(`${message} ${migration} ${rows}`),
    warn: (details: object, message: string) => lines.push(`${message} ${JSON.stringify(details)}`),
  } as unknown as Log
}
