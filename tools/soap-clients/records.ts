import type { TransferLine } from '../../src/engine/transfer/import.ts'

/** Text that breaks where bytes are taken for characters, or markup for text. */
export const hardText = 'Zoë & Söhne <„Größe“> 🎁'

/** A small store: what `callsOf` expects to find. */
export const records: readonly TransferLine[] = [
  product(1, 'TOTE-1', { Name: 'Tote Bag', Price: 17.99, Stock: 20 }),
  product(2, 'TEE-2', { Name: hardText, Price: 30, Stock: 5 }),
  product(3, 'MUG-3', { Name: 'Mug', Price: 8.5, Stock: 0 }),
  customer(1, { Email: 'ada@example.com', BillingFirstName: 'Ada', BillingCity: 'London' }),
  customer(2, { Email: 'zoe@example.com', BillingFirstName: 'Zoë', BillingCity: 'Köln' }),
  order(1, { CustomerID: 2, OrderDate: '2026-03-02T15:08:30', CustomerComments: `${hardText}\nbitte` }),
  order(2, { CustomerID: 1, OrderDate: '2026-03-03T00:00:00', OrderStatusID: 4 }),
  order(3, { CustomerID: 0, OrderDate: '2026-03-04T09:00:00', OrderStatusID: 4 }),
]

function product(id: number, sku: string, skuInfo: object): TransferLine {
  const SKUInfo = { CatalogID: id, SKU: sku, ...skuInfo }
  return { service: 'Products', record: { SKUInfo, Description: '<p>Größe &amp; <b>Farbe</b></p>' } }
}

function customer(id: number, fields: object): TransferLine {
  return { service: 'Customers', record: { CustomerID: id, Enabled: true, ...fields } }
}

/** New, of two bags in one shipment, unless `fields` say otherwise. */
function order(id: number, fields: object): TransferLine {
  const item = { CatalogID: 1, ItemID: 'TOTE-1', ItemQuantity: 2, ItemDescription: 'Tote Bag', ItemUnitPrice: 17.99 }
  return {
    service: 'Orders',
    record: {
      OrderID: id,
      InvoiceNumberPrefix: 'AB-',
      InvoiceNumber: 999 + id,
      OrderStatusID: 1,
      OrderAmount: 35.98,
      ShipmentList: [{ ShipmentID: 0, ShipmentNumber: 1, ShipmentOrderStatus: 1 }],
      OrderItemList: [{ ItemIndexID: id, ...item }],
      ...fields,
    },
  }
}
