/** A kind of event that webhooks are notified of (webhooks §1). */
export interface EventKind {
  /** EventType on the wire; fits in a byte. */
  readonly type: number
  /** Clients match this text. */
  readonly name: string
  /** The service of the record. Applications that may not read it get no notification. */
  readonly service: 'Orders' | 'Customers' | 'Products'
}

export const orderNew: EventKind = { type: 1, name: 'Order New', service: 'Orders' }
export const orderStatusChange: EventKind = { type: 2, name: 'Order Status Change', service: 'Orders' }
export const customerNew: EventKind = { type: 3, name: 'Customer New', service: 'Customers' }
export const productNew: EventKind = { type: 4, name: 'Product New', service: 'Products' }
export const productChanged: EventKind = { type: 5, name: 'Product Changed', service: 'Products' }
export const productDeleted: EventKind = { type: 6, name: 'Product Deleted', service: 'Products' }
export const productStockChanged: EventKind = { type: 7, name: 'Product Stock Changed', service: 'Products' }

export const eventKinds: readonly EventKind[] = [
  orderNew,
  orderStatusChange,
  customerNew,
  productNew,
  productChanged,
  productDeleted,
  productStockChanged,
]

/** Null for an unknown type. */
export function eventKind(type: number): EventKind | null {
  return eventKinds.find((kind) => kind.type === type) ?? null
}
