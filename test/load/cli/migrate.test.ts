import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { readRecords, recordsDay } from '../../../src/operations/sandbox/records.ts'
import { convertRetail } from '../../../tools/realistic/convert.ts'
import { generatedSource } from '../../../tools/realistic/generate.ts'
import { findRealFile } from '../../../tools/realistic/real-file.ts'
import { exportOf, importInto } from '../../app/engine/transfer/fixture.ts'
import { cloneDatabase } from '../../support/database.ts'
import { folderOfTest } from '../../support/folders.ts'
import { importLines } from '../../support/import.ts'
import { allOddities, type Faults, type OddSourceOptions, openOddSource, randomFrom } from '../../support/odd-source.ts'
import { freePort, programEnv, type Run, runProgram, runServer } from '../../support/run-server.ts'
import { ofTest } from '../../support/shared.ts'
import { openServer, type StoreOptions, type TestServer, type TestStore } from '../../support/store.ts'

/** MIGRATE_WHOLE_YEAR=1: the real year and ten kills instead of a small one and four. The figures are printed. */
const isWhole = process.env.MIGRATE_WHOLE_YEAR === '1'
const generated = generatedSource({ invoices: 200, products: 150, customers: 60, seed: 1 })
const year = isWhole ? (findRealFile() ?? generated) : generated
const seed = Number(process.env.MIGRATE_SEED ?? 1)
const KILLS = isWhole ? 10 : 4
const program = fileURLToPath(new URL('../../../src/cli/migrate.ts', import.meta.url))

/** Without its headers the source's bucket is taken for the contract's. */
const oddities = { ...allOddities, withoutBucketHeaders: false }

const everyFault: Faults = {
  ...{ tooManyWithRetryAfter: 0.03, tooMany: 0.02, status500: 0.02, status503: 0.02 },
  ...{ cut: 0.02, cutWithoutLength: 0.02, slow: 0.03, shortList: 0.3 },
}

interface Move {
  readonly there: TestServer
  /** Of the source itself. */
  readonly url: string
  readonly shop: TestStore
  readonly source: Awaited<ReturnType<typeof openOddSource>>
  readonly here: Here
  readonly start: (...args: string[]) => Run
  readonly run: (...args: string[]) => Promise<{ code: number | null; output: string }>
  readonly lines: (name: string) => string[]
}

interface Here {
  readonly baseUrl: string
  readonly operatorKey: string
  readonly storeId: number
  /** Kills the server and starts it again. */
  readonly restart: () => Promise<void>
  readonly export: () => Promise<string>
}

async function openHere(): Promise<Here> {
  const database = await cloneDatabase()
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const operatorKey = 'operator-key-for-tests'
  const settings = { PORT: String(port), DATABASE_URL: database.url, OPERATOR_KEY: operatorKey, LOG_LEVEL: 'error' }
  const begin = async () => {
    const run = runServer({ ...settings, SECRET_KEY: 'a secret key for tests alone, 32+' })
    await run.shows(baseUrl)
    return run
  }
  let run = await begin()
  onTestFinished(async () => {
    await run.end()
    await database.drop()
  })
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const store = { Name: 'Copy', SecureURL: 'https://copy.example', Email: 'merchant@copy.example' }
  const opened = await fetch(`${baseUrl}/admin/stores`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...store, Password: 'correct horse battery' }),
  })
  const storeId = Number(((await opened.json()) as { Id: number }).Id)
  return {
    ...{ baseUrl, operatorKey, storeId },
    restart: async () => {
      await run.end('SIGKILL')
      run = await begin()
    },
    export: async () => (await fetch(`${baseUrl}/admin/stores/${storeId}/export`, { headers })).text(),
  }
}

async function openMove(options: OddSourceOptions, store: StoreOptions): Promise<Move> {
  const there = await ofTest(openServer())
  there.clock.ms = Date.now()
  const url = await there.app.listen({ host: '127.0.0.1', port: 0 })
  const shop = await there.openStore(store)
  const source = await ofTest(openOddSource(url, options))
  const here = await openHere()
  const dataDir = folderOfTest()
  const start = (...args: string[]) =>
    runProgram(process.execPath, [program, '--from', source.url, '--store', String(here.storeId), ...args], {
      env: {
        ...programEnv,
        ...{ PUBLIC_URL: here.baseUrl, OPERATOR_KEY: here.operatorKey, DATA_DIR: dataDir, MIGRATE_ROUND_SECONDS: '1' },
        MIGRATE_PRIVATE_KEY: shop.credentials.privatekey,
        MIGRATE_TOKEN: shop.token,
        MIGRATE_SECURE_URL: shop.credentials.secureurl,
      },
    })
  return {
    ...{ there, url, shop, source, here, start },
    run: async (...args) => {
      const { exited, output } = start(...args)
      return { code: await exited, output: output() }
    },
    lines: (name) => {
      try {
        return readFileSync(join(dataDir, 'migrate', `store-${here.storeId}`, name), 'utf8')
          .trimEnd()
          .split('\n')
      } catch {
        return []
      }
    },
  }
}

/** Runs the command and kills it some requests and milliseconds after its start, both drawn. Null: it had ended before. */
async function killOnce({ source, start }: Move, random: () => number): Promise<string | null> {
  const requests = 11 + Math.floor(random() * (isWhole ? 60 : 12))
  const ms = Math.floor(random() * 250)
  const { promise, resolve } = Promise.withResolvers<void>()
  let seen = 0
  source.intercept = () => {
    if (++seen === requests) resolve()
    return undefined
  }
  const run = start()
  await Promise.race([promise, run.exited])
  await new Promise((done) => setTimeout(done, ms))
  const code = await run.end('SIGKILL')
  return code === null ? `${requests} requests + ${ms} ms` : null
}

/** Resolves when a round that began after now has ended. Each round asks for what changed since another time. */
async function nextRound({ source }: Move): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const rounds = new Set<string>()
  source.intercept = ({ service, query }) => {
    const since = query.get('lastupdatestart')
    if (service === 'Products' && since !== null) rounds.add(since)
    // The first may have begun before now.
    if (rounds.size === 3) resolve()
    return undefined
  }
  await promise
}

async function expectEqual({ there, shop, here, run, lines }: Move): Promise<void> {
  const compared = await run('--compare')
  expect(compared.output, lines('differences.ndjson').slice(0, 5).join('\n')).toMatch(
    /equal, 0 different, 0 only there, 0 only here/,
  )
  expect(compared.code).toBe(0)
  const ids = (file: string) => [...file.matchAll(/^\{"service":"(\w+)"/gm)].map(([, service]) => service)
  const isServed = (each: string | undefined) => !each?.startsWith('Return') && each !== 'PaymentMethods'
  expect(ids(await here.export()).filter(isServed)).toEqual(ids(await exportOf(there, shop)).filter(isServed))
  expect(lines('changed-here.ndjson')).toEqual([])
  expect(lines('refused.ndjson')).toEqual([])
}

test(
  'a year behind a source with all faults, killed again and again, followed while it sells, is equal at the end',
  async () => {
    const options = { oddities, faults: everyFault, seed, slowMs: 10_000, slowMax: 1 }
    const move = await openMove(options, { throttle: { capacity: 5_000, leakPerSecond: 200 } })
    const { there, shop, source, here, run, start } = move
    const baseUrl = move.url
    const sourceServer = { baseUrl, operatorKey: there.services.operatorKey, storeId: shop.store.id }
    const { counts, refused } = await importLines(sourceServer, convertRetail(year))
    expect(refused).toEqual([])

    const random = randomFrom(seed)
    const began = performance.now()
    const kills: string[] = []
    // One that ended before it was killed does not count.
    for (let turn = 0; kills.length < KILLS && turn < 3 * KILLS; turn++) {
      const kill = await killOnce(move, random)
      if (kill !== null) kills.push(kill)
      if (kills.length === KILLS / 2) await here.restart()
    }
    expect(kills).toHaveLength(KILLS)
    console.log(`Seed ${seed}, killed after ${kills.join(', ')}`)
    source.intercept = () => undefined
    const copied = await run()
    expect(copied.code, copied.output).toBe(0)
    const seconds = (performance.now() - began) / 1_000

    const following = start('--follow')
    await following.shows('Following')
    const [product] = (await shop.call('GET', '/Products?limit=1')).json()
    const CatalogID = product.SKUInfo.CatalogID
    for (let turn = 0; turn < 3; turn++) {
      there.clock.ms = Date.now()
      const body = { SKUInfo: { Name: `Changed ${turn}`, Stock: 10 } }
      const changed = await shop.call('PUT', `/Products/${CatalogID}`, { body })
      expect(changed.statusCode, changed.body).toBe(200)
      await shop.placeOrder([{ CatalogID, ItemQuantity: 1 + turn }])
      if (turn === 1) await here.restart()
      await nextRound(move)
    }
    expect(await following.end('SIGINT'), following.output()).toBe(0)
    expect(following.output()).not.toMatch(/deleted|missing there/)
    const requests = source.requests.length
    await expectEqual(move)
    console.log(
      `${counts.stored} records, copied in ${seconds.toFixed(1)} s with ${KILLS} kills; ${requests} requests in all, faults: ${JSON.stringify(Object.fromEntries(source.failed))}`,
    )
  },
  isWhole ? 3_600_000 : 300_000,
)

test('the sandbox behind the same source, with the bucket as it is, comes without a refusal', async () => {
  const move = await openMove({ oddities, seed }, { throttle: null })
  expect((await importInto(move.there, move.shop, await readRecords(recordsDay))).refused).toEqual([])
  let tick = Date.now()
  // The source's bucket leaks by the time of its clock.
  move.source.intercept = () => {
    move.there.clock.ms += Date.now() - tick
    tick = Date.now()
    return undefined
  }
  const copied = await move.run()
  expect(copied.code, copied.output).toBe(0)
  expect(copied.output).not.toContain('429')
  await expectEqual(move)
})
