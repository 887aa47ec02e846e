import { describe, expect, test } from 'vitest'
import { operatorCaller } from '../../../../../src/access/stores/caller-store.ts'
import { updateRecord } from '../../../../../src/engine/changing/change.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { sharedServer } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { envelope, post, request } from '../../../http/soap/support.ts'
import { openTelling } from './fixture.ts'

// Which changes cause which mails. They are sent in sending.test.ts.

const server = await sharedServer({ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'mail@shop.example' })
const shop = await openTelling(server)
const quiet = { Prefer: 'notify=none' }
const transaction = (TransactionAmount: number, TransactionType = 'Sale') => ({
  ...{ TransactionType, TransactionAmount, TransactionCaptured: 1 },
})
const paid = (amount: number) => ({ TransactionList: [transaction(amount)] })
const sent = { ShipmentList: [{ ShipmentShippedDate: '03/10/2026', ShipmentTrackingCode: '1Z' }] }
const DAY_MS = 86_400_000

describe('by REST', () => {
  test('each thing that happens to an order is told once, however often it happens', async () => {
    const id = await shop.order()
    expect(await shop.told(id)).toEqual(['order-placed'])
    for (let round = 0; round < 2; round++) {
      await shop.change(id, { OrderStatusID: 2 })
      await shop.change(id, { OrderStatusID: 4 })
    }
    expect(await shop.told(id)).toEqual(['order-placed', 'parcel-sent'])
    await shop.add(`/Orders/${id}/Transactions`, transaction(15))
    expect(await shop.told(id)).toHaveLength(2)
    for (const each of [transaction(25), transaction(1), transaction(5, 'Refund'), transaction(5, 'Refund')]) {
      await shop.add(`/Orders/${id}/Transactions`, each)
    }
    const back = { OrderID: id, RMAItemList: [{ SKU: 'LAMP', ReturnQuantity: 1 }] }
    const rmaId = await shop.add('/RMA', back)
    expect(await shop.told(id)).not.toContain('order-returned')
    for (const ReceivedQuantity of [1, 0, 1]) {
      const body = { RMAItemList: [{ SKU: 'LAMP', ReturnQuantity: 1, ReceivedQuantity }] }
      await shop.call('PUT', `/RMA/${rmaId}`, { body })
    }
    await shop.change(id, { OrderStatusID: 5 })
    const refunds = ['order-refunded', 'order-refunded']
    const kinds = ['order-placed', 'parcel-sent', 'order-paid', ...refunds, 'order-returned', 'order-cancelled']
    const waiting = { state: 'waiting', recipient: 'guest@shop.example', contentSealed: null }
    expect(await shop.mails(id)).toMatchObject(kinds.map((kind) => ({ kind, ...waiting })))
  })

  test('a parcel of several is told of when it leaves, and a corrected tracking number is no news', async () => {
    const id = await shop.order({ ShipmentList: [{ ShipmentCity: 'Oslo' }, { ShipmentCity: 'Bergen' }] })
    const [{ ShipmentList }] = (await shop.call('GET', `/Orders/${id}`)).json()
    const [one, other] = ShipmentList.map(({ ShipmentID }: { ShipmentID: number }) => ShipmentID)
    const list = (...shipments: object[]) => shop.change(id, { ShipmentList: shipments })
    await list({ ShipmentID: one, ShipmentShippedDate: '03/10/2026' }, { ShipmentID: other })
    await list({ ShipmentID: one, ShipmentTrackingCode: '2Z' }, { ShipmentID: other })
    await list({ ShipmentID: one }, { ShipmentID: other, ShipmentOrderStatus: 4 })
    const mails = await shop.mails(id)
    expect(mails.map(({ kind, aboutId }) => [kind, aboutId])).toEqual([
      ['order-placed', 0],
      ['parcel-sent', one],
      ['parcel-sent', other],
    ])
  })

  test('an order is paid by what it is placed with, by a lower total, and not by what was paid before', async () => {
    expect(await shop.told(await shop.order(paid(40)))).toEqual(['order-placed', 'order-paid'])
    const lowered = await shop.order(paid(30))
    expect(await shop.told(lowered)).toEqual(['order-placed'])
    await shop.change(lowered, { OrderAmount: 30 })
    expect(await shop.told(lowered)).toEqual(['order-placed', 'order-paid'])
    const silent = await openTelling(server, [])
    const before = await silent.order(paid(40))
    await server.services.db.store.update({ where: { id: silent.store.id }, data: { orderMails: ['order-paid'] } })
    server.services.authenticator.invalidate()
    await silent.add(`/Orders/${before}/Transactions`, transaction(1))
    await silent.change(before, { OrderStatusID: 2 })
    expect(await silent.told(before)).toEqual([])
  })

  test('an order that is not completed tells nothing until it is', async () => {
    const id = await shop.order({ OrderStatusID: 7, ...paid(40) })
    await shop.change(id, { InternalComments: 'waits' })
    expect(await shop.told(id)).toEqual([])
    await shop.change(id, { OrderStatusID: 1 })
    expect(await shop.told(id)).toEqual(['order-placed', 'order-paid'])
    const given = await shop.order({ OrderStatusID: 7 })
    await shop.change(given, { OrderStatusID: 5 })
    expect(await shop.told(given)).toEqual([])
  })

  test('Prefer: notify=none tells nobody, and the answer says so', async () => {
    const id = await shop.order()
    const { headers } = await shop.change(id, sent, { Prefer: 'handling=strict, notify=none' })
    expect(headers['preference-applied']).toBe('handling=strict, notify=none')
    const added = await shop.call('POST', `/Orders/${id}/Transactions`, { body: transaction(40), headers: quiet })
    expect(added.headers['preference-applied']).toBe('notify=none')
    await shop.change(id, { OrderStatusID: 5 }, quiet)
    const placed = await server.app.inject({
      method: 'POST',
      url: `/admin/stores/${shop.store.id}/orders`,
      headers: { authorization: `Bearer ${server.services.operatorKey}`, ...quiet },
      payload: { BillingEmail: 'guest@shop.example', OrderItemList: [{ CatalogID: shop.lamp, ItemQuantity: 1 }] },
    })
    expect([await shop.told(id), await shop.told(Number(placed.json().Value))]).toEqual([['order-placed'], []])
  })

  test('nobody is told by imports, CSV files, bulk changes and putting back', async () => {
    const id = await shop.order()
    await updateRecord({ ...(await operatorCaller(server.services, shop.store.id)), importId: 1 }, orders, id, sent)
    const [record] = (await shop.call('GET', `/Orders/${id}`)).json()
    const line = { service: 'Orders', record: { ...record, OrderStatusID: 5, ...paid(40) } }
    const { counts, refused } = await importInto(server, shop, [line])
    expect({ counts, refused }).toMatchObject({ counts: { stored: 1 }, refused: [] })
    expect(await shop.told(id)).toEqual(['order-placed'])
  })

  test('nobody is told of an old order, nor where there is no address', async () => {
    const OrderDate = new Date(server.clock.ms - 31 * DAY_MS).toISOString().slice(0, 19)
    const old = await shop.order({ OrderDate })
    const nameless = await shop.order({ BillingEmail: '', BillingPhoneNumber: '555 0100' })
    for (const id of [old, nameless]) {
      await shop.change(id, sent)
      expect(await shop.told(id)).toEqual([])
    }
  })
})

test('Checkout tells of the order that it places, and a repeated call of none', async () => {
  const body = { BillingEmail: 'ann@shop.example', OrderItemList: [{ CatalogID: shop.lamp, ItemQuantity: 1 }] }
  const call = (key: string, more: object = {}) =>
    shop.call('POST', '/Checkout', { version: 'v2', body, headers: { 'idempotency-key': key, ...more } })
  const [placed] = (await call('one')).json()
  await call('one')
  const [silent] = (await call('two', quiet)).json()
  expect([await shop.told(Number(placed.Value)), await shop.told(Number(silent.Value))]).toEqual([['order-placed'], []])
})

test('cartAPI tells of what it changes, unless it prefers not to', async () => {
  const number = async (id: number) => {
    const [order] = (await shop.call('GET', `/Orders/${id}`)).json()
    return `${order.InvoiceNumberPrefix}${order.InvoiceNumber}`
  }
  const [id, other] = [await shop.order(), await shop.order()]
  const ship = async (order: number, headers: Record<string, string> = {}) => {
    const parameters = { invoiceNum: await number(order), tracking: '1Z', shipmentDate: '03/10/2026' }
    const { body } = await post(server, envelope(request(shop, 'updateOrderShipment', parameters)), { headers })
    expect(body).toContain('<result>OK</result>')
  }
  await ship(id)
  await ship(id)
  await ship(other, quiet)
  const cancelled = { invoiceNum: await number(id), newStatus: 'Cancel' }
  await post(server, envelope(request(shop, 'updateOrderStatus', cancelled)))
  expect(await shop.told(id)).toEqual(['order-placed', 'parcel-sent', 'order-cancelled'])
  expect(await shop.told(other)).toEqual(['order-placed'])
})

test('of 500 parcels that an ERP reports to one address none is refused, and each is told', async () => {
  const busy = await openTelling(server, ['parcel-sent'])
  const report = async () => {
    const statuses = new Set<number>()
    for (let parcel = 0; parcel < 50; parcel++)
      statuses.add((await busy.change(await busy.order({}, 1), sent)).statusCode)
    return [...statuses]
  }
  expect(await Promise.all(Array.from({ length: 10 }, report))).toEqual(Array.from({ length: 10 }, () => [200]))
  expect(await busy.mails()).toHaveLength(500)
}, 180_000)
