import type { Prisma } from '../../../foundation/database/generated/client.ts'
import { type Actor, type AuditInput, recordAudit } from '../../audit/audit.ts'
import { type AccessServices, changeAccess } from '../../stores/access-changes.ts'
import { deleteBodies } from '../calls/call-log.ts'
import { lockParties, noSuchSubscription } from './subscription-rows.ts'

// What a store lets an application do beside its privileges. All throw for an id that is not one of the store's subscriptions (404).

/** The most that a store can let an application place in an hour. */
export const ORDERS_PER_HOUR_MAX = 100_000

interface ByStore {
  readonly storeId: number
  readonly subscriptionId: number
  readonly actor: Actor
}

/**
 * Sets whether the bodies of refused requests are kept for the application's developer and the store. Once this resolves with false,
 * none is stored any more, whatever other processes still have in memory.
 */
export async function keepBodies(services: AccessServices, { isKept, ...by }: ByStore & { readonly isKept: boolean }) {
  const action = isKept ? 'subscription.bodies-kept' : 'subscription.bodies-deleted'
  await changeAccess(services, async (tx) => {
    // Waits for the log of calls, which writes bodies under this lock.
    const isChanged = await changeTerms(tx, services, by, { keepsBodies: isKept }, { action })
    if (isChanged && !isKept) await deleteBodies(tx, by.subscriptionId)
  })
}

/** Sets how many orders the application may place in an hour, 0 to `ORDERS_PER_HOUR_MAX`, from the next one on; 0: none. */
export async function boundOrders(
  services: AccessServices,
  { ordersPerHour, ...by }: ByStore & { readonly ordersPerHour: number },
): Promise<void> {
  const about = { action: 'subscription.orders-bounded', details: { ordersPerHour } } as const
  await changeAccess(services, async (tx) => {
    await changeTerms(tx, services, by, { ordersPerHour }, about)
  })
}

/** Whether this changed anything, which is recorded then. */
async function changeTerms(
  tx: Prisma.TransactionClient,
  { now }: Pick<AccessServices, 'now'>,
  { storeId, subscriptionId: id, actor }: ByStore,
  terms: { readonly keepsBodies: boolean } | { readonly ordersPerHour: number },
  about: Pick<AuditInput, 'action' | 'details'>,
): Promise<boolean> {
  const existing = await tx.subscription.findFirst({ where: { id, storeId }, select: { applicationId: true } })
  const parties = existing && (await lockParties(tx, { storeId, applicationId: existing.applicationId }))
  if (!parties) throw noSuchSubscription(id)
  const { count } = await tx.subscription.updateMany({ where: { id, storeId, NOT: terms }, data: terms })
  if (count > 0) await recordAudit(tx, now, { actor, ...about, ...parties.about })
  return count > 0
}
