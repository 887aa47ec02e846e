import { IANAZone } from 'luxon'
import { z } from 'zod'
import type { Caller, CallerStore } from '../caller.ts'
import { type Db, databaseError, inTransaction, type Transaction } from '../database/client.ts'
import type { Store as StoreRow } from '../database/generated/client.ts'
import { StoreFailure } from '../failure.ts'
import type { Figures } from '../throttle.ts'
import { columnsOf, figuresOf, throttleInput } from './figures.ts'
import { namedObject, readInput, text } from './input.ts'
import { builtInOrderStatuses } from './order-statuses.ts'
import { hashPassword } from './passwords.ts'
import { generateKey, type Secrets } from './secrets.ts'
import { normaliseHost, readSecureUrl } from './secure-url.ts'

export interface Store extends CallerStore {
  /** cartAPI's key. */
  readonly userKey: string
  /** The bucket of cartAPI; null: the contract's figures. */
  readonly throttle: Figures | null
  readonly createdAt: Date
}

const PASSWORD_LENGTH_MAX = 1000

const address = 'must be an address such as https://shop.example, of at most 255 characters'
const email = 'must be an e-mail address of at most 254 characters'
const currency = 'must be a currency code of three letters, such as USD'
const zone = 'must be a time zone name such as America/New_York'
const password = `must be a text of 1 to ${PASSWORD_LENGTH_MAX} characters`

/** The body of `POST /admin/stores` (design.md, "Fixed names"). The operator gives the password, and answers for its strength. */
export const newStore = namedObject({
  Name: text(200),
  SecureURL: z
    .string(address)
    .max(255, address)
    .transform((given, context) => {
      const secureUrl = readSecureUrl(given)
      if (secureUrl === null) context.addIssue({ code: 'custom', message: address })
      return secureUrl ?? z.NEVER
    }),
  Email: z.string(email).trim().max(254, email).pipe(z.email(email)),
  Password: z.string(password).min(1, password).max(PASSWORD_LENGTH_MAX, password),
  Currency: z
    .string(currency)
    .regex(/^[A-Za-z]{3}$/, currency)
    .transform((code) => code.toUpperCase())
    .default('USD'),
  // Intl takes offsets such as +05:00 too, but those are no zones.
  TimeZone: z
    .string(zone)
    .max(64, zone)
    .refine((name) => /^[a-z]/i.test(name) && IANAZone.isValidZone(name), zone)
    .optional(),
  Throttle: throttleInput,
})

export interface CreateStore {
  db: Db | Transaction
  secrets: Secrets
  now: () => Date
  /** For a store whose input has none: the setting TIME_ZONE. */
  defaultTimeZone: string
}

/**
 * Opens a store with its merchant's account, its user key and the twelve order statuses, in one transaction.
 * `input` has the names of `POST /admin/stores`: Name, SecureURL, Email, Password, Currency, TimeZone, Throttle.
 * Refuses input that does not fit (400), and an address whose host another store has (409).
 */
export async function createStore({ db, secrets, now, defaultTimeZone }: CreateStore, input: unknown): Promise<Store> {
  const given = readInput(newStore, input)
  const userKey = generateKey()
  const createdAt = now()
  const merchant = { email: given.Email, passwordHash: await hashPassword(given.Password), createdAt }
  const data = {
    name: given.Name,
    secureUrl: given.SecureURL,
    host: normaliseHost(given.SecureURL),
    currency: given.Currency,
    timeZone: given.TimeZone ?? defaultTimeZone,
    userKeyHash: secrets.lookup(userKey),
    userKeySealed: secrets.seal(userKey),
    ...columnsOf(given.Throttle),
    createdAt,
  }
  const row = await inTransaction(db, async (tx) => {
    const store = await tx.store.create({ data }).catch(refuseTakenHost)
    await tx.storeUser.create({ data: { storeId: store.id, ...merchant } })
    await tx.orderStatus.createMany({ data: builtInOrderStatuses(store.id) })
    return store
  })
  return storeOf(row, secrets)
}

function refuseTakenHost(error: unknown): never {
  if (databaseError(error)?.constraint !== 'Store_host_key') throw error
  throw new StoreFailure('conflict', 'SecureURL has the host of another store; a store needs a host of its own', {
    field: 'SecureURL',
  })
}

function storeOf(row: StoreRow, secrets: Secrets): Store {
  return {
    ...callerStoreOf(row),
    userKey: secrets.open(row.userKeySealed),
    throttle: figuresOf(row),
    createdAt: row.createdAt,
  }
}

function callerStoreOf({ id, name, secureUrl, currency, timeZone }: CallerStore): CallerStore {
  return { id, name, secureUrl, currency, timeZone }
}

/** Stores by ascending id. */
export async function listStores(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { limit, offset }: { limit: number; offset: number },
): Promise<Store[]> {
  const rows = await db.store.findMany({ orderBy: { id: 'asc' }, take: limit, skip: offset })
  return rows.map((row) => storeOf(row, secrets))
}

/** Refuses an id that no store has (404). */
export async function storeById(db: Db | Transaction, id: number): Promise<CallerStore> {
  const row = await db.store.findUnique({
    where: { id },
    select: { id: true, name: true, secureUrl: true, currency: true, timeZone: true },
  })
  if (!row) throw noSuchStore(id)
  return callerStoreOf(row)
}

export function noSuchStore(id: number): StoreFailure {
  return new StoreFailure('not-found', `No store has the id ${id}`, { field: String(id) })
}

/** The operator at work in a store: everything is allowed. Refuses an id that no store has (404). */
export async function operatorCaller({ db, now }: { db: Db; now: () => Date }, storeId: number): Promise<Caller> {
  const store = await storeById(db, storeId)
  return { store, application: null, privileges: null, actor: 'operator', db, now }
}
