import { expect } from 'vitest'
import { connect } from '../../../src/foundation/database/client.ts'
import { migrate } from '../../../src/foundation/database/migrations.ts'
import { readRecords, recordsDay } from '../../../src/operations/sandbox/records.ts'
import { numberEvents } from '../../../src/shop/webhooks/dispatch/number.ts'
import { importInto, operator } from '../../app/engine/transfer/fixture.ts'
import { newWebhook } from '../../app/http/rest/webhooks-fixture.ts'
import type { TestDatabase } from '../../support/database.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'

/**
 * Migrates the database and puts a sandbox store into it, in which orders were placed and changed, options came and went, and
 * events go to a webhook. Returns the open server, and an order that was placed and that nobody has changed.
 */
export async function fillDatabase(url: string): Promise<{ server: TestServer; shop: TestStore; orderId: number }> {
  await migrate(url)
  const server = await openServer({}, () => openDatabase(url))
  const shop = await server.openStore()
  return { server, shop, orderId: await fill(server, shop) }
}

/** The database as a server of the tests takes it; `drop` only closes the client. */
export async function openDatabase(url: string): Promise<TestDatabase> {
  const db = connect(url)
  return { url, db, drop: () => db.$disconnect() }
}

async function fill(server: TestServer, shop: TestStore): Promise<number> {
  expect((await importInto(server, shop, await readRecords(recordsDay))).refused).toEqual([])
  const change = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const answer = await shop.call(method, path, { body })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
    server.clock.ms += 60_000
    return Number(answer.json()[0].Value)
  }
  await newWebhook(shop.call)
  const options = (stock: number) => ({
    AdvancedOptionList: stock === 0 ? [] : [{ AdvancedOptionCode: '7,8', AdvancedOptionStock: stock }],
  })
  const product = await change('POST', '/Products', { SKUInfo: { SKU: 'NEW', Name: 'New', Price: 9.99, Stock: 20 } })
  for (const stock of [5, 0, 3, 0]) await change('PUT', `/Products/${product}`, options(stock))
  const placed = []
  for (let number = 0; number < 3; number++) {
    const answer = await server.app.inject({
      method: 'POST',
      url: `/admin/stores/${shop.store.id}/orders`,
      headers: operator(server),
      payload: {
        BillingEmail: 'guest@mail.example',
        OrderItemList: [{ CatalogID: product, ItemQuantity: 2 }],
        ShipmentList: [{ ShipmentCost: 6.5 }],
        SalesTax: 1.239,
        OrderDiscountCoupon: 1,
      },
    })
    expect(answer.statusCode, answer.body).toBe(201)
    placed.push(Number(answer.json()[0].Value))
    server.clock.ms += 60_000
  }
  const [first = 0, second, third] = placed
  await change('PUT', `/Orders/${second}`, { OrderStatusID: 5 })
  await change('PUT', `/Orders/${third}`, { OrderAmount: 1 })
  await importInto(server, shop, [
    { service: 'Products', record: { SKUInfo: { CatalogID: 5, SKU: 'FIVE', Name: 'Five', Stock: 99 } } },
  ])
  expect((await numberEvents(server.services.db, new Date(server.clock.ms), [], 'a process'))?.deliveries).toBe(3)
  return first
}
