import { request } from 'undici'
import type { BenchServer } from './bench-server.ts'

/** Credentials of an application in a store. */
export type Credentials = Readonly<Record<string, string>>

/** A bucket that no measurement fills. */
export const wide = { Capacity: 1_000_000, LeakPerSecond: 10_000 }

/** Subscribes a new application to a store. `throttle` null: it has the contract's bucket. Without privileges: everything but what has to be named. */
export async function subscribe(
  { post }: BenchServer,
  { id, secureUrl }: { readonly id: number; readonly secureUrl: string },
  throttle: object | null = wide,
  privileges: object = {},
): Promise<Credentials> {
  const { PublicKey, PrivateKey } = await post('/admin/applications', {
    Name: 'Bench',
    Throttle: throttle,
    ...privileges,
  })
  const { Token } = await post(`/admin/stores/${id}/subscriptions`, { PublicKey: String(PublicKey) })
  return { SecureURL: secureUrl, PrivateKey: String(PrivateKey), Token: String(Token) }
}

/** Returns the JSON of an answer of REST. Throws unless it is a success. */
export async function callRest(
  origin: string,
  credentials: Credentials,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await request(`${origin}/StoreWebAPI/v1${path}`, {
    method,
    headers: { ...credentials, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
  return JSON.parse(text)
}
