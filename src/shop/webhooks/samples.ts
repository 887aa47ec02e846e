import { customerErased, type EventKind, eventKinds } from '../../engine/definition/event-kinds.ts'
import type { FieldSet, Scalar } from '../../engine/definition/fields.ts'
import { namesMembers } from './members.ts'
import { bodyType } from './notified.ts'

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
const name = { FirstName: 'Sample', LastName: 'Shopper' }
const town = { City: 'Springfield', State: 'IL' }
const goods = { CatalogID: 1, SKU: 'SAMPLE-1', ItemName: 'Sample Product' }

/** The fields of the address, with a prefix. */
function address(prefix: 'Billing' | 'Shipment'): Values {
  const fields = { ...name, Company: 'Example Company', ...town, ZipCode: '62701', Country: 'US' }
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [prefix + field, value]))
}

/** A record with the member that `says` that it is made up. */
function madeUp(noun: string, says: string, values: Values) {
  return { says, values: { ...values, [says]: `This ${noun} is made up: it tests a webhook.` } }
}

const samples: Readonly<Record<EventKind['service'], ReturnType<typeof madeUp>>> = {
  Orders: madeUp('order', 'CustomerComments', {
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
  }),
  Customers: madeUp('customer', 'Comments', {
    CustomerID: 1,
    Email: 'shopper@example.com',
    ...address('Billing'),
    BillingAddress1: '1 Example Street',
    BillingPhoneNumber: '217-555-0100',
  }),
  Products: madeUp('product', 'ShortDescription', {
    SKUInfo: {
      CatalogID: 1,
      SKU: 'SAMPLE-1',
      Name: 'Sample Product',
      Cost: 5,
      Price: 12.5,
      Currency: 'USD',
      Stock: 40,
    },
    LastUpdate: orderedAt,
    Weight: 1,
    DateCreated: orderedAt,
  }),
  RMA: madeUp('return', 'Comments', {
    RMAID: 1,
    RmaDate: orderedAt,
    OrderID: 1,
    RMAStatusID: 1,
    RMAItemList: [{ ...goods, ReturnQuantity: 1, ReceivedQuantity: 1, RestockQuantity: 1 }],
  }),
  Category: madeUp('category', 'CategoryDescription', {
    CategoryID: 1,
    CategoryName: 'Sample Category',
    LastUpdate: orderedAt,
  }),
  Manufacturers: madeUp('manufacturer', 'Header', {
    ManufacturerID: 1,
    ManufacturerName: 'Sample Manufacturer',
    LastUpdate: orderedAt,
  }),
  Distributors: madeUp('distributor', 'Comments', {
    DistributorID: 1,
    CompanyName: 'Sample Distributor',
    Email: 'orders@example.com',
    LastUpdate: orderedAt,
  }),
  CustomerGroups: madeUp('group', 'Description', { CustomerGroupID: 1, Name: 'Sample Group' }),
  GiftRegistries: madeUp('registry', 'Message', {
    CustomerAddressBook: { CustomerAddressId: 1, ...name, ...town },
    GiftRegistryID: 1,
    Name: 'Sample Registry',
    Created: orderedAt,
    LastUpdate: orderedAt,
    Items: 2,
    GiftRegistryItemList: [{ ...goods, Listed: 2, Price: 12.5, Subtotal: 25 }],
  }),
}

interface Sample {
  readonly recordId: number
  readonly body: string
  /** As an event has it. */
  readonly changed: string | null
}

const made = new Map(
  eventKinds.map((kind): [EventKind, Sample] => {
    const { says, values } = kind === customerErased ? { says: '', values: { CustomerID: 1 } } : samples[kind.service]
    const body = JSON.stringify(record(bodyType(kind).fields, values))
    return [kind, { recordId: 1, body, changed: namesMembers(kind) ? says : null }]
  }),
)

/**
 * A made-up record, the first of its kind, for testing a webhook: JSON text with every field. Always the same, so that a
 * receiver recognizes it (webhooks §6: order 1, invoice AB-1000, in 2016).
 */
export function sampleOf(kind: EventKind): Sample {
  return made.get(kind) as Sample
}
