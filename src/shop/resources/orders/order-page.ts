import { isOneOf, type Secrets } from '../../../foundation/values/secrets.ts'

/** What the addresses of orders' pages follow from. */
export interface OrderPageServices {
  readonly config: { readonly publicUrl: string; readonly orderPageDays: number }
  readonly secrets: Pick<Secrets, 'derivations'>
}

/**
 * Returns the address of a page of this order alone, which opens it for whoever has the address (docs/decisions/orders.md). It is a
 * secret: never log or store it. Null: ORDER_PAGE_DAYS allows none.
 */
export function orderPageAddress(services: OrderPageServices, storeId: number, orderId: number): string | null {
  const { publicUrl, orderPageDays } = services.config
  const [code] = codesOf(services, storeId, orderId)
  return orderPageDays === 0 ? null : `${publicUrl}/order/${storeId}-${orderId}-${code}`
}

/** When the oldest orders were placed whose pages open now. */
export function orderPagesSince({ config }: Pick<OrderPageServices, 'config'>, now: Date): Date {
  return new Date(now.getTime() - config.orderPageDays * 86_400_000)
}

/** Returns the order that the last part of such an address names; null: this server did not make it, or the setting allows none. */
export function orderOfPage(services: OrderPageServices, token: string): { storeId: number; id: number } | null {
  const [, storeId, id, code = ''] = /^([1-9]\d{0,9})-([1-9]\d{0,9})-([\w-]{22})$/.exec(token) ?? []
  const named = { storeId: Number(storeId), id: Number(id) }
  const isOurs = isOneOf(code, codesOf(services, named.storeId, named.id))
  return isOurs && services.config.orderPageDays > 0 ? named : null
}

/** 128 bits in 22 characters, by each secret key, the current one first. */
function codesOf({ secrets }: OrderPageServices, storeId: number, orderId: number): string[] {
  return secrets.derivations(`order page ${storeId} ${orderId}`).map((bytes) => bytes.toString('base64url', 0, 16))
}
