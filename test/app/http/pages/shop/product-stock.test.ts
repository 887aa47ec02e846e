import { beforeEach, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { fieldsAt } from '../../../../support/person.ts'
import { sharedServer } from '../../../../support/store.ts'
import { addShirt, openShop, type Shop } from './product-fixture.ts'

let open: Shop
let id: number
let codes: string[]
let page: string

const server = await sharedServer()
beforeEach(async () => {
  open = await openShop(server)
  ;({ id, codes } = await addShirt(open))
  page = `/admin/products/${id}/stock`
})

const stockOf = async () => (await open.read('Products', id)).SKUInfo.Stock
const ledger = () =>
  server.services.db.stockMovement.findMany({
    where: { storeId: open.shop.store.id, productId: id },
    orderBy: { id: 'desc' },
  })
const correct = (fields: Record<string, string>) =>
  open.merchant.submit(page, { AdvancedOptionCode: '', Cause: 'adjust', Note: 'Counted again', ...fields })
const cells = (html: string) =>
  [...html.matchAll(/<td role="cell" data-label="(Moved|After|Cause|Who|Reason)"[^>]*>([\s\S]*?)<\/td>/g)].map(
    ([, , text = '']) => text.replaceAll(/<[^>]*>/g, ''),
  )

test('a correction adds to the stock or sets it, with its reason in the ledger and its event', async () => {
  const answer = await correct({ Quantity: '−2.5', Note: ' Broken in the store room ' })
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `${page}?notice=stock-corrected`])
  expect(await stockOf()).toBe(2.5)
  await correct({ Cause: 'set', Quantity: '40' })
  expect(await stockOf()).toBe(40)
  expect((await ledger()).slice(0, 2)).toMatchObject([
    { cause: 'set', note: 'Counted again', actor: 'merchant@shop.example', optionCode: null },
    { cause: 'adjust', note: 'Broken in the store room' },
  ])
  expect(cells((await open.merchant.open(page)).body).slice(0, 10)).toEqual([
    '+37.5',
    '40',
    'Set',
    'merchant@shop.example',
    'Counted again',
    '−2.5',
    '2.5',
    'Adjusted',
    'merchant@shop.example',
    'Broken in the store room',
  ])
  const events = await server.services.db.event.findMany({
    where: { storeId: open.shop.store.id, recordId: id },
    orderBy: { id: 'desc' },
  })
  expect(events.slice(0, 2).map(({ eventType }) => eventType)).toEqual([events[0]?.eventType, events[0]?.eventType])
})

test('corrects the stock of an advanced option, not that of the product', async () => {
  await correct({ AdvancedOptionCode: codes[0] ?? '', Quantity: '3' })
  const { SKUInfo, AdvancedOptionList } = await open.read('Products', id)
  expect([SKUInfo.Stock, AdvancedOptionList[0].AdvancedOptionStock]).toEqual([5, 10])
  expect((await ledger())[0]).toMatchObject({ optionCode: codes[0], note: 'Counted again' })
})

test('a form that is sent twice corrects once, and the second answer shows the stock as it is', async () => {
  const shown = await open.merchant.formOf(page)
  const form = { ...shown, Cause: 'adjust', Quantity: '2', Note: 'Found' }
  const answers = await Promise.all([open.merchant.submit(page, form), open.merchant.submit(page, form)])
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 412])
  expect(await stockOf()).toBe(7)
  const refused = answers.find(({ statusCode }) => statusCode === 412)?.body ?? ''
  expect(refused).toContain('If you sent this form twice, it was carried out once')
  expect(fieldsAt(refused, page)).toMatchObject({ Quantity: '2', Note: 'Found' })
  expect(fieldsAt(refused, page).etag).not.toBe(shown.etag)
})

test('a correction waits for an order that takes the same stock, and is refused then', async () => {
  const form = { ...(await open.merchant.formOf(page)), Cause: 'set', Quantity: '5', Note: 'Counted' }
  await placeOrder(open.shop.caller, {
    OrderItemList: [{ CatalogID: id, ItemQuantity: 2 }],
    BillingEmail: 'ada@customers.example',
  })
  expect((await open.merchant.submit(page, form)).statusCode).toBe(412)
  expect(await stockOf()).toBe(3)
})

test.each([
  ['Quantity', { Quantity: '' }, 'is required'],
  ['Quantity', { Quantity: 'some' }, 'must be a number'],
  ['Quantity', { Quantity: '0' }, 'leaves the stock as it is'],
  ['Quantity', { Cause: 'set', Quantity: '5' }, 'leaves the stock as it is'],
  ['Note', { Quantity: '1', Note: '  ' }, 'is required'],
  ['Note', { Quantity: '1', Note: 'x'.repeat(201) }, 'at most 200'],
  ['Note', { Quantity: '1', Note: 'a\0b' }, 'U+0000'],
  ['Cause', { Quantity: '1', Cause: 'order' }, 'must be adjust or set'],
  ['AdvancedOptionCode', { Quantity: '1', AdvancedOptionCode: '9,9' }, 'has no option'],
])('says what is wrong with %s: %o', async (field, fields, problem) => {
  const { statusCode, body } = await correct(fields)
  expect([400, 404]).toContain(statusCode)
  expect(body).toContain(`href="#${field}"`.replace('href="#AdvancedOptionCode"', ''))
  expect(body).toContain(problem)
  expect(await stockOf()).toBe(5)
  expect(await ledger()).toHaveLength(2)
})

test('a stock that is too large is refused', async () => {
  const { statusCode, body } = await correct({ Quantity: '99999999999' })
  expect(statusCode).toBe(400)
  expect(body).toContain('larger than can be stored')
})

test('movements are paged from the newest on, with the orders that caused them', async () => {
  await placeOrder(open.shop.caller, {
    OrderItemList: [{ CatalogID: id, ItemQuantity: 1 }],
    BillingEmail: 'ada@customers.example',
  })
  for (let n = 1; n <= 60; n++)
    await open.shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 100 + n } } })
  const first = (await open.merchant.open(page)).body
  const older = /<a href="([^"]*)" rel="next">/.exec(first)?.[1] ?? ''
  const second = (await open.merchant.open(older)).body
  const after = (html: string) => [...html.matchAll(/data-label="After"[^>]*>([^<]*)/g)].map(([, text]) => text)
  expect(after(first)).toEqual(Array.from({ length: 50 }, (_, at) => String(160 - at)))
  expect(after(second)).toEqual([...Array.from({ length: 10 }, (_, at) => String(110 - at)), '4', '7', '5'])
  expect(second).toMatch(/Sold: <a href="\/admin\/orders\/\d+">AB-1000<\/a>/)
  expect(second).not.toContain('rel="next"')
})

test.each(['x', '-1', '9223372036854775808'])('a page from %s on is refused', async (before) => {
  expect((await open.merchant.open(`${page}?before=${before}`)).statusCode).toBe(400)
})
