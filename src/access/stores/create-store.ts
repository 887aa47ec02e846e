import type { z } from 'zod'
import { inTransaction, type JoiningServices } from '../../foundation/database/client.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { requireFreeKeys } from './brought-keys.ts'
import { rateLimitColumns } from './rate-limit.ts'
import { CURRENCY_DEFAULT, type unownedStore } from './store-input.ts'
import { type Store, storeOf, userKeyColumns, withTest, writeHosts } from './stores.ts'

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
 * Creates a store that nobody belongs to yet, with its user key, order statuses and other lists, in one transaction. Throws when
 * UserKey cannot be used here (400), or another store has a host (409).
 */
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
    country: given.Country ?? '',
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
