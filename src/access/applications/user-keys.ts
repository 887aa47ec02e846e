import type { DataServices } from '../../foundation/database/client.ts'
import { inBlocks } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneLine } from '../../foundation/values/input.ts'
import { callerStoreOf, closedMessage } from '../stores/caller-store.ts'
import { rateLimitOf } from '../stores/rate-limit.ts'
import { normaliseHost } from '../stores/secure-url.ts'
import type { Authenticated } from './authenticate.ts'
import { contractRateLimit } from './limits/throttle.ts'

// Which store the user key of a cartAPI call opens.

/** The credentials of a cartAPI call, and the client's IP address. */
export interface StoreCredentials {
  readonly storeUrl: string
  readonly userKey: string
  readonly address: string
}

/**
 * Why cartAPI refuses a call. The first reason that applies is reported. Without the right key, a caller learns neither
 * whether the store exists nor its settings.
 */
const storeRefusals = {
  key: { message: 'userKey is not the key of the store that storeUrl names', field: 'userKey' },
  closed: { message: closedMessage, field: 'storeUrl' },
  'switched-off': { message: 'The store has switched cartAPI off', field: 'storeUrl' },
  address: { message: 'The store does not allow calls of cartAPI from this address', field: 'storeUrl' },
}

/** A 401 of cartAPI. cartAPI reports the reason as a number. */
export class RefusedStore extends StoreFailure {
  readonly reason: keyof typeof storeRefusals

  constructor(reason: keyof typeof storeRefusals) {
    const { message, field } = storeRefusals[reason]
    super('unauthorized', message, { field })
    this.reason = reason
  }
}

/** The store that a cartAPI key belongs to. */
export interface StoreEntry extends Authenticated {
  readonly isClosed: boolean
  readonly isEnabled: boolean
  readonly isAllowed: (address: string) => boolean
}

/** The last editor recorded for changes through cartAPI is API (soap-cartapi §1.2). */
const ofCartApi = { application: null, channel: 'api', privileges: null, actor: 'API' } as const

/** Returns the store with this user key if `storeUrl` is one of its addresses; otherwise null. */
export async function findStoreEntry(
  { db, secrets, now }: DataServices,
  { storeUrl, userKey }: Pick<StoreCredentials, 'storeUrl' | 'userKey'>,
): Promise<StoreEntry | null> {
  const host = normaliseHost(storeUrl)
  if (!isOneLine(host)) return null
  const userKeyHash = { in: secrets.lookups(userKey) }
  const row = await db.store.findFirst({ where: { userKeyHash, hosts: { some: { host } } } })
  if (!row) return null
  const { id, closedAt, cartApiEnabled, cartApiAddresses } = row
  return {
    caller: { ...ofCartApi, store: callerStoreOf(row), db, now, secrets },
    throttle: { key: `cartAPI ${id}`, ...(rateLimitOf(row) ?? contractRateLimit) },
    isByBearer: false,
    isStrict: false,
    keepsBodies: false,
    isClosed: closedAt !== null,
    isEnabled: cartApiEnabled,
    isAllowed: cartApiAddresses.length === 0 ? () => true : inBlocks(cartApiAddresses),
  }
}
