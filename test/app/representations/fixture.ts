import type { LightMyRequestResponse } from 'fastify'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { connect } from '../../../src/foundation/database/client.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import { workerDatabase } from '../../support/database.ts'
import { type Method, openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { envelope, post, request } from '../http/soap/support.ts'

/** Another process over the worker's database. */
export function openProcess(settings: Record<string, string> = {}): Promise<TestServer> {
  return openServer(settings, async () => {
    const { url } = await workerDatabase()
    const db = connect(url)
    return { url, db, drop: () => db.$disconnect() }
  })
}

/** Who asks. */
export type Client = Pick<TestStore, 'store' | 'credentials'>

export interface SendOptions {
  readonly accept?: string | undefined
  readonly body?: unknown
  /** The entity tag in `If-None-Match`. */
  readonly known?: string
}

export function send(
  { app }: Pick<TestServer, 'app'>,
  { credentials }: Pick<Client, 'credentials'>,
  method: Method,
  path: string,
  { accept = 'application/json', body, known }: SendOptions = {},
): Promise<LightMyRequestResponse> {
  return app.inject({
    method,
    url: `/StoreWebAPI/v1${path}`,
    headers: { ...credentials, accept, ...(known !== undefined && { 'if-none-match': known }) },
    ...(body !== undefined && { payload: body as object }),
  })
}

/** Sends a change, which must succeed, and returns the id in its first result. */
export async function change(
  server: Pick<TestServer, 'app'>,
  client: Pick<Client, 'credentials'>,
  method: Method,
  path: string,
  body?: unknown,
): Promise<number> {
  const answer = await send(server, client, method, path, { body })
  if (answer.statusCode !== 200 && answer.statusCode !== 201) throw new Error(`${method} ${path}: ${answer.body}`)
  return Number(answer.json()[0].Value)
}

type Shown = ReadonlyMap<string, string>

/**
 * What a process shows of a store: each service's records as lists, two by two, one by one, below the first and in part, in
 * JSON and XML, and cartAPI's pages. By what was read.
 */
export async function allShownBy(server: Pick<TestServer, 'app'>, client: Client): Promise<Shown> {
  const shown = new Map<string, string>()
  const read = async (path: string, accept = 'application/json') => {
    const { statusCode, headers, body } = await send(server, client, 'GET', path, { accept })
    shown.set(`${path} ${accept}`, [statusCode, headers.etag, headers.link, body].join('\n'))
    return body
  }
  for (const resource of servedResources) {
    const [all] = await Promise.all([
      read(`/${resource.service}`),
      read(`/${resource.service}`, 'application/xml'),
      read(`/${resource.service}?limit=2`),
    ])
    const [first, second] = idsIn(all, resource).map((id) => `/${resource.service}/${id}`)
    const below = Object.keys(resource.subResources).map((name) => `${first}/${name}`)
    await Promise.all([first, ...below, second].map((path) => path !== undefined && read(path)))
  }
  await read('/Products/skuinfo')
  for (const operation of ['getProduct', 'getOrder', 'getCustomer']) {
    const { body } = await post(server, envelope(request(client, operation, { batchSize: 100 })))
    shown.set(operation, body)
  }
  return shown
}

function idsIn(list: string, { fields, resultKey }: Resource): readonly number[] {
  // Empty: there are none.
  const records = JSON.parse(list || '[]') as Record<string, Record<string, number>>[]
  const isOwn = fields.get(resultKey) !== undefined
  return records.map((record) => Number(isOwn ? record[resultKey] : record.SKUInfo?.[resultKey]))
}
