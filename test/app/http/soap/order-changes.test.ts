import { describe, expect, test } from 'vitest'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer } from '../../../support/store.ts'
import { type Orders, openOrders, type Rest } from './orders-stage.ts'
import { errorDocument } from './support.ts'

// getOrderStatus, updateOrderStatus and updateOrderShipment (soap-cartapi §4.7 to §4.9).

const server = await sharedServer()
const shop = await openOrders(server)

const missing = (id: number) => errorDocument(id, 'XML file error')
const refused = (id: number) => errorDocument(id, 'Data Error')
const unknown = errorDocument(49, 'No Data Found')
const shipped = '<UpdateOrderShipmentResponse xmlns=""><result>OK</result></UpdateOrderShipmentResponse>'

function echo(invoiceNum: string, newStatus: string): string {
  return `<UpdateOrderStatusResponse xmlns=""><InvoiceNum>${invoiceNum}</InvoiceNum><NewStatus>${newStatus}</NewStatus></UpdateOrderStatusResponse>`
}

interface Placed {
  readonly id: number
  /** With its prefix. */
  readonly invoiceNum: string
  readonly number: string
  readonly productId: number
}

/** An order of 3 of a product's 100 pieces. */
async function placed(fields: Record<string, unknown> = {}, at: Orders = shop): Promise<Placed> {
  const product = await at.product()
  const id = await at.place([{ CatalogID: product, ItemQuantity: 3 }], fields)
  const { InvoiceNumberPrefix, InvoiceNumber } = await at.rest(`/Orders/${id}`)
  return { id, invoiceNum: `${InvoiceNumberPrefix}${InvoiceNumber}`, number: String(InvoiceNumber), productId: product }
}

const twoShipments = { ShipmentList: [{ ShipmentCity: 'Oslo' }, { ShipmentCity: 'Bergen' }] }
const read = (id: number): Promise<Rest> => shop.rest(`/Orders/${id}`)
const cancelled = { quantity: 3, cause: 'cancel', actor: 'API' }
const sold = { quantity: -3, cause: 'order', actor: 'operator' }

describe('an invoice number', () => {
  const operations: [string, Record<string, string>][] = [
    ['getOrderStatus', {}],
    ['updateOrderStatus', { newStatus: 'Hold' }],
    ['updateOrderShipment', { tracking: 'T' }],
  ]

  test.each(operations)('of %s is told apart: missing, none, unknown', async (operation, more) => {
    expect(await shop.soap(operation, more)).toBe(missing(7))
    expect(await shop.soap(operation, { ...more, invoiceNum: ' ' })).toBe(missing(7))
    for (const invoiceNum of ['abc', 'AB-', '0', '000', 'x'.repeat(5000)]) {
      expect(await shop.soap(operation, { ...more, invoiceNum })).toBe(refused(35))
    }
    for (const invoiceNum of ['999999', 'ZZ-1000', 'AB-0', '99999999999999999999']) {
      expect(await shop.soap(operation, { ...more, invoiceNum })).toBe(unknown)
    }
  })

  test.each(operations)('of another store is unknown to %s', async (operation, more) => {
    const other = await openOrders(server)
    await other.bring({ OrderID: 5, InvoiceNumberPrefix: 'OTHER-', InvoiceNumber: 7070, ShipmentList: [{}] })
    const before = await other.rest('/Orders/5')
    for (const invoiceNum of ['7070', 'OTHER-7070']) {
      expect(await shop.soap(operation, { ...more, invoiceNum })).toBe(unknown)
    }
    expect(await other.rest('/Orders/5')).toEqual(before)
  })

  test.each(operations)('that several orders have needs its prefix for %s', async (operation, more) => {
    const twice = await openOrders(server)
    const numbered = (OrderID: number, InvoiceNumberPrefix: string, InvoiceNumber: number) => ({
      OrderID,
      InvoiceNumberPrefix,
      InvoiceNumber,
      LastUpdate: '2026-01-01T00:00:00',
      ShipmentList: [{}],
    })
    await twice.bring(
      numbered(1, 'AB-', 1000),
      numbered(2, 'X-', 1000),
      numbered(3, 'S', 11000),
      numbered(4, 'S1', 1000),
      numbered(5, 'AB-', 3000),
      numbered(6, 'AB-', 3000),
      numbered(7, '', 4000),
      numbered(8, 'AB-', 4000),
    )
    const records = async () => (await twice.shop.call('GET', '/Orders?limit=100')).json()
    const before = await records()

    for (const invoiceNum of ['1000', 'S11000', 'AB-3000', '4000']) {
      expect(await twice.soap(operation, { ...more, invoiceNum })).toBe(refused(35))
    }
    expect(await twice.reason(operation, { ...more, invoiceNum: '1000' })).toBe(
      'Several orders have the number 1000; the prefix of the one that is meant is needed',
    )
    expect(await twice.reason(operation, { ...more, invoiceNum: 'AB-3000' })).toBe(
      'Several orders have the number AB-3000',
    )
    expect(await records()).toEqual(before)

    expect(await twice.soap(operation, { ...more, invoiceNum: 'x-1000' })).not.toContain('<Error')
    const after = await records()
    const changed = before.map(
      (_: Rest, index: number) => JSON.stringify(before[index]) !== JSON.stringify(after[index]),
    )
    expect(changed).toEqual([false, operation !== 'getOrderStatus', false, false, false, false, false, false])
  })
})

describe('getOrderStatus', () => {
  test('says the number as stored, the id and the merchant’s text, in both versions', async () => {
    const { id, invoiceNum, number } = await placed()
    const expected = (status: number, text: string) =>
      `<OrderStatusResponse xmlns=""><InvoiceNum>${invoiceNum}</InvoiceNum><id>${status}</id><StatusText>${text}</StatusText></OrderStatusResponse>`
    for (const given of [number, invoiceNum, invoiceNum.toLowerCase()]) {
      expect(await shop.soap('getOrderStatus', { invoiceNum: given })).toBe(expected(1, 'New'))
    }
    await shop.shop.call('PUT', `/Orders/${id}`, { body: { OrderStatusID: 7 } })
    expect(await shop.soap('getOrderStatus', { invoiceNum }, { version: '1.2' })).toBe(expected(7, 'Not Completed'))
  })
})

describe('updateOrderStatus', () => {
  test('changes the order and its only shipment as REST does, under the name API, and tells it once', async () => {
    const { id, invoiceNum } = await placed()
    const before = await read(id)
    server.clock.ms += 60_000
    const events = await shop.eventsOf(async () => {
      expect(await shop.soap('updateOrderStatus', { invoiceNum, newStatus: 'Shipped' })).toBe(
        echo(invoiceNum, 'Shipped'),
      )
    })
    expect(events).toEqual([`Order Status Change ${id}`])
    const stamp = { LastUpdate: '2026-03-10T12:01:00' }
    expect(await read(id)).toEqual({
      ...before,
      ...stamp,
      OrderStatusID: 4,
      UserID: 'API',
      ShipmentList: [
        {
          ...before.ShipmentList[0],
          ShipmentOrderStatus: 4,
          ShipmentLastUpdate: stamp.LastUpdate,
          ShipmentUserID: 'API',
        },
      ],
    })
  })

  test('answers with what it was sent, to the letter', async () => {
    const { shop: store } = shop
    const { id, number } = await placed()
    const data = { text: 'Pick & <pack>' }
    await server.database.db.orderStatus.update({ where: { storeId_id: { storeId: store.store.id, id: 9 } }, data })
    const invoiceNum = `ab-00${number}`
    expect(await shop.soap('updateOrderStatus', { invoiceNum, newStatus: 'pICK & <PACK>' }, { version: '1.2' })).toBe(
      echo(invoiceNum, 'pICK &amp; &lt;PACK&gt;'),
    )
    expect((await read(id)).OrderStatusID).toBe(9)
    expect(await shop.soap('updateOrderStatus', { invoiceNum: number, newStatus: 'custom 2' })).toBe(
      echo(number, 'custom 2'),
    )
  })

  test('refuses a call without status (8) and a text that no status has (39), and changes nothing', async () => {
    const { id, invoiceNum } = await placed()
    const before = await read(id)
    server.clock.ms += 1000
    expect(await shop.soap('updateOrderStatus', { invoiceNum })).toBe(missing(8))
    expect(await shop.soap('updateOrderStatus', { newStatus: 'Hold' })).toBe(missing(7))
    for (const newStatus of ['Lost', '4', 'Ship', 'x'.repeat(5000)]) {
      expect(await shop.soap('updateOrderStatus', { invoiceNum, newStatus })).toBe(refused(39))
    }
    expect(await read(id)).toEqual(before)
  })

  test('to Cancel puts the items back in stock; again it changes nothing, and nothing else is allowed after it', async () => {
    const { id, invoiceNum, productId } = await placed()
    expect(await shop.stock(productId)).toBe(97)
    const events = await shop.eventsOf(() => shop.soap('updateOrderStatus', { invoiceNum, newStatus: 'Cancel' }))
    expect(events.toSorted()).toEqual([`Order Status Change ${id}`, `Product Stock Changed ${productId}`])
    expect(await shop.stock(productId)).toBe(100)
    const before = await read(id)
    server.clock.ms += 1000

    const later = await shop.eventsOf(async () => {
      expect(await shop.soap('updateOrderStatus', { invoiceNum, newStatus: 'cancel' })).toBe(echo(invoiceNum, 'cancel'))
      for (const newStatus of ['New', 'Shipped', 'Not Completed']) {
        expect(await shop.soap('updateOrderStatus', { invoiceNum, newStatus })).toBe(refused(39))
      }
    })
    expect(later).toEqual([])
    expect(await read(id)).toEqual(before)
    expect(await shop.movements(productId)).toEqual([sold, cancelled])
  })

  test('that waits for somebody who cancels the order is refused then', async () => {
    const { id, invoiceNum, productId } = await placed()
    const held = await hold(server, shop.shop, async (tx) => {
      await tx.db.$executeRaw`UPDATE "Order" SET "statusId" = 5 WHERE "storeId" = ${tx.store.id} AND "id" = ${id}`
    })
    const call = shop.soap('updateOrderStatus', { invoiceNum, newStatus: 'Shipped' })
    await untilItWaits(server.database, call)
    await held.commit()
    expect(await call).toBe(refused(39))
    expect(await shop.movements(productId)).toEqual([sold])
  })
})

describe('updateOrderShipment', () => {
  test('changes of the only shipment what REST’s PUT does, and tells of it', async () => {
    const [bySoap, byRest] = [await placed(), await placed()]
    server.clock.ms += 60_000
    const events = await shop.eventsOf(async () => {
      const call = { invoiceNum: bySoap.invoiceNum, tracking: '1Z & <9>', shipmentDate: '3/9/2026' }
      expect(await shop.soap('updateOrderShipment', call)).toBe(shipped)
    })
    expect(events).toEqual([`Order Changed ${bySoap.id}`])
    await shop.shop.call('PUT', `/Orders/${byRest.id}/Shipments/0`, {
      body: { ShipmentTrackingCode: '1Z & <9>', ShipmentShippedDate: '03/09/2026' },
    })
    const [one, other] = [await read(bySoap.id), await read(byRest.id)]
    expect(one.ShipmentList).toEqual([{ ...other.ShipmentList[0], ShipmentUserID: 'API' }])
    expect(one.ShipmentList[0]).toMatchObject({
      ShipmentTrackingCode: '1Z & <9>',
      ShipmentShippedDate: '03/09/2026',
      ShipmentOrderStatus: 1,
    })
    const others = {
      OrderID: one.OrderID,
      InvoiceNumber: one.InvoiceNumber,
      ContinueURL: one.ContinueURL,
      OrderItemList: one.OrderItemList,
      ShipmentList: one.ShipmentList,
    }
    expect(one).toEqual({ ...other, ...others, UserID: 'API' })
    expect((await shop.list({ invoiceNum: bySoap.invoiceNum }))[0].ShippingInformation.Shipment).toMatchObject({
      ShipmentDate: '3/9/2026',
      TrackingCode: '1Z & <9>',
      Status: 'New',
    })
  })

  test('takes the only shipment for an id that is empty, 0 or its own, and no other', async () => {
    const { id, invoiceNum, number } = await placed()
    const rows = await server.database.db.orderShipment.findMany({
      where: { storeId: shop.shop.store.id, orderId: id },
    })
    const own = rows[0]?.id as number
    const given: Record<string, string | number>[] = [{}, { shipmentID: '' }, { shipmentID: 0 }, { shipmentID: own }]
    for (const [index, parameters] of given.entries()) {
      const call = { invoiceNum: index % 2 === 0 ? invoiceNum : number, tracking: `T-${index}`, ...parameters }
      expect(await shop.soap('updateOrderShipment', call, { version: index % 2 === 0 ? '1.1' : '1.2' })).toBe(shipped)
      expect((await read(id)).ShipmentList[0].ShipmentTrackingCode).toBe(`T-${index}`)
    }
    for (const shipmentID of [own + 1, -1, 'first', 99_999_999_999]) {
      expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'T', shipmentID })).toBe(refused(43))
    }
    expect((await read(id)).ShipmentList[0].ShipmentTrackingCode).toBe('T-3')
    expect(await shop.reason('updateOrderShipment', { invoiceNum, tracking: 'T', shipmentID: 'first' })).toBe(
      'shipmentID must be the ShipmentID that getOrder gives',
    )
  })

  test('needs the id of one of several shipments, and changes that one', async () => {
    const [order, other] = [await placed(twoShipments), await placed(twoShipments)]
    const { invoiceNum } = order
    const [first, second] = (await read(order.id)).ShipmentList
    const [foreign] = (await read(other.id)).ShipmentList
    for (const shipmentID of ['', 0, foreign.ShipmentID]) {
      expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'T', shipmentID })).toBe(refused(43))
    }
    expect((await read(order.id)).ShipmentList).toEqual([first, second])

    server.clock.ms += 60_000
    const call = { invoiceNum, tracking: 'T-2', shipmentID: second.ShipmentID, shipmentDate: '12/31/2025' }
    expect(await shop.soap('updateOrderShipment', call)).toBe(shipped)
    const { ShipmentList, LastUpdate } = await read(order.id)
    expect(ShipmentList).toEqual([
      first,
      {
        ...second,
        ShipmentTrackingCode: 'T-2',
        ShipmentShippedDate: '12/31/2025',
        ShipmentUserID: 'API',
        ShipmentLastUpdate: LastUpdate,
      },
    ])
    expect((await read(other.id)).ShipmentList[0]).toEqual(foreign)
  })

  test('refuses a tracking code that is missing or longer than one can be', async () => {
    const { id, invoiceNum } = await placed()
    expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'x'.repeat(100) })).toBe(shipped)
    for (const tracking of ['', '  ', 'x'.repeat(101), 'x'.repeat(100_000)]) {
      expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking })).toBe(refused(43))
    }
    expect(await shop.soap('updateOrderShipment', { invoiceNum })).toBe(refused(43))
    expect((await read(id)).ShipmentList[0].ShipmentTrackingCode).toBe('x'.repeat(100))
  })

  test.each([
    ['03/09/2026', '03/09/2026'],
    ['03/09/2026 23:15:00', '03/09/2026'],
    ['2026-03-09T03:15:00Z', '03/08/2026'],
  ])('the date %s is kept as %s', async (shipmentDate, kept) => {
    const { id, invoiceNum } = await placed()
    expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'T', shipmentDate })).toBe(shipped)
    expect((await read(id)).ShipmentList[0].ShipmentShippedDate).toBe(kept)
  })

  test('keeps the date that is there when none is sent, and refuses what is none', async () => {
    const { id, invoiceNum } = await placed()
    await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'T', shipmentDate: '03/01/2026' })
    await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'U', shipmentDate: '' })
    expect((await read(id)).ShipmentList[0]).toMatchObject({
      ShipmentTrackingCode: 'U',
      ShipmentShippedDate: '03/01/2026',
    })
    for (const shipmentDate of ['soon', '13/01/2026', '02/30/2026', '03/01/26', '9999-12-31T23:59:59-14:00']) {
      expect(await shop.soap('updateOrderShipment', { invoiceNum, tracking: 'V', shipmentDate })).toBe(refused(36))
    }
    expect((await read(id)).ShipmentList[0].ShipmentTrackingCode).toBe('U')
  })

  test('of an order without shipments is refused', async () => {
    const bare = await openOrders(server)
    await bare.bring({ OrderID: 1, InvoiceNumberPrefix: 'AB-', InvoiceNumber: 1000 })
    expect(await bare.soap('updateOrderShipment', { invoiceNum: '1000', tracking: 'T' })).toBe(refused(43))
  })
})
