import { contractRateLimit, type RateLimit, rateLimitOf } from '../applications/throttle.ts'
import type { Db } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import { inBlocks } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { normaliseHost } from './secure-url.ts'
import { callerStoreColumns, callerStoreOf } from './stores.ts'

/** The credentials of a cartAPI call, and the client's address. */
export interface StoreCredentials {
  readonly storeUrl: string
  readonly userKey: string
  /** The client's IP address. */
  readonly address: string
}

/** The store that a cartAPI key belongs to. */
export interface StoreEntry {
  readonly caller: Caller
  /** The bucket of the store's cartAPI calls (contract §8). */
  readonly throttle: RateLimit & { readonly key: string }
  readonly isEnabled: boolean
  readonly isAllowed: (address: string) => boolean
}

/** The last editor recorded for changes through cartAPI (soap-cartapi §1.2). */
const ACTOR = 'API'

/** Returns the store with this user key if `storeUrl` is its address; otherwise null. */
export async function findStoreEntry(
  { db, secrets, now }: { db: Db; secrets: Secrets; now: () => Date },
  { storeUrl, userKey }: Pick<StoreCredentials, 'storeUrl' | 'userKey'>,
): Promise<StoreEntry | null> {
  const row = await db.store.findUnique({
    where: { userKeyHash: secrets.lookup(userKey) },
    select: {
      ...callerStoreColumns,
      host: true,
      cartApiEnabled: true,
      cartApiAddresses: true,
      throttleCapacity: true,
      throttleLeakPerSecond: true,
    },
  })
  if (!row || row.host !== normaliseHost(storeUrl)) return null
  const { id, cartApiEnabled, cartApiAddresses } = row
  return {
    caller: { store: callerStoreOf(row), application: null, channel: 'api', privileges: null, actor: ACTOR, db, now },
    throttle: { key: `cartAPI ${id}`, ...(rateLimitOf(row) ?? contractRateLimit) },
    isEnabled: cartApiEnabled,
    isAllowed: cartApiAddresses.length === 0 ? () => true : inBlocks(cartApiAddresses),
  }
}

/** Why cartAPI refuses a call. The first reason that applies is reported. */
export type StoreRefusal = 'key' | 'switched-off' | 'address'

/** A 401 of cartAPI. cartAPI reports the reason as a number. */
export class RefusedStore extends StoreFailure {
  readonly reason: StoreRefusal

  constructor(reason: StoreRefusal) {
    super('unauthorized', refusals[reason].message, { field: refusals[reason].field })
    this.reason = reason
  }
}

/** Without the right key, a caller learns neither whether the store exists nor its settings. */
const refusals: Readonly<Record<StoreRefusal, { message: string; field: string }>> = {
  key: { message: 'userKey is not the key of the store that storeUrl names', field: 'userKey' },
  'switched-off': { message: 'The store has switched cartAPI off', field: 'storeUrl' },
  address: { message: 'The store does not allow calls of cartAPI from this address', field: 'storeUrl' },
}
