import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { programVersion } from '../../../../src/foundation/process/version.ts'
import { startLoad } from '../../../../tools/cluster/load.ts'
import { checkData, findLosses } from '../../../../tools/cluster/losses.ts'
import { openShop } from '../../../../tools/cluster/scene.ts'
import { openServerStore } from '../../../load/shop/webhooks/server-store.ts'
import { openClient } from '../../../support/client.ts'
import { createDatabase } from '../../../support/database.ts'
import { fillLargeStore } from '../../../support/large-store/fill.ts'
import { BEFORE, committedVersion, type OtherVersion, otherVersion } from '../../../support/other-version.ts'
import { freePort, type Run, runServer } from '../../../support/run-server.ts'
import { operatorKey } from '../../../support/services.ts'

// Servers of two versions on one database, while programs read, change stocks, place orders and are notified: each request is served, and
// each change is made and told once.

/** How long the load lasts, a third of it before the upgrade, beside it and behind it. */
const LOAD_MS = Number(process.env.UPGRADE_SECONDS ?? 12) * 1_000

interface Member {
  readonly url: string
  readonly run: Run
}

/** Servers of one database, which get the requests in turn. */
function fleetOn(databaseUrl: string) {
  const members: Member[] = []
  const runs: Run[] = []
  const settings = {
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: databaseUrl,
    OPERATOR_KEY: operatorKey,
    SECRET_KEY: 'secret-key-of-the-tests-secret-key',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    // What is on its way when a server gets no more requests still reaches it.
    DRAIN_SECONDS: '1',
    LOG_LEVEL: 'warn',
  }
  let turn = 0
  onTestFailed(() => console.error(runs.map(({ output }) => output()).join('\n---\n')))
  onTestFinished(async () => {
    for (const run of runs) await run.end('SIGKILL')
  })
  /** Starts a server that gets no requests. */
  const launch = async (tree?: URL): Promise<Member> => {
    const port = await freePort()
    const run = runServer({ ...settings, PORT: String(port) }, tree)
    runs.push(run)
    return { url: `http://127.0.0.1:${port}`, run }
  }
  return {
    settings,
    launch,
    nextUrl: () => members[turn++ % members.length]?.url ?? '',
    start: async (tree?: URL): Promise<Member> => {
      const member = await launch(tree)
      await member.run.shows('Base address')
      members.push(member)
      return member
    },
    stop: async (member: Member): Promise<void> => {
      members.splice(members.indexOf(member), 1)
      expect(await member.run.end()).toBe(0)
    },
  }
}

/** A database whose servers begin with two of `tree`, and programs that use them. */
async function openScene(tree?: URL) {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  const fleet = fleetOn(url)
  const first = [await fleet.start(tree), await fleet.start(tree)]
  const shop = await openShop(fleet.nextUrl)
  onTestFinished(shop.receiver.close)
  return {
    ...fleet,
    url,
    first,
    load: startLoad(shop.store, shop.goods),
    changed: { ...shop, settings: fleet.settings },
  }
}

/** What went wrong; empty: nothing. */
async function faultsOf({ load, changed }: Awaited<ReturnType<typeof openScene>>, tree?: URL): Promise<string[]> {
  await load.stop()
  const [, , events = ''] = await findLosses(changed, load)
  await checkData({ ...changed, ...(tree && { tree }) })
  const failed = load.sent.filter(({ status }) => status === null || status >= 300)
  return [
    ...failed.map(({ status, text }) => `${status} ${text}`),
    ...(events.includes(', 0 of them once more') ? [] : [events]),
  ]
}

const before = committedVersion(BEFORE)
afterAll(() => before?.remove())

test.skipIf(before === null)(
  `servers of the version before go on while this one starts beside them (needs commit ${BEFORE} in the history)`,
  async () => {
    const scene = await openScene(before?.tree)
    await delay(LOAD_MS / 3)

    await scene.start()
    await scene.start()
    await delay(LOAD_MS / 3)

    for (const member of scene.first) await scene.stop(member)
    await delay(LOAD_MS / 3)
    expect(await faultsOf(scene)).toEqual([])
  },
  LOAD_MS + 300_000,
)

const [column, index] = ['29990101000000_column', '29990101000001_index']

test(
  'a later version is killed at each step, comes and goes beside this one, and completes its upgrade',
  async () => {
    const later = laterVersion()
    onTestFinished(later.remove)
    const scene = await openScene()
    const large = await openServerStore(scene.nextUrl, 'large')
    await fillLargeStore(scene.url, large.id, { products: 100, customers: 100, orders: 2_500 })
    const client = await openClient(scene.url)
    onTestFinished(() => client.end())
    const rowsOf = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows
    const applied = () => rowsOf(`SELECT "migration_name" FROM "_prisma_migrations" WHERE "migration_name" > '2999'`)
    const indexed = () =>
      rowsOf(`SELECT "indisvalid" FROM pg_index WHERE "indexrelid" = to_regclass('"Order_later_idx"')`)
    const filled = () => rowsOf(`SELECT "doneAt" IS NOT NULL FROM "Upgrade" WHERE "name" = '${column}'`)

    /** Kills a server when its statement waits, for what `hold` keeps from it or by itself; `isNoticed`: PostgreSQL then ends its session. */
    const killAt = async (statement: string, hold: string, isNoticed = false) => {
      const holder = await openClient(scene.url)
      await holder.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${hold}`)
      const { run } = await scene.launch(later.tree)
      const waiting = `FROM pg_stat_activity WHERE "wait_event_type" IN ('Lock', 'Timeout') AND "query" LIKE '%${statement}%'`
      await expect.poll(() => rowsOf(`SELECT 1 ${waiting}`), { interval: 10, timeout: 60_000 }).toEqual([[1]])
      await run.end('SIGKILL')
      if (isNoticed) await rowsOf(`SELECT pg_terminate_backend("pid", 5000) ${waiting}`)
      await holder.end()
    }
    await killAt('ALTER TABLE "Order"', 'LOCK TABLE "Order" IN ROW EXCLUSIVE MODE')
    expect(await applied()).toEqual([])
    await killAt('CREATE INDEX CONCURRENTLY', 'SELECT 1', true)
    expect([await applied(), await indexed()]).toEqual([[[column]], [[false]]])
    await killAt('CREATE INDEX CONCURRENTLY', 'SELECT 1')
    await killAt('UPDATE "Order" r', 'SELECT 1')
    expect(await indexed()).toEqual([[true]])

    const [one, other] = scene.first as [Member, Member]
    const beside = await scene.start(later.tree)
    await scene.stop(one)
    await scene.stop(beside)
    expect(await filled()).toEqual([[false]])
    await scene.start()
    await delay(LOAD_MS / 3)

    await scene.start(later.tree)
    await expect.poll(filled, { timeout: 60_000 }).toEqual([[true]])
    await scene.stop(other)
    await delay(LOAD_MS / 3)
    expect(await faultsOf(scene, later.tree)).toEqual([])
    expect((await applied()).flat().sort()).toEqual([column, index])
    expect(await rowsOf('SELECT count(*)::int FROM "Order" WHERE "later" IS DISTINCT FROM "id" * 2')).toEqual([[0]])
  },
  LOAD_MS + 300_000,
)

/** It fills a column of orders, slowly enough that it can be stopped meanwhile, and indexes it. */
function laterVersion(): OtherVersion {
  const beside = `-- Servers from ${programVersion} on may run on it.`
  return otherVersion('9.1.0', {
    [column]: {
      migration: `${beside}
        ALTER TABLE "Order" ADD COLUMN "later" INT;
        CREATE FUNCTION "later"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."later" = NEW."id" * 2; RETURN NEW; END $$;
        CREATE TRIGGER "later" BEFORE INSERT ON "Order" FOR EACH ROW EXECUTE FUNCTION "later"();`,
      slices: `-- Slices of "Order" by "storeId", "id".
        UPDATE "Order" r SET "later" = "id" * 2 WHERE $slice AND (SELECT pg_sleep(0.3)) IS NOT NULL;`,
    },
    [index]: { migration: `${beside}\nCREATE INDEX CONCURRENTLY "Order_later_idx" ON "Order" ("later");` },
  })
}
