import { describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

async function store() {
  const [record] = (await merchant.call('GET', '/admin/stores')).json()
  return record
}

function put(url: string, body: unknown) {
  return server.operate('PUT', url, body)
}

describe('the settings of a store', () => {
  const save = (fields: Record<string, string>) => merchant.submit('/admin/settings', { ...settings(), ...fields })
  const settings = () => ({
    Name: shop.store.name,
    SecureURL: shop.store.secureUrl,
    Currency: 'USD',
    TimeZone: 'America/New_York',
  })

  test('are saved, and count at once: callers have to send the new address', async () => {
    const secureUrl = `https://new-${shop.store.id}.example`
    expect((await shop.call('GET', '/CustomerGroups?countonly=1')).statusCode).toBe(200)
    const answer = await save({
      Name: 'Söhne & Co',
      SecureURL: `${secureUrl}/`,
      Currency: 'eur',
      TimeZone: 'Europe/Berlin',
      Country: 'DE',
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/admin/settings?notice=settings-saved'])
    expect(await store()).toMatchObject({
      Name: 'Söhne & Co',
      SecureURL: secureUrl,
      Currency: 'EUR',
      TimeZone: 'Europe/Berlin',
      Country: 'DE',
    })
    const count = (secureurl: string) =>
      shop.call('GET', '/CustomerGroups?countonly=1', { headers: { secureurl } }).then(({ statusCode }) => statusCode)
    expect([await count(shop.store.secureUrl), await count(secureUrl)]).toEqual([401, 200])
    const audit = (await merchant.call('GET', '/admin/audit?limit=1')).json()
    expect(audit).toMatchObject([{ Action: 'store.changed', Details: { currency: { from: 'USD', to: 'EUR' } } }])
  })

  test('offer the currencies by code and name, and keep one that is in no list', async () => {
    const chosen = async (locale: string) => {
      const { body } = await merchant.open('/admin/settings', { 'accept-language': locale })
      const [select = ''] = /<select id="Currency"[\s\S]*?<\/select>/.exec(body) ?? []
      const options = [...select.matchAll(/<option value="(\w+)"( selected)?>([^<]*)/g)]
      const selected = options.flatMap(([, code, isSelected]) => (isSelected ? [code] : []))
      return { selected, names: options.map(([, , , name]) => name) }
    }
    const offered = await chosen('en-US')
    expect(offered.selected).toEqual(['USD'])
    expect(offered.names).toContain('JPY: Japanese Yen')
    expect((await chosen('de-DE')).names).toContain('USD: US-Dollar')
    await put(`/admin/stores/${shop.store.id}`, { Currency: 'XYZ' })
    expect(await chosen('en-US')).toEqual({ selected: ['XYZ'], names: expect.arrayContaining(['XYZ']) })
    await put(`/admin/stores/${shop.store.id}`, { Currency: 'USD' })
  })

  test('are refused with what is wrong beside each field, and nothing is saved', async () => {
    const answer = await save({
      Name: '',
      Currency: 'dollars',
      TimeZone: 'Moon/Base',
      Country: 'XX',
      SecureURL: 'ftp://x',
    })
    expect(answer.statusCode).toBe(400)
    for (const name of ['Name', 'SecureURL', 'Currency', 'TimeZone', 'Country']) {
      expect(answer.body).toContain(`id="${name}-problem"`)
    }
    expect(answer.body).toContain('value="Moon/Base"')
    expect(await store()).toMatchObject(settings())
  })

  test('have a country with which new addresses begin, and which counts as nothing typed', async () => {
    const customer = {
      Email: 'ada@shop.example',
      Password: 'a password of ada',
      BillingFirstName: 'Ada',
      BillingCountry: 'FR',
    }
    const id = await shop.add('/Customers', customer)
    await save({ Country: 'DE' })
    const [page, action] = ['/admin/orders/new', '/admin/orders']
    const begun = await merchant.formOf(page, action)
    expect(begun).toMatchObject({ BillingCountry: 'DE', ShipmentCountry: 'DE' })
    const chosen = await merchant.submit(page, { ...begun, 'CustomerID.choice': String(id) }, { action, to: page })
    expect(chosen.body).toMatch(/<select id="BillingCountry"[\s\S]*?<option value="FR" selected>/)
    const { ShipToBilling: _, ...toBilling } = begun
    await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 5 } })
    const guest = { BillingFirstName: 'Bob', BillingPhoneNumber: '1', 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' }
    expect((await merchant.submit(page, { ...toBilling, ...guest }, { action })).statusCode).toBe(303)
    const [{ ShipmentList }] = (await shop.call('GET', '/Orders?limit=1')).json()
    expect(ShipmentList).toMatchObject([{ ShipmentFirstName: 'Bob', ShipmentCountry: 'DE' }])
    const { BillingCountry, ShippingCountry } = await merchant.formOf('/admin/customers/new', '/admin/customers')
    expect([BillingCountry, ShippingCountry]).toEqual(['DE', ''])
  })

  test('cannot take the address of another store', async () => {
    const other = await server.openStore()
    const answer = await save({ SecureURL: other.store.secureUrl.replace('https://', 'https://www.') })
    expect(answer.statusCode).toBe(409)
    expect(await store()).toMatchObject(settings())
  })

  test('leave the figures of the throttle to the operator', async () => {
    const Throttle = { Capacity: 10, LeakPerSecond: 1 }
    const address = `/admin/stores/${shop.store.id}`
    const { Throttle: before } = await store()
    expect((await merchant.call('PUT', address, { Throttle })).statusCode).toBe(403)
    expect((await store()).Throttle).toEqual(before)
    expect((await put(address, { Throttle })).statusCode).toBe(200)
    expect((await store()).Throttle).toEqual(Throttle)
    expect((await merchant.open('/admin/settings')).body).toContain('cartAPI takes 10 calls in one burst')
  })
})

describe('order statuses', () => {
  const page = '/admin/settings/order-statuses'
  const save = async (fields: Record<string, string>) => {
    const values = await merchant.formOf(page)
    const { [Object.keys(fields).find((name) => fields[name] === '') ?? '']: _, ...kept } = { ...values, ...fields }
    return merchant.submit(page, kept)
  }
  const statuses = async () => (await shop.call('GET', '/OrderStatus?limit=50')).json()

  test('have the merchant’s texts, visibility and order, as OrderStatus serves them, in this store alone', async () => {
    const other = await server.openStore()
    const answer = await save({
      'StatusText.8': 'Waiting for parts',
      'Visible.8': 'yes',
      'Visible.12': '',
      'Sorting.8': '2',
    })
    expect(answer.statusCode).toBe(303)
    const all = await statuses()
    expect(all.find(({ OrderStatusID }: { OrderStatusID: number }) => OrderStatusID === 8)).toEqual({
      OrderStatusID: 8,
      Sorting: 2,
      StatusDefinition: 'Custom 1',
      StatusText: 'Waiting for parts',
      Visible: true,
    })
    expect(all.find(({ OrderStatusID }: { OrderStatusID: number }) => OrderStatusID === 12).Visible).toBe(false)
    expect(all.find(({ OrderStatusID }: { OrderStatusID: number }) => OrderStatusID === 1).Visible).toBe(true)
    const [untouched] = (await other.call('GET', '/OrderStatus/8')).json()
    expect(untouched).toMatchObject({ StatusText: 'Custom 1', Visible: false, Sorting: 8 })
  })

  test('keep what they are when one of the texts cannot be: too long, or another one’s without regard to case', async () => {
    const before = await statuses()
    const long = await save({ 'StatusText.2': 'x'.repeat(51), 'StatusText.3': 'Half' })
    expect(long.statusCode).toBe(400)
    expect(long.body).toContain('href="#StatusText.2"')
    expect((await save({ 'StatusText.2': 'sHipped' })).statusCode).toBe(409)
    expect(await statuses()).toEqual(before)
  })

  test('have ids that fit the column; other numbers are refused and named', async () => {
    const address = `/admin/stores/${shop.store.id}/order-statuses`
    for (const OrderStatusID of [0, 2_147_483_648, 9_007_199_254_740_991]) {
      const answer = await put(address, [{ OrderStatusID, Visible: true }])
      expect([OrderStatusID, answer.statusCode]).toEqual([OrderStatusID, 400])
      expect(answer.json()[0]).toMatchObject({
        Value: '0.OrderStatusID',
        Message: expect.stringContaining('must be a whole number from 1 to 2147483647'),
      })
    }
  })

  test('are the operator’s to change too, and no other merchant’s', async () => {
    const address = `/admin/stores/${shop.store.id}/order-statuses`
    expect((await put(address, [{ OrderStatusID: 9, StatusText: 'Denied' }])).statusCode).toBe(200)
    expect((await put(address, [{ OrderStatusID: 99, StatusText: 'Denied' }])).statusCode).toBe(404)
    const stranger = await merchantIn(server, (await server.openStore()).store)
    expect((await stranger.call('PUT', address, [{ OrderStatusID: 9, StatusText: 'Mine' }])).statusCode).toBe(404)
    expect((await statuses()).map(({ StatusText }: { StatusText: string }) => StatusText)).toContain('Denied')
  })
})

describe('lastupdatestart', () => {
  test('lists the order statuses that were changed since, and none that were saved as they are', async () => {
    const other = await server.openStore()
    server.clock.ms += 3_600_000
    const since = new Date(server.clock.ms).toISOString().slice(0, 19)
    const changes = [
      { OrderStatusID: 2, StatusText: 'Underway' },
      { OrderStatusID: 3, Visible: true },
    ]
    expect((await put(`/admin/stores/${other.store.id}/order-statuses`, changes)).statusCode).toBe(200)
    const listed = (await other.call('GET', `/OrderStatus?lastupdatestart=${since}Z`)).json()
    expect(listed.map(({ StatusText }: { StatusText: string }) => StatusText)).toEqual(['Underway'])
  })
})

describe('an order status of the store’s own', () => {
  const page = '/admin/settings/order-statuses'
  const address = (storeId = shop.store.id) => `/admin/stores/${storeId}/order-statuses`
  const asOperator = (body: object, url = address()) => server.operate('POST', url, body)
  const own = async (store = shop) =>
    (await store.call('GET', '/OrderStatus?limit=500'))
      .json()
      .filter(({ OrderStatusID }: { OrderStatusID: number }) => OrderStatusID > 12)
  const add = (fields: Record<string, string>) => merchant.submit(page, fields, { action: `${page}/new` })

  test('is added on the page, from 13 on, and is a status like any other', async () => {
    const answer = await add({ StatusText: ' Quote ' })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${page}?notice=status-added`])
    await add({ StatusText: 'Recurring', OrderStatusID: ' 21 ' })
    await add({ StatusText: 'Packed' })
    expect(await own()).toEqual([
      { OrderStatusID: 13, Sorting: 13, StatusDefinition: 'Quote', StatusText: 'Quote', Visible: true },
      { OrderStatusID: 14, Sorting: 15, StatusDefinition: 'Packed', StatusText: 'Packed', Visible: true },
      { OrderStatusID: 21, Sorting: 14, StatusDefinition: 'Recurring', StatusText: 'Recurring', Visible: true },
    ])
    expect((await shop.call('GET', '/OrderStatus?countonly=1')).json()).toEqual({ TotalCount: 15 })

    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } } })
    await placeOrder(shop.caller, {
      BillingEmail: 'guest@shop.example',
      OrderItemList: [{ ItemID: 'CUP', ItemQuantity: 1 }],
    })
    expect((await shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 21 } })).statusCode).toBe(200)
    expect((await merchant.open('/admin/orders/1')).body).toContain('<span class="badge">Recurring</span>')
    const [stock] = (await shop.call('GET', '/Products?sku=CUP')).json()
    expect(stock.SKUInfo.Stock).toBe(2)
    expect((await merchant.open(page)).body).toContain('name="StatusText.21"')
    const entries = (await merchant.call('GET', '/admin/audit')).json()
    expect(entries).toContainEqual(
      expect.objectContaining({ Action: 'order-status.added', Details: { status: 21, text: 'Recurring' } }),
    )
  })

  test.each([
    [{ StatusText: '' }, 400, '#StatusText', 'Text</a> must be a text of 1 to 50 characters'],
    [{ StatusText: 'x'.repeat(51) }, 400, '#StatusText', 'Text</a> must be a text of 1 to 50 characters'],
    [{ StatusText: 'sHipped' }, 409, '#StatusText', 'Two statuses would have the text'],
    [
      { StatusText: 'Quote', OrderStatusID: '12' },
      400,
      '#OrderStatusID',
      'must be a whole number from 13 to 999999999',
    ],
    [{ StatusText: 'Quote', OrderStatusID: '1e3' }, 400, '#OrderStatusID', 'Number</a> must be a number in digits'],
    [{ StatusText: 'Quote', OrderStatusID: '14.5' }, 400, '#OrderStatusID', 'must be a whole number from 13'],
    [{ StatusText: 'Quote', OrderStatusID: '1000000000' }, 400, '#OrderStatusID', 'must be a whole number from 13'],
  ])('is refused with %j, beside the field, and nothing is added', async (fields, status, link, says) => {
    const answer = await add(fields as Record<string, string>)
    expect(answer.statusCode).toBe(status)
    const alert = /role="alert">([\s\S]*?)<\/div>/.exec(answer.body)?.[1]
    if (status === 400) expect(alert).toContain(`href="${link}"`)
    expect(alert).toContain(says)
    expect(answer.body).toContain(`name="StatusText" type="text" value="${fields.StatusText}"`)
    expect(await own()).toEqual([])
  })

  test('is added once by two at once, and twice with two texts', async () => {
    const same = await Promise.all([1, 2, 3, 4].map(() => asOperator({ StatusText: 'Quote', OrderStatusID: 40 })))
    expect(same.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409, 409])
    const others = await Promise.all([1, 2, 3, 4].map((index) => asOperator({ StatusText: `Own ${index}` })))
    expect(others.map((answer) => answer.json()[0]?.Value).sort()).toEqual(['13', '14', '15', '16'])
    const twice = await Promise.all(['Held back', 'HELD BACK'].map((StatusText) => asOperator({ StatusText })))
    expect(twice.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409])
    expect(await own()).toHaveLength(6)
  })

  test('is one of 500 at most', async () => {
    const data = Array.from({ length: 488 }, (_, index) => {
      const text = `Own ${index}`
      return { storeId: shop.store.id, id: 100 + index, sorting: 9, definition: text, text, visible: true }
    })
    await server.database.db.orderStatus.createMany({ data: data.slice(1) })
    expect((await asOperator({ StatusText: 'The last' })).statusCode).toBe(201)
    const refused = await asOperator({ StatusText: 'One more' })
    expect([refused.statusCode, refused.json()[0].Message]).toEqual([
      409,
      'The store has 500 order statuses, which is the most that it can have',
    ])
  })

  test('is of one store, added by its merchant or the operator', async () => {
    const other = await server.openStore()
    const stranger = await merchantIn(server, other.store)
    expect((await stranger.call('POST', address(), { StatusText: 'Mine' })).statusCode).toBe(404)
    const added = await merchant.call('POST', address(), { StatusText: 'Quote', Visible: false, Sorting: 3 })
    expect([added.statusCode, added.json()]).toEqual([
      201,
      [{ Key: 'OrderStatusID', Value: '13', Status: '201', Message: 'Created successfully' }],
    ])
    expect(await own()).toMatchObject([{ Visible: false, Sorting: 3 }])
    expect(await own(other)).toEqual([])
    expect((await asOperator({ StatusText: 'Quote' }, address(other.store.id))).json()[0].Value).toBe('13')
  })
})

// Their page is that of the names for returns (return-lists.test.ts).
describe('payment methods', () => {
  const page = '/admin/settings/payment-methods'
  const address = () => `/admin/stores/${shop.store.id}/payment-methods`
  const methods = async () => (await merchant.call('GET', address())).json()

  test('are renamed, hidden and added on the page, in this store alone; the audit log says so', async () => {
    const other = await server.openStore()
    const { 'Visible.payment-methods-4': _, ...kept } = await merchant.formOf(page)
    const added = {
      'Name.payment-methods-3': 'Check & more',
      'Name.payment-methods-new1': ' Gift card ',
      'PaymentMethodID.payment-methods-new2': '40',
      'Name.payment-methods-new2': 'Wallet',
    }
    const answer = await merchant.submit(page, { ...kept, ...added })
    expect(answer.headers.location).toBe(`${page}?notice=settings-saved#payment-methods`)
    expect(await methods()).toEqual([
      { PaymentMethodID: 1, Name: 'Online Credit Card', Visible: true },
      { PaymentMethodID: 2, Name: 'PayPal Express Checkout', Visible: true },
      { PaymentMethodID: 3, Name: 'Check & more', Visible: true },
      { PaymentMethodID: 4, Name: 'Purchase Order', Visible: false },
      { PaymentMethodID: 5, Name: 'Bank Transfer', Visible: true },
      { PaymentMethodID: 6, Name: 'Cash on Delivery', Visible: true },
      { PaymentMethodID: 7, Name: 'Gift card', Visible: true },
      { PaymentMethodID: 40, Name: 'Wallet', Visible: true },
    ])
    const audit = (await merchant.call('GET', '/admin/audit?limit=1')).json()
    expect(audit).toMatchObject([{ Action: 'payment-methods.changed', Details: { methods: [3, 4, 7, 40] } }])
    expect(await server.database.db.paymentMethod.count({ where: { storeId: other.store.id } })).toBe(6)
  })

  test('are changed by programs in part, at once and at most 100, and never removed', async () => {
    const names = Array.from({ length: 94 }, (_, index) => `Method ${index}`)
    const answers = await Promise.all(names.slice(0, 8).map((Name) => put(address(), [{ Name }])))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200))
    expect(
      (
        await put(
          address(),
          names.slice(8).map((Name) => ({ Name })),
        )
      ).statusCode,
    ).toBe(200)
    expect(new Set((await methods()).slice(6).map(({ Name }: { Name: string }) => Name))).toEqual(new Set(names))
    const refused = [[{ Name: 'One more' }], [{ PaymentMethodID: 101 }], [{ PaymentMethodID: 3, Name: 'METHOD 1' }]]
    const statuses = refused.map(async (changes) => (await put(address(), changes)).statusCode)
    expect(await Promise.all(statuses)).toEqual([400, 400, 409])
    expect((await put(address(), [{ PaymentMethodID: 50, Visible: false }])).statusCode).toBe(200)
    expect((await methods())[49]).toEqual({ PaymentMethodID: 50, Name: 'Method 43', Visible: false })
    expect((await merchant.open(page)).body).not.toContain('Name.payment-methods-new1')
  })
})

test('the user key is shown to the merchant, and a new one takes its place at once', async () => {
  const { UserKey: before } = await store()
  const page = (await merchant.open('/admin/modules/cartapi')).body
  expect(page).toContain(before)
  const answer = await merchant.submit('/admin/modules/cartapi', {}, { action: '/admin/modules/cartapi/user-key' })
  expect(answer.statusCode).toBe(303)
  const { UserKey: after } = await store()
  const lookups = [before, after].map((key) => server.services.secrets.lookup(key))
  const { userKeyHash } = await server.services.db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
  expect([lookups.indexOf(userKeyHash), after]).toEqual([1, expect.stringMatching(/^[0-9a-f]{32}$/)])
  const entries = await merchant.call('GET', '/admin/audit')
  expect(entries.body).toContain('store.user-key-rotated')
  expect(entries.body).not.toContain(after)
})
