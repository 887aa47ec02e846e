import { beforeEach, describe, expect, test } from 'vitest'
import { columnPath } from '../../../../src/engine/definition/fields.ts'
import { transferredResources } from '../../../../src/shop/registry.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { importInto } from './fixture.ts'

// What a file brings must leave the store's counters room to go on.

const INT32_MAX = 2_147_483_647
const HIGHEST = 2_146_483_647

let shop: TestStore
const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

/** A record that has its identifier alone. */
function bare(resource: (typeof transferredResources)[number], id: number): object {
  const path = columnPath(resource.fields, 'id') ?? []
  const record = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), id)
  return { service: resource.service, record }
}

test.each(transferredResources.map((resource) => [resource.service, resource] as const))(
  'an identifier of %s beyond which its counter could not go on is refused, and counters stay',
  async (_service, resource) => {
    const beyond = [HIGHEST + 1, INT32_MAX - 1, INT32_MAX]
    const { refused } = await importInto(
      server,
      shop,
      beyond.map((id) => bare(resource, id)),
    )
    const message = `${resource.resultKey} must be a whole number from 1 to ${HIGHEST}`
    expect(refused.map((line) => line.message)).toEqual(beyond.map(() => message))
    expect(await server.services.db.counter.count({ where: { storeId: shop.store.id, value: { gt: 1_000 } } })).toBe(0)
  },
)

describe('after the highest that is taken', () => {
  const maker = (id: number) => ({
    service: 'Manufacturers',
    record: { ManufacturerID: id, ManufacturerName: `Maker ${id}` },
  })

  test('new records get ids above it', async () => {
    expect((await importInto(server, shop, [maker(HIGHEST)])).refused).toEqual([])
    const created = await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'New' } })
    expect([created.statusCode, created.json()[0].Value]).toEqual([201, String(HIGHEST + 1)])
  })

  test('new lines of orders too; one beyond it is refused', async () => {
    const order = (id: number, key: number) => ({
      service: 'Orders',
      record: { OrderID: id, OrderStatusID: 1, OrderItemList: [{ ItemIndexID: key, ItemID: 'A', ItemQuantity: 1 }] },
    })
    const { refused } = await importInto(server, shop, [order(1, HIGHEST), order(2, HIGHEST + 1)])
    expect(refused.map(({ line, message }) => [line, message])).toEqual([
      [2, `OrderItemList[0].ItemIndexID must be from 1 to ${HIGHEST}, or 0 for a new id`],
    ])
    expect(await placeOrder()).toBe(201)
  })

  test('an invoice number beyond it stays that of its order, and the store goes on with its own', async () => {
    const order = { service: 'Orders', record: { OrderID: 1, OrderStatusID: 1, InvoiceNumber: INT32_MAX } }
    expect((await importInto(server, shop, [order])).refused).toEqual([])
    expect((await shop.call('GET', '/Orders/1')).json()[0].InvoiceNumber).toBe(INT32_MAX)
    expect(await placeOrder()).toBe(201)
  })
})

async function placeOrder(): Promise<number> {
  const product = { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1, Stock: 5 } }
  expect((await shop.call('POST', '/Products', { body: product })).statusCode).toBe(201)
  const payload = { BillingEmail: 'guest@mail.example', OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }] }
  const url = `/admin/stores/${shop.store.id}/orders`
  return (await server.operate('POST', url, payload)).statusCode
}
