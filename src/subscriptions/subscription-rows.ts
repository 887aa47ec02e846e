import { findOAuthClient, type OAuthClient } from '../applications/oauth-clients.ts'
import { type Db, databaseError, type Transaction } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import type { Privileges } from '../engine/caller.ts'
import { noSuchStore, storeById } from '../stores/stores.ts'
import { StoreFailure } from '../values/failure.ts'
import { generateKey, type Secrets } from '../values/secrets.ts'
import type { Pair } from './handshakes.ts'

// Subscriptions as they are stored, listed and shown. Who may make or end one: subscriptions.ts.

export type Subscribed = ReturnType<typeof subscribedOf>

export function subscribedOf(
  { secrets }: { secrets: Secrets },
  { id, tokenSealed, postBackUrl }: { id: number; tokenSealed: string; postBackUrl: string | null },
  created: boolean,
) {
  return {
    id,
    token: secrets.open(tokenSealed),
    /** False: the store used the application before; the token is the one it has. */
    created,
    /** Where the application asks the merchant to go on, http or https; null: nowhere. */
    postBackUrl,
  }
}

export interface NewSubscription extends Pair {
  readonly token: string
  readonly privileges: Privileges
  readonly postBackUrl: string | null
}

/** One statement, so that of two at once the second gets the first one's row, and never none. The update changes nothing. */
export async function insertSubscription(
  { db, secrets, now }: { db: Db | Transaction; secrets: Secrets; now: () => Date },
  { storeId, applicationId, token, privileges, postBackUrl }: NewSubscription,
): Promise<Subscribed> {
  const tokenHash = secrets.lookup(token)
  const [row] = await db.$queryRaw<{ id: number; tokenSealed: string; postBackUrl: string | null; created: boolean }[]>`
    INSERT INTO "Subscription"
      ("storeId", "applicationId", "tokenHash", "tokenSealed", "privileges", "postBackUrl", "createdAt")
    VALUES (${storeId}, ${applicationId}, ${tokenHash}, ${secrets.seal(token)},
      ${privileges && JSON.stringify(privileges)}::jsonb, ${postBackUrl}, ${now()})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE SET "storeId" = EXCLUDED."storeId"
    RETURNING "id", "tokenSealed", "postBackUrl", "tokenHash" = ${tokenHash} AS "created"`
  if (!row) throw new Error('INSERT … RETURNING gave no row')
  return subscribedOf({ secrets }, row, row.created)
}

/**
 * Subscribes a store for the platform itself: nobody is asked and no log tells of it. Joins the caller's transaction. A store
 * that uses the application already keeps its token. Refuses an unknown store (404) and an unknown public key (400).
 */
export async function addSubscription(
  services: { db: Db | Transaction; secrets: Secrets; now: () => Date },
  { storeId, publicKey }: { storeId: number; publicKey: string },
): Promise<Subscribed> {
  await storeById(services.db, storeId)
  const { id: applicationId, privileges } = await findApplicationToSubscribe(services, publicKey)
  const subscription = { storeId, applicationId, token: generateKey(), privileges, postBackUrl: null }
  return insertSubscription(services, subscription).catch((error) => {
    const constraint = databaseError(error)?.constraint
    if (constraint === 'Subscription_storeId_fkey') throw noSuchStore(storeId)
    throw constraint === 'Subscription_applicationId_fkey' ? noSuchPublicKey() : error
  })
}

/** What a merchant sees before agreeing. Refuses a key that is no application's public key (400). */
export async function findApplicationToSubscribe(
  { db }: { db: Db | Transaction },
  publicKey: string,
): Promise<OAuthClient> {
  const application = await findOAuthClient(db, publicKey)
  if (!application) throw noSuchPublicKey()
  return application
}

export function noSuchPublicKey(): StoreFailure {
  return new StoreFailure('bad-request', 'PublicKey is not the public key of an application', { field: 'PublicKey' })
}

/** A store's subscriptions by ascending id. Refuses an unknown store (404). */
export async function listSubscriptions(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { storeId, limit, offset }: { storeId: number; limit: number; offset: number },
): Promise<Subscription[]> {
  await storeById(db, storeId)
  const page = { orderBy: { id: 'asc' }, take: limit, skip: offset } as const
  const rows = await db.subscription.findMany({ where: { storeId }, include: withApplication, ...page })
  return rows.map((row) => subscriptionOf(row, secrets))
}

/** Refuses an id that the store has no subscription of (404). */
export async function subscriptionById(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { storeId, subscriptionId: id }: { storeId: number; subscriptionId: number },
): Promise<Subscription> {
  const row = await db.subscription.findFirst({ where: { id, storeId }, include: withApplication })
  if (!row) throw noSuchSubscription(id)
  return subscriptionOf(row, secrets)
}

export function noSuchSubscription(id: number): StoreFailure {
  return new StoreFailure('not-found', `The store has no subscription with the id ${id}`, { field: String(id) })
}

const withApplication = { application: { select: { name: true, publicKey: true, privileges: true } } } as const

export type Subscription = ReturnType<typeof subscriptionOf>

function subscriptionOf(row: Prisma.SubscriptionGetPayload<{ include: typeof withApplication }>, secrets: Secrets) {
  const { id, applicationId, application, tokenSealed, privileges, postBackUrl, lastUsedAt, createdAt } = row
  return {
    id,
    applicationId,
    /** The application's. */
    name: application.name,
    publicKey: application.publicKey,
    token: secrets.open(tokenSealed),
    /** What the store agreed to; the application may do what stands here and in what it asks for. */
    privileges: privileges as Privileges,
    /** What the application asks for by now. */
    askedPrivileges: application.privileges as Privileges,
    /** Where the application asked the merchant to go on, http or https; null: nowhere. */
    postBackUrl,
    lastUsedAt,
    createdAt,
  }
}
