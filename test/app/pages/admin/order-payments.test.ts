import { describe, expect, test } from 'vitest'
import { withServer } from './merchant-fixture.ts'
import { alertIn, expectSaved, opened, shopWithOrder, typedIn } from './order-fixture.ts'

let scene: Awaited<ReturnType<typeof shopWithOrder>>

const payments = '/admin/orders/1/payments'
const saved = '/admin/orders/1?notice=transaction-recorded'

withServer(async (server) => {
  scene = await shopWithOrder(server)
})

const record = async (changes: Record<string, string>) => (await opened(scene.merchant, payments)).send(changes)
const transactions = async () => (await scene.order()).TransactionList
/** The facts of the page: what is paid, refunded and open. */
const facts = async () => {
  const { body } = await scene.merchant.open(payments)
  return Object.fromEntries(
    [...body.matchAll(/<dt>(.*?)<\/dt><dd>(?:<strong>)?([^<]*)/g)].map(([, name, text]) => [name, text]),
  )
}

describe('payments of an order', () => {
  test('are recorded, and add up with refunds to what is open', async () => {
    const form = await opened(scene.merchant, payments)
    expect(form.fields).toMatchObject({
      TransactionDateTime: '2026-03-10T12:00:00',
      TransactionType: 'Sale',
      TransactionMethod: 'Online Credit Card',
      TransactionAmount: '135.25',
    })
    expectSaved(
      await form.send({ TransactionAmount: '100', TransactionReference: 'T-1', TransactionResponseText: 'By wire' }),
      saved,
    )
    expectSaved(await record({ TransactionType: 'Refund', TransactionAmount: '30.50' }), saved)
    expectSaved(await record({ TransactionType: 'Authorize', TransactionAmount: '5' }), saved)
    expect(await facts()).toEqual({
      Total: '$135.25',
      Paid: '$100.00',
      Refunded: '$30.50',
      Net: '$69.50',
      Open: '$65.75',
    })
    expect(await transactions()).toMatchObject([
      {
        TransactionType: 'Sale',
        TransactionAmount: 100,
        TransactionDateTime: '2026-03-10T12:00:00',
        TransactionMethod: 'Online Credit Card',
        TransactionReference: 'T-1',
        TransactionResponseText: 'By wire',
        TransactionCaptured: 1,
      },
      { TransactionType: 'Refund', TransactionAmount: 30.5 },
      { TransactionType: 'Authorize', TransactionCaptured: 0 },
    ])
    expect(await scene.order()).toMatchObject({ OrderStatusID: 11, OrderAmount: 135.25 })
  })

  test('of applications count too, whichever sign a refund has', async () => {
    const sent = [
      { TransactionType: 'Authorize', TransactionAmount: 50, TransactionCaptured: 1 },
      { TransactionType: 'Capture', TransactionAmount: 90 },
      { TransactionType: 'Void', TransactionAmount: 11 },
      { TransactionType: 'Refund', TransactionAmount: -2 },
    ]
    for (const body of sent) await scene.shop.call('POST', '/Orders/1/Transactions', { body })
    expect(await facts()).toEqual({
      Total: '$135.25',
      Paid: '$140.00',
      Refunded: '$2.00',
      Net: '$138.00',
      'Paid too much': '$2.75',
    })
  })

  test.each([
    ['TransactionAmount', '0'],
    ['TransactionAmount', '-5'],
    ['TransactionAmount', 'all'],
    ['TransactionAmount', '999999999999'],
    ['TransactionType', 'Gift'],
    ['TransactionDateTime', 'tomorrow'],
    ['TransactionDateTime', ''],
    ['TransactionReference', 'x'.repeat(256)],
  ])('are refused with a wrong %s, beside the field and with what was typed: %.20s', async (field, value) => {
    const answer = await record({ TransactionAmount: '5', [field]: value })
    expect(answer.statusCode).toBe(400)
    expect(alertIn(answer.body)).toContain(`<a href="#${field}">`)
    if (field !== 'TransactionType') expect(typedIn(answer.body, payments)[field]).toBe(value)
    expect(await transactions()).toEqual([])
  })

  test('are refunded up to what was paid, also by two merchants at once', async () => {
    expect(alertIn((await record({ TransactionType: 'Refund', TransactionAmount: '1' })).body)).toContain(
      'cannot be refunded',
    )
    await record({ TransactionAmount: '20' })
    const tooMuch = await record({ TransactionType: 'Refund', TransactionAmount: '20.01' })
    expect(tooMuch.statusCode).toBe(400)
    expect(alertIn(tooMuch.body)).toContain('Amount</a> must be at most 20 for a refund: 20 USD were paid')

    const forms = [await opened(scene.merchant, payments), await opened(scene.merchant, payments)]
    const refund = { TransactionType: 'Refund', TransactionAmount: '15' }
    const answers = await Promise.all(forms.map((form) => form.send(refund)))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    const lost = answers.find(({ statusCode }) => statusCode === 412)
    const again = await scene.merchant.submit(payments, typedIn(lost?.body ?? '', payments))
    expect([again.statusCode, alertIn(again.body)]).toEqual([400, expect.stringContaining('at most 5')])
    expect(await transactions()).toHaveLength(2)
  })

  test('are recorded once by a form that is sent twice', async () => {
    const form = await opened(scene.merchant, payments)
    const answers = await Promise.all([form.send({}), form.send({})])
    for (const answer of [...answers, await form.send({})]) if (answer.statusCode !== 409) expectSaved(answer, saved)
    expect(await transactions()).toHaveLength(1)

    const changed = await form.send({ TransactionAmount: '7' })
    expect(changed.statusCode).toBe(409)
    expect(changed.body).toContain('has recorded a transaction already')
    expectSaved(await scene.merchant.submit(payments, typedIn(changed.body, payments)), saved)
    expect(await transactions()).toHaveLength(2)
  })

  test('that were refused are recorded with the same key once they are corrected', async () => {
    const form = await opened(scene.merchant, payments)
    expect((await form.send({ TransactionType: 'Refund', TransactionAmount: '7' })).statusCode).toBe(400)
    expectSaved(await form.send({ TransactionAmount: '7' }), saved)
  })

  test('of an order that was paid in full open nothing when they are refunded', async () => {
    await record({})
    expect(await facts()).toEqual({ Total: '$135.25', Paid: '$135.25', Open: '$0.00' })
    await record({ TransactionType: 'Refund', TransactionAmount: '52.95' })
    const afterRefund = { Total: '$135.25', Paid: '$135.25', Refunded: '$52.95', Net: '$82.30' }
    expect(await facts()).toEqual(afterRefund)
    expect((await opened(scene.merchant, payments)).fields).toMatchObject({
      TransactionType: 'Refund',
      TransactionAmount: '',
    })
    expect((await scene.merchant.open('/admin/orders/1')).body).not.toContain('Not paid')
  })
})

describe('an order that is not paid', () => {
  const warning = 'This order is not paid: <strong>$135.25</strong> of $135.25 is open'
  const says = async (address: string) => (await scene.merchant.open(address)).body.includes(warning)
  async function bulk(OrderStatusID: string) {
    const { body } = await scene.merchant.open('/admin/orders')
    const action = /<form method="post" action="(\/admin\/orders[^"]*)"/.exec(body)?.[1] ?? ''
    const to = '/admin/orders/bulk/status'
    const { headers } = await scene.merchant.submit('/admin/orders', { ids: '1', OrderStatusID }, { action, to })
    return scene.merchant.open(String(headers.location))
  }

  test('warns where it is shipped, on its page and among several, until it is paid', async () => {
    expect([await says('/admin/orders/1'), await says('/admin/orders/1/shipments/0')]).toEqual([true, true])
    const unpaid = /<span class="badge bad">check<\/span> This order is not paid\./
    expect((await bulk('4')).body).toMatch(unpaid)
    expect((await bulk('3')).body).toMatch(unpaid)
    expect((await bulk('2')).body).not.toContain('not paid')

    await record({ TransactionAmount: '35.25' })
    expect((await scene.merchant.open('/admin/orders/1/shipments/0')).body).toContain(
      'This order is not paid: <strong>$100.00</strong> of $135.25 is open',
    )
    await record({})
    for (const address of ['/admin/orders/1', '/admin/orders/1/shipments/0']) {
      expect((await scene.merchant.open(address)).body).not.toContain('not paid')
    }
    expect((await bulk('4')).body).not.toContain('not paid')
  })

  test('does not warn where it was paid online and no transaction says otherwise, nor once it is cancelled', async () => {
    await scene.shop.call('PUT', '/Orders/1', { body: { BillingOnLinePayment: true } })
    expect(await says('/admin/orders/1/shipments/0')).toBe(false)
    const TransactionType = 'Authorize'
    await scene.shop.call('POST', '/Orders/1/Transactions', { body: { TransactionType, TransactionAmount: 135.25 } })
    expect(await says('/admin/orders/1/shipments/0')).toBe(true)
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
    expect(await says('/admin/orders/1')).toBe(false)
  })
})
