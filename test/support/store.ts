import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Application, registerApplication } from '../../src/access/applications/applications.ts'
import { createAuthenticator } from '../../src/access/applications/authenticate.ts'
import { createCallLog } from '../../src/access/applications/calls/call-log.ts'
import { createThrottle } from '../../src/access/applications/limits/throttle.ts'
import { addSubscription } from '../../src/access/applications/subscriptions/subscription-rows.ts'
import { createStore } from '../../src/access/people/create-store.ts'
import type { Store } from '../../src/access/stores/stores.ts'
import { buildApp, openApiDocument, type Services } from '../../src/app.ts'
import type { Access, Caller } from '../../src/engine/caller.ts'
import { createTestStores } from '../../src/operations/sandbox/runner.ts'
import { createCsvImports } from '../../src/shop/csv/apply/runner.ts'
import { servedResources } from '../../src/shop/registry.ts'
import { type AnswerCheck, answerCheck } from './answer-check.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { type TestDatabase, workerDatabase } from './database.ts'
import { servicesOn } from './services.ts'
import { shared } from './shared.ts'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS'

export interface CallOptions {
  /** A text or bytes as they are; anything else as JSON. */
  body?: unknown
  accept?: string
  contentType?: string
  /** Over the credentials; undefined leaves one out. */
  headers?: Record<string, string | undefined>
  version?: 'v1' | 'v2'
  /** The query or the body is spelt in a way that is taken but not documented. */
  tolerated?: boolean
}

/** A request as it was sent, and what came back. */
export interface Exchange {
  readonly method: Method
  /** With the query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty: none was sent. */
  readonly body: string
  readonly isTolerated: boolean
  readonly answer: LightMyRequestResponse
}

export interface TestServer {
  readonly app: FastifyInstance
  readonly services: Services
  readonly database: TestDatabase
  /** The present of everything in the server; it stands unless a test moves it. */
  readonly clock: TestClock
  /** Every answer to a store's `call` is held against the reference: what that says otherwise, `call` throws. */
  readonly check: AnswerCheck
  /** What the server logged, a line each. */
  readonly log: string[]
  readonly openStore: (options?: StoreOptions) => Promise<TestStore>
  /** A request with the operator's key. */
  readonly operate: (method: Method, url: string, body?: unknown) => Promise<LightMyRequestResponse>
  readonly close: () => Promise<void>
}

export interface StoreOptions {
  /** Such as `{ Products: ['read'] }`; absent: everything. */
  privileges?: Readonly<Record<string, readonly Access[]>>
  /** The application's, and the store's for cartAPI. Absent: buckets that no test fills; null: the contract's figures. */
  throttle?: { capacity: number; leakPerSecond: number } | null
  timeZone?: string
  currency?: string
}

/** A store, with an application that it is subscribed to. */
export interface TestStore {
  readonly store: Store
  readonly application: Application
  readonly token: string
  readonly credentials: { secureurl: string; privatekey: string; token: string }
  /** For calling the engine's functions directly. */
  readonly caller: Caller
  /** A request with the store's credentials; `path` follows the version, such as `/Products?limit=5`. */
  readonly call: (method: Method, path: string, options?: CallOptions) => Promise<LightMyRequestResponse>
  /** Posts a record or an item, which must be taken; its id. */
  readonly add: (path: string, body: object) => Promise<number>
  /** The same store, called by another application that is subscribed to it. */
  readonly as: (options?: Pick<StoreOptions, 'privileges' | 'throttle'>) => Promise<TestStore>
  /** Places an order at the operator's door, at another process's if `app` says so; its id. */
  readonly placeOrder: (items: readonly object[], fields?: object, app?: FastifyInstance) => Promise<number>
}

/** Those of the registry, and what has an address of its own: the feed of events, and the log of calls. */
const checkedServices = [
  ...servedResources,
  ...['Events', 'Calls', 'Checkout'].map((service) => ({ service, names: [service] })),
]
const documents = new Map<string, object>()

/** The reference of a server with these options; one object for the same, because making it takes longer than opening a server. */
function documentOf(options: Parameters<typeof openApiDocument>[0]): object {
  const key = JSON.stringify([options.publicUrl, options.restPrefixes])
  const document = documents.get(key) ?? openApiDocument(options)
  documents.set(key, document)
  return document
}

const roomy = { capacity: 1_000_000, leakPerSecond: 10_000 }
let serial = 0
let applications = 0

/**
 * The whole application on the worker's database or another, with a clock that stands at noon of a day in March 2026. `fill`: makes
 * the records of developers' test stores.
 */
export async function openServer(
  settings: Record<string, string> = {},
  openDatabase: () => Promise<TestDatabase> = workerDatabase,
  { fill }: { fill?: (caller: Caller) => Promise<void> } = {},
): Promise<TestServer> {
  const database = await openDatabase()
  const { db } = database
  const clock = createTestClock(Date.parse('2026-03-10T16:00:00Z'))
  const now = () => new Date(clock.ms)
  const log: string[] = []
  const base = servicesOn(db, settings, log)
  const authenticator = createAuthenticator({ db, secrets: base.secrets, now })
  const services: Services = {
    ...base,
    now,
    authenticator,
    callLog: createCallLog({ db, now, log: base.log }),
    csvImports: createCsvImports({ db, secrets: base.secrets, now, log: base.log }),
    testStores: createTestStores({ ...base, now, authenticator }, fill),
    throttle: createThrottle(now),
    setTimer: clock.setTimer,
  }
  const app = buildApp(services)
  await app.ready()
  // The path of PUBLIC_URL is taken away before an address reaches the server.
  const publicUrl = new URL(base.config.publicUrl).origin
  const check = answerCheck(documentOf({ publicUrl, restPrefixes: base.config.restPrefixes }), checkedServices)
  const server: TestServer = {
    app,
    services,
    database,
    clock,
    check,
    log,
    openStore: (options = {}) => openStore(server, options),
    operate: async (method, url, body) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${services.operatorKey}` },
        ...(body !== undefined && { payload: body as object }),
      }),
    close: async () => {
      await app.close()
      await services.csvImports.stop()
      await services.testStores.stop()
      await services.callLog.stop()
      await database.drop()
      // The worker keeps each test file's variables, and with them the server, until it exits: 10 MB each.
      Object.assign(server, { app: undefined, services: undefined, check: undefined })
    },
  }
  return server
}

/** One server for all tests of a file, which closes it: `const server = await sharedServer()` where the file begins. */
export function sharedServer(...options: Parameters<typeof openServer>): Promise<TestServer> {
  return shared(openServer(...options))
}

async function openStore(server: TestServer, options: StoreOptions): Promise<TestStore> {
  const { throttle = roomy, timeZone, currency } = options
  const number = ++serial
  const store = await createStore(server.services, {
    Name: `Shop ${number}`,
    SecureURL: `https://shop-${number}.example`,
    Email: 'merchant@shop.example',
    Password: 'correct horse battery',
    Throttle: throttle,
    ...(timeZone && { TimeZone: timeZone }),
    ...(currency && { Currency: currency }),
  })
  return subscribedStore(server, store, options)
}

/** A store of the server, called by a new application that is subscribed to it. */
export async function subscribedStore(
  server: TestServer,
  store: Store,
  options: StoreOptions = {},
): Promise<TestStore> {
  const { services } = server
  const { privileges, throttle = roomy } = options
  const application = await registerApplication(services, {
    Name: `Application ${++applications}`,
    Throttle: throttle,
    ...(privileges && { Privileges: privileges }),
  })
  const { token } = await addSubscription(services, { storeId: store.id, publicKey: application.publicKey })
  const credentials = { secureurl: store.secureUrl, privatekey: application.privateKey, token }
  const { caller } = await services.authenticator.authenticate({
    secureUrl: store.secureUrl,
    privateKey: application.privateKey,
    token,
  })
  const shop: TestStore = {
    store,
    application,
    token,
    credentials,
    caller,
    as: (others = {}) => subscribedStore(server, store, others),
    add: async (path, body) => idIn(await shop.call('POST', path, { body })),
    placeOrder: async (items, fields = {}, app = server.app) => {
      const answer = await app.inject({
        method: 'POST',
        url: `/admin/stores/${store.id}/orders`,
        headers: { authorization: `Bearer ${services.operatorKey}` },
        payload: { BillingEmail: 'guest@shop.example', OrderItemList: items, ...fields },
      })
      return idIn(answer)
    },
    call: async (method, path, options = {}) => {
      const request = injection(method, path, credentials, options)
      const answer = await server.app.inject(request)
      const { url, headers, payload = '' } = request
      server.check.verify({
        method,
        url,
        headers,
        body: String(payload),
        isTolerated: options.tolerated === true,
        answer,
      })
      return answer
    },
  }
  return shop
}

function idIn({ statusCode, body }: LightMyRequestResponse): number {
  if (statusCode !== 201) throw new Error(`${statusCode} ${body.slice(0, 500)}`)
  return Number(JSON.parse(body)[0].Value)
}

interface Injection extends InjectOptions {
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload?: string | Buffer
}

function injection(
  method: Method,
  path: string,
  credentials: Record<string, string>,
  { body, accept, contentType, headers, version = 'v1' }: CallOptions,
): Injection {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const type = contentType ?? (body === undefined || isRaw ? undefined : 'application/json')
  const all = {
    ...credentials,
    ...(accept !== undefined && { accept }),
    ...(type !== undefined && { 'content-type': type }),
    ...headers,
  }
  const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
  return {
    method,
    url: `/StoreWebAPI/${version}${path}`,
    headers: Object.fromEntries(sent),
    ...(body !== undefined && { payload: isRaw ? body : JSON.stringify(body) }),
  }
}
