import { describe, expect, test } from 'vitest'
import { deleteRecord } from '../../../../src/engine/changing/change.ts'
import { customers } from '../../../../src/shop/resources/customers/customers.ts'
import { placeOrder } from '../../../../src/shop/resources/orders/place-order.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { sharedServer } from '../../../support/store.ts'
import { childNames, envelope, errorDocument, post, request, soapCall, treeOf } from './support.ts'

// getCustomerLoginToken (soap-cartapi §4.4), as far as the page that its token opens.

const server = await sharedServer()
const shop = await server.openStore({ timeZone: 'Asia/Tokyo' })
const began = server.clock.ms

let serial = 0

async function newCustomer(fields: object = {}, store = shop): Promise<{ id: number; email: string }> {
  const body = { Email: `Customer-${++serial}@home.example`, Password: 'secret words', ...fields }
  return { id: await store.add('/Customers', body), email: body.Email }
}

type Parameters = Readonly<Record<string, string | number>>

function askFor(parameters: Parameters, store = shop, version: '1.1' | '1.2' = '1.1'): Promise<string> {
  return soapCall(server, store, 'getCustomerLoginToken', parameters, { version })
}

async function tokenOf(customerEmail: string, timeToLive: string | number = 10, store = shop): Promise<string> {
  const { Token } = treeOf(await askFor({ customerEmail, timeToLive }, store)) as { Token: string }
  return Token
}

/** Opens the page of a token, and presses its button. */
function press(person: TestPerson, token: string) {
  return person.submit(`/account/sign-in?token=${token}`, {}, { action: '/account/sign-in' })
}

async function statusAt(minutes: number, token: string): Promise<number> {
  server.clock.ms = began + minutes * 60_000
  try {
    return (await press(testPerson(server.app), token)).statusCode
  } finally {
    server.clock.ms = began
  }
}

async function shownOf(email: string, store = shop): Promise<Record<string, string>> {
  const page = { batchSize: 1, startNum: 1, customersFilter: `email=${email}` }
  const { Customer } = treeOf(await soapCall(server, store, 'getCustomer', page)) as {
    Customer: Record<string, string>
  }
  return Customer
}

const invalidData = errorDocument(43, 'Data Error')
const noCustomer = errorDocument(47, 'No Data Found')

describe('a token', () => {
  test.each(['1.1', '1.2'] as const)('is 64 characters, in SOAP %s', async (version) => {
    const { email } = await newCustomer()
    const xml = await askFor({ customerEmail: email, timeToLive: 1 }, shop, version)

    expect(xml).toMatch(
      /^<CustomerLoginTokenResponse xmlns=""><Token>[\w-]{64}<\/Token><\/CustomerLoginTokenResponse>$/,
    )
    expect(childNames(xml)).toEqual(['Token'])
  })

  test('signs the customer in once, and shows the customer’s orders and no other’s', async () => {
    const { id, email } = await newCustomer()
    const other = await newCustomer()
    const product = { SKUInfo: { SKU: `SKU-${++serial}`, Name: 'Lamp', Price: 20, Stock: 9 } }
    const CatalogID = await shop.add('/Products', product)
    const items = { OrderItemList: [{ CatalogID, ItemQuantity: 1 }] }
    const mine = await placeOrder(shop.caller, { CustomerID: id, ...items })
    const theirs = await placeOrder(shop.caller, { CustomerID: other.id, ...items })
    const token = await tokenOf(email)

    const [first, second] = [testPerson(server.app), testPerson(server.app)]
    const signedIn = await press(first, token)
    expect([signedIn.statusCode, signedIn.headers.location]).toEqual([303, '/account'])
    const { body } = await first.open('/account')
    expect(body).toContain(`AB-${mine.invoiceNumber}`)
    expect(body).not.toContain(`AB-${theirs.invoiceNumber}`)

    expect((await press(second, token)).statusCode).toBe(401)
    expect((await second.open('/account')).headers.location).toMatch(/^\/account\/sign-in/)
    expect((await first.open('/account')).statusCode).toBe(200)
  })

  test.each([
    { timeToLive: 1, minutes: 1 },
    { timeToLive: ' 30 ', minutes: 30 },
    { timeToLive: 1440, minutes: 1440 },
    // Cut to a day.
    { timeToLive: 1441, minutes: 1440 },
    { timeToLive: 2_147_483_647, minutes: 1440 },
  ])('works for $minutes minutes with a timeToLive of $timeToLive', async ({ timeToLive, minutes }) => {
    const { email } = await newCustomer()
    const [inTime, late] = [await tokenOf(email, timeToLive), await tokenOf(email, timeToLive)]

    expect(await statusAt(minutes, late)).toBe(401)
    expect(await statusAt(minutes - 1 / 60_000, inTime)).toBe(303)
  })

  test('is made for an e-mail address in any case', async () => {
    const { email } = await newCustomer()
    expect(await statusAt(0, await tokenOf(` ${email.toUpperCase()} `))).toBe(303)
  })

  test('is of the store that was called, where another has a customer of the same address', async () => {
    const other = await server.openStore()
    const { email } = await newCustomer()
    await newCustomer({ Email: email }, other)
    const person = testPerson(server.app)
    await press(person, await tokenOf(email, 10, other))

    expect((await person.open('/account')).body).toContain(other.store.name)
    expect([(await shownOf(email)).LastLoginDate, (await shownOf(email, other)).LastLoginDate]).toEqual([
      '',
      '3/10/2026',
    ])
  })

  test('that is used makes LastLoginDate, the day where the store is, and changes nothing else', async () => {
    const { email } = await newCustomer()
    const before = await shownOf(email)
    const token = await tokenOf(email)
    expect(await shownOf(email)).toEqual(before)
    expect(before.LastLoginDate).toBe('')

    server.clock.ms += 5 * 60_000
    await press(testPerson(server.app), token)
    server.clock.ms = began
    expect(await shownOf(email)).toEqual({ ...before, LastLoginDate: '3/11/2026' })
  })

  test('stands neither in the log nor in the database', async () => {
    const { id, email } = await newCustomer()
    const token = await tokenOf(email)
    await press(testPerson(server.app), token)
    await press(testPerson(server.app), token)
    const unused = await tokenOf(email)
    const rows = await server.database.db.customerLoginToken.findMany({
      where: { storeId: shop.store.id, customerId: id },
    })

    expect(rows).toHaveLength(1)
    for (const secret of [token, unused]) {
      expect(JSON.stringify(rows)).not.toContain(secret)
      expect(server.log.join('')).not.toContain(secret)
    }
    expect(server.log.join('')).toContain('/account/sign-in')
  })
})

describe('refused', () => {
  test('without an address: error 43', async () => {
    expect(await askFor({ timeToLive: 10 })).toBe(invalidData)
    expect(await askFor({ customerEmail: '  ', timeToLive: 10 })).toBe(invalidData)
  })

  test.each([0, -1, '', 'abc', '1.5', '2147483648', '1e2'])(
    'a timeToLive of %j: error 43, and no token',
    async (timeToLive) => {
      const { id, email } = await newCustomer()

      expect(await askFor({ customerEmail: email, timeToLive })).toBe(invalidData)
      expect(
        await server.database.db.customerLoginToken.count({ where: { storeId: shop.store.id, customerId: id } }),
      ).toBe(0)
    },
  )

  test('without a timeToLive: error 43, and the header names it', async () => {
    const { email } = await newCustomer()
    expect(await askFor({ customerEmail: email })).toBe(invalidData)

    const parameters = { customerEmail: email, timeToLive: 'soon' }
    const { headers } = await post(server, envelope(request(shop, 'getCustomerLoginToken', parameters)))
    expect(headers['x-error-reason']).toBe('timeToLive must be a whole number of minutes, from 1 on')
  })

  test('nobody’s address, a part of one, and another store’s customer: error 47', async () => {
    const { email } = await newCustomer({}, await server.openStore())
    const { email: ours } = await newCustomer()

    for (const customerEmail of ['nobody@home.example', email, ours.slice(1), `${ours}x`, '%', "' or 1=1 --"]) {
      expect(await askFor({ customerEmail, timeToLive: 10 }), customerEmail).toBe(noCustomer)
    }
  })

  test('a customer that is disabled: error 43, and the header says so', async () => {
    const { email } = await newCustomer({ Enabled: false })
    const parameters = { customerEmail: email, timeToLive: 10 }
    const { headers, body } = await post(server, envelope(request(shop, 'getCustomerLoginToken', parameters)))

    expect(body).toContain(invalidData)
    expect(headers['x-error-reason']).toBe('The customer is disabled, and cannot sign in')
  })

  test('a customer whose deletion comes between: error 47', async () => {
    const { id, email } = await newCustomer()
    const deletion = await hold(server, shop, (tx) => deleteRecord(tx, customers, id))
    const asked = askFor({ customerEmail: email, timeToLive: 10 })
    await untilItWaits(server.database, asked)
    await deletion.commit()

    expect(await asked).toBe(noCustomer)
  })
})
