import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { paymentsOf } from '../../../../../src/shop/resources/orders/payments.ts'
import { sharedServer } from '../../../../support/store.ts'

// Refunds that say what they are for, and the sums of orders (rest-resources §3.6, §3.11).

const server = await sharedServer()
const shop = await server.openStore()
const products: number[] = []
for (const [sku, Price] of [
  ['R-1', 20],
  ['R-2', 5.55],
] as const) {
  products.push(await shop.add('/Products', { SKUInfo: { SKU: sku, Name: sku, Price, Stock: 1_000 } }))
}

type Wire = Record<string, unknown>

/** An order of three pieces at 20.00 and two at 5.55, paid in full; the numbers of its lines. */
async function newOrder(): Promise<{ id: number; lines: number[] }> {
  const [one, two] = products
  const items = [
    { CatalogID: one, ItemQuantity: 3 },
    { CatalogID: two, ItemQuantity: 2 },
  ]
  const id = await shop.placeOrder(items, {
    ShipmentList: [{ ShipmentCost: 4.9 }],
    SalesTax: 3,
    OrderDiscountCoupon: 1,
  })
  await shop.add(`/Orders/${id}/Transactions`, { TransactionType: 'Sale', TransactionAmount: 78 })
  const { OrderItemList } = await orderOf(id)
  return { id, lines: OrderItemList.map(({ ItemIndexID }: { ItemIndexID: number }) => ItemIndexID) }
}

const orderOf = async (id: number) => (await shop.call('GET', `/Orders/${id}`)).json()[0]
const sumsOf = async (id: number) => (await shop.call('GET', `/Orders/${id}/Sums`)).json()[0]
const refundsOf = async (id: number) => (await shop.call('GET', `/Orders/${id}/Refunds`)).json()

function refund(id: number, others: Wire): Promise<LightMyRequestResponse> {
  const body = { TransactionType: 'Refund', TransactionAmount: 50, ...others }
  return shop.call('POST', `/Orders/${id}/Transactions`, { body })
}

const statusIn = ({ statusCode, body }: LightMyRequestResponse) => {
  const [{ Value, Message }] = JSON.parse(body)
  return { statusCode, field: Value, message: Message }
}

test('a refund names lines and a return, which its order never shows, and Refunds and Sums do', async () => {
  const { id, lines } = await newOrder()
  const [first, second] = lines as [number, number]
  const before = await orderOf(id)
  const RMAItemList = [{ SKU: 'R-1', ReturnQuantity: 2 }]
  const rma = await shop.add('/RMA', { OrderID: id, RMAItemList })
  const plain = await shop.add(`/Orders/${id}/Transactions`, { TransactionType: 'Credit', TransactionAmount: -1.5 })
  const sent = [
    { ItemIndexID: first, RefundQuantity: 2, RefundAmount: 40 },
    { ItemIndexID: second, RefundQuantity: 0.5 },
  ]
  const named = await shop.add(`/Orders/${id}/Transactions`, {
    TransactionType: 'Refund',
    TransactionAmount: 43,
    TransactionID: 'gw-1',
    RMAID: rma,
    RefundItemList: sent,
    RefundShippingAmount: 2,
    RefundTaxAmount: 1,
  })

  const order = await orderOf(id)
  const [{ TransactionIndexID: _sale }, ...refunds] = order.TransactionList
  expect(refunds.map(Object.keys)).toEqual([1, 2].map(() => Object.keys(before.TransactionList[0])))
  expect((await shop.call('GET', `/Orders/${id}/Transactions`)).json()).toEqual(order.TransactionList)
  const dated = { TransactionDateTime: '2026-03-10T12:00:00' }
  expect(await refundsOf(id)).toEqual([
    {
      TransactionIndexID: plain,
      TransactionID: '',
      ...dated,
      ...{ TransactionType: 'Credit', CreditNotePrefix: 'CN-', CreditNoteNumber: 1, RefundTotal: 1.5, RMAID: 0 },
      ...{ RefundItemList: [], RefundShippingAmount: 0, RefundTaxAmount: 0 },
    },
    {
      TransactionIndexID: named,
      TransactionID: 'gw-1',
      ...dated,
      ...{ TransactionType: 'Refund', CreditNotePrefix: 'CN-', CreditNoteNumber: 2, RefundTotal: 43, RMAID: rma },
      RefundItemList: [sent[0], { ItemIndexID: second, RefundQuantity: 0.5, RefundAmount: 0 }],
      ...{ RefundShippingAmount: 2, RefundTaxAmount: 1 },
    },
  ])
  expect(await sumsOf(id)).toEqual({
    OrderID: id,
    ...{ ItemTotal: 71.1, DiscountTotal: 1, ShippingTotal: 4.9, TaxTotal: 3, OtherAmount: 0, OrderAmount: 78 },
    ...{ PaidAmount: 78, RefundedAmount: 44.5, NetAmount: 33.5, OpenAmount: 0 },
    ItemSumList: [
      { ItemIndexID: first, ItemID: 'R-1', ItemQuantity: 3, ReturnedQuantity: 2, RefundedQuantity: 2 },
      { ItemIndexID: second, ItemID: 'R-2', ItemQuantity: 2, ReturnedQuantity: 0, RefundedQuantity: 0.5 },
    ],
  })

  // An old client sends back what it read, and changes a word of it.
  const TransactionList = order.TransactionList.map((one: Wire) => ({ ...one, TransactionResponseText: 'seen' }))
  expect((await shop.call('PUT', `/Orders/${id}`, { body: { TransactionList } })).statusCode).toBe(200)
  expect((await refundsOf(id))[1]).toMatchObject({ RMAID: rma, RefundItemList: [sent[0], { RefundQuantity: 0.5 }] })

  const page = await shop.call('GET', `/Orders/${id}/Refunds?limit=1`)
  expect(page.json()).toHaveLength(1)
  expect(page.headers.link).toContain(`cursor=${plain}`)

  // A return that is gone is named no more, and the order tells of it.
  expect((await shop.call('DELETE', `/RMA/${rma}`)).statusCode).toBe(200)
  expect((await refundsOf(id))[1]).toMatchObject({ RMAID: 0, RefundItemList: [sent[0], { RefundQuantity: 0.5 }] })
  const events = await server.database.db.event.findMany({ where: { recordId: id }, orderBy: { id: 'asc' } })
  const [last] = events.filter(({ eventType }) => eventType === 8).slice(-1)
  expect(last?.changed).toContain('TransactionList.RMAID')
})

test('more than was bought and is not refunded yet is refused, however many ask at once', async () => {
  const { id, lines } = await newOrder()
  const [line] = lines as [number]
  const ask = (RefundQuantity: number) => refund(id, { RefundItemList: [{ ItemIndexID: line, RefundQuantity }] })

  const answers = await Promise.all([2, 2, 2, 2].map(ask))
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 400, 400, 400])
  const refused = statusIn(answers.find(({ statusCode }) => statusCode === 400) as LightMyRequestResponse)
  expect(refused).toMatchObject({ field: 'TransactionList[2].RefundItemList[0].RefundQuantity' })
  expect(refused.message).toContain('must be at most 1: the line has 3, of which 2 were refunded already')
  expect((await ask(1)).statusCode).toBe(201)
  expect((await sumsOf(id)).ItemSumList[0]).toMatchObject({ RefundedQuantity: 3 })

  // Of one that is changed its own former quantity does not count.
  const [first] = await refundsOf(id)
  const path = `/Orders/${id}/Transactions/${first.TransactionIndexID}`
  const change = (RefundQuantity: number) =>
    shop.call('PUT', path, { body: { RefundItemList: [{ ItemIndexID: line, RefundQuantity }] } })
  expect((await change(2.0001)).statusCode).toBe(400)
  expect((await change(1.5)).statusCode).toBe(200)
})

test('what is no refund of this order is refused, and nothing is written', async () => {
  const { id, lines } = await newOrder()
  const other = await newOrder()
  const [line] = lines as [number]
  const foreign = await shop.add('/RMA', { OrderID: other.id, RMAItemList: [{ SKU: 'R-1', ReturnQuantity: 1 }] })
  const item = (others: Wire = {}) => ({ RefundItemList: [{ ItemIndexID: line, RefundQuantity: 1, ...others }] })
  const list = 'TransactionList[1]'
  const cases: [body: Wire, field: string, problem: string][] = [
    [{ ...item(), TransactionType: 'Sale' }, `${list}.TransactionType`, 'must be Refund or Credit'],
    [{ RMAID: foreign, TransactionType: 'Void' }, `${list}.TransactionType`, 'must be Refund or Credit'],
    [{ RMAID: foreign }, `${list}.RMAID`, `must be that of a return of this order; ${foreign} is none`],
    [
      item({ ItemIndexID: other.lines[0] }),
      `${list}.RefundItemList[0].ItemIndexID`,
      'must be that of a line of this order',
    ],
    [item({ RefundQuantity: 0 }), `${list}.RefundItemList[0].RefundQuantity`, 'must be more than 0'],
    [item({ RefundQuantity: 3.5 }), `${list}.RefundItemList[0].RefundQuantity`, 'must be at most 3'],
    [
      item({ RefundAmount: 50.01 }),
      `${list}.RefundItemList`,
      'has amounts of 50.01 together; the transaction is of 50',
    ],
    [
      { ...item({ RefundAmount: 40 }), RefundShippingAmount: 9, RefundTaxAmount: 1.01 },
      `${list}.RefundItemList`,
      'of 50.01',
    ],
    [{ RefundTaxAmount: 1, TransactionType: 'Sale' }, `${list}.TransactionType`, 'must be Refund or Credit'],
    [{ RefundShippingAmount: -1 }, 'RefundShippingAmount', 'must be a number from 0'],
    [
      { RefundItemList: [...item().RefundItemList, ...item().RefundItemList] },
      `${list}.RefundItemList[1].ItemIndexID`,
      'twice',
    ],
  ]
  for (const [body, field, problem] of cases) {
    const answer = statusIn(await refund(id, body))
    expect(answer).toMatchObject({ statusCode: 400, field })
    expect(answer.message).toContain(problem)
  }
  const malformed = await shop.call('POST', `/Orders/${id}/Transactions`, {
    body: { TransactionType: 'Refund', RefundItemList: [{ RefundQuantity: 1 }] },
    tolerated: true,
  })
  expect(statusIn(malformed)).toMatchObject({ statusCode: 400, field: 'RefundItemList[0].ItemIndexID' })
  expect((await shop.call('GET', `/Orders/${id}/Refunds`)).statusCode).toBe(404)
  expect((await shop.call('GET', '/Orders/999999/Refunds')).statusCode).toBe(404)

  // Nor does a stored one become something else.
  expect((await refund(id, item())).statusCode).toBe(201)
  const [stored] = await refundsOf(id)
  const path = `/Orders/${id}/Transactions/${stored.TransactionIndexID}`
  const changed = await shop.call('PUT', path, { body: { TransactionType: 'Sale' } })
  expect(statusIn(changed)).toMatchObject({ statusCode: 400, field: `${list}.TransactionType` })
  expect((await shop.call('PUT', path, { body: { TransactionType: 'Sale', RefundItemList: [] } })).statusCode).toBe(200)
})

// One rule in memory and in SQL.
test('the sums are those of the pages for every kind of transaction', async () => {
  const paying = ['Sale', ' sale\t', 'CAPTURE', ' Capture\n', 'Authorize', 'authorize ']
  const types = [...paying, 'Refund', 'refund', '\tCredit', 'Void', '', 'Sale\u00a0', 'Sales']
  const list = [0, 1, 2].flatMap((captured) =>
    types.flatMap((type, index) =>
      [1, -1].map((sign) => ({
        TransactionType: type,
        TransactionAmount: sign * (index + 1) * 1.0001,
        TransactionCaptured: captured,
      })),
    ),
  )
  const { id } = await newOrder()
  for (const [OrderAmount, ...TransactionList] of [
    [78, ...list],
    [0.5, list[0], list[12]],
    [500, list[0]],
    [-3, list[0]],
    [9, ...list.slice(0, 9)],
  ] as [number, ...typeof list][]) {
    expect((await shop.call('PUT', `/Orders/${id}`, { body: { OrderAmount, TransactionList } })).statusCode).toBe(200)
    const order = await orderOf(id)
    const { paid, refunded, net, open } = paymentsOf(order)
    expect(await sumsOf(id)).toMatchObject({
      PaidAmount: paid,
      RefundedAmount: refunded,
      NetAmount: net,
      OpenAmount: open,
    })
  }
})

test('the sums of all orders are a list with the filters of orders', async () => {
  const answer = await shop.call('GET', '/Orders/Sums?limit=2')
  expect(answer.json().map(({ OrderID }: Wire) => OrderID)).toEqual([1, 2])
  expect(answer.headers.link).toContain('cursor=2')
  expect((await shop.call('GET', '/Orders/Sums?invoicenumber=1001')).statusCode).toBeLessThan(405)
  expect((await shop.call('GET', '/Orders/Sums?countonly=1')).json().TotalCount).toBeGreaterThan(2)
  expect((await shop.call('GET', '/Orders/999999/Sums')).statusCode).toBe(404)
  const selected = await shop.call('GET', '/Orders/2/Sums?$select=OpenAmount')
  expect(Object.keys(selected.json()[0])).toEqual(['OpenAmount'])
})
