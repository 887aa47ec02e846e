import { IANAZone } from 'luxon'
import { z } from 'zod'
import { type Caller, type CallerStore, OPERATOR } from '../../engine/caller.ts'
import {
  byId,
  type DataServices,
  type Db,
  inTransaction,
  type JoiningServices,
  type Paging,
  type Transaction,
} from '../../foundation/database/client.ts'
import type { Store as StoreRow } from '../../foundation/database/generated/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import { isAddressBlock } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneLine, namedObject, text } from '../../foundation/values/input.ts'
import { generateKey, isOneOf, type Secrets } from '../../foundation/values/secrets.ts'
import { type AccessServices, changeAccess } from '../applications/access-changes.ts'
import { broughtKeyInput, requireFreeKeys } from '../applications/brought-keys.ts'
import { rateLimitColumns, rateLimitOf, throttleInput } from '../applications/limits/throttle.ts'
import { type Actor, installation, recordAudit } from '../audit/audit.ts'
import { insertIdentity } from '../people/identities.ts'
import { emailInput, hashPassword, newPasswordInput, refuseNamesAsPassword } from '../people/passwords.ts'
import { normaliseHost, readSecureUrl } from './secure-url.ts'

const address = 'must be an address such as https://shop.example, without blanks inside, of at most 255 characters'
const currency = 'must be a currency code of three letters, such as USD'
const zone = 'must be a time zone name such as America/New_York'

const secureUrlInput = z
  .string(address)
  .max(255, address)
  .transform((given, context) => {
    const secureUrl = readSecureUrl(given)
    if (secureUrl === null) context.addIssue({ code: 'custom', message: address })
    return secureUrl ?? z.NEVER
  })
const currencyInput = z
  .string(currency)
  .regex(/^[A-Za-z]{3}$/, currency)
  .transform((code) => code.toUpperCase())
// Intl also accepts offsets such as +05:00, which are not zones.
const zoneInput = z
  .string(zone)
  .max(64, zone)
  .refine((name) => /^[a-z]/i.test(name) && IANAZone.isValidZone(name), zone)

const CURRENCY_DEFAULT = 'USD'

/** The maximum number of addresses that a store has beside its main one. */
export const FURTHER_URLS_MAX = 20
const further = `must be a list of at most ${FURTHER_URLS_MAX} addresses such as https://shop.example`
const furtherUrlsInput = z
  .array(secureUrlInput, further)
  .max(FURTHER_URLS_MAX, further)
  .optional()
  .describe(
    'Further addresses, such as those on another platform, under which requests find the store: the whole list.',
  )

/** What the members of a store are. */
export const storeWords = {
  Name: 'The name of the store as people read it.',
  SecureURL: 'The address of the shop. Requests name the store by it, in the header SecureURL.',
  Currency: 'The ISO 4217 code of the currency of all amounts in the store. Nothing is converted when it changes.',
  TimeZone: 'The time zone of the times in its records, by its name in the IANA database, such as `America/New_York`.',
  CartAPI: 'The access of programs to the store by cartAPI.',
  UserKey:
    'A key for cartAPI that programs have from another platform. Left out: one is made for a new store, or the one of now stays.',
}

/** What is said of a new store. */
export const storeMembers = {
  Name: text(200).describe(storeWords.Name),
  SecureURL: secureUrlInput.describe(storeWords.SecureURL),
  Currency: currencyInput.optional().meta({ default: CURRENCY_DEFAULT, description: storeWords.Currency }),
  TimeZone: zoneInput.optional().describe(`${storeWords.TimeZone} Left out: that of the setting TIME_ZONE.`),
  Throttle: throttleInput,
  SecureURLs: furtherUrlsInput,
  UserKey: broughtKeyInput.describe(storeWords.UserKey),
}

/** The body of `POST /admin/stores` (contract §10.1). */
export const newStore = namedObject({
  Name: storeMembers.Name,
  SecureURL: storeMembers.SecureURL,
  Email: emailInput.describe('The e-mail address with which the owner signs in.'),
  Password: newPasswordInput,
  Currency: storeMembers.Currency,
  TimeZone: storeMembers.TimeZone,
  Throttle: storeMembers.Throttle,
  SecureURLs: storeMembers.SecureURLs,
  UserKey: storeMembers.UserKey,
})

/** A store whose owner is invited. */
export const unownedStore = namedObject(storeMembers)

/** The maximum number of addresses from which a store allows cartAPI calls. */
export const ADDRESSES_MAX = 100
/** The longest IPv6 address with its prefix length. */
const ADDRESS_LENGTH_MAX = 49
const examples = 'such as 203.0.113.7 or 203.0.113.0/24'
const addresses = `must be a list of at most ${ADDRESSES_MAX} IP addresses or CIDR blocks, ${examples}`
const addressBlock = `must be an IP address or a CIDR block, ${examples}`

/** What the members of CartAPI say. */
export const cartApiWords = {
  Enabled: 'Whether cartAPI takes calls for the store.',
  Addresses: 'The IP addresses and CIDR blocks from which it takes them; an empty list: from anywhere.',
}

const cartApiInput = namedObject({
  Enabled: z.boolean('must be true or false').optional().describe(cartApiWords.Enabled),
  Addresses: z
    .array(
      z.string(addressBlock).trim().max(ADDRESS_LENGTH_MAX, addressBlock).refine(isAddressBlock, addressBlock),
      addresses,
    )
    .max(ADDRESSES_MAX, addresses)
    .optional()
    .describe(cartApiWords.Addresses),
})

/** The body of `PUT /admin/stores/{id}`. Omitted fields stay unchanged. */
export const changedStore = namedObject({
  Name: text(200).optional().describe(storeWords.Name),
  SecureURL: secureUrlInput.optional().describe(storeWords.SecureURL),
  Currency: currencyInput.optional().describe(storeWords.Currency),
  TimeZone: zoneInput.optional().describe(storeWords.TimeZone),
  CartAPI: cartApiInput.optional().describe(storeWords.CartAPI),
  Throttle: throttleInput,
  SecureURLs: furtherUrlsInput,
  UserKey: broughtKeyInput.describe(storeWords.UserKey),
})

/** `defaultTimeZone`: the zone of a store created without one, the setting TIME_ZONE. */
export type CreateStore = JoiningServices & { defaultTimeZone: string }

/** The statuses of a new store, ids from 1 in this order (order-statuses §1.1). Custom ones are hidden until renamed. */
export const initialStatuses = [
  'New',
  'Processing',
  'Partial',
  'Shipped',
  'Cancel',
  'Hold',
  'Not Completed',
  'Custom 1',
  'Custom 2',
  'Custom 3',
  'Unpaid',
  'Review',
]

/** The payment methods of a new store, ids from 1 in this order. A store with other methods renames or hides these. */
const initialMethods = [
  'Online Credit Card',
  'PayPal Express Checkout',
  'Check or Money Order',
  'Purchase Order',
  'Bank Transfer',
  'Cash on Delivery',
]

/** What the numbers of returns mean in a new store, from 1 in these orders (order-statuses §3). A store with others renames or hides these. */
const initialReturnLists = {
  reasons: ['Damaged item', 'Wrong item', 'No longer wanted', 'Other'],
  methods: ['Money back', 'Exchange for the same product', 'Exchange for a different product'],
  statuses: ['New', 'Approved', 'Received', 'Completed', 'Denied'],
} as const

/**
 * Creates a store with its owner's account, user key, order statuses and other lists, in one transaction. Throws
 * when the password is a name of the account or UserKey cannot be used here (400), or another store has a host (409).
 */
export async function createStore(
  services: CreateStore,
  { Email, Password, ...given }: z.output<typeof newStore>,
  actor: Actor = installation,
): Promise<Store> {
  const { db, now } = services
  refuseNamesAsPassword(Password, { email: Email, storeName: given.Name })
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const store = await createUnownedStore({ ...services, db: tx }, given, actor)
    const owner = await insertIdentity(tx, now, { email: Email, passwordHash })
    await tx.storeUser.create({ data: { storeId: store.id, ...owner, role: 'owner', createdAt: store.createdAt } })
    return store
  })
}

/** Creates a store that nobody belongs to yet, as `createStore`. */
export async function createUnownedStore(
  { db, secrets, now, defaultTimeZone }: CreateStore,
  given: z.output<typeof unownedStore>,
  actor: Actor,
): Promise<Store> {
  const createdAt = now()
  const data = {
    name: given.Name,
    secureUrl: given.SecureURL,
    furtherUrls: given.SecureURLs ?? [],
    currency: given.Currency ?? CURRENCY_DEFAULT,
    timeZone: given.TimeZone ?? defaultTimeZone,
    ...userKeyColumns(secrets, given.UserKey),
    userKeyBroughtAt: given.UserKey === undefined ? null : createdAt,
    ...rateLimitColumns(given.Throttle),
    createdAt,
  }
  return inTransaction(db, async (tx) => {
    await requireFreeKeys(tx, secrets, { UserKey: given.UserKey })
    const row = await tx.store.create({ data, ...withTest })
    const { id: storeId, name: target } = row
    await writeHosts(tx, row)
    const statuses = initialStatuses.map((name, index) => {
      const visible = !name.startsWith('Custom')
      return { storeId, id: index + 1, sorting: index + 1, definition: name, text: name, visible, updatedAt: createdAt }
    })
    await tx.orderStatus.createMany({ data: statuses })
    const named = (names: readonly string[]) =>
      names.map((name, index) => ({ storeId, id: index + 1, name, visible: true }))
    await tx.paymentMethod.createMany({ data: named(initialMethods) })
    await tx.returnReason.createMany({ data: named(initialReturnLists.reasons) })
    await tx.returnMethod.createMany({ data: named(initialReturnLists.methods) })
    await tx.returnStatus.createMany({ data: named(initialReturnLists.statuses) })
    await recordAudit(tx, now, { actor, action: 'store.created', target, storeId })
    if (row.userKeyBroughtAt) await recordAudit(tx, now, { actor, action: 'store.user-key-brought', target, storeId })
    return storeOf(row, secrets)
  })
}

/** The columns of a key for cartAPI. Omitted: a new one. */
export function userKeyColumns(secrets: Secrets, userKey = generateKey()) {
  return { userKeyHash: secrets.lookup(userKey), userKeySealed: secrets.seal(userKey) }
}

/**
 * Makes the hosts of a store those of its addresses. Throws when two of them have one host (400), and for a host that another
 * store has (409), naming SecureURL or SecureURLs.
 */
async function writeHosts(tx: Transaction, { id: storeId, secureUrl, furtherUrls }: StoreRow): Promise<void> {
  const main = normaliseHost(secureUrl)
  const further = furtherUrls.map(normaliseHost)
  const hosts = [...new Set([main, ...further])].sort()
  if (hosts.length <= further.length) {
    const message = 'SecureURLs must have a host of its own for each address, and not that of SecureURL'
    throw new StoreFailure('bad-request', message, { field: 'SecureURLs' })
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
  throw new StoreFailure('conflict', message, { field })
}

export type Store = ReturnType<typeof storeOf>

/** The row with whether the store is a developer's own. */
const withTest = { include: { testStore: { select: { state: true } } } } as const

type StoreRowWithTest = StoreRow & { readonly testStore: { readonly state: string } | null }

function storeOf(row: StoreRowWithTest, secrets: Secrets) {
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
    isTest: row.testStore !== null,
    createdAt: row.createdAt,
  }
}

export type ChangeStore = AccessServices

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
  const { Name, SecureURL, Currency, TimeZone, CartAPI, Throttle, SecureURLs, UserKey } = given
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
    const changed = [...(Object.keys(data) as (keyof typeof data)[]), 'furtherUrls'] as const
    const details = differences(before, row, changed)
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

/** Maps each changed column to its former and new value. All but booleans and lists become text. */
function differences<Column extends keyof StoreRow>(before: StoreRow, after: StoreRow, columns: readonly Column[]) {
  const changed = columns.filter((name) => String(before[name]) !== String(after[name]))
  const audited = (value: StoreRow[Column]) =>
    typeof value === 'boolean' || Array.isArray(value) ? value : String(value)
  return Object.fromEntries(changed.map((name) => [name, { from: audited(before[name]), to: audited(after[name]) }]))
}

/** Replaces the store's cartAPI key. The former key stops working at once. Throws for an unknown store (404). */
export async function rotateUserKey(services: AccessServices, id: number, actor: Actor): Promise<Store> {
  const { secrets, now } = services
  return changeAccess(services, async (tx) => {
    await lockStore(tx, id)
    const row = await tx.store.update({
      where: { id },
      data: { ...userKeyColumns(secrets), userKeyBroughtAt: null },
      ...withTest,
    })
    await recordAudit(tx, now, { actor, action: 'store.user-key-rotated', target: row.name, storeId: id })
    return storeOf(row, secrets)
  })
}

async function lockStore(tx: Transaction, id: number): Promise<StoreRowWithTest> {
  await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${id} FOR UPDATE`
  return findStoreRow(tx, id)
}

async function findStoreRow(db: Db | Transaction, id: number): Promise<StoreRowWithTest> {
  const row = await db.store.findUnique({ where: { id }, ...withTest })
  if (!row) throw noSuchStore(id)
  return row
}

/** Lists stores by ascending id. */
export async function listStores(
  { db, secrets }: Pick<DataServices, 'db' | 'secrets'>,
  page: Paging,
): Promise<Store[]> {
  const rows = await db.store.findMany({ ...byId(page), ...withTest })
  return rows.map((row) => storeOf(row, secrets))
}

/** Returns the store with the fields that only its owner may see. Throws for an unknown id (404). */
export async function storeWithKey({ db, secrets }: Pick<DataServices, 'db' | 'secrets'>, id: number): Promise<Store> {
  return storeOf(await findStoreRow(db, id), secrets)
}

/** Returns only the columns that a caller may see. */
export function callerStoreOf({ id, name, secureUrl, currency, timeZone }: CallerStore): CallerStore {
  return { id, name, secureUrl, currency, timeZone }
}

/** A CallerStore, built from the columns of the table "Store". */
export const callerStoreJson = sql`json_build_object('id', "Store"."id", 'name', "Store"."name",
  'secureUrl', "Store"."secureUrl", 'currency', "Store"."currency", 'timeZone', "Store"."timeZone")`

/** The hosts of all addresses of a row of the table "Store". */
export const hostsOfStore = sql`ARRAY(SELECT "host" FROM "StoreHost" WHERE "storeId" = "Store"."id")`

/** Throws for an unknown id (404). */
export async function storeById(db: Db | Transaction, id: number): Promise<CallerStore> {
  const row = await db.store.findUnique({ where: { id } })
  if (!row) throw noSuchStore(id)
  return callerStoreOf(row)
}

/** Returns the store that has an address, main or further, with or without scheme, `www.` and slash (rest-protocol §9.1), or null. */
export async function findStoreAt(db: Db, address: string): Promise<CallerStore | null> {
  const host = normaliseHost(address)
  if (host === '' || !isOneLine(host)) return null
  const row = await db.storeHost.findUnique({ where: { host }, select: { store: true } })
  return row && callerStoreOf(row.store)
}

export function noSuchStore(id: number): StoreFailure {
  return new StoreFailure('not-found', `No store has the id ${id}`, { field: String(id) })
}

/** Returns a caller for the operator, with all privileges in the store. Throws for an unknown id (404). */
export async function operatorCaller({ db, secrets, now }: DataServices, storeId: number): Promise<Caller> {
  const store = await storeById(db, storeId)
  return { store, application: null, channel: 'administration', privileges: null, actor: OPERATOR, db, now, secrets }
}
