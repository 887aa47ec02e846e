import { beforeAll, describe, expect, test } from 'vitest'
import { listRecords } from '../../../../../src/engine/reading/read.ts'
import { orderStatuses } from '../../../../../src/shop/resources/order-statuses/order-statuses.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { shared } from '../../../../support/shared.ts'
import { openShop } from './fixture.ts'

const shop = await shared(openShop())

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
      expect(error.code).toBe('not-found')
      return { records: [] }
    })
    const found = 'records' in listing ? listing.records.map((text) => JSON.parse(String(text)).OrderID) : []
    expect(found).toEqual(expected.map((index) => ids[index]))
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
})
