import { type Dispatcher, request } from 'undici'
import { storeInput } from '../../../support/access.ts'
import { operatorKey } from '../../../support/services.ts'

export interface Answer {
  readonly status: number
  readonly text: string
}

/** A store behind an address that may be out of service now and then. */
export interface ServerStore {
  readonly id: number
  /** A REST request; `path` follows the version. Rejects where there is no answer. */
  readonly call: (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, sent?: Sent) => Promise<Answer>
  /** Places an order by the operator's route; with an Idempotency-Key once. */
  readonly place: (body: object, key?: string, dispatcher?: Dispatcher) => Promise<Answer>
}

export interface Sent {
  readonly body?: unknown
  /** Idempotency-Key */
  readonly key?: string
  /** The connections that are taken; absent: those of all requests. */
  readonly dispatcher?: Dispatcher | undefined
}

const TIMEOUT_MS = 20_000

/**
 * Made by the operator's routes, with an application that nothing holds up; `name` must be unique on a server. `base`: one address, or where the
 * next request goes.
 */
export async function openServerStore(
  base: string | (() => string),
  name = 'shop',
  privileges: object = {},
): Promise<ServerStore> {
  const nextUrl = typeof base === 'string' ? () => base : base
  const operator = { authorization: `Bearer ${operatorKey}` }
  const secureUrl = `https://${name}.example`
  const store = { ...storeInput(), SecureURL: secureUrl }
  const { Id } = await made(send(nextUrl(), 'POST', '/admin/stores', operator, store))
  const throttle = { Capacity: 1_000_000, LeakPerSecond: 10_000 }
  const application = { Name: 'Notified', Throttle: throttle, ...privileges }
  const { PublicKey, PrivateKey } = await made(send(nextUrl(), 'POST', '/admin/applications', operator, application))
  const { Token } = await made(send(nextUrl(), 'POST', `/admin/stores/${Id}/subscriptions`, operator, { PublicKey }))
  const withKey = (key?: string) => (key === undefined ? {} : { 'idempotency-key': key })
  const credentials = { secureurl: secureUrl, privatekey: String(PrivateKey), token: String(Token) }
  return {
    id: Number(Id),
    call: (method, path, { body, key, dispatcher } = {}) =>
      send(nextUrl(), method, `/StoreWebAPI/v1${path}`, { ...credentials, ...withKey(key) }, body, dispatcher),
    place: (body, key, dispatcher) =>
      send(nextUrl(), 'POST', `/admin/stores/${Id}/orders`, { ...operator, ...withKey(key) }, body, dispatcher),
  }
}

/** The identifiers out of the result items of a change that was made whole. */
export function idsIn({ status, text }: Answer): number[] {
  if (status !== 200 && status !== 201) throw new Error(`${status}: ${text}`)
  return (JSON.parse(text) as { Value: string }[]).map(({ Value }) => Number(Value))
}

async function made(sent: Promise<Answer>): Promise<Record<string, unknown>> {
  const { status, text } = await sent
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

async function send(
  baseUrl: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  headers: Record<string, string>,
  body?: unknown,
  dispatcher?: Dispatcher,
): Promise<Answer> {
  const answer = await request(`${baseUrl}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(dispatcher && { dispatcher }),
  })
  return { status: answer.statusCode, text: await answer.body.text() }
}
