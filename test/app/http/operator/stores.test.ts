import { expect, test } from 'vitest'
import { storeInput } from '../../../support/access.ts'
import { refused } from '../../../support/refused.ts'
import { shared } from '../../../support/shared.ts'
import { openAdmin } from './fixture.ts'

const admin = await shared(openAdmin())

test('POST /admin/stores opens a store and answers 201 with Id, SecureURL and UserKey', async () => {
  const answer = await admin.call('POST', '/admin/stores', { ...storeInput(), SecureURL: 'first.example/' })
  expect(answer.statusCode).toBe(201)
  expect(answer.json()).toEqual({
    Id: expect.any(Number),
    SecureURL: 'https://first.example',
    UserKey: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
})

test('GET /admin/stores lists what was given and what was filled in', async () => {
  const given = {
    ...storeInput(),
    Currency: 'eur',
    TimeZone: 'Europe/Berlin',
    Throttle: { Capacity: 20, LeakPerSecond: 1.5 },
  }
  const first = (await admin.call('POST', '/admin/stores', given)).json()
  const second = (await admin.call('POST', '/admin/stores', { ...storeInput(), Throttle: null })).json()
  const all = (await admin.call('GET', '/admin/stores?limit=500')).json()
  const DateCreated = '2026-03-01T12:00:00.000Z'
  const { Throttle } = given
  const same = {
    Name: 'A shop',
    SecureURLs: [],
    DateUserKeyBrought: null,
    DateClosed: null,
    DateOfDeletion: null,
    CartAPI: { Enabled: true, Addresses: [] },
    DateCreated,
  }
  expect(all.slice(-2)).toEqual([
    { ...first, ...same, Currency: 'EUR', TimeZone: 'Europe/Berlin', Country: '', Throttle },
    { ...second, ...same, Currency: 'USD', TimeZone: 'America/New_York', Country: '', Throttle: null },
  ])
})

test('property names match without regard to case', async () => {
  const { Name, SecureURL, Email, Password } = storeInput()
  const body = {
    name: Name,
    secureUrl: SecureURL,
    EMAIL: Email,
    password: Password,
    throttle: { capacity: 5, leakpersecond: 1 },
  }
  expect((await admin.call('POST', '/admin/stores', body)).statusCode).toBe(201)
})

test('the host of a store is its own, in whichever way it is written', async () => {
  const input = storeInput()
  await admin.call('POST', '/admin/stores', input)
  const host = input.SecureURL.replace('https://', '')
  for (const SecureURL of [input.SecureURL, `http://WWW.${host.toUpperCase()}:8080/store`]) {
    const answer = await admin.call('POST', '/admin/stores', { ...input, SecureURL })
    expect(refused(answer)).toMatchObject({ statusCode: 409, field: 'SecureURL' })
  }
})

test('of ten stores of one host at once, one is opened, whole', async () => {
  const input = storeInput()
  const answers = await Promise.all(Array.from({ length: 10 }, () => admin.call('POST', '/admin/stores', input)))
  const opened = answers.filter(({ statusCode }) => statusCode === 201)
  expect(opened).toHaveLength(1)
  expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(9)
  const { db } = admin.services
  expect(await db.storeUser.count()).toBe(await db.store.count())
  expect(await db.orderStatus.count()).toBe(12 * (await db.store.count()))
})

test.each([
  ['Name', undefined, 'Name is missing and must be a text of 1 to 200 characters on one line'],
  ['Name', '   ', 'Name must be a text'],
  ['Name', 'x'.repeat(201), 'Name must be a text'],
  ['Name', 'x'.repeat(70_000), 'Name must be a text'],
  ['Name', 'zero\0', 'Name must be a text'],
  ['Name', 'two\nlines', 'Name must be a text'],
  ['Name', 'half \ud800', 'Name must be a text'],
  ['Name', 7, 'Name must be a text'],
  ['Name', null, 'Name must be a text'],
  ['SecureURL', 'ftp://shop.example', 'SecureURL must be an address such as https://shop.example'],
  ['SecureURL', 'https://user:pass@shop.example', 'SecureURL must be an address'],
  ['SecureURL', '', 'SecureURL must be an address'],
  ['SecureURL', 'https://my shop.example', 'SecureURL must be an address such as https://shop.example, without blanks'],
  ['SecureURL', 'https://shop.example/my shop', 'SecureURL must be an address'],
  ['SecureURL', 'https://shop.\texample', 'SecureURL must be an address'],
  ['Email', 'merchant', 'Email must be an e-mail address'],
  ['Email', `${'x'.repeat(300)}@shop.example`, 'Email must be an e-mail address'],
  ['Password', '', 'Password must be a text of 12 to 1000 characters'],
  ['Password', 'x'.repeat(1001), 'Password must be a text'],
  ['Currency', 'dollar', 'Currency must be a currency code of three letters'],
  ['Currency', '', 'Currency must be'],
  ['TimeZone', 'Mars/Olympus', 'TimeZone must be a time zone name such as America/New_York'],
  ['TimeZone', '+05:00', 'TimeZone must be'],
  ['Throttle', 5, 'Throttle must be an object'],
  ['Throttle.Capacity', 0, 'Throttle.Capacity must be a whole number from 1 to 1000000'],
  ['Throttle.Capacity', 1.5, 'Throttle.Capacity must be'],
  ['Throttle.Capacity', '50', 'Throttle.Capacity must be'],
  [
    'Throttle.LeakPerSecond',
    0,
    'Throttle.LeakPerSecond must be a number from 0.001 to 10000 with at most three decimals',
  ],
  ['Throttle.LeakPerSecond', 0.0015, 'Throttle.LeakPerSecond must be'],
  ['Throttle.LeakPerSecond', -1, 'Throttle.LeakPerSecond must be'],
  ['Throttle.LeakPerSecond', undefined, 'Throttle.LeakPerSecond is missing and must be'],
])('%s %j is refused with a 400 that names it', async (field, value, message) => {
  const [name = '', member] = field.split('.')
  const changed = member ? { Capacity: 50, LeakPerSecond: 2, [member]: value } : value
  const answer = await admin.call('POST', '/admin/stores', { ...storeInput(), [name]: changed })
  expect(refused(answer)).toMatchObject({ statusCode: 400, field, message: expect.stringContaining(message) })
})

test('unknown properties are refused by name, before what they leave missing', async () => {
  const { Name: Nmae, ...rest } = storeInput()
  expect(refused(await admin.call('POST', '/admin/stores', { ...rest, Nmae, Colour: 'red' }))).toMatchObject({
    statusCode: 400,
    field: 'Nmae',
    message: expect.stringMatching(/^The body has no property Nmae, Colour; allowed are Name, SecureURL, .*Throttle/),
  })
  const nested = { ...storeInput(), Throttle: { Capacity: 50, LeakPerSecond: 2, Burst: 1 } }
  expect(refused(await admin.call('POST', '/admin/stores', nested))).toMatchObject({
    statusCode: 400,
    field: 'Throttle.Burst',
    message: 'Throttle has no property Burst; allowed are Capacity, LeakPerSecond',
  })
})

test('a property that is given twice is refused', async () => {
  const answer = await admin.call('POST', '/admin/stores', { ...storeInput(), name: 'Another' })
  expect(refused(answer)).toMatchObject({ statusCode: 400, field: 'Name', message: 'Name is given twice' })
})

test('every fault is named in one answer', async () => {
  const answer = await admin.call('POST', '/admin/stores', { ...storeInput(), Email: 'x', Currency: 'x' })
  expect(refused(answer).message).toMatch(/^Email must be .*; Currency must be /)
})

test('a list is paged by limit and offset, in the order of ids', async () => {
  const ids = async (query: string) =>
    (await admin.call('GET', `/admin/stores${query}`)).json<{ Id: number }[]>().map(({ Id }) => Id)
  const all = await ids('')
  expect(all.length).toBeGreaterThan(3)
  expect(all).toEqual(all.toSorted((one, other) => one - other))
  expect(await ids('?limit=2&offset=1')).toEqual(all.slice(1, 3))
  expect(await ids('?Limit=2')).toEqual(all.slice(0, 2))
  expect(await ids('?offset=1000')).toEqual([])
})

test.each([
  ['limit=0', 'limit'],
  ['limit=501', 'limit'],
  ['limit=abc', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['limit=', 'limit'],
  ['offset=-1', 'offset'],
  ['offset=1.5', 'offset'],
  ['offset=2147483648', 'offset'],
  ['offset=99999999999999', 'offset'],
  ["offset=0'; DROP TABLE x", 'offset'],
  ['ofset=1', 'ofset'],
])('GET /admin/stores?%s is refused with a 400 that names the parameter', async (query, field) => {
  const answer = await admin.call('GET', `/admin/stores?${encodeURI(query)}`)
  expect(refused(answer)).toMatchObject({ statusCode: 400, field })
})
