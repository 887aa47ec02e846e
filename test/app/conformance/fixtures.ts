import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { importRecords } from '../../../src/engine/transfer/import.ts'
import { numberLines } from '../../../src/engine/transfer/lines.ts'
import { resources, type Service } from '../../../src/shop/registry.ts'
import { exact, toNumber } from '../../../src/shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../src/shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../src/shop/resources/orders/orders.ts'
import { paymentsOf } from '../../../src/shop/resources/orders/payments.ts'
import type { TestServer, TestStore } from '../../support/store.ts'
import type { Overrides, Wire } from './samples.ts'

/** Ids of records that others may refer to, by service; several of each. */
export type References = Readonly<Record<string, readonly number[]>>

/** What the suite cannot read off a definition. */
export interface Fixture {
  /** Makes the records that this service's records refer to. */
  readonly prepare?: (shop: TestStore) => Promise<References>
  /** Makes a record of a service that takes no POST and returns its id. */
  readonly make?: (server: TestServer, shop: TestStore, references: References) => Promise<number>
  /** The least that a new record needs; different for each seed where it must be. */
  readonly minimal: (seed: number) => Wire
  /** What must be given, and not empty (the tables of rest-resources). */
  readonly required: readonly string[]
  /** What no two records of a store may have in common, without regard to case. */
  readonly unique?: readonly string[]
  /** Values that a sample must have, different for an odd and an even seed. */
  readonly overrides?: (references: References, seed: number) => Overrides
  /** What the platform says of a minimal record, by path; defaults elsewhere. */
  readonly computed: Readonly<Record<string, unknown>>
  /** By field what else changes with it, in the record or in the item. */
  readonly follows?: Readonly<Record<string, readonly string[]>>
  /** Lists whose items are nothing without the record that they refer to. */
  readonly bound?: readonly string[]
  /** Two records, made on `dayOfA` and `dayOfB`, that the examples of the filters tell apart. */
  readonly a: Wire
  readonly b: Wire
  readonly filters: Readonly<Record<string, FilterExample>>
  /** By computed sub-resource: what it says of a record. */
  readonly workedOut?: Readonly<Record<string, (record: Wire) => Wire>>
  /** By related sub-resource: what makes a record of the other service one of the record with this id. */
  readonly related?: Readonly<Record<string, (id: number) => Wire>>
  /** By column, in SQL over the number `n`: what must differ between copies of a row. */
  readonly columnsOfCopies?: Readonly<Record<string, string>>
}

/** A value by which the list has record `a` and not `b`, or the other way round. */
export type FilterExample = { readonly kind: FilterKind } & ({ readonly a: string } | { readonly b: string })

/** A whole text, a part of it, a whole number, a bound that is the record's own value, a flag, a bound of dates. */
export type FilterKind = 'text' | 'part' | 'number' | 'bound' | 'flag' | 'date'

/** The days, in the stores' zone, at whose noon the suite makes `a` and `b`. */
export const dayOfA = '2026-03-10'
export const dayOfB = '2026-03-11'

/** Examples for the two filters of a date range over a column that is set when `a` and `b` are made. */
const sinceB: FilterExample = { kind: 'date', b: `${dayOfB} 00:00:00` }
const untilA: FilterExample = { kind: 'date', a: `${dayOfA} 23:59:59` }
const updated = { lastupdatestart: sinceB, lastupdateend: untilA }

/** The value that an example gives to its filter. */
export function givenBy(example: FilterExample): string {
  return 'a' in example ? example.a : example.b
}

const now = expect.stringMatching(/^2026-03-\d\dT\d\d:\d\d:\d\d$/)
const minute = expect.stringMatching(/^03\/\d\d\/2026 \d\d:\d\d$/)
const editor = expect.stringMatching(/^Application \d+$/)

/** Their numbers are the same in every store, and they are never deleted. */
const returnedOrders = [77_001, 77_002] as const

export const fixtures = {
  Category: {
    prepare: async (shop) => ({
      Category: await posted(shop, 'Category', [{ CategoryName: 'P1' }, { CategoryName: 'P2' }]),
      Products: await posted(shop, 'Products', ['B-1', 'B-2'].map(productOf)),
    }),
    minimal: (seed) => ({ CategoryName: `Category ${seed}` }),
    required: ['CategoryName'],
    overrides: ({ Category = [], Products = [] }, seed) => ({
      CategoryParent: Category[seed % 2],
      'OptionSetList.OptionList.OptionBundleCatalogId': [Products[seed % 2], Products[(seed + 1) % 2]],
    }),
    computed: { UserID: editor, LastUpdate: now },
    a: { CategoryName: 'Küche & 100% Tisch' },
    b: { CategoryName: 'Garden' },
    filters: { category: { kind: 'part', a: 'küche' }, ...updated },
    related: { Products: (id) => ({ CategoryList: [{ CategoryID: id }] }) },
  },
  Manufacturers: {
    minimal: (seed) => ({ ManufacturerName: `Manufacturer ${seed}` }),
    required: ['ManufacturerName'],
    computed: { UserID: editor, LastUpdate: now },
    a: { ManufacturerName: 'Aroma 100% GmbH' },
    b: { ManufacturerName: 'Bits & Pieces' },
    filters: { manufacturer: { kind: 'part', a: 'aroma' }, ...updated },
    related: { Products: (id) => ({ ManufacturerID: id }) },
  },
  Distributors: {
    minimal: (seed) => ({ CompanyName: `Distributor ${seed}` }),
    required: ['CompanyName'],
    computed: { UserID: editor, LastUpdate: now },
    a: {
      CompanyName: 'Aqua 100% Supplies',
      Email: 'bestellung@zürich.example',
      Country: 'DE',
      State: 'HH',
      City: 'Hamburg-Altona',
      Phone: '+49 40 1234',
    },
    b: {
      CompanyName: 'Bolt Parts',
      Email: 'sales@bolt.example',
      Country: 'US',
      State: 'NY',
      City: 'Albany',
      Phone: '518 555 0100',
    },
    filters: {
      company: { kind: 'part', a: 'supplies' },
      email: { kind: 'text', a: 'bestellung@zürich.example' },
      country: { kind: 'text', b: 'US' },
      state: { kind: 'text', a: 'HH' },
      city: { kind: 'part', b: 'Alba' },
      phone: { kind: 'text', a: '+49 40 1234' },
      ...updated,
    },
    related: { Products: (id) => ({ DistributorList: [{ DistributorID: id }] }) },
  },
  CustomerGroups: {
    minimal: (seed) => ({ Name: `Group ${seed}` }),
    required: ['Name'],
    computed: {},
    a: { Name: 'Retail' },
    b: { Name: 'Wholesale' },
    filters: { ...updated },
    related: { Customers: (id) => ({ CustomerGroupID: id }) },
  },
  Products: {
    prepare: async (shop) => ({
      Manufacturers: await posted(shop, 'Manufacturers', [{ ManufacturerName: 'M1' }, { ManufacturerName: 'M2' }]),
      Distributors: await posted(shop, 'Distributors', each('CompanyName', ['D1', 'D2', 'D3'])),
      Category: await posted(shop, 'Category', each('CategoryName', ['C1', 'C2', 'C3'])),
      CustomerGroups: await posted(shop, 'CustomerGroups', [{ Name: 'G1' }, { Name: 'G2' }]),
      Products: await posted(shop, 'Products', ['L-1', 'L-2', 'L-3'].map(productOf)),
    }),
    minimal: (seed) => ({ SKUInfo: { SKU: `SKU-${seed}`, Name: `Product ${seed}` } }),
    required: ['SKUInfo.SKU', 'SKUInfo.Name'],
    unique: ['SKUInfo.SKU'],
    overrides: (
      { Manufacturers = [], Distributors = [], Category = [], CustomerGroups = [], Products = [] },
      seed,
    ) => ({
      ManufacturerID: Manufacturers[seed % 2],
      AllowAccessCustomerGroupID: CustomerGroups[seed % 2],
      'DistributorList.DistributorID': [Distributors[seed % 2], Distributors[2]],
      'CategoryList.CategoryID': [Category[seed % 2], Category[2]],
      'RelatedProductList.RelatedProductID': [Products[seed % 2], Products[2]],
      'UpSellingItemList.UpSellingItemID': [Products[2], Products[seed % 2]],
      'OptionSetList.OptionList.OptionBundleCatalogId': [Products[seed % 2], 0],
      // By how much a stock moves is stored as well, and has the bounds of a stock.
      'SKUInfo.Stock': seed + 0.1234,
      'AdvancedOptionList.AdvancedOptionStock': [-seed - 0.5, seed + 0.25],
    }),
    computed: {
      'SKUInfo.Currency': 'USD',
      LastUpdate: now,
      UserID: editor,
      DateCreated: now,
      BuyButtonLink: expect.stringMatching(/^https:\/\/shop-\d+\.example\/add_cart\?item_id=\d+$/),
      ProductLink: expect.stringMatching(/^https:\/\/shop-\d+\.example\/product-\d+\.html$/),
    },
    follows: {
      ManufacturerID: ['ManufacturerName'],
      CategoryList: ['CategoryExternalIdsList'],
      AllowAccessCustomerGroupID: ['AllowAccessCustomerGroupName'],
      CustomFileName: ['ProductLink'],
    },
    bound: ['DistributorList', 'CategoryList', 'RelatedProductList', 'UpSellingItemList'],
    a: {
      SKUInfo: { SKU: 'Filter-A', Name: 'Blue 100% Kettle', Cost: 20.5, Price: 30.25, Stock: 7.5, OnSale: true },
      GTIN: '4006381333931x',
      MFGID: 'Mfg-A/7',
      ManufacturerID: 1,
      CategoryList: [{ CategoryID: 1 }],
      Hide: true,
      FreeShipping: true,
      NonTaxable: true,
      NotForSale: true,
      GiftCertificate: true,
    },
    b: {
      SKUInfo: { SKU: 'Filter-B', Name: 'Red Mug', Cost: 10.5, Price: 10.25, Stock: -3 },
      GTIN: '4006381333932x',
      MFGID: 'Mfg-B/7',
      ManufacturerID: 2,
      HomeSpecial: true,
      CategorySpecial: true,
      NonSearchable: true,
      SelfShip: true,
      DisableRewards: true,
    },
    filters: {
      sku: { kind: 'text', a: 'Filter-A' },
      name: { kind: 'part', a: 'kettle' },
      gtin: { kind: 'text', a: '4006381333931x' },
      mfgid: { kind: 'text', b: 'Mfg-B/7' },
      categoryid: { kind: 'number', a: '1' },
      manufacturerid: { kind: 'number', b: '2' },
      costfrom: { kind: 'bound', a: '20.5' },
      costto: { kind: 'bound', b: '10.5' },
      pricefrom: { kind: 'bound', a: '30.25' },
      priceto: { kind: 'bound', b: '10.25' },
      stockfrom: { kind: 'bound', a: '7.5' },
      stockto: { kind: 'bound', b: '-3' },
      hide: { kind: 'flag', a: '1' },
      freeshipping: { kind: 'flag', a: '1' },
      onsale: { kind: 'flag', a: '1' },
      nontax: { kind: 'flag', a: '1' },
      notforsale: { kind: 'flag', a: '1' },
      giftcertificate: { kind: 'flag', a: '1' },
      homespecial: { kind: 'flag', b: '1' },
      categoryspecial: { kind: 'flag', b: '1' },
      nonsearchable: { kind: 'flag', b: '1' },
      selfship: { kind: 'flag', b: '1' },
      rewarddisable: { kind: 'flag', b: '1' },
      ...updated,
    },
    columnsOfCopies: { sku: `'copy-' || n` },
  },
  Customers: {
    prepare: async (shop) => ({
      CustomerGroups: await posted(shop, 'CustomerGroups', [{ Name: 'G1' }, { Name: 'G2' }]),
    }),
    minimal: (seed) => ({ Email: `customer-${seed}@mail.example`, Password: 'four words and more' }),
    required: ['Email', 'Password'],
    unique: ['Email'],
    overrides: ({ CustomerGroups = [] }, seed) => ({
      Email: `O'Hara+${seed}@mail.example`,
      CustomerGroupID: CustomerGroups[seed % 2],
    }),
    computed: {},
    a: {
      Email: 'anna@mail.example',
      Password: 'anna anna anna',
      BillingFirstName: 'Anna 100%',
      BillingLastName: 'Lindqvist',
      BillingCountry: 'SE',
      BillingState: 'AB',
      BillingCity: 'Stockholm',
      BillingPhoneNumber: '+46 8 123',
    },
    b: {
      Email: 'bert@mail.example',
      Password: 'bert bert bert',
      BillingFirstName: 'Bert',
      BillingLastName: 'Cooper',
      BillingCountry: 'US',
      BillingState: 'NY',
      BillingCity: 'Albany',
      BillingPhoneNumber: '518 555 0100',
    },
    filters: {
      email: { kind: 'text', a: 'anna@mail.example' },
      firstname: { kind: 'part', a: 'nna' },
      lastname: { kind: 'part', b: 'coop' },
      country: { kind: 'text', a: 'SE' },
      state: { kind: 'text', b: 'NY' },
      city: { kind: 'part', a: 'holm' },
      phone: { kind: 'text', b: '518 555 0100' },
      ...updated,
    },
    columnsOfCopies: { email: `'copy-' || n` },
  },
  OrderStatus: {
    make: async (server, { store }) => {
      const status = { StatusText: `Status ${randomUUID()}` }
      const answer = await server.operate('POST', `/admin/stores/${store.id}/order-statuses`, status)
      expect(answer.statusCode, answer.body).toBe(201)
      return Number(answer.json()[0].Value)
    },
    minimal: () => ({}),
    required: [],
    computed: {},
    a: {},
    b: {},
    filters: { ...updated },
  },
  Orders: {
    prepare: async (shop) => ({
      Products: await posted(shop, 'Products', ['P-1', 'P-2', 'P-3'].map(productOf)),
      Customers: await posted(shop, 'Customers', [
        { Email: 'one@mail.example', Password: 'one one one' },
        { Email: 'two@mail.example', Password: 'two two two' },
      ]),
    }),
    make: (_server, shop, { Products = [] }) => {
      const paid = { BillingOnLinePayment: true, BillingPaymentMethodID: '2' }
      return shop.placeOrder([{ CatalogID: Products[0], ItemQuantity: 1 }], paid)
    },
    minimal: () => ({}),
    required: [],
    overrides: ({ Products = [], Customers = [] }, seed) => ({
      CustomerID: Customers[seed % 2],
      OrderStatusID: 2 + (seed % 2),
      'ShipmentList.ShipmentOrderStatus': [4 + 2 * (seed % 2), 8],
      'OrderItemList.CatalogID': [Products[seed % 2], Products[2]],
      // Lines name a shipment of their order, whose ids are not known yet.
      'OrderItemList.ItemShipmentID': undefined,
      // A stock is taken off by it.
      'OrderItemList.ItemQuantity': [1.5 + (seed % 2), 2.25],
    }),
    computed: { ContinueURL: expect.stringMatching(/^https:\/\/shop-\d+\.example\/continue\?order_key=\d+$/) },
    follows: {
      BillingPaymentMethodID: ['BillingPaymentMethod'],
      OrderDiscountCoupon: ['OrderDiscount'],
      OrderDiscountPromotion: ['OrderDiscount'],
      // A line lies in a shipment, and is completed from its product.
      ShipmentList: ['OrderItemList'],
      'OrderItemList.CatalogID': ['ItemID', 'ItemDescription', 'ItemWeight', 'ItemUnitCost', 'ItemUnitStock'],
      'OrderItemList.ItemOptions': ['ItemID', 'ItemDescription', 'ItemWeight', 'ItemUnitCost'],
    },
    a: { BillingEmail: 'anna@mail.example', InvoiceNumberPrefix: 'AA-', InvoiceNumber: 500, OrderStatusID: 2 },
    b: { BillingEmail: 'bert@mail.example', InvoiceNumberPrefix: 'BB-', InvoiceNumber: 400, OrderStatusID: 3 },
    filters: {
      invoicenumber: { kind: 'number', a: '500' },
      invoicenumberstart: { kind: 'number', a: '500' },
      invoicenumberend: { kind: 'number', b: '400' },
      invoiceprefix: { kind: 'text', a: 'AA-' },
      orderstatus: { kind: 'number', b: '3' },
      datestart: sinceB,
      dateend: untilA,
      ...updated,
      billingemail: { kind: 'text', b: 'bert@mail.example' },
    },
    workedOut: { Sums: sumsOf },
  },
  GiftRegistries: {
    prepare: async (shop) => ({ Products: await posted(shop, 'Products', ['G-1', 'G-2', 'G-3'].map(productOf)) }),
    minimal: (seed) => ({ Name: `Registry ${seed}` }),
    required: ['Name'],
    overrides: ({ Products = [] }, seed) => ({
      'GiftRegistryItemList.CatalogID': [Products[seed % 2], Products[2]],
    }),
    computed: { Created: now, LastUpdate: now, 'CustomerAddressBook.CustomerAddressId': expect.any(Number) },
    a: {
      Name: 'Anna and Bert',
      Event: `${dayOfA}T12:00:00`,
      Expires: `${dayOfA}T12:00:00`,
      GiftRegistryItemList: [{}, { CatalogID: 1, SKU: 'Filter-A' }],
    },
    b: {
      Name: 'Baby',
      Event: `${dayOfB}T12:00:00`,
      Expires: `${dayOfB}T12:00:00`,
      GiftRegistryItemList: [{ CatalogID: 2, SKU: 'Filter-B' }, {}],
    },
    filters: {
      catalogid: { kind: 'number', a: '1' },
      sku: { kind: 'text', b: 'Filter-B' },
      datestartcreated: sinceB,
      dateendcreated: untilA,
      datestartevent: sinceB,
      dateendevent: untilA,
      datestartexpiration: sinceB,
      dateendexpiration: untilA,
      ...updated,
    },
  },
  RMA: {
    prepare: async (shop) => {
      const Products = await posted(shop, 'Products', ['R-1', 'R-2', 'R-3'].map(productOf))
      const OrderItemList = Products.map((CatalogID, index) => ({
        CatalogID,
        ItemID: `R-${index + 1}`,
        ItemQuantity: 1_000_000_000,
      }))
      await imported(
        shop,
        returnedOrders.map((OrderID) => ({ OrderID, OrderStatusID: 4, OrderItemList })),
      )
      return { Products }
    },
    minimal: () => ({ OrderID: returnedOrders[0] }),
    required: ['OrderID'],
    overrides: ({ Products = [] }, seed) => ({
      OrderID: returnedOrders[seed % 2],
      'RMAItemList.CatalogID': [Products[seed % 2], Products[2]],
      'RMAItemList.SKU': [`R-${1 + (seed % 2)}`, 'R-3'],
      // No more than was sold; a stock is raised by it.
      'RMAItemList.ReturnQuantity': [1.5 + (seed % 2), 2.25],
      'RMAItemList.RestockQuantity': [0.5 + (seed % 2), 0.25],
    }),
    computed: { RmaDate: now, RMAStatusID: 1 },
    a: {
      OrderID: returnedOrders[0],
      RMAStatusID: 2,
      RMAReasonID: 3,
      RMAMethodID: 4,
      RMAItemList: [{ CatalogID: 3 }, { CatalogID: 1 }],
    },
    b: {
      OrderID: returnedOrders[1],
      RMAStatusID: 5,
      RMAReasonID: 6,
      RMAMethodID: 7,
      RMAItemList: [{ CatalogID: 2 }, { CatalogID: 3 }],
    },
    filters: {
      rmastatusid: { kind: 'number', a: '2' },
      rmareasonid: { kind: 'number', b: '6' },
      rmamethodid: { kind: 'number', a: '4' },
      catalogid: { kind: 'number', b: '2' },
      sku: { kind: 'text', a: 'R-1' },
      datestart: sinceB,
      dateend: untilA,
      ...updated,
    },
  },
  Webhooks: {
    minimal: (seed) => ({
      Name: `Webhook ${seed}`,
      Url: `https://receiver.example/${seed}`,
      EventType: 9,
      Enabled: true,
    }),
    required: ['Name', 'Url', 'EventType', 'Enabled'],
    overrides: (_references, seed) => ({
      Url: `https://receiver.example/${seed}?token=%20${seed}`,
      EventType: 9,
      Format: seed % 2 === 1 ? 'XML' : 'JSON',
      Members: seed % 2 === 1 ? 'BillingCity,MailList' : 'Email',
    }),
    computed: { DateCreated: minute, DateUpdated: minute },
    a: { Name: 'Küche 100% Desk', Url: 'http://a.example/x', EventType: 1, Enabled: true, Format: 'XML' },
    b: { Name: 'Garden', Url: 'https://b.example/x?y=1', EventType: 1, Enabled: false },
    filters: {
      name: { kind: 'part', a: 'küche' },
      url: { kind: 'text', b: 'https://b.example/x?y=1' },
      enabled: { kind: 'flag', a: '1' },
      format: { kind: 'text', a: 'XML' },
      datecreatedstart: sinceB,
      datecreatedend: untilA,
      dateupdatedstart: sinceB,
      dateupdatedend: untilA,
    },
  },
} satisfies Record<Service, Fixture>

/** As the pages of an order work it out, of one that has no returns. */
function sumsOf(record: Wire): Wire {
  const order = record as unknown as OrderRecord
  const { subtotal, shipping, discount, tax } = orderFigures(order, 'USD')
  const { paid, refunded, net, open } = paymentsOf(order)
  const parts = exact(subtotal) + exact(shipping) + exact(tax) - exact(discount)
  return {
    OrderID: order.OrderID,
    ItemTotal: subtotal,
    DiscountTotal: discount,
    ShippingTotal: shipping,
    TaxTotal: tax,
    OtherAmount: toNumber(exact(order.OrderAmount) - (parts > 0n ? parts : 0n)),
    OrderAmount: order.OrderAmount,
    PaidAmount: paid,
    RefundedAmount: refunded,
    NetAmount: net,
    OpenAmount: open,
    ItemSumList: (record.OrderItemList as Wire[]).map(({ ItemIndexID, ItemID, ItemQuantity }) => {
      return { ItemIndexID, ItemID, ItemQuantity, ReturnedQuantity: 0, RefundedQuantity: 0 }
    }),
  }
}

async function posted(shop: TestStore, service: Service, bodies: readonly Wire[]): Promise<number[]> {
  const answer = await shop.call('POST', `/${service}`, { body: bodies })
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json().map(({ Value }: { Value: string }) => Number(Value))
}

function each(field: string, values: readonly string[]): Wire[] {
  return values.map((value) => ({ [field]: value }))
}

function productOf(sku: string): Wire {
  return { SKUInfo: { SKU: sku, Name: `Product ${sku}`, Price: 5, Stock: 1_000_000 } }
}

async function imported({ caller }: TestStore, records: readonly Wire[]): Promise<void> {
  const lines = numberLines(records.map((record) => ({ service: 'Orders', record })))
  const { stored } = await importRecords(caller, resources, lines, { refused: ({ message }) => expect.fail(message) })
  expect(stored).toBe(records.length)
}
