/** A kind of event that webhooks are notified of (webhooks §1). */
export interface EventKind {
  /** EventType on the wire; fits in a byte. */
  readonly type: number
  /** Clients match this text. */
  readonly name: string
  /** The service of the record. Applications that may not read it get no notification. */
  readonly service: EventService
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

/** The kinds that tell of a service's records: that one is created, takes other values, is deleted. */
export interface RecordKinds {
  readonly new: EventKind
  readonly changed: EventKind
  readonly deleted: EventKind
}

function recordKinds(service: EventService, noun: string, ...types: [number, number, number]): RecordKinds {
  return {
    new: { type: types[0], name: `${noun} New`, service },
    changed: { type: types[1], name: `${noun} Changed`, service },
    deleted: { type: types[2], name: `${noun} Deleted`, service },
  }
}

export const orderNew: EventKind = { type: 1, name: 'Order New', service: 'Orders' }
export const orderStatusChange: EventKind = { type: 2, name: 'Order Status Change', service: 'Orders' }
export const orderChanged: EventKind = { type: 8, name: 'Order Changed', service: 'Orders' }
export const customerKinds = recordKinds('Customers', 'Customer', 3, 9, 10)
export const productKinds = recordKinds('Products', 'Product', 4, 5, 6)
export const productStockChanged: EventKind = { type: 7, name: 'Product Stock Changed', service: 'Products' }
export const returnKinds = recordKinds('RMA', 'Return', 11, 12, 28)
export const categoryKinds = recordKinds('Category', 'Category', 13, 14, 15)
export const manufacturerKinds = recordKinds('Manufacturers', 'Manufacturer', 16, 17, 18)
export const distributorKinds = recordKinds('Distributors', 'Distributor', 19, 20, 21)
export const customerGroupKinds = recordKinds('CustomerGroups', 'Customer Group', 22, 23, 24)
export const giftRegistryKinds = recordKinds('GiftRegistries', 'Gift Registry', 25, 26, 27)

/** In the order of their numbers. */
export const eventKinds: readonly EventKind[] = [
  orderNew,
  orderStatusChange,
  orderChanged,
  productStockChanged,
  ...[
    customerKinds,
    productKinds,
    returnKinds,
    categoryKinds,
    manufacturerKinds,
    distributorKinds,
    customerGroupKinds,
    giftRegistryKinds,
  ].flatMap((kinds) => [kinds.new, kinds.changed, kinds.deleted]),
].toSorted((one, other) => one.type - other.type)

/** Null for an unknown type. */
export function eventKind(type: number): EventKind | null {
  return eventKinds.find((kind) => kind.type === type) ?? null
}
