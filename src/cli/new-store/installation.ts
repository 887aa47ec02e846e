import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { normaliseHost } from '../../access/stores/secure-url.ts'
import type { Privileges } from '../../engine/caller.ts'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { callServer, LostAnswer, requireOwnServer, type Server } from '../server.ts'

// Stores, applications and subscriptions, as the operator's routes show and make them.

const TRIES_MAX = 3
const RETRY_MS = 500
const PAGE = 500

export interface Store {
  readonly Id: number
  readonly Name: string
  readonly SecureURL: string
  readonly SecureURLs: readonly string[]
  readonly UserKey: string
  /** Null: the key was made here. */
  readonly DateUserKeyBrought: string | null
}

export interface Application {
  readonly Id: number
  readonly Name: string
  readonly PublicKey: string
  readonly PrivateKey: string
  /** Null: the key was made here. */
  readonly DatePrivateKeyBrought: string | null
  readonly Privileges: Privileges
}

interface Subscription {
  readonly ApplicationId: number
  readonly Name: string
  readonly Token: string
  /** Null: the token was made here. */
  readonly DateTokenBrought: string | null
}

type NewStore = Record<'Name' | 'SecureURL' | 'Email' | 'Password' | 'Currency' | 'TimeZone', string>

/** Throws StartupError when the address does not lead to the server, or the server does not know the operator key. */
export async function checkServer(server: Server): Promise<void> {
  await requireOwnServer(server)
  await listed(server, '/admin/stores', { limit: 1, offset: 0 })
}

export function findStore(server: Server, secureUrl: string): Promise<Store | undefined> {
  const host = normaliseHost(secureUrl)
  return find<Store>(server, '/admin/stores', ({ SecureURL, SecureURLs }) =>
    [SecureURL, ...SecureURLs].some((address) => normaliseHost(address) === host),
  )
}

/** The store's subscription to an application of this name. */
export function findSubscription(server: Server, storeId: number, name: string): Promise<Subscription | undefined> {
  return find<Subscription>(server, `/admin/stores/${storeId}/subscriptions`, (one) => one.Name === name)
}

export async function applicationWithId(server: Server, id: number): Promise<Application> {
  const application = await find<Application>(server, '/admin/applications', (one) => one.Id === id)
  if (application) return application
  throw new StartupError(`The server does not list the application ${id}`)
}

export async function openStore(server: Server, body: NewStore): Promise<Store> {
  const opened = await change<Pick<Store, 'Id' | 'SecureURL' | 'UserKey'>>(server, '/admin/stores', body, randomUUID())
  return { Name: body.Name, SecureURLs: [], DateUserKeyBrought: null, ...opened }
}

/** Registers it once a day for the same store, so that a command that was cut off here can be run again. */
export function registerApplication(server: Server, storeId: number, body: Pick<Application, 'Name' | 'Privileges'>) {
  const key = createHash('sha256')
    .update(JSON.stringify(['new-store', storeId, body]))
    .digest('hex')
  return change<Application>(server, '/admin/applications', body, key)
}

/** Returns the token. A store that uses the application already keeps the one that it has. */
export async function subscribe(server: Server, storeId: number, publicKey: string): Promise<string> {
  const path = `/admin/stores/${storeId}/subscriptions`
  const { Token } = await change<{ Token: string }>(server, path, { PublicKey: publicKey }, randomUUID())
  return Token
}

/** Looks through all pages of one of the operator's lists. */
export async function find<T>(server: Server, path: string, isWanted: (item: T) => boolean): Promise<T | undefined> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await listed<T>(server, path, { limit: PAGE, offset })
    const found = page.find(isWanted)
    if (found !== undefined || page.length < PAGE) return found
  }
}

async function listed<T>(server: Server, path: string, page: { limit: number; offset: number }): Promise<T[]> {
  return callJson<T[]>(server, `${path}?limit=${page.limit}&offset=${page.offset}`)
}

/** Sends a change again when its answer is lost; the key makes it one change. */
export async function change<T>(server: Server, path: string, content: object, key: string): Promise<T> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const options = { method: 'POST', headers, body: JSON.stringify(content) } as const
  for (let tries = 1; ; tries++) {
    try {
      return await callJson<T>(server, path, options)
    } catch (error) {
      if (!(error instanceof LostAnswer) || tries === TRIES_MAX) throw error
      await delay(RETRY_MS)
    }
  }
}

async function callJson<T>(server: Server, path: string, options?: Parameters<typeof callServer>[2]): Promise<T> {
  const body = await callServer(server, path, options)
  return body.json().catch((error: Error) => {
    throw new LostAnswer(`The answer of ${server.baseUrl} was cut off (${error.message})`)
  }) as Promise<T>
}
