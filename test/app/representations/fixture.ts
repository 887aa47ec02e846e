import type { LightMyRequestResponse } from 'fastify'
import { connect } from '../../../src/database/client.ts'
import { workerDatabase } from '../../support/database.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { soapCall } from '../soap/support.ts'

/** Another process over the worker's database. */
export function openProcess(settings: Record<string, string> = {}): Promise<TestServer> {
  return openServer(settings, async () => {
    const { url } = await workerDatabase()
    const db = connect(url)
    return { url, db, drop: () => db.$disconnect() }
  })
}

/** A request that only reads. */
export interface Read {
  readonly path: string
  readonly accept?: string
  /** The entity tag in `If-None-Match`. */
  readonly known?: string
}

export function get(
  { app }: TestServer,
  { credentials }: TestStore,
  { path, accept = 'application/json', known }: Read,
): Promise<LightMyRequestResponse> {
  return app.inject({
    url: `/StoreWebAPI/v1${path}`,
    headers: { ...credentials, accept, ...(known !== undefined && { 'if-none-match': known }) },
  })
}

/** What a client gets to see of an answer. */
export async function shownBy(server: TestServer, shop: TestStore, read: Read): Promise<string> {
  const { statusCode, headers, body } = await get(server, shop, read)
  return [statusCode, headers.etag, headers.link, body].join('\n')
}

/** What cartAPI shows of all products. */
export function cartProducts(server: TestServer, shop: TestStore): Promise<string> {
  return soapCall(server, shop, 'getProduct', { batchSize: 100 })
}

/** Creates a record and returns its id. */
export async function created(shop: TestStore, path: string, body: object): Promise<number> {
  const answer = await shop.call('POST', path, { body })
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return Number(answer.json()[0].Value)
}
