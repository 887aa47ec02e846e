/** A kind of event that webhooks are notified of (webhooks §1). */
export interface EventKind {
  /** EventType on the wire; fits in a byte. */
  readonly type: number
  /** Clients match this text. */
  readonly name: string
  /** The service of the record. Applications that may not read it get no notification. */
  readonly service: EventService
  /** The sentence that says when it occurs (webhooks §2). */
  readonly when: string
}

type EventService =
  | 'Orders'
  | 'Customers'
  | 'Products'
  | 'RMA'
  | 'Category'
  | 'Manufacturers'
  | 'Distributors'
  | 'CustomerGroups'
  | 'GiftRegistries'

/**
 * The kinds that tell of a service's records: that one is created, takes other values, is deleted. `also` stands behind the record
 * whose members take other values.
 */
function recordKinds(service: EventService, noun: string, types: readonly [number, number, number], also = '') {
  const one = noun.toLowerCase()
  const when = `Occurs when anything of a ${one}${also} takes another value.`
  return {
    new: { type: types[0], name: `${noun} New`, service, when: `Occurs when a ${one} is created.` },
    changed: { type: types[1], name: `${noun} Changed`, service, when },
    deleted: { type: types[2], name: `${noun} Deleted`, service, when: `Occurs when a ${one} is deleted.` },
  } satisfies Record<string, EventKind>
}

export const orderNew: EventKind = {
  type: 1,
  name: 'Order New',
  service: 'Orders',
  when: 'Occurs when an order is placed, unless it is Not Completed, and when one leaves Not Completed for any status but Cancel.',
}
export const orderStatusChange: EventKind = {
  type: 2,
  name: 'Order Status Change',
  service: 'Orders',
  when: 'Occurs when the status of an order takes another value, through whatever interface, by that of its only shipment too.',
}
export const orderChanged: EventKind = {
  type: 8,
  name: 'Order Changed',
  service: 'Orders',
  when: 'Occurs when anything of an order except its status takes another value: payments, shipments, tracking codes, addresses, lines, comments.',
}
export const customerKinds = recordKinds('Customers', 'Customer', [3, 9, 10], ', its password too,')
export const customerErased: EventKind = {
  type: 29,
  name: 'Customer Erased',
  service: 'Customers',
  when: 'Occurs when a customer is erased: nothing of the person is left.',
}
export const productKinds = recordKinds('Products', 'Product', [4, 5, 6], ' except its stock')
export const productStockChanged: EventKind = {
  type: 7,
  name: 'Product Stock Changed',
  service: 'Products',
  when: 'Occurs when the stock of a product, or of one of its advanced options, takes another value; orders, returns and cartAPI move stock too.',
}
export const returnKinds = recordKinds('RMA', 'Return', [11, 12, 28])
export const categoryKinds = recordKinds('Category', 'Category', [13, 14, 15])
export const manufacturerKinds = recordKinds('Manufacturers', 'Manufacturer', [16, 17, 18])
export const distributorKinds = recordKinds('Distributors', 'Distributor', [19, 20, 21])
export const customerGroupKinds = recordKinds('CustomerGroups', 'Customer Group', [22, 23, 24])
export const giftRegistryKinds = recordKinds('GiftRegistries', 'Gift Registry', [25, 26, 27])

/** In the order of their numbers. */
export const eventKinds: readonly EventKind[] = [
  ...[orderNew, orderStatusChange, orderChanged, customerErased, productStockChanged],
  ...[customerKinds, productKinds, returnKinds, categoryKinds].flatMap(Object.values<EventKind>),
  ...[manufacturerKinds, distributorKinds, customerGroupKinds, giftRegistryKinds].flatMap(Object.values<EventKind>),
].toSorted((one, other) => one.type - other.type)

export const eventNames: Readonly<Record<number, string>> = Object.fromEntries(
  eventKinds.map(({ type, name }) => [type, name]),
)

/** Null for an unknown type. */
export function eventKind(type: number): EventKind | null {
  return eventKinds.find((kind) => kind.type === type) ?? null
}
