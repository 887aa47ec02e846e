import { type Actor, recordAudit } from '../../audit/audit.ts'
import { type AccessServices, changeAccess } from '../../stores/access-changes.ts'
import { lockParties, noSuchSubscription } from './subscription-rows.ts'

/** The most that a store can let an application place in an hour. */
export const ORDERS_PER_HOUR_MAX = 100_000

interface Bound {
  readonly storeId: number
  readonly subscriptionId: number
  /** 0 to `ORDERS_PER_HOUR_MAX`; 0: none. */
  readonly ordersPerHour: number
  readonly actor: Actor
}

/** Sets how many orders the application may place in an hour, from the next one on. Throws for an id that is not one of the store's subscriptions (404). */
export async function boundOrders(
  services: AccessServices,
  { storeId, subscriptionId: id, ordersPerHour, actor }: Bound,
): Promise<void> {
  await changeAccess(services, async (tx) => {
    const existing = await tx.subscription.findFirst({ where: { id, storeId }, select: { applicationId: true } })
    const parties = existing && (await lockParties(tx, { storeId, applicationId: existing.applicationId }))
    if (!parties) throw noSuchSubscription(id)
    const where = { id, storeId, ordersPerHour: { not: ordersPerHour } }
    const { count } = await tx.subscription.updateMany({ where, data: { ordersPerHour } })
    if (count === 0) return
    const details = { ordersPerHour }
    await recordAudit(tx, services.now, { actor, action: 'subscription.orders-bounded', ...parties.about, details })
  })
}
