import { Registry } from 'prom-client'
import { createMailMetrics } from '../../../../../src/access/mail/metrics.ts'
import type { Services } from '../../../../../src/app.ts'
import { causedKinds } from '../../../../../src/shop/resources/order-mails/kinds.ts'
import { createOrderMails } from '../../../../../src/shop/resources/order-mails/send.ts'
import type { StoreOptions, TestServer } from '../../../../support/store.ts'

/** What a process with these services sends the mails of orders by. */
export function senderOf(services: Services) {
  return createOrderMails({ ...services, metrics: createMailMetrics(new Registry()) })
}

/** A store that has switched these kinds on, with lamps at 20.00. */
export async function openTelling(
  { services, openStore }: TestServer,
  kinds: readonly string[] = causedKinds,
  options: StoreOptions = {},
) {
  const both = ['read', 'write'] as const
  const privileges = { Orders: both, Products: both, RMA: both, Checkout: both }
  const shop = await openStore({ privileges, ...options })
  const where = { id: shop.store.id }
  await services.db.store.update({ where, data: { orderMails: [...kinds] } })
  services.authenticator.invalidate()
  const lamp = await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 20, Stock: 1_000 } })
  const order = (fields: object = {}, quantity = 2) =>
    shop.placeOrder([{ CatalogID: lamp, ItemQuantity: quantity }], { BillingFirstName: 'Ada', ...fields })
  const change = (id: number, body: object, headers: Record<string, string> = {}) =>
    shop.call('PUT', `/Orders/${id}`, { body, headers })
  const mails = (orderId?: number) =>
    services.db.mail.findMany({
      where: { storeId: shop.store.id, orderId: orderId ?? { not: null } },
      orderBy: { id: 'asc' },
    })
  /** The kinds of the mails of an order, in turn. */
  const told = async (orderId: number) => (await mails(orderId)).map(({ kind }) => kind)
  return { ...shop, lamp, order, change, mails, told }
}
