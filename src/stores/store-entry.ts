import { contractRateLimit, type RateLimit, rateLimitOf } from '../applications/throttle.ts'
import type { Db } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import { inBlocks } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { normaliseHost } from './secure-url.ts'
import { callerStoreColumns, callerStoreOf } from './stores.ts'

/** What a program sends with each call of cartAPI, and where it calls from. */
export interface StoreCredentials {
  readonly storeUrl: string
  readonly userKey: string
  /** The client's IP address. */
  readonly address: string
}

/** A store that cartAPI was called for with its key. */
export interface StoreEntry {
  readonly caller: Caller
  /** The bucket that the call counts in: one for the store (contract §8). */
  readonly throttle: RateLimit & { readonly key: string }
  readonly isEnabled: boolean
  readonly isAllowed: (address: string) => boolean
}

/** The last editor of what cartAPI changes (soap-cartapi §1.2). */
const ACTOR = 'API'

/** The store of a user key, where `storeUrl` is its address; null: there is none. */
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

/** Why cartAPI lets a caller not in; the first that holds. */
export type StoreRefusal = 'key' | 'switched-off' | 'address'

/** A 401 of cartAPI, which tells its callers by numbers what was wrong. */
export class RefusedStore extends StoreFailure {
  readonly reason: StoreRefusal

  constructor(reason: StoreRefusal) {
    super('unauthorized', refusals[reason].message, { field: refusals[reason].field })
    this.reason = reason
  }
}

/** Whoever has not the key learns nothing of a store: neither whether there is one, nor what it has set. */
const refusals: Readonly<Record<StoreRefusal, { message: string; field: string }>> = {
  key: { message: 'userKey is not the key of the store that storeUrl names', field: 'userKey' },
  'switched-off': { message: 'The store has switched cartAPI off', field: 'storeUrl' },
  address: { message: 'The store does not allow calls of cartAPI from this address', field: 'storeUrl' },
}
