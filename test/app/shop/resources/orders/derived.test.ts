import { beforeEach, describe, expect, test } from 'vitest'
import { storedEvents } from '../../../../support/events.ts'
import { sharedServer } from '../../../../support/store.ts'
import { exportOf, importInto } from '../../../engine/transfer/fixture.ts'
import { type Orders, openOrders } from '../../../http/soap/orders-stage.ts'

// What an order shows and does not store itself, what only an import brings, and what the caller alone sets.

let stage: Orders
let productId: number
const server = await sharedServer()
beforeEach(async () => {
  stage = await openOrders(server)
  productId = await stage.product()
})

const place = (fields: object = {}) => stage.place([{ CatalogID: productId, ItemQuantity: 1 }], { ...fields })
const read = (id: number) => stage.rest(`/Orders/${id}`)
const change = async (path: string, body: object) => {
  const answer = await stage.shop.call('PUT', path, { body })
  expect(answer.statusCode, answer.body).toBe(200)
}
const rename = (id: number, name: string) =>
  server.database.db.paymentMethod.update({
    where: { storeId_id: { storeId: stage.shop.store.id, id } },
    data: { name },
  })

describe('BillingPaymentMethod', () => {
  test('is the name of the method’s id in the list of the store, in JSON, XML, cartAPI, events and lists', async () => {
    await rename(3, 'Check & more')
    await server.services.db.paymentMethod.update({
      where: { storeId_id: { storeId: (await server.openStore()).store.id, id: 3 } },
      data: { name: 'of another store' },
    })
    const id = await place({ BillingPaymentMethodID: '3' })
    expect((await read(id)).BillingPaymentMethod).toBe('Check & more')
    const listed = await stage.shop.call('GET', '/Orders?limit=300', { accept: 'application/xml' })
    expect(listed.body).toContain('<BillingPaymentMethod>Check &amp; more</BillingPaymentMethod>')
    expect(await stage.list()).toMatchObject([{ PaymentMethod: 'Check & more' }])
    const [event] = await storedEvents(server.database.db, stage.shop.store.id, { eventType: 1 })
    expect(event?.record).toMatchObject({ OrderID: id, BillingPaymentMethod: 'Check & more' })
    await rename(3, 'Check')
    expect((await read(id)).BillingPaymentMethod).toBe('Check')
  })

  test.each(['3 ', ' 3', '00003'])('is the same for the id "%s"', async (given) => {
    const id = await place({ BillingPaymentMethodID: given })
    const { BillingPaymentMethod } = await read(await place({ BillingPaymentMethodID: '3' }))
    expect(BillingPaymentMethod).not.toBe('')
    expect(await read(id)).toMatchObject({ BillingPaymentMethodID: given, BillingPaymentMethod })
  })

  test.each(['0', '99', '', '3x', 'check', '3 4', '99999999999999999999'])(
    'is empty for the id "%s"',
    async (given) => {
      const id = await place({ BillingPaymentMethodID: given })
      expect(await read(id)).toMatchObject({ BillingPaymentMethodID: given, BillingPaymentMethod: '' })
    },
  )

  test('is what an import or the checkout brought, until the order gets another method', async () => {
    await stage.bring({ OrderID: 900, BillingPaymentMethodID: '2', BillingPaymentMethod: 'Visa at the till' })
    const placed = await place({ BillingPaymentMethodID: '2', BillingPaymentMethod: 'Visa at the till' })
    for (const id of [900, placed]) {
      await change(`/Orders/${id}`, {
        BillingPaymentMethodID: '2',
        BillingPaymentMethod: 'ignored',
        InternalComments: 'x',
      })
      expect((await read(id)).BillingPaymentMethod).toBe('Visa at the till')
      await change(`/Orders/${id}`, { BillingPaymentMethodID: '5' })
      expect((await read(id)).BillingPaymentMethod).toBe('Bank Transfer')
    }
  })
})

describe('ContinueURL', () => {
  test('is the address of the order in the front end, at the present address of the store', async () => {
    const id = await place()
    const { secureUrl } = stage.shop.store
    expect((await read(id)).ContinueURL).toBe(`${secureUrl}/continue?order_key=${id}`)
    const shown = await stage.shop.call('GET', `/Orders/${id}`, { accept: 'application/xml' })
    expect(shown.body).toContain(`<ContinueURL>${secureUrl}/continue?order_key=${id}</ContinueURL>`)
  })

  test('is what an import or the checkout brought', async () => {
    await stage.bring({ OrderID: 900, ContinueURL: 'https://till.example/900' })
    const placed = await place({ ContinueURL: 'https://till.example/new' })
    expect((await read(900)).ContinueURL).toBe('https://till.example/900')
    expect((await read(placed)).ContinueURL).toBe('https://till.example/new')
  })
})

test('a store that moves shows its own address and names: what was derived is not stored by the import', async () => {
  const [derived, stored] = [
    await place({ BillingPaymentMethodID: '3' }),
    await place({ BillingPaymentMethodID: '3', BillingPaymentMethod: 'Cheque', ContinueURL: 'https://till.example/2' }),
  ]
  const file = await exportOf(server, stage.shop)
  expect(file).toContain('"service":"PaymentMethods"')
  const target = await openOrders(server)
  expect((await importInto(server, target.shop, file)).refused).toEqual([])
  await importInto(server, target.shop, [
    { service: 'PaymentMethods', record: { PaymentMethodID: 3, Name: 'By check' } },
  ])
  expect(await target.rest(`/Orders/${derived}`)).toMatchObject({
    ContinueURL: `${target.shop.store.secureUrl}/continue?order_key=${derived}`,
    BillingPaymentMethod: 'By check',
  })
  expect(await target.rest(`/Orders/${stored}`)).toMatchObject({
    ContinueURL: 'https://till.example/2',
    BillingPaymentMethod: 'Cheque',
  })
})

test('an import cannot bring more than 100 payment methods', async () => {
  const lines = Array.from({ length: 95 }, (_, index) => ({
    service: 'PaymentMethods',
    record: { PaymentMethodID: 10 + index, Name: `Method ${index}` },
  }))
  const { refused } = await importInto(server, stage.shop, lines)
  expect(refused).toMatchObject([{ message: 'A list has at most 100 names. Rename or hide one of them' }])
  expect(await server.database.db.paymentMethod.count({ where: { storeId: stage.shop.store.id } })).toBe(100)
})

test('what only an import brings is shown: questions, affiliate and gift certificates of an order', async () => {
  const record = {
    OrderID: 900,
    OrderStatusID: 1,
    QuestionList: [{ QuestionID: 4, QuestionTitle: 'Gift wrap?', QuestionType: 'Radio', QuestionAnswer: 'no' }],
  }
  const bought = {
    Code: 'G-1',
    Amount: 25,
    ToName: 'Ann',
    ToEmail: 'ann@x.example',
    ToMessage: 'Hi <you>',
    FromName: 'Bo',
  }
  const hidden = {
    AffiliateID: 12,
    GiftCertificatePurchased: [bought],
    GiftCertificateUsed: [{ Code: 'G-2', Amount: 5.5 }],
  }
  const lines = [{ service: 'Orders', record, private: hidden }]
  expect((await importInto(server, stage.shop, lines)).refused).toEqual([])
  await change('/Orders/900', { InternalComments: 'seen', QuestionList: [{ ...(await read(900)).QuestionList[0] }] })
  expect(await read(900)).toMatchObject({ QuestionList: [{ QuestionTitle: 'Gift wrap?', QuestionType: 'Radio' }] })
  const [order] = await stage.list()
  expect(order).toMatchObject({
    AffiliateInformation: { AffiliateID: '12' },
    GiftCertificatePurchased: {
      Gift: {
        Code: 'G-1',
        Amount: '25.00',
        ToName: 'Ann',
        ToEmail: 'ann@x.example',
        ToMessage: 'Hi <you>',
        FromName: 'Bo',
      },
    },
    GiftCertificateUsed: { Gift: { Code: 'G-2', Amount: '5.50' } },
    CheckoutQuestions: { Question: { Question: 'Gift wrap?' } },
  })
})

test('what only an import brings is shown: names and reviews of a product, credit of a customer', async () => {
  const names = {
    ListingTemplateName: 'Grid',
    LoginRequiredOptionName: 'Members',
    ReviewAverage: 4.25,
    ReviewCount: 17,
  }
  const lines = [
    { service: 'Products', record: { SKUInfo: { CatalogID: 90, SKU: 'MUG', Name: 'Mug' }, ...names } },
    { service: 'Customers', record: { CustomerID: 90, TotalStoreCredit: 12.5 } },
  ]
  expect((await importInto(server, stage.shop, lines)).refused).toEqual([])
  const other = { ListingTemplateName: 'x', LoginRequiredOptionName: 'x', ReviewAverage: 1, ReviewCount: 1 }
  await change('/Products/90', { ShortDescription: 'Blue', ...other })
  await change('/Customers/90', { Comments: 'seen', TotalStoreCredit: 1 })
  expect(await stage.rest('/Products/90')).toMatchObject(names)
  expect((await stage.rest('/Customers/90')).TotalStoreCredit).toBe(12.5)
})

test('the reference says which fields the platform does not fill in itself', async () => {
  const { schemas } = (await server.app.inject('/openapi.json')).json().components
  const described: [string, string][] = [
    ['Product', 'ReviewAverage'],
    ['Product', 'ReviewCount'],
    ['Product', 'ListingTemplateName'],
    ['Product', 'LoginRequiredOptionName'],
    ['Customer', 'TotalStoreCredit'],
    ['Question', 'QuestionTitle'],
    ['Question', 'QuestionType'],
  ]
  for (const [type, name] of described) {
    expect(schemas[type].properties[name].description, name).toMatch(/it shows imported values|, or an import, sets it/)
  }
})

describe('ShipmentCost', () => {
  test('changes OrderAmount by none of REST’s ways; the caller sets that', async () => {
    const id = await place({ ShipmentList: [{ ShipmentCost: 5 }] })
    const { OrderAmount } = await read(id)
    expect(OrderAmount).toBe(25)
    await change(`/Orders/${id}/Shipments/0`, { ShipmentCost: 7 })
    const added = await stage.shop.call('POST', `/Orders/${id}/Shipments`, { body: { ShipmentCost: 11 } })
    expect(added.statusCode, added.body).toBe(201)
    await change(`/Orders/${id}`, { ShipmentList: [{ ShipmentCost: 13 }] })
    expect(await read(id)).toMatchObject({ OrderAmount, ShipmentList: [{ ShipmentCost: 13 }] })
    await change(`/Orders/${id}`, { ShipmentList: [{ ShipmentCost: 17 }], OrderAmount: 37 })
    expect(await read(id)).toMatchObject({ OrderAmount: 37, ShipmentList: [{ ShipmentCost: 17 }] })
  })

  test('is said so in the reference', async () => {
    const { schemas } = (await server.app.inject('/openapi.json')).json().components
    for (const type of ['Shipment', 'ShipmentInput']) {
      expect(schemas[type].properties.ShipmentCost.description, type).toContain('does not change OrderAmount')
    }
  })
})
