import type { Privileges } from '../../../engine/caller.ts'
import {
  byId,
  type DataServices,
  type JoiningServices,
  type Paging,
  type Transaction,
} from '../../../foundation/database/client.ts'
import type {
  Application,
  Prisma,
  Subscription as SubscriptionRow,
} from '../../../foundation/database/generated/client.ts'
import { databaseError } from '../../../foundation/database/outage.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { generateKey, type Secrets } from '../../../foundation/values/secrets.ts'
import { aboutApplication } from '../../audit/audit.ts'
import { noSuchStore, storeById } from '../../stores/caller-store.ts'
import { findOAuthClient } from '../tokens/oauth-clients.ts'
import type { Pair } from './handshakes.ts'

// Stores, lists and returns subscriptions. subscriptions.ts decides who may create or end one.

export type Subscribed = ReturnType<typeof subscribedOf>

export function subscribedOf(
  { secrets }: { secrets: Secrets },
  { id, tokenSealed, postBackUrl }: Pick<SubscriptionRow, 'id' | 'tokenSealed' | 'postBackUrl'>,
  created: boolean,
) {
  return {
    id,
    token: secrets.open(tokenSealed),
    /** False: the store already used the application, and the token is the existing one. */
    created,
    /** The address at which the application asks the merchant to continue, http or https. Null: none. */
    postBackUrl,
  }
}

/** Inserts a subscription or gets the existing one: one statement always returns a row. The update changes nothing. */
export async function insertSubscription(
  { db, secrets, now }: JoiningServices,
  given: Pair & { token: string; isTokenBrought?: boolean; privileges: Privileges; postBackUrl: string | null },
): Promise<Subscribed> {
  const { storeId, applicationId, token, isTokenBrought = false, privileges, postBackUrl } = given
  const createdAt = now()
  const [row] = await db.$queryRaw<{ id: number; tokenSealed: string; postBackUrl: string | null; created: boolean }[]>`
    INSERT INTO "Subscription"
      ("storeId", "applicationId", "tokenHash", "tokenSealed", "tokenBroughtAt", "privileges", "postBackUrl", "createdAt")
    VALUES (${storeId}, ${applicationId}, ${secrets.lookup(token)}, ${secrets.seal(token)},
      ${isTokenBrought ? createdAt : null}, ${privileges && JSON.stringify(privileges)}::jsonb, ${postBackUrl}, ${createdAt})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE SET "storeId" = EXCLUDED."storeId"
    RETURNING "id", "tokenSealed", "postBackUrl", "tokenHash" = ANY (${secrets.lookups(token)}) AS "created"`
  if (!row) throw new Error('INSERT … RETURNING gave no row')
  return subscribedOf({ secrets }, row, row.created)
}

/**
 * Subscribes a store for the platform itself, without callback and audit entry. A store that already uses the
 * application keeps its token. Throws for an unknown store (404) and for an unknown public key (400).
 */
export async function addSubscription(
  services: JoiningServices,
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

/** Returns the application for the consent page. Throws for an unknown public key (400). */
export async function findApplicationToSubscribe({ db }: Pick<JoiningServices, 'db'>, publicKey: string) {
  const application = await findOAuthClient(db, publicKey)
  if (!application) throw noSuchPublicKey()
  return application
}

export function noSuchPublicKey(): StoreFailure {
  const message = 'PublicKey is not the public key of an application'
  return new StoreFailure('unknown-reference', message, { field: 'PublicKey' })
}

const withApplication = { include: { application: true } } as const

/** Lists a store's subscriptions by ascending id. Throws for an unknown store (404). */
export async function listSubscriptions(
  { db, secrets }: DataServices,
  { storeId, ...page }: Paging & { storeId: number },
): Promise<Subscription[]> {
  await storeById(db, storeId)
  const rows = await db.subscription.findMany({ where: { storeId }, ...withApplication, ...byId(page) })
  return rows.filter(hasApplication).map((row) => subscriptionOf(row, secrets))
}

/**
 * Whether the application still existed when it was read. Prisma reads it by a second statement, and deleting an application deletes its
 * subscriptions.
 */
function hasApplication({ application }: { readonly application: object | null }): boolean {
  return application !== null
}

/** Throws for an id that is not one of the store's subscriptions (404). */
export async function subscriptionById(
  { db, secrets }: DataServices,
  { storeId, subscriptionId: id }: { storeId: number; subscriptionId: number },
): Promise<Subscription> {
  const row = await db.subscription.findFirst({ where: { id, storeId }, ...withApplication })
  if (!row || !hasApplication(row)) throw noSuchSubscription(id)
  return subscriptionOf(row, secrets)
}

export function noSuchSubscription(id: number): StoreFailure {
  return new StoreFailure('not-found', `The store has no subscription with the id ${id}`, { field: String(id) })
}

export type Subscription = ReturnType<typeof subscriptionOf>

function subscriptionOf(row: Prisma.SubscriptionGetPayload<typeof withApplication>, secrets: Secrets) {
  const { application } = row
  return {
    id: row.id,
    applicationId: row.applicationId,
    name: application.name,
    publicKey: application.publicKey,
    token: secrets.open(row.tokenSealed),
    /** When the token was brought along. Null: it was made here. */
    tokenBroughtAt: row.tokenBroughtAt,
    /** When the application's private key was brought along. Null: it was made here. */
    privateKeyBroughtAt: application.privateKeyBroughtAt,
    openToMerchants: application.openToMerchants,
    /** The address that is called before the subscription ends. Null: none. */
    calledUrl: application.openToMerchants ? application.callbackUrl : null,
    /** The privileges the store agreed to. The application has those of them that it also requests. */
    privileges: row.privileges as Privileges,
    /** The privileges the application requests now. */
    askedPrivileges: application.privileges as Privileges,
    /** The address at which the application asked the merchant to continue, http or https. Null: none. */
    postBackUrl: row.postBackUrl,
    /** Whether the bodies of refused requests are kept. */
    keepsBodies: row.keepsBodies,
    /** How many orders the application may place in an hour. */
    ordersPerHour: row.ordersPerHour,
    lastUsedAt: row.lastUsedAt,
    createdAt: row.createdAt,
  }
}

export type Parties = NonNullable<Awaited<ReturnType<typeof lockParties>>>

/**
 * Locks store and application, before any lock on handshake or subscription. Returns what an audit entry says of them,
 * and the privileges that the application requests. Null: one of them no longer exists.
 */
export async function lockParties(tx: Transaction, { storeId, applicationId }: Pair) {
  const [row] = await tx.$queryRaw<Pick<Application, 'id' | 'name' | 'developerId' | 'privileges'>[]>`
    SELECT "Application"."id", "Application"."name", "developerId", "privileges"
    FROM "Store", "Application" WHERE "Store"."id" = ${storeId} AND "Application"."id" = ${applicationId}
    FOR KEY SHARE OF "Store" FOR SHARE OF "Application"`
  return row ? { about: { storeId, ...aboutApplication(row) }, privileges: row.privileges as Privileges } : null
}
