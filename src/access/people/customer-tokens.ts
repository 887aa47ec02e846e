import type { Caller } from '../../engine/caller.ts'
import { inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import { openStoreById } from '../stores/closing.ts'
import { newToken } from './links.ts'
import { type Client, openSession, type SessionServices } from './sessions.ts'

export interface CustomerTokenServices {
  secrets: Secrets
  /** The base of all generated addresses, without a trailing slash. */
  publicUrl: string
}

const TOKEN_BYTES = 48
const TOKEN = /^[\w-]{64}$/
const MINUTES_MAX = 1440
const TOKENS_MAX = 20

/**
 * Creates a link that signs a customer in once, within `minutes` (1 to 1440): `url` opens a page with a button for it,
 * and contains `token`, 64 characters of base64url. A customer has at most 20 links: a further one deletes the oldest.
 * Throws for minutes out of range (400), for an unknown customer (404), and for a disabled one (409).
 */
export async function issueCustomerToken(
  { secrets, publicUrl }: CustomerTokenServices,
  { db, store, now }: Caller,
  { customerId, minutes }: { readonly customerId: number; readonly minutes: number },
) {
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MINUTES_MAX) {
    const message = `minutes must be a whole number from 1 to ${MINUTES_MAX}`
    throw new StoreFailure('out-of-range', message, { field: 'minutes' })
  }
  return inTransaction(db, async (tx) => {
    await lockCustomer(tx, { storeId: store.id, customerId })
    const made = await insertToken(tx, { secrets, now }, { storeId: store.id, customerId, minutes })
    return { ...made, url: publicUrl + made.link }
  })
}

/** Adds a link in the transaction that holds its customer. The same statements add none where no customer has the id. */
export async function insertToken(
  tx: Transaction,
  services: Pick<Caller, 'now'> & Pick<CustomerTokenServices, 'secrets'>,
  { storeId, customerId, minutes }: Readonly<Record<'storeId' | 'customerId' | 'minutes', number>>,
) {
  const { token, tokenHash, createdAt, expiresAt } = newToken(services, minutes * 60_000, TOKEN_BYTES)
  await tx.$executeRaw`
    DELETE FROM "CustomerLoginToken" WHERE "tokenHash" IN (
      SELECT "tokenHash" FROM "CustomerLoginToken" WHERE "storeId" = ${storeId} AND "customerId" = ${customerId}
      ORDER BY "createdAt" DESC, "tokenHash" OFFSET ${TOKENS_MAX - 1})`
  await tx.$executeRaw`
    INSERT INTO "CustomerLoginToken" ("tokenHash", "storeId", "customerId", "createdAt", "expiresAt")
    SELECT ${tokenHash}, "storeId", "id", ${createdAt}, ${expiresAt} FROM "Customer"
    WHERE "storeId" = ${storeId} AND "id" = ${customerId}`
  return { token, link: `/account/sign-in?token=${token}`, expiresAt } as const
}

async function lockCustomer(tx: Transaction, { storeId, customerId }: { storeId: number; customerId: number }) {
  const [customer] = await tx.$queryRaw<{ enabled: boolean }[]>`
    SELECT "enabled" FROM "Customer" WHERE "storeId" = ${storeId} AND "id" = ${customerId} FOR NO KEY UPDATE`
  const field = String(customerId)
  if (!customer) throw new StoreFailure('not-found', `No customer has the id ${customerId}`, { field })
  if (!customer.enabled)
    throw new StoreFailure('invalid-state', 'The customer is disabled, and cannot sign in', { field })
}

/**
 * Uses up a token and opens the customer's session. Of concurrent calls, one succeeds. Throws the same message (401)
 * for a token that is unknown, used or expired, or whose customer has been disabled; of a closed store (403) it stays unused.
 */
export async function redeemCustomerToken(services: SessionServices, token: string, client: Client) {
  const { db, secrets, now } = services
  if (!TOKEN.test(token)) throw unusable('not a token')
  return inTransaction(db, async (tx) => {
    const [used] = await tx.$queryRaw<{ storeId: number; customerId: number }[]>`
      DELETE FROM "CustomerLoginToken" WHERE "tokenHash" = ANY (${secrets.lookups(token)}) AND "expiresAt" > ${now()}
      RETURNING "storeId", "customerId"`
    if (!used) throw unusable('unknown, used or too old')
    await openStoreById(tx, used.storeId)
    await lockCustomer(tx, used).catch((error) => {
      throw error instanceof StoreFailure ? unusable(error.message) : error
    })
    await tx.$executeRaw`
      UPDATE "Customer" SET "lastLoginAt" = ${now()} WHERE "storeId" = ${used.storeId} AND "id" = ${used.customerId}`
    return openSession(tx, services, { kind: 'customer', id: used.customerId, storeId: used.storeId }, client)
  })
}

function unusable(logDetail: string): StoreFailure {
  const message = 'This link has been used, or is too old: ask for a new one where you got it'
  return new StoreFailure('unauthorized', message, { field: 'Token', logDetail })
}
