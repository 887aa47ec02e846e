import type { EventKind } from '../engine/definition/event-kinds.ts'
import type { FieldSet, Scalar } from '../engine/definition/fields.ts'
import { customers } from '../resources/customers/customers.ts'
import { orders } from '../resources/orders/orders.ts'
import { products } from '../resources/products/products.ts'

interface Values {
  readonly [name: string]: Scalar | Values | readonly Values[]
}

/** Completes the values with the defaults of all other fields. Throws for an unknown name. */
function record(fields: FieldSet, values: Values): Record<string, unknown> {
  const unknown = Object.keys(values).find((name) => fields.get(name) === undefined)
  if (unknown !== undefined) throw new Error(`The sample has an unknown field ${unknown}`)
  return Object.fromEntries(
    fields.shown.entries.map(([name, field]) => {
      const value = values[name]
      if (field.kind === 'object') return [name, record(field.fields, (value ?? {}) as Values)]
      if (field.kind !== 'list') return [name, value ?? field.default]
      return [name, ((value ?? []) as readonly Values[]).map((item) => record(field.fields, item))]
    }),
  )
}

const orderedAt = '2016-03-17T09:52:38'

/** The fields of the address, with a prefix. */
function address(prefix: 'Billing' | 'Shipment'): Values {
  const fields = {
    FirstName: 'Sample',
    LastName: 'Shopper',
    Company: 'Example Company',
    City: 'Springfield',
    State: 'IL',
    ZipCode: '62701',
    Country: 'US',
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]))
}

const order: Values = {
  InvoiceNumberPrefix: 'AB-',
  InvoiceNumber: 1000,
  OrderID: 1,
  CustomerID: 1,
  OrderDate: orderedAt,
  OrderStatusID: 1,
  LastUpdate: orderedAt,
  ContinueURL: 'https://sample.store.example/continue?order_key=1',
  ...address('Billing'),
  BillingAddress: '1 Example Street',
  BillingPhoneNumber: '217-555-0100',
  BillingEmail: 'shopper@example.com',
  BillingPaymentMethod: 'Check',
  ShipmentList: [
    {
      ShipmentLastUpdate: orderedAt,
      ShipmentOrderStatus: 1,
      ...address('Shipment'),
      ShipmentAddress: '1 Example Street',
      ShipmentEmail: 'shopper@example.com',
      ShipmentPhone: '217-555-0100',
      ShipmentMethodName: 'Ground',
      ShipmentCost: 6.5,
      ShipmentWeight: 2,
      ShipmentNumber: 1,
    },
  ],
  OrderItemList: [
    {
      CatalogID: 1,
      ItemIndexID: 1,
      ItemID: 'SAMPLE-1',
      ItemQuantity: 2,
      ItemDescription: 'Sample Product',
      ItemUnitPrice: 12.5,
      ItemUnitCost: 5,
      ItemUnitStock: 40,
      ItemWeight: 1,
      ItemDateAdded: orderedAt,
    },
  ],
  SalesTax: 1.75,
  OrderAmount: 33.25,
  CustomerComments: 'This order is made up: it tests a webhook.',
}

const customer: Values = {
  CustomerID: 1,
  Email: 'shopper@example.com',
  ...address('Billing'),
  BillingAddress1: '1 Example Street',
  BillingPhoneNumber: '217-555-0100',
  Comments: 'This customer is made up: it tests a webhook.',
}

const product: Values = {
  SKUInfo: { CatalogID: 1, SKU: 'SAMPLE-1', Name: 'Sample Product', Cost: 5, Price: 12.5, Currency: 'USD', Stock: 40 },
  ShortDescription: 'This product is made up: it tests a webhook.',
  LastUpdate: orderedAt,
  Weight: 1,
  DateCreated: orderedAt,
}

const bodies: Readonly<Record<EventKind['service'], string>> = {
  Orders: JSON.stringify(record(orders.fields, order)),
  Customers: JSON.stringify(record(customers.fields, customer)),
  Products: JSON.stringify(record(products.fields, product)),
}

/**
 * A made-up record, the first of its kind, for testing a webhook: JSON text with every field. Always the same, so that a
 * receiver recognizes it (webhooks §6: order 1, invoice AB-1000, in 2016).
 */
export function sampleOf({ service }: EventKind): { readonly recordId: number; readonly body: string } {
  return { recordId: 1, body: bodies[service] }
}
