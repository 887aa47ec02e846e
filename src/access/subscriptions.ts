import { type Db, databaseError, type Transaction } from '../database/client.ts'
import { StoreFailure } from '../failure.ts'
import { type AccessChange, changeAccess } from './changes.ts'
import { generateKey, type Secrets } from './secrets.ts'
import { noSuchStore, storeById } from './stores.ts'

export interface Subscribed {
  readonly id: number
  readonly token: string
  /** False: the store used the application before; the token is the one it has. */
  readonly created: boolean
}

/**
 * Lets the application with `publicKey` work for a store. However often and however many at once: one subscription and
 * one token for store and application. Refuses an unknown store (404) and an unknown public key (400).
 */
export async function subscribe(
  { db, secrets, now }: { db: Db | Transaction; secrets: Secrets; now: () => Date },
  { storeId, publicKey }: { storeId: number; publicKey: string },
): Promise<Subscribed> {
  await storeById(db, storeId)
  const application = await db.application.findUnique({ where: { publicKey }, select: { id: true } })
  if (!application) throw noSuchPublicKey()
  const token = generateKey()
  const tokenHash = secrets.lookup(token)
  // One statement, so that of two at once the second gets the first one's row, and never none. The update changes nothing.
  const rows = await db.$queryRaw<{ id: number; tokenHash: string; tokenSealed: string }[]>`
    INSERT INTO "Subscription" ("storeId", "applicationId", "tokenHash", "tokenSealed", "createdAt")
    VALUES (${storeId}, ${application.id}, ${tokenHash}, ${secrets.seal(token)}, ${now()})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE SET "storeId" = EXCLUDED."storeId"
    RETURNING "id", "tokenHash", "tokenSealed"`.catch((error) => refuseVanished(error, storeId))
  const [row] = rows
  if (!row) throw new Error('INSERT … RETURNING gave no row')
  return { id: row.id, token: secrets.open(row.tokenSealed), created: row.tokenHash === tokenHash }
}

function noSuchPublicKey(): StoreFailure {
  return new StoreFailure('bad-request', 'PublicKey is not the public key of an application', { field: 'PublicKey' })
}

/** Store or application went between the look-up and the insertion. */
function refuseVanished(error: unknown, storeId: number): never {
  const constraint = databaseError(error)?.constraint
  if (constraint === 'Subscription_storeId_fkey') throw noSuchStore(storeId)
  if (constraint === 'Subscription_applicationId_fkey') throw noSuchPublicKey()
  throw error
}

/**
 * Ends a subscription: when the promise is fulfilled, its token is refused in this process, and within moments in the
 * others. Refuses an id that the store has no subscription of (404).
 */
export async function unsubscribe(
  { db, authenticator }: AccessChange,
  { storeId, subscriptionId }: { storeId: number; subscriptionId: number },
): Promise<void> {
  const { count } = await changeAccess({ db, authenticator }, () =>
    db.subscription.deleteMany({ where: { id: subscriptionId, storeId } }),
  )
  if (count > 0) return
  throw new StoreFailure('not-found', `The store has no subscription with the id ${subscriptionId}`, {
    field: String(subscriptionId),
  })
}

export interface Subscription {
  readonly id: number
  readonly applicationId: number
  /** The application's. */
  readonly name: string
  readonly publicKey: string
  readonly token: string
  readonly createdAt: Date
}

/** A store's subscriptions by ascending id. Refuses an unknown store (404). */
export async function listSubscriptions(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { storeId, limit, offset }: { storeId: number; limit: number; offset: number },
): Promise<Subscription[]> {
  await storeById(db, storeId)
  const rows = await db.subscription.findMany({
    where: { storeId },
    include: { application: { select: { name: true, publicKey: true } } },
    orderBy: { id: 'asc' },
    take: limit,
    skip: offset,
  })
  return rows.map(({ id, applicationId, application, tokenSealed, createdAt }) => ({
    id,
    applicationId,
    ...application,
    token: secrets.open(tokenSealed),
    createdAt,
  }))
}
