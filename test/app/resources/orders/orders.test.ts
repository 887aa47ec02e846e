import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NestedSubResource } from '../../../../src/engine/definition/define.ts'
import { listItems } from '../../../../src/engine/reading/nested.ts'
import { getRecord, listRecords } from '../../../../src/engine/reading/read.ts'
import { orderStatuses } from '../../../../src/resources/order-statuses/order-statuses.ts'
import { orders } from '../../../../src/resources/orders/orders.ts'
import { openShop, type Shop } from './fixture.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.drop())

describe('filters', () => {
  let ids: number[]
  beforeAll(async () => {
    const { id } = await shop.product({ Stock: 100 })
    ids = []
    for (const [BillingEmail, OrderDate] of [
      ['ann@shop.example', '01/10/2026 23:59:59'],
      ['bob@shop.example', '01/11/2026 00:00:00'],
      ['Ann@Shop.example', '01/11/2026 23:59:59'],
      ['eve@shop.example', '01/12/2026 00:00:00'],
    ]) {
      const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1 }], { BillingEmail, OrderDate })
      ids.push(placed.id)
    }
    const [first, second, third] = ids as [number, number, number]
    await shop.update(first, { InvoiceNumberPrefix: 'X-' })
    shop.clock.ms = Date.parse('2026-03-05T17:00:00Z')
    await shop.update(second, { OrderStatusID: 4 })
    shop.clock.ms = Date.parse('2026-03-06T17:00:00Z')
    await shop.update(third, { OrderStatusID: 4 })
  })

  // The store is in New York; the orders have the invoice numbers 1000 to 1003.
  test.each<[string, number[]]>([
    ['invoicenumber=1001', [1]],
    ['invoicenumberstart=1001&invoicenumberend=1002', [1, 2]],
    ['invoicenumberstart=1002', [2, 3]],
    ['invoicenumberend=1000', [0]],
    ['invoiceprefix=x-', [0]],
    ['invoiceprefix=ab-&invoicenumber=1003', [3]],
    ['invoiceprefix=a', []],
    ['orderstatus=4', [1, 2]],
    ['orderstatus=11', [0, 3]],
    ['datestart=01/11/2026&dateend=01/11/2026', [1, 2]],
    ['datestart=01/11/2026 00:00:01', [2, 3]],
    ['dateend=1/10/2026 11:59:59 PM', [0]],
    ['lastupdatestart=03/05/2026&lastupdateend=03/05/2026', [1]],
    ['lastupdatestart=03/06/2026', [2]],
    ['billingemail=ANN@shop.example', [0, 2]],
    ['billingemail=ann', []],
  ])('%s', async (query, expected) => {
    const parameters = new Map(new URLSearchParams(query))
    const listing = await listRecords(shop.application, orders, parameters).catch((error) => {
      expect(error.kind).toBe('not-found')
      return { records: [] }
    })
    const found = 'records' in listing ? listing.records.map((text) => JSON.parse(String(text)).OrderID) : []
    expect(found).toEqual(expected.map((index) => ids[index]))
  })

  test.each([
    ['invoicenumber', 'AB-1000'],
    ['invoicenumberstart', '1e3'],
    ['invoicenumberend', '99999999999'],
    ['orderstatus', 'New'],
    ['datestart', '02/31/2026'],
    ['lastupdateend', "'; DROP TABLE"],
  ])('%s=%s is refused by name', async (name, value) => {
    await expect(listRecords(shop.application, orders, new Map([[name, value]]))).rejects.toMatchObject({
      kind: 'bad-request',
      field: name,
    })
  })
})

describe('sub-resources', () => {
  test('each lists what the record holds, under the key of its results', async () => {
    const { id: productId } = await shop.product()
    const { id } = await shop.place([{ CatalogID: productId, ItemQuantity: 1 }], {
      TransactionList: [{ TransactionType: 'Sale', TransactionDateTime: '02/01/2026 10:00:00' }],
      QuestionList: [{ QuestionID: 1, QuestionAnswer: 'yes' }],
    })
    const order = await shop.order(id)
    const lists = {
      Items: 'OrderItemList',
      Shipments: 'ShipmentList',
      Transactions: 'TransactionList',
      Questions: 'QuestionList',
    }
    expect(Object.keys(orders.subResources)).toEqual(Object.keys(lists))
    for (const [name, list] of Object.entries(lists)) {
      const sub = orders.subResources[name] as NestedSubResource
      expect(sub.methods).toEqual(['GET', 'POST', 'PUT'])
      const { records } = await listItems(shop.application, orders, sub, id, new Map())
      expect(records.map((text) => JSON.parse(String(text)))).toEqual(order[list])
      expect(records).toHaveLength(1)
    }
    expect(order.TransactionList[0].TransactionDateTime).toBe('2026-02-01T10:00:00')
    expect((orders.subResources.Questions as NestedSubResource).resultKey).toBe('QuestionID')
  })
})

describe('OrderStatus', () => {
  test('lists the twelve statuses that a store begins with, for whoever may read orders', async () => {
    const listing = await listRecords(shop.application, orderStatuses, new Map([['limit', '500']]))
    const records = 'records' in listing ? listing.records.map((text) => JSON.parse(String(text))) : []
    expect(records).toHaveLength(12)
    expect(records[6]).toEqual({
      OrderStatusID: 7,
      Sorting: 7,
      StatusDefinition: 'Not Completed',
      StatusText: 'Not Completed',
      Visible: true,
    })
    expect(records.filter(({ Visible }) => !Visible).map(({ StatusText }) => StatusText)).toEqual([
      'Custom 1',
      'Custom 2',
      'Custom 3',
    ])
    expect(orderStatuses).toMatchObject({ privilege: 'Orders', methods: ['GET'], maxRecords: 500 })
  })

  test('answers one by its id', async () => {
    expect(JSON.parse(await getRecord(shop.application, orderStatuses, 5))).toMatchObject({ StatusText: 'Cancel' })
  })
})
