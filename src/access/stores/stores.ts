import type { z } from 'zod'
import { byId, type DataServices, type Db, type Paging, type Transaction } from '../../foundation/database/client.ts'
import type { Store as StoreRow } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { generateKey, isOneOf, type Secrets } from '../../foundation/values/secrets.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type AccessServices, changeAccess } from './access-changes.ts'
import { requireFreeKeys } from './brought-keys.ts'
import { callerStoreOf, noSuchStore } from './caller-store.ts'
import { differences } from './change-store.ts'
import { rateLimitColumns, rateLimitOf } from './rate-limit.ts'
import { normaliseHost } from './secure-url.ts'
import type { changedStore } from './store-input.ts'

/** The columns of a key for cartAPI. Omitted: a new one. */
export function userKeyColumns(secrets: Secrets, userKey = generateKey()) {
  return { userKeyHash: secrets.lookup(userKey), userKeySealed: secrets.seal(userKey) }
}

/**
 * Makes the hosts of a store those of its addresses. Throws when two of them have one host (400), and for a host that another
 * store has (409), naming SecureURL or SecureURLs.
 */
export async function writeHosts(tx: Transaction, { id: storeId, secureUrl, furtherUrls }: StoreRow): Promise<void> {
  const main = normaliseHost(secureUrl)
  const further = furtherUrls.map(normaliseHost)
  const hosts = [...new Set([main, ...further])].sort()
  if (hosts.length <= further.length) {
    const message = 'SecureURLs must have a host of its own for each address, and not that of SecureURL'
    throw new StoreFailure('not-unique', message, { field: 'SecureURLs', status: 400 })
  }
  await tx.storeHost.deleteMany({ where: { storeId, host: { notIn: hosts } } })
  await tx.$executeRaw`
    INSERT INTO "StoreHost" ("host", "storeId") SELECT unnest(${hosts}::text[]), ${storeId}::int
    ON CONFLICT ("host") DO NOTHING`
  const own = await tx.storeHost.findMany({ where: { storeId }, select: { host: true } })
  const isOwn = new Set(own.map(({ host }) => host))
  const taken = hosts.filter((host) => !isOwn.has(host))
  if (taken.length === 0) return
  const field = taken.includes(main) ? 'SecureURL' : 'SecureURLs'
  const message = `${field} has the host of another store; a store needs hosts of its own`
  throw new StoreFailure('not-unique', message, { field })
}

/** How long a closed store may be opened again. */
export const CLOSED_MS = 30 * 86_400_000

/** When a store that is closed since then is deleted. */
export function endOfClosing(closedAt: Date): Date {
  return new Date(closedAt.getTime() + CLOSED_MS)
}

export type Store = ReturnType<typeof storeOf>

/** The row with whether the store is a developer's own. */
export const withTest = { include: { testStore: { select: { state: true } } } } as const

type StoreRowWithTest = StoreRow & { readonly testStore: { readonly state: string } | null }

export function storeOf(row: StoreRowWithTest, secrets: Secrets) {
  return {
    ...callerStoreOf(row),
    /** The key for cartAPI. */
    userKey: secrets.open(row.userKeySealed),
    /** When the user key was brought along. Null: it was made here. */
    userKeyBroughtAt: row.userKeyBroughtAt,
    /** Other addresses under which requests find the store. */
    furtherUrls: row.furtherUrls,
    /** Whether cartAPI is enabled, and the addresses and CIDR blocks allowed to call it. No addresses: any address. */
    cartApi: { enabled: row.cartApiEnabled, addresses: row.cartApiAddresses },
    /** The rate limit of cartAPI. Null: the contract's rate limit. */
    throttle: rateLimitOf(row),
    /** Whether it is a developer's own, to try things out in. */
    isTest: row.testStore !== null && row.closedAt === null,
    /** Since when it is closed. Null: it is open. */
    closedAt: row.closedAt,
    /** From when on it is deleted. Null: it is open. */
    deletedFrom: row.closedAt && endOfClosing(row.closedAt),
    createdAt: row.createdAt,
  }
}

/**
 * Changes the given fields of a store. A null Throttle restores the contract's rate limit. Changes take effect at once:
 * after a change of SecureURL, callers must send the new one, unless the former is one of SecureURLs. A SecureURL that was
 * one of SecureURLs no longer is. Throws for Throttle, SecureURLs and UserKey from anyone but the operator (403), for a UserKey
 * that cannot be used here (400), for an unknown store (404), and for a host that another store has (409).
 */
export async function updateStore(
  services: AccessServices,
  id: number,
  given: z.output<typeof changedStore>,
  actor: Actor,
): Promise<Store> {
  const { Name, SecureURL, Currency, TimeZone, Country, CartAPI, Throttle, SecureURLs, UserKey } = given
  const ofOperator = Object.entries({ Throttle, SecureURLs, UserKey }).find(([, value]) => value !== undefined)
  if (ofOperator && actor.kind !== 'operator') {
    const [field] = ofOperator
    throw new StoreFailure('forbidden', `Only the operator can set ${field}`, { field })
  }
  const data = {
    ...(Name !== undefined && { name: Name }),
    ...(SecureURL !== undefined && { secureUrl: SecureURL }),
    ...(Currency !== undefined && { currency: Currency }),
    ...(TimeZone !== undefined && { timeZone: TimeZone }),
    ...(Country !== undefined && { country: Country }),
    ...(CartAPI?.Enabled !== undefined && { cartApiEnabled: CartAPI.Enabled }),
    ...(CartAPI?.Addresses !== undefined && { cartApiAddresses: CartAPI.Addresses }),
    ...(Throttle !== undefined && rateLimitColumns(Throttle)),
  }
  return changeAccess(services, async (tx) => {
    const { secrets, now } = services
    const before = await lockStore(tx, id)
    const isKeyNew = UserKey !== undefined && !isOneOf(before.userKeyHash, secrets.lookups(UserKey))
    if (isKeyNew) await requireFreeKeys(tx, secrets, { UserKey })
    const furtherUrls = SecureURLs ?? withoutHost(before.furtherUrls, SecureURL)
    const key = isKeyNew && { ...userKeyColumns(secrets, UserKey), userKeyBroughtAt: now() }
    const row = await tx.store.update({ where: { id }, data: { ...data, furtherUrls, ...key }, ...withTest })
    if (SecureURL !== undefined || SecureURLs !== undefined) await writeHosts(tx, row)
    const about = { actor, target: row.name, storeId: id }
    const details = differences(before, row, [...Object.keys(data), 'furtherUrls'])
    if (Object.keys(details).length > 0) await recordAudit(tx, now, { ...about, action: 'store.changed', details })
    if (isKeyNew) await recordAudit(tx, now, { ...about, action: 'store.user-key-brought' })
    return storeOf(row, services.secrets)
  })
}

/** Returns the addresses that do not have the host of `secureUrl`. */
function withoutHost(addresses: readonly string[], secureUrl = ''): string[] {
  const host = normaliseHost(secureUrl)
  return addresses.filter((address) => normaliseHost(address) !== host)
}

/** Replaces the store's cartAPI key. The former key stops working at once. Throws for an unknown store (404). */
export async function rotateUserKey(services: AccessServices, id: number, actor: Actor): Promise<Store> {
  const { secrets, now } = services
  return changeAccess(services, async (tx) => {
    await lockStore(tx, id)
    const data = { ...userKeyColumns(secrets), userKeyBroughtAt: null }
    const row = await tx.store.update({ where: { id }, data, ...withTest })
    await recordAudit(tx, now, { actor, action: 'store.user-key-rotated', target: row.name, storeId: id })
    return storeOf(row, secrets)
  })
}

/** Throws for an unknown store (404). */
export async function lockStore(tx: Transaction, id: number): Promise<StoreRowWithTest> {
  await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${id} FOR UPDATE`
  return findStoreRow(tx, id)
}

async function findStoreRow(db: Db | Transaction, id: number): Promise<StoreRowWithTest> {
  const row = await db.store.findUnique({ where: { id }, ...withTest })
  if (!row) throw noSuchStore(id)
  return row
}

/** Lists stores by ascending id. */
export async function listStores({ db, secrets }: Pick<DataServices, 'db' | 'secrets'>, page: Paging) {
  const rows = await db.store.findMany({ ...byId(page), ...withTest })
  return rows.map((row) => storeOf(row, secrets))
}

/** Returns the store with the fields that only its owner may see. Throws for an unknown id (404). */
export async function storeWithKey({ db, secrets }: Pick<DataServices, 'db' | 'secrets'>, id: number): Promise<Store> {
  return storeOf(await findStoreRow(db, id), secrets)
}
