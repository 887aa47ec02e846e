import { beforeAll, expect, test } from 'vitest'
import { type TestPerson, testPerson, textOf } from '../../../support/person.ts'
import { memberIn, merchantAccount } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { alertIn, shopWithOrder } from './shop/order-fixture.ts'

// What somebody whose browser asks for German is told of input that is refused, by forms of each kind. That the catalogue has every
// message is said by test/unit/foundation/texts.

let clerk: TestPerson
let line: string

const german = { 'accept-language': 'de-DE,de;q=0.9' }
/** Words that English problems have, and neither names nor German do. */
const english = /\b(the|must|is|are|has|have|cannot|not|may|does|there|this|your|with|again|and|or|of)\b/i

const server = await sharedServer()
const scene = await shopWithOrder(server)

beforeAll(async () => {
  const [order] = (await scene.shop.call('GET', '/Orders/1')).json()
  line = String(order.OrderItemList[0].ItemIndexID)
  await scene.shop.add('/Products', { SKUInfo: { SKU: 'CHAIR', Name: 'Chair', Price: 10, Stock: 1 } })
  const privileges = { Products: ['read'] } as const
  clerk = await memberIn(server, scene.shop, { Name: 'Clerk', Privileges: privileges })
})

/** What the page says, without data, which is in its own language. */
function wordsIn(html: string): string {
  return textOf(html.replace(/<(code|bdi)[\s\S]*?<\/\1>/g, '').replace(/<a href="#[^"]*">[^<]*<\/a>/g, ''))
}

function expectGerman(html: string): string {
  const words = wordsIn(html)
  expect(words).not.toBe('')
  expect(words).not.toMatch(english)
  return words
}

interface Refused {
  readonly page: string
  readonly action?: string
  readonly to?: string
  readonly fields: Readonly<Record<string, string>>
  readonly status?: number
  readonly says: string
}

const order = '/admin/orders/1'
const forms: readonly Refused[] = [
  { page: '/admin/products/1/prices', fields: { 'SKUInfo.Price': 'abc' }, says: 'muss eine Zahl in Ziffern sein' },
  {
    page: '/admin/products/1/prices',
    fields: { 'SKUInfo.Price': '99999999999999' },
    says: 'muss eine Zahl von -99.999.999.999,9999 bis 99.999.999.999,9999 sein',
  },
  {
    page: '/admin/products/new',
    action: '/admin/products',
    fields: { 'SKUInfo.SKU': 'LAMP', 'SKUInfo.Name': 'Again' },
    says: 'ist schon vergeben',
  },
  {
    page: '/admin/orders/new',
    action: '/admin/orders',
    fields: { 'ItemID.1': 'CHAIR', 'ItemQuantity.1': '7', BillingEmail: 'guest@shop.example' },
    status: 409,
    says: 'ist mehr, als da ist: CHAIR hat einen Bestand von 1, und 7 sind bestellt',
  },
  {
    page: `${order}/refund`,
    fields: { TransactionAmount: '5' },
    says: 'kann nicht erstattet werden',
  },
  { page: `${order}/returns/new`, fields: { 'Item.{line}.ReturnQuantity': '9' }, says: 'darf höchstens 3 sein' },
  {
    page: `${order}/shipments/0`,
    fields: { ShipmentShippedDate: 'soon', 'Quantity.{line}': '1' },
    says: 'muss ein Datum',
  },
  {
    page: '/admin/customers/new',
    action: '/admin/customers',
    fields: { Email: 'wrong', Password: 'secret', BillingFirstName: 'Ada', BillingLastName: 'Byron' },
    says: 'E-Mail-Adresse sein',
  },
  { page: '/admin/settings', fields: { TimeZone: 'Nowhere' }, says: 'Name einer Zeitzone' },
  {
    page: '/admin/settings/payment-methods',
    fields: { 'Name.payment-methods-new1': 'Check', 'PaymentMethodID.payment-methods-new1': '0' },
    says: 'muss eine ganze Zahl von 1',
  },
  {
    page: '/admin/account',
    action: '/admin/account/password',
    fields: { CurrentPassword: merchantAccount.Password, NewPassword: 'short' },
    says: 'Zeichen',
  },
]

test.each(forms)('$page: $says', async ({ page, action = page, fields, status = 400, says }) => {
  const sent = Object.entries(fields).map(([name, value]) => [name.replace('{line}', line), value])
  // Buttons have no name.
  const { '': _, ...whole } = await scene.merchant.formOf(page, action)
  const answer = await scene.merchant.submit(
    page,
    { ...whole, ...Object.fromEntries(sent) },
    { action, headers: german },
  )
  expect(answer.statusCode, answer.body).toBe(status)
  expect(expectGerman(alertIn(answer.body))).toContain(says)
})

test.each([
  ['SKUInfo.SKU,SKUInfo.SKU\nA,B\n', 'kommt zweimal vor.'],
  ['PK\x03\x04', 'Das ist eine Tabellenkalkulation'],
])('a file of %j', async (file, says) => {
  const answer = await scene.merchant.upload('/admin/products/csv', file, 'file.csv', { headers: german })
  expect(answer.statusCode, answer.body).toBe(400)
  expect(expectGerman(alertIn(answer.body))).toContain(says)
})

const mainOf = (html: string) => /<main[\s\S]*?<p>([\s\S]*?)<\/p>/.exec(html)?.[1] ?? ''

test.each([
  ['/admin/nothing', 404, 'Diese Seite gibt es nicht'],
  ['/admin/orders/99', 404, 'Bestellung 99 gibt es nicht'],
])('%s', async (url, status, says) => {
  const answer = await scene.merchant.open(url, german)
  expect(answer.statusCode).toBe(status)
  expect(expectGerman(mainOf(answer.body))).toContain(says)
})

test('a page that a role does not show', async () => {
  const answer = await clerk.open('/admin/settings', german)
  expect(answer.statusCode).toBe(403)
  expect(expectGerman(mainOf(answer.body))).toContain('Ihre Rolle in diesem Shop, Clerk, darf')
})

test('a form without its token', async () => {
  const answer = await scene.merchant.submit('/admin/products/1/stock', { _csrf: 'x' }, { headers: german })
  expect(answer.statusCode).toBe(403)
  expect(expectGerman(mainOf(answer.body))).toContain('Das Formular ist zu alt')
})

test('a form that somebody else was faster with', async () => {
  const page = '/admin/products/1/prices'
  const form = await scene.merchant.formOf(page)
  expect((await scene.merchant.submit(page, { ...form, 'SKUInfo.Price': '43' })).statusCode).toBe(303)
  const answer = await scene.merchant.submit(page, { ...form, 'SKUInfo.Price': '44' }, { headers: german })
  expect(answer.statusCode).toBe(412)
  expect(expectGerman(alertIn(answer.body))).toContain('Jemand anderes hat')
})

test('a sign-in with a wrong password', async () => {
  const visitor = testPerson(server.app)
  const answer = await visitor.submit('/admin/sign-in', { ...merchantAccount, Password: 'wrong' }, { headers: german })
  expect(answer.statusCode).toBe(401)
  expect(expectGerman(alertIn(answer.body))).toContain('ist falsch')
})
