import { beforeEach, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder } from './order-fixture.ts'

// Shipping an order, all or some of it, and its notes.

let shop: Awaited<ReturnType<typeof shopWithOrder>>

const server = await sharedServer()
beforeEach(async () => {
  shop = await shopWithOrder(server)
})

const shipped = '/admin/orders/1?notice=goods-shipped'
const gone = { ShipmentShippedDate: '2026-03-11', ShipmentTrackingCode: '1Z 999', ShipmentMethodName: 'Ground' }

/** The goods by shipment, such as `Shipped 03/11/2026 1Z: LAMP 2`. */
async function shipments(id = 1): Promise<string[]> {
  const [record] = (await shop.shop.call('GET', `/Orders/${id}`)).json()
  return record.ShipmentList.map((shipment: Record<string, unknown>) => {
    const lines = record.OrderItemList.filter(
      ({ ItemShipmentID }: { ItemShipmentID: number }) => ItemShipmentID === shipment.ShipmentID,
    )
    const goods = lines.map((line: Record<string, unknown>) => `${line.ItemID} ${line.ItemQuantity}`).join(', ')
    const how = `${shipment.ShipmentShippedDate} ${shipment.ShipmentTrackingCode} ${shipment.ShipmentMethodName}`.trim()
    return `${shipment.ShipmentOrderStatus} ${how}: ${goods}`
  })
}

test('all of it leaves: date, tracking number and method are stored as the platform writes them, and nothing else changes', async () => {
  const before = await shop.order()
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  expect(form.fields).toMatchObject({ ShipmentShippedDate: '2026-03-10', ShipmentBoxes: '1' })
  expectSaved(await form.send(gone), shipped)
  expect(await shipments()).toEqual(['4 03/11/2026 1Z 999 Ground: LAMP 3'])
  const { OrderStatusID, OrderAmount, OrderItemList } = await shop.order()
  expect({ OrderStatusID, OrderAmount, OrderItemList }).toEqual({
    OrderStatusID: 4,
    OrderAmount: before.OrderAmount,
    OrderItemList: before.OrderItemList,
  })
  expect(await shop.stock()).toBe(7)
  expect((await shop.merchant.open('/admin/orders/1')).body).toContain('1Z 999')
})

test('a part leaves: it gets a shipment to the same address, the line is divided, and no stock moves', async () => {
  const [line] = (await shop.order()).OrderItemList
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  expect(form.fields[`Quantity.${line.ItemIndexID}`]).toBe('3')
  expectSaved(await form.send({ ...gone, [`Quantity.${line.ItemIndexID}`]: '2' }), shipped)
  expect(await shipments()).toEqual(['11 : LAMP 1', '4 03/11/2026 1Z 999 Ground: LAMP 2'])
  const order = await shop.order()
  expect(order).toMatchObject({ OrderStatusID: 3, OrderAmount: 135.25 })
  const [first, second] = order.ShipmentList
  expect([first.ShipmentCost, second.ShipmentCost, second.ShipmentCity]).toEqual([6.5, 0, 'London'])
  const { ItemIndexID, ItemQuantity, ItemShipmentID, ...said } = order.OrderItemList[0]
  expect(order.OrderItemList[1]).toMatchObject(said)
  expect(await shop.ledger()).toEqual(['LAMP order -3'])

  const rest = await opened(shop.merchant, `/admin/orders/1/shipments/${first.ShipmentID}`)
  expectSaved(await rest.send({ ...gone, ShipmentTrackingCode: '2Z' }), shipped)
  expect((await shop.order()).OrderStatusID).toBe(4)
  expect(await shop.ledger()).toEqual(['LAMP order -3'])
  await shop.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
  expect(await shop.stock()).toBe(10)
})

test('a divided line of an advanced option gives its stock back to the option', async () => {
  const { call, caller, store } = shop.shop
  const body = {
    SKUInfo: { SKU: 'SHIRT', Name: 'Shirt', Price: 20 },
    OptionSetList: [{ OptionSetName: 'Size', OptionType: 'Dropdown', OptionList: [{ OptionName: 'L' }] }],
  }
  const id = Number((await call('POST', '/Products', { body })).json()[0].Value)
  const [{ OptionSetList }] = (await call('GET', `/Products/${id}`)).json()
  const option = OptionSetList[0].OptionList[0].OptionID
  await call('PUT', `/Products/${id}`, {
    body: {
      AdvancedOptionList: [{ AdvancedOptionCode: String(option), AdvancedOptionSufix: '-L', AdvancedOptionStock: 9 }],
    },
  })
  await placeOrder(caller, {
    BillingEmail: 'guest@shop.example',
    OrderItemList: [{ ItemID: 'SHIRT', ItemQuantity: 4, ItemOptions: String(option) }],
  })
  const optionStock = async () => {
    const where = { storeId: store.id, productId: id }
    return Number((await server.database.db.advancedOption.findFirstOrThrow({ where })).stock)
  }
  expect(await optionStock()).toBe(5)
  const [line] = (await call('GET', '/Orders/2')).json()[0].OrderItemList
  const form = await opened(shop.merchant, '/admin/orders/2/shipments/0')
  expectSaved(
    await form.send({ ...gone, [`Quantity.${line.ItemIndexID}`]: '1' }),
    '/admin/orders/2?notice=goods-shipped',
  )
  expect(await optionStock()).toBe(5)
  await call('PUT', '/Orders/2', { body: { OrderStatusID: 5 } })
  expect(await optionStock()).toBe(9)
})

test.each([
  [{ ShipmentShippedDate: '2026-02-31' }, 'Shipped on must be a day'],
  [{ ShipmentTrackingCode: 'x'.repeat(101) }, 'Tracking number has 101 characters; at most 100 are allowed'],
  [{ ShipmentBoxes: '-1' }, 'Boxes must be'],
  [{ quantity: '4' }, 'Quantity of LAMP must be at most 3: this parcel has no more of it'],
  [{ quantity: '-1' }, 'Quantity of LAMP must not be below 0'],
  [{ quantity: 'two' }, 'Quantity of LAMP must be a number in digits'],
  [{ quantity: '0' }, 'Nothing is shipped: enter a quantity for at least one line'],
])(
  '%j is refused beside its field, and nothing is written',
  async ({ quantity, ...changes }: Record<string, string>, problem) => {
    const before = await shop.order()
    const name = `Quantity.${before.OrderItemList[0].ItemIndexID}`
    const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
    const answer = await form.send({ ...gone, ...changes, ...(quantity !== undefined && { [name]: quantity }) })
    expect(answer.statusCode).toBe(400)
    const said = alertIn(answer.body)
      .replaceAll(/<[^>]*>/g, '')
      .trim()
    if (quantity === '0') expect(said).toBe(problem)
    else expect(said).toContain(problem)
    expect(await shop.order()).toEqual(before)
  },
)

test('a form that is sent twice, or after a change by somebody else, ships nothing more', async () => {
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  const name = `Quantity.${(await shop.order()).OrderItemList[0].ItemIndexID}`
  const answers = await Promise.all([1, 2].map(() => form.send({ ...gone, [name]: '1' })))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, expect.toBeOneOf([404, 412])])
  expect(await shipments()).toHaveLength(2)
})

test('a shipped shipment can be corrected, and taken back', async () => {
  await (await opened(shop.merchant, '/admin/orders/1/shipments/0')).send(gone)
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  expect(form.fields).toMatchObject({ ShipmentShippedDate: '2026-03-11', ShipmentTrackingCode: '1Z 999' })
  expectSaved(await form.send({ ShipmentTrackingCode: '3Z' }), '/admin/orders/1?notice=record-saved')
  expect(await shipments()).toEqual(['4 03/11/2026 3Z Ground: LAMP 3'])
  const again = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  expectSaved(await again.send({ undo: '1' }), '/admin/orders/1?notice=record-saved')
  expect(await shipments()).toEqual(['2 Ground: LAMP 3'])
  expect((await shop.order()).OrderStatusID).toBe(2)
})

test('a cancelled order cannot be shipped, nor one of another store', async () => {
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  await shop.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
  expect((await form.send(gone)).statusCode).toBe(412)
  const late = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  const answer = await late.send(gone)
  expect([answer.statusCode, alertIn(answer.body)]).toEqual([409, expect.stringContaining('Change its status first')])
  for (const address of ['/admin/orders/1/shipments/99', '/admin/orders/9/shipments/0']) {
    expect((await shop.merchant.open(address)).statusCode).toBe(404)
  }
})

test('notes are kept, and one to the customer is not lost to a change in between', async () => {
  const notes = { InternalComments: 'Two\r\nlines', ExternalComments: 'Leaves on Monday' }
  const send = async (fields: Record<string, string>) =>
    shop.merchant.submit('/admin/orders/1', fields, { action: '/admin/orders/1/notes' })
  expectSaved(await send(notes), '/admin/orders/1?notice=notes-saved')
  expect(await shop.order()).toMatchObject({ ...notes, InternalComments: 'Two\nlines' })
  const form = { ...(await shop.merchant.formOf('/admin/orders/1', '/admin/orders/1/notes')) }
  await shop.shop.call('PUT', '/Orders/1', { body: { InternalComments: 'By a program' } })
  const answer = await shop.merchant.submit(
    '/admin/orders/1',
    { ...form, ExternalComments: 'Tuesday' },
    { action: '/admin/orders/1/notes' },
  )
  expect(answer.statusCode).toBe(412)
  expect(answer.body).toContain('Tuesday')
  expect(await shop.order()).toMatchObject({ InternalComments: 'By a program', ExternalComments: 'Leaves on Monday' })
  expect((await send({ ExternalComments: 'x'.repeat(51) })).statusCode).toBe(400)
})

test.each([
  ['its own', { ShipmentFirstName: 'Ada', ShipmentCity: 'London' }, /^Ada<br>\s*London<br>$/],
  ['the billing address where it has none', {}, /^Grace<br>\s*Arlington<br>$/],
  ['none where there is none at all', { BillingFirstName: '', BillingCity: '' }, /^no address/i],
])('order page, packing slip and shipping page show one address: %s', async (_case, given, expected) => {
  const { BillingFirstName = 'Grace', BillingCity = 'Arlington', ...ofShipment } = given as Record<string, string>
  const shipment = { ShipmentID: 0, ShipmentFirstName: '', ShipmentCity: '', ...ofShipment }
  await shop.shop.call('PUT', '/Orders/1', { body: { BillingFirstName, BillingCity, ShipmentList: [shipment] } })
  const pages: [string, RegExp][] = [
    ['/admin/orders/1', /<dt>Ship to<\/dt>\s*<dd>([\s\S]*?)<\/dd>/],
    ['/admin/orders/1/packing-slip', /<dt>Ship to<\/dt><dd>([\s\S]*?)<\/dd>/],
    ['/admin/orders/1/shipments/0', /<h2>Ship to<\/h2>\s*<p>([\s\S]*?)<\/p>/],
  ]
  for (const [address, place] of pages) {
    const { body } = await shop.merchant.open(address)
    const shown = place.exec(body)?.[1]?.trim() ?? ''
    // The order's page has the billing address beside it.
    const billTo = /<dt>Bill to<\/dt>\s*<dd>([\s\S]*?)<\/dd>/.exec(body)?.[1]?.trim()
    expect(shown === 'Same as bill-to' ? billTo : shown, address).toMatch(expected)
  }
})

test('an order without shipments goes to its billing address', async () => {
  await shop.shop.call('PUT', '/Orders/1', { body: { BillingCity: 'Arlington', ShipmentList: [] } })
  const { body } = await shop.merchant.open('/admin/orders/1')
  expect(body).toMatch(/<dt>Bill to<\/dt><dd>Ada<br>\s*Arlington<br>[\s\S]*<dt>Ship to<\/dt>\s*<dd>Same as bill-to</)
})

/** The parcels as the page counts them, such as `Parcel 1, Mar 11, 2026, 1Z: LAMP 2`. */
async function parcels(address = '/admin/orders/1'): Promise<string[]> {
  const { body } = await shop.merchant.open(address)
  return [...body.matchAll(/<section>\s*<div class="head part">\s*<h2 id="parcel-(\d+)">([\s\S]*?)<\/section>/g)].map(
    ([section, number, title = '']) => {
      const [, name] = /^(.*?)<\/h2>/.exec(title) ?? []
      const [, day = ''] = /Shipped ([^<]*)</.exec(section) ?? []
      const [, code = ''] = /<code[^>]*>([^<]*)/.exec(section) ?? []
      const quantities = [...section.matchAll(/<\/th>\s*<td class="right">(\d+)</g)].map(([, quantity]) => quantity)
      return `${number} ${name}: ${[day, code, ...quantities].filter(Boolean).join(', ')}`
    },
  )
}

async function shipPart(tracking: string, quantity: string | null, day = '2026-03-11') {
  const { OrderItemList, ShipmentList } = await shop.order()
  const waiting = ShipmentList.find(({ ShipmentShippedDate }: Record<string, string>) => ShipmentShippedDate === '')
  const id = waiting.ShipmentID
  const line = OrderItemList.find(({ ItemShipmentID }: Record<string, number>) => ItemShipmentID === id)
  const form = await opened(shop.merchant, `/admin/orders/1/shipments/${id}`)
  const changes = { ShipmentShippedDate: day, ShipmentTrackingCode: tracking }
  const part = quantity === null ? {} : { [`Quantity.${line.ItemIndexID}`]: quantity }
  expectSaved(await form.send({ ...changes, ...part }), shipped)
  return id as number
}

test('parcels are numbered by leaving, whatever is written about them later, and what is left stands before them', async () => {
  expect(await parcels()).toEqual(['1 Still to ship: 3'])
  await shipPart('FIRST', '1')
  expect(await parcels()).toEqual(['2 Still to ship: 2', '1 Parcel 1: Mar 11, 2026, FIRST, 1'])
  await shipPart('SECOND', '1')
  // The shipment that the order was placed with leaves last, and has the lowest id.
  const last = await shipPart('THIRD', null)
  const all = [
    '1 Parcel 1: Mar 11, 2026, FIRST, 1',
    '2 Parcel 2: Mar 11, 2026, SECOND, 1',
    '3 Parcel 3: Mar 11, 2026, THIRD, 1',
  ]
  expect(await parcels()).toEqual(all)

  const { ShipmentList } = await shop.order()
  expect(ShipmentList.map(({ ShipmentTrackingCode }: Record<string, string>) => ShipmentTrackingCode)).toEqual([
    'THIRD',
    'FIRST',
    'SECOND',
  ])
  const [, first, second] = ShipmentList
  server.clock.ms += 60_000
  try {
    const form = await opened(shop.merchant, `/admin/orders/1/shipments/${first.ShipmentID}`)
    expectSaved(await form.send({ ShipmentTrackingCode: 'FIRST-B' }), '/admin/orders/1?notice=record-saved')
    expect((await parcels())[0]).toBe('1 Parcel 1: Mar 11, 2026, FIRST-B, 1')
  } finally {
    server.clock.ms -= 60_000
  }
  // One that left on an earlier day left earlier.
  const earlier = await opened(shop.merchant, `/admin/orders/1/shipments/${last}`)
  expect((await shop.merchant.open(`/admin/orders/1/shipments/${last}`)).body).toContain(
    '<h1>Parcel 3 of order AB-1000',
  )
  await earlier.send({ ShipmentShippedDate: '2026-03-10' })
  expect((await parcels()).map((parcel) => parcel.split(', ')[2])).toEqual(['THIRD', 'FIRST-B', 'SECOND'])

  // One that is taken back has not left, and is the last of them when it leaves again.
  const back = await opened(shop.merchant, `/admin/orders/1/shipments/${first.ShipmentID}`)
  await back.send({ undo: '1' })
  expect((await parcels())[0]).toBe('3 Still to ship: 1')
  await shop.shop.call('PUT', '/Orders/1', {
    body: {
      ShipmentList: [
        { ...first, ShipmentShippedDate: '03/11/2026', ShipmentTrackingCode: 'AGAIN' },
        second,
        { ShipmentID: last },
      ],
    },
  })
  expect((await parcels()).map((parcel) => parcel.split(', ')[2])).toEqual(['THIRD', 'SECOND', 'AGAIN'])
})

test('a shipment whose status says so has left, without a day', async () => {
  await shop.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 4 } })
  expect(await parcels()).toEqual(['1 Goods: 3'])
  const { body } = await shop.merchant.open('/admin/orders/1')
  expect(body).not.toMatch(/Still to ship|>Ship the/)
  const form = await opened(shop.merchant, '/admin/orders/1/shipments/0')
  expect(form.fields).toMatchObject({ ShipmentShippedDate: '' })
  expectSaved(await form.send(gone), '/admin/orders/1?notice=record-saved')
  expect(await shipments()).toEqual(['4 03/11/2026 1Z 999 Ground: LAMP 3'])
})
