import { rm } from 'node:fs/promises'
import { request } from 'undici'
import type { TransferLine } from '../../src/engine/transfer/import.ts'
import { readSandboxFile } from '../../src/foundation/process/data-folder.ts'
import { importLines } from '../../test/support/import.ts'
import { freePort, runServer, temporaryFolder } from '../../test/support/run-server.ts'

/** What a program needs to call a store. */
export interface Credentials {
  readonly storeUrl: string
  readonly userKey: string
}

export interface Server {
  /** Of cartAPI, as the WSDL says it. */
  readonly address: string
  readonly namespaces: readonly [string, string]
  /** The store that the server made itself. Its bucket has the contract's figures. */
  readonly sandbox: Credentials
  /** A list of the sandbox, as REST gives it. */
  readonly read: (service: string, limit: number) => Promise<Record<string, unknown>[]>
  /** A new store in New York with these records, and a bucket that no program fills. */
  readonly openStore: (records: readonly TransferLine[]) => Promise<Credentials>
  readonly stop: () => Promise<void>
}

const OPERATOR_KEY = 'operator-key-for-tests'
const namespaces = ['urn:store-platform:cartAPI', 'http://cart.example/'] as const

/** The server as `npm start` runs it, with a sandbox, at an address that its WSDL names. `databaseUrl` absent: its own, in a temporary folder. */
export async function startServer(databaseUrl?: string): Promise<Server> {
  const folder = temporaryFolder()
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const run = runServer({
    DATA_DIR: folder,
    PORT: String(port),
    PUBLIC_URL: baseUrl,
    SANDBOX: 'true',
    OPERATOR_KEY,
    SECRET_KEY: 'a secret key for tests alone, 32+',
    SOAP_NAMESPACES: namespaces.join(','),
    LOG_LEVEL: 'error',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  })
  const stop = async () => {
    run.process.kill('SIGTERM')
    await run.exited
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await run.shows('Base address')
    const sandbox = await readSandboxFile(folder)
    if (!sandbox) throw new Error(`The server made no sandbox:\n${run.output()}`)
    const { store, application } = sandbox
    const headers = { secureurl: store.secureUrl, privatekey: application.privateKey, token: application.token }
    return {
      address: `${baseUrl}/cart.asmx`,
      namespaces,
      sandbox: { storeUrl: store.secureUrl, userKey: store.userKey },
      read: (service, limit) => getJson(`${baseUrl}/StoreWebAPI/v1/${service}?limit=${limit}`, headers),
      openStore: (records) => openStore(baseUrl, records),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function getJson<T>(url: string, headers: Record<string, string>): Promise<T> {
  const { statusCode, body } = await request(url, { headers })
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${await body.text()}`)
  return (await body.json()) as T
}

let storeCount = 0

async function openStore(baseUrl: string, records: readonly TransferLine[]): Promise<Credentials> {
  const { statusCode, body } = await request(`${baseUrl}/admin/stores`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      Name: 'Old programs',
      SecureURL: `https://shop-${++storeCount}.example`,
      Email: 'merchant@shop.example',
      Password: 'correct horse battery',
      TimeZone: 'America/New_York',
      Throttle: { Capacity: 1000, LeakPerSecond: 100 },
    }),
  })
  const text = await body.text()
  if (statusCode !== 201) throw new Error(`The store was not made: ${statusCode} ${text}`)
  const { Id, SecureURL, UserKey } = JSON.parse(text) as { Id: number; SecureURL: string; UserKey: string }
  const { refused } = await importLines({ baseUrl, operatorKey: OPERATOR_KEY, storeId: Id }, records)
  if (refused.length > 0) throw new Error(`Records were refused: ${JSON.stringify(refused)}`)
  return { storeUrl: SecureURL, userKey: UserKey }
}
