import type pg from 'pg'
import { createProgress } from '../../../src/cli/progress.ts'
import { visitEmbedded } from '../../../src/foundation/embedded/embedded.ts'
import { readSandboxFile, type SandboxFile } from '../../../src/foundation/process/data-folder.ts'
import { openClient } from '../../../test/support/client.ts'
import { importLines } from '../../../test/support/import.ts'
import { freePort, type Run, runServer } from '../../../test/support/run-server.ts'
import type { Stops } from '../../bench/bench.ts'
import { convertRetail } from '../convert.ts'
import { type Shop, send } from './traffic.ts'

/** An embedded installation, as `npm start` makes it, with the year in its sandbox store. */
export interface Installation {
  readonly shop: Shop
  /** What its programs and its server are given. */
  readonly settings: Record<string, string>
  /** Asks its database, wherever that is. */
  query<R extends pg.QueryResultRow>(text: string): Promise<R[]>
  /** Stops the server and starts it again, with other settings if they are given. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>
  readonly server: () => Run
}

/** Applications whose keys a rotation has to seal anew. */
const APPLICATIONS = 2_000
/** The year's, whose ids are the highest. */
const PRODUCTS = 500
const wideThrottle = { Capacity: 1_000_000, LeakPerSecond: 10_000 }

export async function openInstallation(dataDir: string, file: string, stops: Stops): Promise<Installation> {
  const port = String(await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const settings: Record<string, string> = {
    PORT: port,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
    OUTBOUND_ALLOW: '127.0.0.0/8',
  }
  let server = await start(settings)
  await stops.add(() => end(server))
  const sandbox = await readSandboxFile(dataDir)
  if (!sandbox) throw new Error('There is no sandbox.json')
  const query = async <R extends pg.QueryResultRow>(text: string) => {
    const url = settings.DATABASE_URL ?? (await visitEmbedded(dataDir)).url
    const client = await openClient(url)
    return (await client.query<R>(text).finally(() => client.end())).rows
  }
  await load(baseUrl, sandbox, file)
  const shop: Shop = {
    baseUrl,
    operatorKey: sandbox.operatorKey,
    storeId: sandbox.store.id,
    headers: await subscribe(baseUrl, sandbox),
    productIds: (
      await query<{ id: number }>(
        `SELECT id FROM "Product" WHERE "storeId" = ${sandbox.store.id} AND NOT "notForSale" ORDER BY id DESC LIMIT ${PRODUCTS}`,
      )
    ).map(({ id }) => id),
  }
  for (const CatalogID of shop.productIds) {
    const { status } = await send(shop, 'PUT', `/StoreWebAPI/v1/Products/${CatalogID}`, { SKUInfo: { Stock: 100_000 } })
    if (status !== 200) throw new Error(`Product ${CatalogID} could not be given a stock: ${status}`)
  }
  return {
    shop,
    settings,
    query,
    server: () => server,
    restart: async (more = {}) => {
      await end(server)
      server = await start(Object.assign(settings, more))
    },
  }
}

async function start(settings: Readonly<Record<string, string>>): Promise<Run> {
  const run = runServer({ ...settings })
  await run.shows(`:${settings.PORT}`)
  return run
}

async function end({ process: child, exited }: Run): Promise<void> {
  child.kill('SIGTERM')
  await exited
}

async function load(baseUrl: string, { operatorKey, store }: SandboxFile, file: string): Promise<void> {
  const progress = createProgress({ label: 'Loading the year' })
  const { counts } = await importLines(
    { baseUrl, operatorKey, storeId: store.id },
    convertRetail(file),
    progress.advanceTo,
  )
  progress.done()
  if (counts.refused > 0) throw new Error(`${counts.refused} of ${counts.lines} lines were refused`)
}

/** Registers many applications; the first is the one that works for the store. */
async function subscribe(
  baseUrl: string,
  { operatorKey, store }: SandboxFile,
): Promise<Readonly<Record<string, string>>> {
  const operator = { baseUrl, operatorKey, storeId: store.id, headers: {}, productIds: [] }
  const post = async (path: string, body: object) => {
    const { status, value } = await send(operator, 'POST', path, body)
    if (status !== 201) throw new Error(`${path} answered ${status}: ${JSON.stringify(value)}`)
    return value as Readonly<Record<string, string>>
  }
  const { PublicKey, PrivateKey = '' } = await post('/admin/applications', { Name: 'Day', Throttle: wideThrottle })
  const { Token = '' } = await post(`/admin/stores/${store.id}/subscriptions`, { PublicKey })
  for (let number = 1; number < APPLICATIONS; number++)
    await post('/admin/applications', { Name: `Application ${number}` })
  return { SecureURL: store.secureUrl, PrivateKey, Token }
}
