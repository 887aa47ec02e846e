import { beforeEach, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder, typedIn } from './order-fixture.ts'

let scene: Awaited<ReturnType<typeof shopWithOrder>>
/** The fields of the order's line begin with this. */
let line: string

const goods = '/admin/orders/1/lines'
const saved = '/admin/orders/1?notice=record-saved'

const server = await sharedServer()
beforeEach(async () => {
  scene = await shopWithOrder(server)
  line = `Line.${(await scene.order()).OrderItemList[0].ItemIndexID}`
})

const add = (body: object) => scene.shop.add('/Products', body)

describe('the goods of an order', () => {
  test('change as one: lines, amounts and total, and the stock by the difference', async () => {
    await add({ SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 2 } })
    const form = await opened(scene.merchant, goods)
    const changes = {
      [`${line}.ItemQuantity`]: '5',
      [`${line}.ItemUnitPrice`]: '40',
      'ItemID.1': 'cup',
      'ItemQuantity.1': '3',
      'Shipment.0.ShipmentCost': '10',
      OrderDiscountPromotion: '7.5',
    }

    const shown = await form.send(changes, `${goods}/totals`)
    expect(shown.statusCode).toBe(200)
    for (const text of [
      '$135.25',
      '$218.75',
      'takes 2 more of',
      'leaves 5 in stock',
      'leaves -1 in stock',
      'below zero',
    ]) {
      expect(shown.body).toContain(text)
    }
    expect(await scene.ledger()).toEqual(['LAMP order -3'])
    expect(await scene.order()).toMatchObject({ OrderAmount: 135.25 })

    expectSaved(await form.send(typedIn(shown.body, goods)), saved)
    expect(await scene.order()).toMatchObject({
      OrderAmount: 218.75,
      OrderDiscountPromotion: 7.5,
      UserID: 'merchant@shop.example',
      OrderItemList: [
        { ItemID: 'LAMP', ItemQuantity: 5, ItemUnitPrice: 40 },
        { ItemID: 'CUP', ItemQuantity: 3, ItemUnitPrice: 5, ItemDescription: 'Cup', ItemUnitStock: 2 },
      ],
      ShipmentList: [{ ShipmentCost: 10, ShipmentCity: 'London' }],
    })
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP order-edit -2', 'CUP order-edit -3'])
    expect([await scene.stock(), await scene.stock('CUP')]).toEqual([5, -1])
  })

  test('a line that is removed goes back to stock, and a new one has the price that was typed', async () => {
    await add({ SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 2 } })
    const form = await opened(scene.merchant, goods)
    const changes = { [`${line}.gone`]: 'yes', 'ItemID.1': 'CUP', 'ItemQuantity.1': '1', 'ItemUnitPrice.1': '4.25' }
    expect((await form.send(changes, `${goods}/totals`)).body).toMatch(/puts back 3 of <strong>LAMP/)
    expectSaved(await form.send(changes), saved)
    expect(await scene.order()).toMatchObject({
      OrderAmount: 12,
      OrderItemList: [{ ItemID: 'CUP', ItemUnitPrice: 4.25 }],
    })
    expect(await scene.stock()).toBe(10)
  })

  test('discounts stay at most at the goods, and amounts are stored as they enter the total', async () => {
    const form = await opened(scene.merchant, goods)
    expectSaved(await form.send({ OrderDiscountPromotion: '127.5', SalesTax: '1.01' }), saved)
    expect(await scene.order()).toMatchObject({ OrderAmount: 7.51, OrderDiscountPromotion: 127.5, SalesTax: 1.01 })

    const { db } = scene.shop.caller
    await db.$executeRaw`UPDATE "Order" SET "discountPromotion" = 500, "orderAmount" = 0 WHERE "storeId" = ${scene.shop.store.id}`
    const imported = await opened(scene.merchant, goods)
    expectSaved(await imported.send({ SalesTax: '2' }), saved)
    expect(alertIn((await (await opened(scene.merchant, goods)).send({ SalesTax: '1' })).body)).toContain(
      'must be lowered: goods, shipping and taxes come to $135.00, and the discounts to $500.00',
    )
  })

  // The order's goods are three lamps at 42.50.
  test.each([
    { discount: 0, changed: 127.51, isTaken: false },
    { discount: 0, price: 1, changed: 4, isTaken: false },
    { discount: 500, changed: 500.01, isTaken: false },
    { discount: 500, changed: 499, isTaken: true },
    { discount: 8, price: 1, changed: 8, isTaken: true },
    { discount: 8, price: 1, changed: 8.01, isTaken: false },
  ])('a discount of $discount that is set to $changed, at a price of $price, is right: $isTaken', async (one) => {
    const { discount, price = 42.5, changed, isTaken } = one
    const { db } = scene.shop.caller
    await db.$executeRaw`UPDATE "Order" SET "discountPromotion" = ${discount} WHERE "storeId" = ${scene.shop.store.id}`
    const form = await opened(scene.merchant, goods)
    const fields = { [`${line}.ItemUnitPrice`]: String(price), OrderDiscountPromotion: String(changed) }
    const answer = await form.send(fields)
    expect(answer.statusCode, answer.body).toBe(isTaken ? 303 : 400)
    if (!isTaken) expect(alertIn(answer.body)).toMatch(/Discount<\/a> must (not be above the goods|be lowered): /)
    expect((await scene.order()).OrderDiscount).toBe(isTaken ? changed : discount)
  })

  test('goods are not taken away below what the discounts leave, and the parts add up to the total', async () => {
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderDiscountPromotion: 120, OrderAmount: 15.25 } })
    const form = await opened(scene.merchant, goods)
    const price = { [`${line}.ItemUnitPrice`]: '1' }
    for (const to of [goods, `${goods}/totals`]) {
      const refused = await form.send(price, to)
      expect([refused.statusCode, alertIn(refused.body)]).toEqual([
        400,
        expect.stringContaining(
          'Discount</a> must be lowered: goods, shipping and taxes come to $10.75, and the discounts to $120.00',
        ),
      ])
    }
    expectSaved(await form.send({ ...price, OrderDiscountPromotion: '10.75' }), saved)
    expect(await scene.order()).toMatchObject({ OrderAmount: 0, OrderDiscount: 10.75 })
  })

  test('a total that is not the sum of the parts keeps the difference', async () => {
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderAmount: 100 } })
    const form = await opened(scene.merchant, goods)
    const shown = await form.send({ SalesTax: '2.25' }, `${goods}/totals`)
    expect(shown.body).toContain('-$35.25')
    expectSaved(await form.send({ SalesTax: '2.25' }), saved)
    expect(await scene.order()).toMatchObject({ OrderAmount: 101, SalesTax: 2.25 })
  })

  const newLamp = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' }

  test.each<[Record<string, string>, string]>([
    [{ ItemQuantity: '0' }, 'LAMP: the quantity</a> must be more than 0'],
    [{ ItemQuantity: 'many' }, 'LAMP: the quantity</a> must be'],
    [{ ItemQuantity: '100000000000' }, 'LAMP: the quantity</a> must be a number from -'],
    [{ ItemUnitPrice: '100000000000' }, 'LAMP: the unit price</a> must be a number from -'],
    [{ ItemUnitPrice: '-1' }, 'LAMP: the unit price</a> must not be below 0'],
    [{ gone: 'yes' }, 'An order has at least one line'],
    [{ OrderDiscountPromotion: '100000000000' }, 'Discount</a> must be a number from -'],
    [{ SalesTax: '-1' }, 'Tax</a> must not be below 0'],
    [{ 'ItemID.1': 'NONE', 'ItemQuantity.1': '1' }, 'New line 1: the product</a> fits no'],
    [{ 'ItemID.1': 'LAMP' }, 'New line 1: the quantity</a> must be more than 0'],
    [{ 'ItemID.1': 'LAMP', 'ItemQuantity.1': '100000000000' }, 'New line 1: the quantity</a> must be a number from -'],
    [{ ...newLamp, 'ItemUnitPrice.1': '100000000000' }, 'New line 1: the price</a> must be a number from -'],
    [{ ...newLamp, 'ItemUnitPrice.1': '1,5' }, 'the price</a> must be'],
    [{ ...newLamp, 'ItemUnitPrice.1': '-1' }, 'New line 1: the price</a> must not be below 0'],
  ])('are refused with %j, by working out as by saving', async (changes, says) => {
    const form = await opened(scene.merchant, goods)
    const fieldOf = (name: string) => (/^(Item\w+|gone)$/.test(name) ? `${line}.${name}` : name)
    const sent = Object.fromEntries(Object.entries(changes).map(([name, value]) => [fieldOf(name), value]))
    for (const to of [goods, `${goods}/totals`]) {
      const answer = await form.send(sent, to)
      expect(answer.statusCode).toBe(400)
      expect(alertIn(answer.body)).toContain(says)
    }
    expect([await scene.order(), await scene.stock()]).toMatchObject([{ OrderAmount: 135.25 }, 7])
  })

  test('keep what returns put back, and the line says so', async () => {
    const RMAItemList = [{ SKU: 'LAMP', ReturnQuantity: 2, RestockQuantity: 2 }]
    await scene.shop.call('POST', '/RMA', { body: { OrderID: 1, RMAItemList } })
    const form = await opened(scene.merchant, goods)
    const answer = await form.send({ [`${line}.ItemQuantity`]: '1' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(`<a href="#${line}.ItemQuantity">LAMP: the quantity</a> must keep at least 2 of LAMP`)
    expect(answer.body).toContain('Returns put 2 back')
    expectSaved(await form.send({ [`${line}.ItemQuantity`]: '2' }), saved)
    expect(await scene.ledger()).toEqual(['LAMP order -3', 'LAMP return 2', 'LAMP order-edit 1'])
  })

  test('a cancelled order’s goods move no stock', async () => {
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
    const form = await opened(scene.merchant, goods)
    const changes = { [`${line}.ItemQuantity`]: '4' }
    expect((await form.send(changes, `${goods}/totals`)).body).toContain('an order in this status holds none')
    expectSaved(await form.send(changes), saved)
    expect(await scene.stock()).toBe(10)
  })

  test('of two merchants the second is told, and what was saved stays; so is a form that is sent twice', async () => {
    const [first, second] = [await opened(scene.merchant, goods), await opened(scene.merchant, goods)]
    const both = await Promise.all([
      first.send({ [`${line}.ItemQuantity`]: '4' }),
      second.send({ [`${line}.ItemQuantity`]: '9', 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' }),
    ])
    expect(both.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    await first.send({ [`${line}.ItemQuantity`]: '4' }).then(({ statusCode }) => expect(statusCode).toBe(412))
    const lost = await second.send({ [`${line}.ItemQuantity`]: '9', 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' })
    expect(lost.statusCode).toBe(412)
    const { OrderItemList } = await scene.order()
    // The form holds what is stored now, the new line that was typed, and the tag to save it with.
    expect(typedIn(lost.body, goods)).toMatchObject({
      [`${line}.ItemQuantity`]: String(OrderItemList[0].ItemQuantity),
      'ItemID.1': 'LAMP',
    })
    expectSaved(await scene.merchant.submit(goods, typedIn(lost.body, goods)), saved)
    expect(await scene.ledger()).toHaveLength(3)
  })
})

describe('the addresses of an order', () => {
  const addresses = '/admin/orders/1/addresses'
  const city = 'ShipmentList.0.ShipmentCity'

  test('change, and the billing address can be used for a shipment', async () => {
    const form = await opened(scene.merchant, addresses)
    expect(form.fields).toMatchObject({ BillingFirstName: 'Ada', [city]: 'London' })
    const copied = await form.send({ BillingCity: 'Köln', BillingPhoneNumber: '0221', copy: '0' }, `${addresses}/copy`)
    const { copy, ...fields } = typedIn(copied.body, addresses)
    expect(fields).toMatchObject({ [city]: 'Köln', 'ShipmentList.0.ShipmentPhone': '0221', BillingCity: 'Köln' })
    expect(await scene.order()).toMatchObject({ BillingCity: '' })
    expectSaved(await scene.merchant.submit(addresses, fields), saved)
    expect(await scene.order()).toMatchObject({
      BillingCity: 'Köln',
      ShipmentList: [{ ShipmentCity: 'Köln', ShipmentPhone: '0221', ShipmentCost: 6.5 }],
      OrderAmount: 135.25,
    })
  })

  test('too long a text is refused beside its field', async () => {
    const form = await opened(scene.merchant, addresses)
    const answer = await form.send({ [city]: 'x'.repeat(51) })
    expect(answer.statusCode).toBe(400)
    expect(alertIn(answer.body)).toContain(`<a href="#${city}">Shipping address: City</a>`)
  })

  test('of two merchants the second sees what is stored now beside what was typed', async () => {
    const [first, second] = [await opened(scene.merchant, addresses), await opened(scene.merchant, addresses)]
    expectSaved(await first.send({ [city]: 'Paris' }), saved)
    const answer = await second.send({ [city]: 'Rome' })
    expect(answer.statusCode).toBe(412)
    expect(answer.body).toContain('Stored now: Paris')
    const fields = typedIn(answer.body, addresses)
    expect(fields).toMatchObject({ [city]: 'Rome' })
    expectSaved(await scene.merchant.submit(addresses, fields), saved)
    expect(await scene.order()).toMatchObject({ ShipmentList: [{ ShipmentCity: 'Rome' }] })
  })
})
