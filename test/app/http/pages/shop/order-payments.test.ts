import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../../../../src/foundation/database/sql.ts'
import { customerIn, memberIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder, typedIn } from './order-fixture.ts'

let scene: Awaited<ReturnType<typeof shopWithOrder>>

const payments = '/admin/orders/1/payments'
const refunding = '/admin/orders/1/refund'
const saved = '/admin/orders/1?notice=payment-recorded'
const refundSaved = '/admin/orders/1?notice=refund-recorded'

const server = await sharedServer()
beforeEach(async () => {
  scene = await shopWithOrder(server)
})

/** A refund by amount alone. */
const refund = async (TransactionAmount: string) =>
  (await opened(scene.merchant, refunding)).send({ TransactionAmount, TransactionResponseText: 'Goodwill' })
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
    expectSaved(await refund('30.50'), refundSaved)
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

  test('are no refunds, to which a cancelled order that is paid leads', async () => {
    await record({ TransactionAmount: '135.25' })
    const form = await opened(scene.merchant, payments)
    expect(form.fields).toMatchObject({ TransactionType: 'Sale', TransactionAmount: '' })
    expect((await form.send({ TransactionType: 'Refund', TransactionAmount: '1' })).statusCode).toBe(400)
    await scene.shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
    const { body } = await scene.merchant.open('/admin/orders/1')
    expect(body).toContain(`<a href="${refunding}" class="button">Refund</a>`)
    // All of it is proposed.
    expect((await opened(scene.merchant, refunding)).fields).toMatchObject({
      RefundShippingAmount: '6.5',
      TransactionAmount: '135.25',
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

  test('dated in the future are asked about, once for a date', async () => {
    const form = await opened(scene.merchant, payments)
    const [today, tomorrow, later] = ['2026-03-10T12:01:00', '2026-03-11T12:00', '2026-03-12T12:00']
    const ask = async (changes: Record<string, string>, from = form) => {
      const asked = await from.send({ TransactionAmount: '5', ...changes })
      expect(asked.statusCode).toBe(400)
      expect(alertIn(asked.body)).toContain('Date</a> is in the future. If it is right, press the button again')
      return typedIn(asked.body, payments)
    }
    const typed = await ask({ TransactionDateTime: tomorrow, TransactionAmount: '0' })
    const again = await ask({ ...typed, TransactionDateTime: later })
    expect(await transactions()).toEqual([])
    expectSaved(await form.send({ ...again, TransactionAmount: '5' }), saved)
    expectSaved(await record({ TransactionAmount: '5', TransactionDateTime: today }), saved)
    expect((await transactions()).map((each: Record<string, unknown>) => each.TransactionDateTime)).toEqual([
      `${later}:00`,
      today,
    ])
  })

  test('are refunded up to what was paid, also by two merchants at once', async () => {
    expect(alertIn((await refund('1')).body)).toContain('cannot be refunded')
    await record({ TransactionAmount: '20' })
    const tooMuch = await refund('20.01')
    expect(tooMuch.statusCode).toBe(400)
    expect(alertIn(tooMuch.body)).toContain('Amount</a> must be at most $20.00 for a refund: $20.00 were paid')

    const forms = [await opened(scene.merchant, refunding), await opened(scene.merchant, refunding)]
    const changes = { TransactionAmount: '15', TransactionResponseText: 'Goodwill' }
    const answers = await Promise.all(forms.map((form) => form.send(changes)))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    const lost = answers.find(({ statusCode }) => statusCode === 412)
    const again = await scene.merchant.submit(refunding, typedIn(lost?.body ?? '', refunding))
    expect([again.statusCode, alertIn(again.body)]).toEqual([400, expect.stringContaining('at most $5.00')])
    expect(await transactions()).toHaveLength(2)
  })

  test('are recorded once by a form that is sent twice', async () => {
    const form = await opened(scene.merchant, payments)
    const answers = await Promise.all([form.send({}), form.send({})])
    for (const answer of [...answers, await form.send({})]) if (answer.statusCode !== 409) expectSaved(answer, saved)
    expect(await transactions()).toHaveLength(1)

    const changed = await form.send({ TransactionAmount: '7' })
    expect(changed.statusCode).toBe(409)
    expect(changed.body).toContain('has recorded a payment already')
    expectSaved(await scene.merchant.submit(payments, typedIn(changed.body, payments)), saved)
    expect(await transactions()).toHaveLength(2)
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

/** The transactions that a text like 'Sale 50, Authorize 20 captured' stands for. */
const given = (recorded: string) =>
  [...recorded.matchAll(/([A-Za-z]+ ?) (-?[\d.]+)( captured)?/g)].map(([, type, amount, captured]) => ({
    TransactionType: type,
    TransactionAmount: Number(amount),
    TransactionCaptured: captured === undefined ? 0 : 1,
  }))

/** What is recorded of an order of 100.00, its state, and what of it is open. */
const cases: readonly (readonly [state: string, open: number, recorded: string, fields?: object])[] = [
  ['unpaid', 100, ''],
  ['unpaid', 100, 'Authorize 100'],
  ['unpaid', 100, 'Void 100'],
  ['unpaid', 100, 'Sale 50, Refund 50'],
  ['unpaid', 130, 'Credit 30'],
  ['unpaid', 100, 'Authorize 100', { BillingOnLinePayment: true }],
  ['part-paid', 60, 'sale  40'],
  ['part-paid', 70, 'Sale 50, Refund -20'],
  ['paid', 0, 'Authorize 100 captured'],
  ['paid', 0, 'Sale 99.5, Capture 0.5'],
  ['paid', 0, 'Sale 150, Refund 50'],
  ['paid', 0, '', { OrderAmount: 0 }],
  ['paid', 100, '', { BillingOnLinePayment: true }],
  ['part-refunded', 0, 'Sale 100, Refund 0.01'],
  ['part-refunded', 0, 'Sale 150, Sale -100'],
  ['refunded', 0, 'Sale 100, Credit 100'],
  ['refunded', 0, 'Sale 100, Refund 130'],
  ['overpaid', -0.0001, 'Sale 100.0001'],
  ['overpaid', -30, 'Sale 150, Refund 20'],
  ['overpaid', -5, 'Sale 5', { OrderAmount: 0 }],
]

describe('the payment state of an order', () => {
  const words: Readonly<Record<string, string>> = {
    unpaid: 'Unpaid',
    'part-paid': 'Partly paid',
    paid: 'Paid',
    'part-refunded': 'Partly refunded',
    refunded: 'Refunded',
    overpaid: 'Overpaid',
  }
  const chips = (body: string) => [...body.matchAll(/<span class="badge[^"]*">([^<]*)</g)].map(([, text]) => text)
  const listed = async (query: string) => {
    const { body } = await scene.merchant.open(`/admin/orders?sort=OrderID&${query}`)
    return [...body.matchAll(/scope="row"><a href="\/admin\/orders\/(\d+)"/g)].map(([, id]) => Number(id))
  }

  test('is one for the list, its filter, the page, the customer and what is owed', async () => {
    const { shop, merchant } = scene
    // The first customer of the shop.
    const [customer, CustomerID] = [await customerIn(server, shop), 1]
    await shop.call('PUT', '/Products/1', { body: { SKUInfo: { Stock: 30 } } })
    const ids: number[] = []
    for (const [, , recorded, fields] of cases) {
      const id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], { CustomerID })
      await shop.call('PUT', `/Orders/${id}`, { body: { OrderAmount: 100, ...fields } })
      for (const body of given(recorded)) await shop.add(`/Orders/${id}/Transactions`, body)
      ids.push(id)
    }

    for (const [state, word] of Object.entries(words)) {
      const expected = ids.filter((_id, at) => cases[at]?.[0] === state)
      // Order 1 of the scene is unpaid.
      expect([state, await listed(`payment=${state}`)]).toEqual([
        state,
        state === 'unpaid' ? [1, ...expected] : expected,
      ])
      expect(chips((await merchant.open(`/admin/orders?payment=${state}`)).body)).toContain(word)
    }
    const { body: ofCustomer } = await customer.open('/account')
    const toCustomer = cases.map(([state, , recorded, fields]) =>
      recorded === 'Authorize 100' && fields !== undefined ? 'Payment authorised' : words[state],
    )
    expect(chips(ofCustomer).toReversed()).toEqual(toCustomer)
    for (const [at, [state, open, recorded]] of cases.entries()) {
      const said = await merchant.open(`/admin/orders/${ids[at]}`)
      const [sums] = (await shop.call('GET', `/Orders/${ids[at]}/Sums`)).json()
      const isOwed = said.body.includes('This order is not paid')
      expect([recorded, chips(said.body)[1], sums.OpenAmount, isOwed]).toEqual([
        recorded,
        words[state],
        open,
        ['unpaid', 'part-paid'].includes(state),
      ])
    }
    const owed = ids.filter((_id, at) => ['unpaid', 'part-paid'].includes(String(cases[at]?.[0])))
    expect(await listed('payment=to-be-paid')).toEqual([1, ...owed])
    for (const [at, OrderStatusID] of [5, 7].entries()) {
      await shop.call('PUT', `/Orders/${owed[at]}`, { body: { OrderStatusID } })
    }
    expect(await listed('payment=to-be-paid')).toEqual([1, ...owed.slice(2)])
    const wrong = await merchant.open('/admin/orders?payment=late')
    expect([wrong.statusCode, wrong.body.includes('must be one of unpaid, part-paid, paid')]).toEqual([400, true])
  })

  test('follows transactions that are changed, removed, imported, and added at once by SQL', async () => {
    const { db } = server.database
    const { shop } = scene
    const state = async () => ((await listed('payment=unpaid')).length === 0 ? 'other' : 'unpaid')
    const key = await shop.add('/Orders/1/Transactions', { TransactionType: 'Sale', TransactionAmount: 135.25 })
    expect(await listed('payment=paid')).toEqual([1])
    await shop.call('PUT', `/Orders/1/Transactions/${key}`, { body: { TransactionAmount: 35.25 } })
    expect(await listed('payment=part-paid')).toEqual([1])
    await shop.call('PUT', '/Orders/1', { body: { OrderAmount: 35.25 } })
    expect(await listed('payment=paid')).toEqual([1])
    await shop.call('PUT', '/Orders/1', { body: { TransactionList: [] } })
    expect(await state()).toBe('unpaid')

    const insert = (id: number) =>
      db.$executeRaw(sql`
      INSERT INTO "OrderTransaction" ("storeId", "id", "orderId", "type", "amount", "captured", "details")
      VALUES (${shop.store.id}::int, ${id}::int, 1, 'Sale', 1, 1, '{}')`)
    await Promise.all(Array.from({ length: 8 }, (_, at) => insert(5_000 + at)))
    const [order] = await db.$queryRaw<{ paid: string }[]>(sql`
      SELECT "paid"::text FROM "Order" WHERE "storeId" = ${shop.store.id}::int AND "id" = 1`)
    expect(Number(order?.paid)).toBe(8)
  })
})

describe('a transaction that is wrong', () => {
  const keyOf = async () => (await transactions()).at(-1).TransactionIndexID as number
  const voiding = (key: number) => `/admin/orders/1/payments/${key}/void`
  const done = (one: 'payment' | 'refund') => `/admin/orders/1/payments?notice=${one}-voided`
  const Reason = 'Entered twice'

  test('is made void with a reason, stays in sight with who and when, and counts as nothing', async () => {
    await record({ TransactionAmount: '135.25', TransactionResponseText: 'By wire' })
    const key = await keyOf()
    for (const url of ['/admin/orders/1', payments]) {
      expect((await scene.merchant.open(url)).body).toContain(`<a href="${voiding(key)}">Void…</a>`)
    }
    const asked = await scene.merchant.open(voiding(key))
    expect(asked.body).toContain('Make the payment of $135.25 void?')
    expect(asked.body).toMatch(/<dt>Open<\/dt><dd>\$0.00 → <strong>\$135.25/)
    expectSaved(await (await opened(scene.merchant, voiding(key))).send({ Reason }), done('payment'))

    const { body } = await scene.merchant.open(payments)
    const [row = ''] = /<tr role="row" class="voided">[\s\S]*?<\/tr>/.exec(body) ?? []
    expect(row).toMatch(/<s>Payment<\/s> <span class="badge">Void<\/span><br><small>by \S+@\S+, Mar 10, 2026/)
    expect(row).toContain('<s>$135.25</s>')
    expect(row).toContain('By wire\nEntered twice')
    expect(row).not.toContain('Void…')
    expect(await facts()).toMatchObject({ Paid: '$0.00', Open: '$135.25' })
    expect(await transactions()).toMatchObject([
      {
        TransactionIndexID: key,
        TransactionType: 'Void',
        TransactionAmount: 135.25,
        TransactionResponseText: 'By wire\nEntered twice',
      },
    ])
    const page = (await scene.merchant.open('/admin/orders/1')).body
    expect(page).toContain('This order is not paid')
    expect(page).toContain('<li>Payment of $135.25 made void</li>')
    expect((await scene.merchant.open('/admin/orders/1/invoice')).body).not.toContain('Void')
  })

  test('may be a refund that names lines and a return, which are refunded by nothing then', async () => {
    const { shop } = scene
    await record({ TransactionAmount: '135.25' })
    const [line] = (await scene.order()).OrderItemList
    const RefundItemList = [{ ItemIndexID: line.ItemIndexID, RefundQuantity: 3 }]
    const body = { TransactionType: 'Refund', TransactionAmount: 127.5, RefundItemList }
    const key = await shop.add('/Orders/1/Transactions', body)
    expect((await scene.merchant.open(voiding(key))).body).toContain('Make the refund of $127.50 void?')
    expectSaved(await (await opened(scene.merchant, voiding(key))).send({ Reason }), done('refund'))
    const [sums] = (await shop.call('GET', '/Orders/1/Sums')).json()
    expect(sums).toMatchObject({ PaidAmount: 135.25, RefundedAmount: 0, OpenAmount: 0 })
    expect(sums.ItemSumList[0].RefundedQuantity).toBe(0)
    expect((await scene.merchant.open(payments)).body).toContain('<s>-$127.50</s>')
    await shop.add('/Orders/1/Transactions', body)
  })

  test('leaves more open than the total where its money went back, which is said before and after', async () => {
    await record({ TransactionAmount: '135.25' })
    const key = await keyOf()
    expect((await scene.merchant.open(voiding(key))).body).not.toContain('More would be refunded than was paid')
    await refund('30')
    const { body } = await scene.merchant.open(voiding(key))
    expect(body).toMatch(/<dt>Open<\/dt><dd>\$0.00 → <strong>\$165.25/)
    expect(body).toContain('More would be refunded than was paid: the $30.00 that')
    expectSaved(await (await opened(scene.merchant, voiding(key))).send({ Reason }), done('payment'))
    const [{ OpenAmount }] = (await scene.shop.call('GET', '/Orders/1/Sums')).json()
    expect(OpenAmount).toBe(165.25)
    expect((await scene.merchant.open('/admin/orders/1')).body).toContain(
      '<strong>$165.25</strong> is open, its total of $135.25 and $30.00 that was refunded without being paid',
    )
    const other = (await scene.order()).TransactionList.find(
      (one: { TransactionType: string }) => one.TransactionType === 'Refund',
    ).TransactionIndexID
    expect((await scene.merchant.open(voiding(other))).body).not.toContain('More would be refunded')
  })

  test('is made void once by two at once', async () => {
    await record({ TransactionAmount: '20' })
    const key = await keyOf()
    const forms = [await opened(scene.merchant, voiding(key)), await opened(scene.merchant, voiding(key))]
    const answers = await Promise.all(forms.map((form) => form.send({ Reason })))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
    expect((await transactions())[0].TransactionResponseText).toBe('Entered twice')
    expect((await scene.merchant.open(voiding(key))).body).toContain('This payment of $20.00 is void')

    // A program that takes it back takes the mark away.
    await scene.shop.call('PUT', `/Orders/1/Transactions/${key}`, { body: { TransactionType: 'Sale' } })
    expect((await scene.merchant.open(payments)).body).not.toMatch(/class="voided"|<s>/)
    await scene.shop.call('PUT', `/Orders/1/Transactions/${key}`, { body: { TransactionType: 'void' } })
    expect((await scene.merchant.open(payments)).body).toMatch(/<s>Payment<\/s>.*by [^@<]+,/)
  })

  test.each(['', ' ', 'x'.repeat(256)])('is not made void with the reason "%.5s"', async (given) => {
    await record({ TransactionAmount: '20' })
    const answer = await (await opened(scene.merchant, voiding(await keyOf()))).send({ Reason: given })
    expect([answer.statusCode, alertIn(answer.body).includes('<a href="#Reason">Reason</a>')]).toEqual([400, true])
    expect(await transactions()).toMatchObject([{ TransactionType: 'Sale', TransactionResponseText: '' }])
  })

  test('is none of another order, and nobody makes it void who may not change orders', async () => {
    await record({ TransactionAmount: '20' })
    const key = await keyOf()
    expect((await scene.merchant.open(voiding(999_999))).statusCode).toBe(404)
    const reader = await memberIn(server, scene.shop, { Name: 'Looks', Privileges: { Orders: ['read'] } })
    expect((await reader.open(voiding(key))).statusCode).toBe(403)
    const { body } = await reader.open('/admin/orders')
    expect([body.includes('Unpaid'), body.includes('Partly paid'), body.includes('Ada')]).toEqual([true, true, false])
  })
})
