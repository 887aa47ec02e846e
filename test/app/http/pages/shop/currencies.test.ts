import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { checkDatabase } from '../../../../../src/operations/installation/check-database.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { customerIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { expectSaved, opened } from './order-fixture.ts'

const server = await sharedServer()

/** What `npm run check` finds. */
const findings = async () =>
  (await Array.fromAsync(checkDatabase(server.database.url, 5))).filter(({ findings }) => findings.length > 0)

async function fileOf(merchant: TestPerson, address: string) {
  const { body } = await merchant.open(`${address}?headings=names&from=2026-03-10&to=2026-03-10`)
  return parse(body, { bom: true, columns: true }) as Record<string, string>[]
}

/** Orders of three pieces, 10 % off, with shipping and tax: goods, discount, shipping, tax and total, and the total of three. */
test.each([
  ['KWD', 2.125, ['6.375', '0.638', '0.250', '0.106', '6.093'], '18.279', 'KWD\u00A06.093'],
  ['JPY', 415.5, ['1247', '125', '500', '112', '1734'], '5202', '¥1,734'],
  ['EUR', 2.125, ['6.38', '0.64', '0.25', '0.11', '6.10'], '18.30', '€6.10'],
] as const)('a day of a shop in %s adds up to the last decimal', async (currency, price, sums, ofAll, shown) => {
  const [ItemTotal, DiscountTotal, ShippingTotal, SalesTax, OrderAmount] = sums
  const shop = await server.openStore({ currency })
  const merchant = await merchantIn(server, shop.store)
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: price, Stock: 100 } })

  const typed = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '3', OrderDiscountPromotion: '10%', SalesTax }
  const others = { ShipmentCost: ShippingTotal, BillingEmail: 'a@b.example' }
  await merchant.submit('/admin/orders/new', { ...typed, ...others }, { action: '/admin/orders' })
  // A program sends more decimals than the currency has.
  const finer = (text: string) => Number(text) + 0.0004
  await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 3 }], {
    SalesTax: finer(SalesTax),
    OrderDiscountPromotion: finer(DiscountTotal),
    ShipmentList: [{ ShipmentCost: finer(ShippingTotal) }],
  })
  const [record] = (await shop.call('GET', '/Orders/2')).json()
  const [item] = record.OrderItemList
  const other = { OrderID: 3, InvoiceNumber: record.InvoiceNumber + 1, OrderItemList: [{ ...item, ItemIndexID: 100 }] }
  const imported = await importInto(server, shop, [{ service: 'Orders', record: { ...record, ...other } }])
  expect(imported.counts).toMatchObject({ stored: 1 })

  // A change of the goods drops what of the total is finer than the currency.
  await shop.call('PUT', '/Orders/2', { body: { OrderAmount: finer(OrderAmount) } })
  for (const quantity of ['6', '3']) {
    const form = await opened(merchant, '/admin/orders/2/lines')
    const fields = { [`Line.${item.ItemIndexID}.ItemQuantity`]: quantity }
    expectSaved(await form.send(fields), '/admin/orders/2?notice=record-saved')
  }
  const payments = '/admin/orders/1/payments'
  const payment = await opened(merchant, payments)
  expect(payment.fields.TransactionAmount).toBe(String(Number(OrderAmount)))
  expectSaved(await payment.send({}), '/admin/orders/1?notice=payment-recorded')
  const refund = { TransactionAmount: SalesTax, TransactionResponseText: 'Goodwill' }
  expectSaved(
    await (await opened(merchant, '/admin/orders/1/refund')).send(refund),
    '/admin/orders/1?notice=refund-recorded',
  )
  await shop.add('/RMA', { OrderID: 1, RMAItemList: [{ CatalogID: 1, SKU: 'LAMP', ReturnQuantity: 1 }] })

  const OtherAmount = (0).toFixed(OrderAmount.split('.')[1]?.length ?? 0)
  const each = { ItemTotal, DiscountTotal, ShippingTotal, OrderAmount, OtherAmount }
  const ofOrder = Object.fromEntries(
    Object.entries({ ...each, TaxTotal: SalesTax }).map(([name, text]) => [name, Number(text)]),
  )
  expect((await shop.call('GET', '/Orders/Sums')).json()).toMatchObject([ofOrder, ofOrder, ofOrder])
  const report = await fileOf(merchant, '/admin/reports.csv')
  expect(report).toMatchObject([{ Orders: '3', OrderAmount: ofAll, OtherAmount }])
  const line = { ...each, SalesTax }
  const paid = { PaidAmount: OrderAmount, RefundedAmount: SalesTax, OpenAmount: OtherAmount }
  const lines = await fileOf(merchant, '/admin/orders/lines.csv')
  expect(lines.toReversed()).toMatchObject([{ ...line, ...paid }, line, line])
  for (const id of [1, 2, 3]) expect((await merchant.open(`/admin/orders/${id}/invoice`)).body).toContain(shown)

  // Nothing is converted when the currency changes, and an order of before stays as it is.
  for (const data of [{ currency }, { currency: 'EUR' }, { currency: 'KWD' }, { currency: 'JPY' }]) {
    await server.database.db.store.update({ where: { id: shop.store.id }, data })
    expect(await findings()).toEqual([])
  }
})

test('a unit price is shown as fine as it is on every page, and a sum in the decimals of the currency', async () => {
  const shop = await server.openStore({ currency: 'EUR' })
  const merchant = await merchantIn(server, shop.store)
  const customer = await customerIn(server, shop)
  const OptionList = [{ OptionName: 'Blue', OptionValue: 0.0125 }]
  const CatalogID = await shop.add('/Products', {
    SKUInfo: { SKU: 'PIN', Name: 'Pin', Price: 0.333, Stock: 9_000 },
    PriceLevel2: 0.0125,
    OptionSetList: [{ OptionSetName: 'Colour', OptionType: 'Dropdown', OptionList }],
  })
  await shop.add('/Products', {
    SKUInfo: { SKU: 'BRASS', Name: 'Brass pin', Price: 1, SalePrice: 0.0125, OnSale: true },
  })
  const [{ OptionSetList }] = (await shop.call('GET', `/Products/${CatalogID}`)).json()
  const ItemOptions = String(OptionSetList[0].OptionList[0].OptionID)
  const items = [{ ItemQuantity: 500 }, { ItemQuantity: 800, ItemOptions }]
  await shop.placeOrder(
    items.map((item) => ({ CatalogID, ...item })),
    { CustomerID: 1 },
  )

  const german = { 'accept-language': 'de-DE' }
  const pages = new Map<string, string>()
  const keep = (name: string, { body }: { body: string }) => {
    pages.set(name, body.replaceAll(/\s+|&nbsp;/g, ' ').replaceAll(/<[^>]*>/g, ''))
    return body
  }
  const visit = async (person: TestPerson, path: string): Promise<void> => {
    const skipped = /sign-out|edit\?|template|docs|find=|sort=|limit=|period=/
    const body = keep(path, await person.open(path, german))
    const links = [...body.matchAll(/ href="(\/(?:admin|account)\/[^"#]*)/g)].map(([, href = '']) => href)
    for (const link of links) if (!skipped.test(link) && !pages.has(link)) await visit(person, link)
  }
  await visit(merchant, '/admin/products')
  await visit(customer, '/account')
  await visit(merchant, '/admin/search?q=pin')
  keep('choices', await merchant.open('/admin/orders/products?q=pin', german))
  const fields = { 'ItemID.1': 'PIN', 'ItemQuantity.1': '500', 'ItemID.2': 'pi' }
  const options = { action: '/admin/orders', to: '/admin/orders/new', headers: german }
  keep('lines', await merchant.submit('/admin/orders/new', fields, options))
  for (const [path, ...texts] of [
    ['/admin/products', '0,333 €'],
    ['/admin/products/1', '0,333 €', 'Preisstufe 2 0,0125 €'],
    ['/admin/products/1/options', '+0,0125 €'],
    ['/admin/products/2', '0,0125 €'],
    ['/admin/search?q=pin', '0,333 €'],
    ['choices', '0,333 €'],
    ['lines', 'je 0,333 €', '(+0,0125 €)', 'Pin PIN · 0,333 €', 'Brass pin BRASS · 0,0125 €'],
    ['/admin/orders/1', '0,333 €', '166,50 €', '0,3455 €', '276,40 €', '442,90 €'],
    ['/admin/orders/1/invoice', '500 0,333 € 166,50 €', '800 0,3455 € 276,40 €', '+0,0125 €', '442,90 €'],
    ['/admin/orders/1/lines', '+0,0125 €', '166,50 €'],
    ['/account/orders/1', '500 × 0,333 €', '166,50 €', '800 × 0,3455 €', '276,40 €'],
  ] as const) {
    for (const text of texts) expect([path, pages.get(path)]).toEqual([path, expect.stringContaining(text)])
  }
  expect(pages.size).toBeGreaterThan(60)
  for (const [path, text] of pages) expect([path, text.match(/(?<![\d,])0,(33|01|35) €/)]).toEqual([path, null])
})
