import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { accessesOf } from '../../src/access/applications/privileges.ts'
import { readSandboxFile } from '../../src/foundation/process/data-folder.ts'
import { privilegedServices } from '../../src/shop/registry.ts'
import { freePort, type Run, runServer, temporaryFolder } from '../support/run-server.ts'
import { sendBytes } from './request-lines.ts'
import type { FuzzAnswer, FuzzRequest } from './requests.ts'

/** A store with an application of its own, as programs call it. */
export interface FuzzStore {
  readonly id: number
  readonly secureUrl: string
  readonly userKey: string
  readonly applicationId: number
  readonly publicKey: string
  readonly privateKey: string
  readonly token: string
  readonly account: FuzzAccount
}

type FuzzAccount = Readonly<Record<'Email' | 'Password', string>>

/** A server in a process of its own, with the sandbox store, and a second store whose secrets no answer may hold. */
export interface Installation {
  readonly run: Run
  readonly baseUrl: string
  readonly operatorKey: string
  readonly home: FuzzStore
  readonly other: FuzzStore
  /** Credentials of the home store with the contract's bucket. */
  readonly narrow: Readonly<Record<string, string>>
  readonly developer: FuzzAccount
  /** Base address of a receiver on this machine for callbacks and webhooks. */
  readonly receiver: string
  /** Throws when no answer comes. */
  readonly send: (request: Pick<FuzzRequest, 'method' | 'path' | 'headers' | 'body' | 'bytes'>) => Promise<FuzzAnswer>
  /** A JSON request; throws for a status from 400 on. */
  readonly json: (method: string, path: string, headers: Record<string, string>, body?: unknown) => Promise<unknown>
  /** The same with new credentials, in case requests took from a store what the others need. */
  readonly renewed: () => Promise<Installation>
  readonly stop: () => Promise<void>
}

export const OPERATOR_KEY = 'operator-key-of-the-fuzzer'
/** Stands in the records of the other store. */
export const OTHER_MARK = 'Zq7-only-in-the-other-store'
const ANSWER_TIMEOUT_MS = 60_000
/** Null would leave out what has to be named. */
const all = Object.fromEntries(privilegedServices.map((service) => [service, accessesOf(service)]))
const roomy = { Capacity: 1_000_000, LeakPerSecond: 10_000 }

/** Starts the server on a database without rows. */
export async function openInstallation(databaseUrl: string, concurrency: number): Promise<Installation> {
  const folder = temporaryFolder()
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const run = runServer({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    PORT: String(port),
    PUBLIC_URL: baseUrl,
    SANDBOX: 'true',
    OPERATOR_KEY,
    SECRET_KEY: 'a secret key for fuzzing alone, 32+',
    // Requests that are refused count per network, and so each says that it comes from another.
    TRUST_PROXY: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
  })
  const receiver = await openSink()
  const pool = new Pool(baseUrl, {
    connections: concurrency,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  })
  const stop = async () => {
    await pool.destroy()
    await run.end()
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  }
  const send: Installation['send'] = async ({ method, path, headers, body, bytes }) => {
    if (bytes !== undefined) return sendBytes(baseUrl, bytes)
    const answer = await pool.request({ method: method as 'GET', path, headers: headers.flat(), body })
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) }
  }
  const json = jsonClient(send)
  try {
    await run.shows('Base address')
    const sandbox = await readSandboxFile(folder)
    if (!sandbox) throw new Error(`The server made no sandbox:\n${run.output()}`)
    const { store, developer } = sandbox
    const operator = operatorOf(json)
    const account = { Email: store.email, Password: store.password }
    const opened = { id: store.id, secureUrl: store.secureUrl, userKey: store.userKey, account }
    const { privateKey, token } = sandbox.application
    const made = (home: FuzzStore, other: FuzzStore, developer: FuzzAccount): Installation => ({
      run,
      baseUrl,
      operatorKey: OPERATOR_KEY,
      home,
      other,
      narrow: { SecureURL: store.secureUrl, PrivateKey: privateKey, Token: token },
      developer,
      receiver: receiver.url,
      send,
      json,
      renewed: async () =>
        made(await operator.renew(home), await operator.renew(other), await operator.account('/admin/developers')),
      stop,
    })
    const first = { Email: developer.email, Password: developer.password }
    return made({ ...opened, ...(await operator.join(store.id)) }, await openOther(operator, json), first)
  } catch (error) {
    await stop()
    throw error
  }
}

function jsonClient(send: Installation['send']): Installation['json'] {
  return async (method, path, given, body) => {
    const headers = Object.entries({ ...given, ...(body !== undefined && { 'content-type': 'application/json' }) })
    const answer = await send({
      method,
      path,
      headers,
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
    })
    const text = answer.body.toString()
    if (answer.status >= 400) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
}

type Operator = ReturnType<typeof operatorOf>

function operatorOf(json: Installation['json']) {
  const call = (method: string, path: string, body: object) =>
    json(method, path, { authorization: `Bearer ${OPERATOR_KEY}` }, body) as Promise<Record<string, never>>
  const join = async (id: number) => {
    await call('PUT', `/admin/stores/${id}`, { Throttle: roomy })
    const application = await call('POST', '/admin/applications', { Name: 'Fuzzer', Throttle: roomy, Privileges: all })
    const { Id: applicationId = 0, PublicKey: publicKey = '', PrivateKey: privateKey = '' } = application
    const { Token: token = '' } = await call('POST', `/admin/stores/${id}/subscriptions`, { PublicKey: publicKey })
    return { id, applicationId, publicKey, privateKey, token }
  }
  const account = async (path: string): Promise<FuzzAccount> => {
    const made = { Email: `account-${process.hrtime.bigint()}@fuzz.example`, Password: 'correct horse battery' }
    await call('POST', path, made)
    return made
  }
  return {
    call,
    account,
    renew: async (store: FuzzStore): Promise<FuzzStore> => {
      const path = `/admin/stores/${store.id}`
      await call('PUT', path, { SecureURL: store.secureUrl, CartAPI: { Enabled: true, Addresses: [] } })
      const { UserKey: userKey = store.userKey } = await call('POST', `${path}/user-key`, {})
      return { ...store, ...(await join(store.id)), userKey, account: await account(`${path}/users`) }
    },
    /** A new application with everything allowed and a bucket that does not fill, in the store. */
    join,
  }
}

async function openOther({ call, join }: Operator, json: Installation['json']): Promise<FuzzStore> {
  const account = { Email: 'owner@other.example', Password: 'correct horse battery' }
  const secureUrl = 'https://other.example'
  const { Id: id = 0, UserKey: userKey = '' } = await call('POST', '/admin/stores', {
    Name: OTHER_MARK,
    SecureURL: secureUrl,
    ...account,
  })
  const joined = await join(id)
  const headers = { SecureURL: secureUrl, PrivateKey: joined.privateKey, Token: joined.token }
  for (const [service, record] of Object.entries(otherRecords)) {
    for (let count = 0; count < 3; count++) await json('POST', `/StoreWebAPI/v1/${service}`, headers, record(count))
  }
  return { ...joined, secureUrl, userKey, account }
}

const otherRecords: Readonly<Record<string, (count: number) => object>> = {
  Category: (count) => ({ CategoryName: `${OTHER_MARK} ${count}` }),
  Products: (count) => ({ SKUInfo: { SKU: `OTHER-${count}`, Name: `${OTHER_MARK} ${count}`, Price: 7, Stock: 5 } }),
  Customers: (count) => ({ Email: `c${count}@other.example`, Password: 'secret', BillingLastName: OTHER_MARK }),
}

/** Answers 200, at some paths 500, to whatever comes. */
async function openSink() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(request.url?.includes('fail') ? 500 : 200).end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
