import { expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { customerIn, memberIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { alertIn, expectSaved, opened, shopWithOrder, typedIn } from './order-fixture.ts'

const server = await sharedServer()

const refunding = '/admin/orders/1/refund'
const saved = '/admin/orders/1?notice=refund-recorded'
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ')
const shownAt = async (person: TestPerson, url: string) => textOf((await person.open(url)).body)
const get = async (shop: TestStore, path: string) => (await shop.call('GET', path)).json()
const lineOf = async (shop: TestStore) => `Item.${(await get(shop, '/Orders/1'))[0].OrderItemList[0].ItemIndexID}`

async function formAt(person: TestPerson, url = refunding) {
  const fields = await person.formOf(url, refunding)
  const send = (changes: Record<string, string>, to = refunding) =>
    person.submit(refunding, { ...fields, ...changes }, { to })
  return { fields, send }
}

/** Works out a refund, and records it; what was worked out. */
async function refund(merchant: TestPerson, changes: Record<string, string>, url = refunding): Promise<string> {
  const { body } = await (await formAt(merchant, url)).send(changes, `${refunding}/amount`)
  expectSaved(await merchant.submit(refunding, typedIn(body, refunding)), saved)
  return textOf(/<dl class="facts" id="worked-out">([\s\S]*?)<\/dl>/.exec(body)?.[1] ?? body).trim()
}

test.each([
  ['EUR', [128.95, 25.79, 45.03, 4.9], ['138.11', '5.83', '138.10'], ['116.06', '116.05'], '€'],
  ['JPY', [129, 26, 45, 490], ['123', '521', '123'], ['116', '116'], '¥'],
] as const)('refunds in %s: all pages and REST agree, and the last one takes the rest', async (...given) => {
  const [currency, [Price, OrderDiscountPromotion, SalesTax, ShipmentCost], amounts, goods, sign] = given
  const shop = await server.openStore({ currency })
  const [merchant, customer] = [await merchantIn(server, shop.store), await customerIn(server, shop)]
  await shop.add('/Products', { SKUInfo: { SKU: 'THROW', Name: 'Throw', Price, Stock: 10 } })
  const charges = { OrderDiscountPromotion, SalesTax, ShipmentList: [{ ShipmentCost }] }
  await shop.placeOrder([{ ItemID: 'THROW', ItemQuantity: 2 }], { CustomerID: 1, ...charges })
  const [{ OrderAmount }] = await get(shop, '/Orders/1')
  await shop.add('/Orders/1/Transactions', { TransactionType: 'Sale', TransactionAmount: OrderAmount })
  const invoice = await shownAt(merchant, '/admin/orders/1/invoice')
  const line = await lineOf(shop)
  const stock = async () => (await get(shop, '/Products/1'))[0].SKUInfo.Stock

  const one = await refund(merchant, { [`${line}.Quantity`]: '1', [`${line}.Restock`]: 'yes' })
  expect(one).toContain(`1 × ${sign}${Price} − 10 % = ${sign}${goods[0]}`)
  expect(one).toContain(`Total ${sign}${amounts[0]}`)
  expect([await stock(), await get(shop, '/RMA/1')]).toMatchObject([
    9,
    [{ OrderID: 1, RMAItemList: [{ ReturnQuantity: 1, ReceivedQuantity: 1, RestockQuantity: 1 }] }],
  ])
  await refund(merchant, { RefundShippingAmount: String(ShipmentCost) })

  // The other piece comes back, and its return leads to its refund.
  const RMAItemList = [{ SKU: 'THROW', ReturnQuantity: 1, ReceivedQuantity: 1 }]
  await shop.add('/RMA', { OrderID: 1, RMAMethodID: 1, RMAItemList })
  const leads = `<a href="${refunding}?return=2" class="button">Refund</a>`
  expect((await merchant.open('/admin/orders/1/returns/2')).body).toContain(leads)
  expect((await merchant.open('/admin/orders/1/returns/1')).body).not.toContain('class="button">Refund</a>')
  const form = await formAt(merchant, `${refunding}?return=2`)
  expect(form.fields).toMatchObject({ [`${line}.Quantity`]: '1', TransactionAmount: amounts[2].replace(/0$/, '') })
  const last = await refund(merchant, { [`${line}.Restock`]: 'yes' }, `${refunding}?return=2`)
  expect(last).toContain(`= ${sign}${goods[1]}`)
  expect([await stock(), (await get(shop, '/RMA/2'))[0]]).toMatchObject([10, { RMAItemList: [{ RestockQuantity: 1 }] }])
  expect((await merchant.open('/admin/orders/1/returns/2')).body).not.toContain(leads)

  // Return, order, customer, credit notes and REST.
  const refunds = await get(shop, '/Orders/1/Refunds')
  expect(refunds.map(({ RefundTotal }: { RefundTotal: number }) => RefundTotal)).toEqual(amounts.map(Number))
  expect(refunds).toMatchObject([
    { CreditNoteNumber: 1, RMAID: 1, RefundItemList: [{ RefundQuantity: 1, RefundAmount: Number(goods[0]) }] },
    { CreditNoteNumber: 2, RMAID: 0, RefundItemList: [], RefundShippingAmount: ShipmentCost },
    { CreditNoteNumber: 3, RMAID: 2, RefundItemList: [{ RefundQuantity: 1, RefundAmount: Number(goods[1]) }] },
  ])
  expect((await get(shop, '/Orders/1/Sums'))[0]).toMatchObject({
    ...{ RefundedAmount: OrderAmount, NetAmount: 0, OpenAmount: 0 },
    ItemSumList: [{ ReturnedQuantity: 2, RefundedQuantity: 2 }],
  })
  const page = await shownAt(merchant, '/admin/orders/1')
  for (const [at, { TransactionIndexID: id }] of refunds.entries()) {
    const amount = `${sign}${amounts[at]}`
    expect(page).toMatch(new RegExp(`Credit note CN-${at + 1} .*?-${amount}`))
    const note = await shownAt(merchant, `/admin/orders/1/credit-notes/${id}`)
    expect(note).toMatch(new RegExp(`Credit note CN-${at + 1}.*For invoice AB-1000 of.*Total ${amount}`))
    if (at !== 1)
      expect(await shownAt(merchant, `/admin/orders/1/returns/${at === 0 ? 1 : 2}`)).toContain(`Refunded ${amount}`)
  }
  const paid = new RegExp(`Paid ${sign}${OrderAmount} Refunded ${sign}${OrderAmount}`)
  for (const text of [page, await shownAt(customer, '/account/orders/1')]) expect(text).toMatch(paid)
  expect(await shownAt(merchant, '/admin/orders/1/invoice')).toBe(invoice)
  expect(await shownAt(merchant, refunding)).toContain('Nothing left')
})

test('another amount needs a reason, is shared by the parts, and what is left of the payment bounds it', async () => {
  const { shop, merchant } = await shopWithOrder(server)
  const line = await lineOf(shop)
  await shop.add('/Orders/1/Transactions', { TransactionType: 'Sale', TransactionAmount: 100 })
  const quantity = { [`${line}.Quantity`]: '1' }
  const send = async (changes: Record<string, string>) => (await formAt(merchant)).send(changes)
  // Without an amount it is worked out first.
  const asked = await send(quantity)
  expect([asked.statusCode, typedIn(asked.body, refunding).TransactionAmount]).toEqual([200, '42.9'])
  const cases: [Record<string, string>, string][] = [
    [{ ...quantity, TransactionAmount: '30' }, 'Reason</a> is required: $42.90 were worked out'],
    [{ ...quantity, TransactionAmount: '100.01' }, 'must be at most $100.00 for a refund'],
    [{ [`${line}.Quantity`]: '4', TransactionAmount: '1' }, 'must be at most 3: the line has 3, of which 0 were'],
    [{ [`${line}.Quantity`]: '-1', TransactionAmount: '1' }, 'must be at least 0'],
    [{ RefundShippingAmount: '6.51', TransactionAmount: '6.51' }, 'must be from 0 to $6.50'],
    [{ TransactionAmount: '5' }, 'Reason</a> is required: $0.00 were worked out'],
  ]
  for (const [changes, problem] of cases) {
    const answer = await send(changes)
    expect([answer.statusCode, alertIn(answer.body)]).toEqual([400, expect.stringContaining(problem)])
  }
  expectSaved(await send({ ...quantity, TransactionAmount: '30', TransactionResponseText: 'Worn' }), saved)
  const [worn] = await get(shop, '/Orders/1/Refunds')
  expect(worn).toMatchObject({ RefundTotal: 30, RefundTaxAmount: 0.28, RefundItemList: [{ RefundAmount: 29.72 }] })
  // Of the rest, no more than is left is proposed.
  const rest = await formAt(merchant)
  const { body } = await rest.send({ [`${line}.Quantity`]: '2', RefundShippingAmount: '6.5' }, `${refunding}/amount`)
  expect([
    textOf(body).includes('More than $70.00 cannot be refunded'),
    typedIn(body, refunding).TransactionAmount,
  ]).toEqual([true, '70'])
})

test('goods go back into stock once, and a form sent twice or beside another records one refund', async () => {
  const { shop, merchant, stock } = await shopWithOrder(server)
  const line = await lineOf(shop)
  await shop.add('/Orders/1/Transactions', { TransactionType: 'Sale', TransactionAmount: 135.25 })
  await shop.add('/RMA', { OrderID: 1, RMAItemList: [{ SKU: 'LAMP', ReturnQuantity: 2, RestockQuantity: 1 }] })
  const both = { [`${line}.Quantity`]: '2', [`${line}.Restock`]: 'yes', TransactionAmount: '85.79' }
  for (const url of [refunding, `${refunding}?return=1`]) {
    const answer = await (await formAt(merchant, url)).send(both)
    expect(alertIn(answer.body)).toContain('must be at most 1 to be put back into stock')
  }
  const forms = [await formAt(merchant, `${refunding}?return=1`), await formAt(merchant, `${refunding}?return=1`)]
  const single = { [`${line}.Quantity`]: '1', [`${line}.Restock`]: 'yes', TransactionAmount: '42.9' }
  const answers = await Promise.all(forms.map((form) => form.send(single)))
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
  const won = forms[answers.findIndex(({ statusCode }) => statusCode === 303)]
  expectSaved((await won?.send(single)) as never, saved)
  expect([(await get(shop, '/Orders/1/Refunds')).length, await stock()]).toEqual([1, 9])
  expect((await merchant.open(`${refunding}?return=1`)).body).not.toContain('.Restock"')

  // Made void it keeps its number and what it was for.
  const [{ TransactionIndexID: id }] = await get(shop, '/Orders/1/Refunds')
  const voiding = await opened(merchant, `/admin/orders/1/payments/${id}/void`)
  expect((await voiding.send({ Reason: 'Wrong' })).statusCode).toBe(303)
  expect(await shownAt(merchant, `/admin/orders/1/credit-notes/${id}`)).toMatch(/CN-1 Void .*LAMP Lamp 1 \$42\.50/)
  expect((await merchant.open('/admin/orders/1/credit-notes/1')).statusCode).toBe(404)
  expect((await merchant.open(`${refunding}?return=7`)).statusCode).toBe(404)
  expect((await merchant.open(`${refunding}?return=x`)).statusCode).toBe(404)

  // Who may not change returns refunds without them.
  const clerk = await memberIn(server, shop, { Name: 'Till', Privileges: { Orders: ['read', 'write'] } })
  expect((await clerk.open(refunding)).body).not.toContain('.Restock"')
  expect((await clerk.open(`${refunding}?return=1`)).statusCode).toBe(403)
})
