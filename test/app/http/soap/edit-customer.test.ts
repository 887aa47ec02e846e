import { describe, expect, test } from 'vitest'
import { verifyPassword } from '../../../../src/access/people/passwords.ts'
import { deleteRecord } from '../../../../src/engine/changing/change.ts'
import { eventKind } from '../../../../src/engine/definition/event-kinds.ts'
import { customers } from '../../../../src/shop/resources/customers/customers.ts'
import { storedEvents } from '../../../support/events.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer } from '../../../support/store.ts'
import { exportOf, importInto, linesOf } from '../../engine/transfer/fixture.ts'
import { envelope, errorDocument, post, request, soapCall, treeOf } from './support.ts'

// editCustomer (soap-cartapi §4.3), and what it leaves as it is for everybody else.

const server = await sharedServer()
const shop = await server.openStore()
await shop.add('/CustomerGroups', { Name: 'Retail' })
const group = await shop.add('/CustomerGroups', { Name: 'Wholesale' })

let serial = 0

type Data = Readonly<Record<string, string | number>>

function textOf(data: Data): string {
  return Object.entries(data)
    .map(([name, value]) => `${name}===${value}`)
    .join('|||')
}

function edit(action: string, data: Data | string, store = shop, version: '1.1' | '1.2' = '1.1'): Promise<string> {
  const customerData = typeof data === 'string' ? data : textOf(data)
  return soapCall(server, store, 'editCustomer', { customerData, action }, { version })
}

function answer(result: 'OK' | 'NOT_OK', contactid: number | '', altContactId = ''): string {
  return `<EditCustomerResponse xmlns=""><result>${result}</result><contactid>${contactid}</contactid><alt_contactid>${altContactId}</alt_contactid></EditCustomerResponse>`
}

/** What an insert cannot do without. */
function needed(more: Data = {}): Data {
  const email = `customer-${++serial}@home.example`
  return { billing_firstname: 'Ada', billing_lastname: 'Lovelace', email, pass: 'secret words', ...more }
}

async function inserted(more: Data = {}, store = shop): Promise<number> {
  const { result, contactid } = treeOf(await edit('insert', needed(more), store)) as Record<string, string>
  expect(result).toBe('OK')
  return Number(contactid)
}

async function recordOf(id: number, store = shop): Promise<Record<string, unknown>> {
  const answer = await store.call('GET', `/Customers/${id}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()[0]
}

/** The stored row, with what REST does not show. */
function rowOf(id: number, { store } = shop) {
  return server.database.db.customer.findUniqueOrThrow({ where: { storeId_id: { storeId: store.id, id } } })
}

/** What getCustomer shows of the customer. */
async function shownOf(email: string): Promise<Record<string, unknown>> {
  const page = { batchSize: 1, startNum: 1, customersFilter: `email=${email}` }
  const { Customer } = treeOf(await soapCall(server, shop, 'getCustomer', page)) as {
    Customer: Record<string, unknown>
  }
  return Customer
}

const invalidCustomerData = errorDocument(41, 'Data Error')
const invalidAction = errorDocument(42, 'Data Error')
const invalidData = errorDocument(43, 'Data Error')
const noCustomer = errorDocument(47, 'No Data Found')

/** The documented texts: name, most characters, and where REST has it. */
const texts: readonly [name: string, max: number, field: string][] = [
  ['billing_firstname', 50, 'BillingFirstName'],
  ['billing_lastname', 50, 'BillingLastName'],
  ['billing_address', 255, 'BillingAddress1'],
  ['billing_address2', 50, 'BillingAddress2'],
  ['billing_city', 100, 'BillingCity'],
  ['billing_state', 100, 'BillingState'],
  ['billing_zip', 20, 'BillingZipCode'],
  ['billing_country', 2, 'BillingCountry'],
  ['billing_company', 255, 'BillingCompany'],
  ['billing_phone', 50, 'BillingPhoneNumber'],
  ['email', 100, 'Email'],
  ['shipping_firstname', 50, 'ShippingFirstName'],
  ['shipping_lastname', 50, 'ShippingLastName'],
  ['shipping_address', 255, 'ShippingAddress1'],
  ['shipping_address2', 50, 'ShippingAddress2'],
  ['shipping_city', 100, 'ShippingCity'],
  ['shipping_state', 100, 'ShippingState'],
  ['shipping_zip', 20, 'ShippingZipCode'],
  ['shipping_country', 2, 'ShippingCountry'],
  ['shipping_company', 255, 'ShippingCompany'],
  ['shipping_phone', 50, 'ShippingPhoneNumber'],
  ['comments', 255, 'Comments'],
  ['accountno', 50, 'BillingTaxID'],
  ['additional_field1', 250, 'AdditionalField1'],
  ['additional_field2', 250, 'AdditionalField2'],
  ['additional_field3', 150, 'AdditionalField3'],
]

function fullData(): Data {
  const full = texts.map(([name, max]) => [
    name,
    max > 2 ? `${name} ${'x'.repeat(max)}`.slice(0, max) : name.slice(0, 2),
  ])
  const flags = { maillist: 1, custenabled: 1, discount: group }
  return {
    ...Object.fromEntries(full),
    website: 'https://ada.example',
    pass: 'secret words',
    ...flags,
    email: `full-${++serial}@home.example`,
  }
}

describe('insert', () => {
  test.each(['1.1', '1.2'] as const)(
    'stores every documented value, each in its place, in SOAP %s',
    async (version) => {
      const data = { ...fullData(), alt_contactid: `ERP <${++serial}>` }
      const xml = await edit('insert', data, shop, version)
      const { contactid } = treeOf(xml) as { contactid: string }
      const id = Number(contactid)

      expect(xml).toBe(answer('OK', id, data.alt_contactid.replace('<', '&lt;').replace('>', '&gt;')))
      const record = await recordOf(id)
      for (const [name, , field] of texts) expect(record[field], name).toBe((data as Data)[name])
      expect(record).toMatchObject({
        CustomerID: id,
        MailList: true,
        Enabled: true,
        CustomerGroupID: group,
        NonTaxable: false,
      })
      expect(await rowOf(id)).toMatchObject({ altContactId: data.alt_contactid, updatedBy: 'API', lastLoginAt: null })
      expect(await shownOf(String((data as Data).email))).toMatchObject({
        WebSite: 'https://ada.example',
        UserID: 'API',
        DiscountGroup: 'Wholesale',
      })
    },
  )

  test('keeps the password as argon2id alone', async () => {
    const id = await inserted({ pass: 'näht und küßt' })
    const { passwordHash, details } = await rowOf(id)

    expect(passwordHash).toMatch(/^\$argon2id\$/)
    expect(await verifyPassword(passwordHash, 'näht und küßt')).toBe(true)
    expect(JSON.stringify(details)).not.toContain('küßt')
  })

  test('without them, has the documented defaults: not enabled, on no list, in no group, no other id', async () => {
    const id = await inserted()

    expect(await recordOf(id)).toMatchObject({ Enabled: false, MailList: false, CustomerGroupID: 0, Comments: '' })
    expect((await rowOf(id)).altContactId).toBe(null)
  })

  test('empty values are as those that are not given', async () => {
    const empty = { custenabled: '', maillist: ' ', discount: '', website: '', comments: '', alt_contactid: '' }
    const id = await inserted(empty)

    expect(await recordOf(id)).toMatchObject({ Enabled: false, MailList: false, CustomerGroupID: 0, Comments: '' })
    const { altContactId, details } = await rowOf(id)
    expect([altContactId, details]).toEqual([null, {}])
    await inserted(empty)
  })

  test('gives an id of its own, whatever contactid says', async () => {
    const known = await inserted()
    for (const contactid of [known, 0, 'none', '']) expect(await inserted({ contactid })).toBeGreaterThan(known)
  })

  test.each(['billing_firstname', 'billing_lastname', 'email', 'pass'])('needs %s: error 43', async (name) => {
    const { [name]: _, ...rest } = needed()
    expect(await edit('insert', rest)).toBe(invalidData)
    expect(await edit('insert', { ...rest, [name]: '' })).toBe(invalidData)
    expect(await edit('insert', { ...rest, [name]: '  ', comments: 'last' })).toBe(invalidData)
  })

  test('is told to webhooks with the record as REST gives it', async () => {
    const id = await inserted({ website: 'https://ada.example', alt_contactid: 'in an event' })
    const { store } = shop
    const events = await storedEvents(server.database.db, store.id, { recordId: id })

    expect(events.map(({ record }) => record)).toEqual([await recordOf(id)])
    expect(JSON.stringify(events)).not.toMatch(/ada\.example|in an event/)
  })
})

describe('a value', () => {
  test('has as many characters as documented at most: with one more, insert and update are error 43', async () => {
    const more: [name: string, max: number][] = [
      ['pass', 20],
      ['website', 200],
      ['alt_contactid', 50],
    ]
    const longest = [...texts, ...more].map(([name, max]): [string, string] => [name, '–'.repeat(max)])
    const data = { ...Object.fromEntries(longest), email: `${++serial}@home.example`.padStart(100, 'x') }
    const id = await inserted(data)
    const [record, row] = [await recordOf(id), await rowOf(id)]
    for (const [name, , field] of texts) expect(record[field], name).toBe((data as Data)[name])

    for (const [name, value] of Object.entries(data)) {
      const longer = { [name]: `x${value}` }
      const answers = [await edit('insert', needed(longer)), await edit('update', { contactid: id, ...longer })]
      expect(answers, name).toEqual([invalidData, invalidData])
    }
    expect(await rowOf(id)).toEqual(row)
  })

  test.each([
    { maillist: 'yes' },
    { custenabled: 2 },
    { discount: 'Whole' },
    { discount: -1 },
    { discount: 4_000 },
    { discount: '99999999999' },
  ])('out of bounds is error 43: %j', async (data) => {
    const id = await inserted()
    const before = await rowOf(id)

    expect(await edit('insert', needed(data))).toBe(invalidData)
    expect(await edit('update', { contactid: id, comments: 'changed', ...data })).toBe(invalidData)
    expect(await rowOf(id)).toEqual(before)
  })

  test('has no line ends around it, so that pairs may stand one a line; a password keeps its blanks', async () => {
    const data = needed({ pass: ' two words ', comments: 'the last' })
    const lines = Object.entries(data).map(([name, value]) => `${name}===${value}`)
    const sent = lines.join('\n|||')
    const { contactid } = treeOf(await edit('insert', sent)) as Record<string, string>
    expect(await recordOf(Number(contactid))).toMatchObject({ Email: data.email, BillingLastName: 'Lovelace' })
    const { passwordHash } = await rowOf(Number(contactid))
    expect(await verifyPassword(passwordHash ?? '', ' two words ')).toBe(true)

    expect(await edit('insert', sent)).toBe(answer('NOT_OK', ''))
  })

  test('may have blanks around it, hold ===, and end in bars; numbers and flags may stand between blanks', async () => {
    const data = {
      billing_city: ' Margate ',
      billing_company: 'a===b',
      comments: '=|',
      website: '||',
      discount: ` ${group} `,
    }
    const id = await inserted({ ...data, maillist: ' 1 ', additional_field1: 'last but one', custenabled: '\n1' })

    expect(await recordOf(id)).toMatchObject({
      BillingCity: 'Margate',
      BillingCompany: 'a===b',
      Comments: '=|',
      CustomerGroupID: group,
      MailList: true,
      Enabled: true,
      AdditionalField1: 'last but one',
    })
    expect((await rowOf(id)).details).toMatchObject({ Website: '||' })
  })

  test.each([
    ['insert', needed({ pass: 'p'.repeat(21) }), 'pass has 21 characters; at most 20 are allowed'],
    ['insert', needed({ discount: 987_654 }), 'discount must be the name or the id of a customer group'],
    ['insert', needed({ billing_firstname: '' }), 'billing_firstname is required and must not be empty'],
    ['update', { comments: 'new' }, 'contactid or alt_contactid is needed'],
    ['update', { contactid: 'seven' }, 'contactid must be a whole number; "seven" was given'],
    ['delete', { alt_contactid: 'x'.repeat(51) }, 'alt_contactid has 51 characters; at most 50 are allowed'],
    ['update', { comments: 'a', Comments: 'b' }, 'customerData names comments twice'],
    ['insert', {}, 'customerData is missing'],
  ])('that is wrong is named in the header of the answer, for %s %j', async (action, data, reason) => {
    const parameters = { customerData: textOf(data as Data), action }
    const { headers } = await post(server, envelope(request(shop, 'editCustomer', parameters)))

    expect(headers['x-error-reason']).toBe(reason)
    expect(server.log.join('')).not.toContain('pppp')
  })
})

describe('update', () => {
  test('changes what is given, and nothing else', async () => {
    const data = fullData()
    const id = await inserted({ ...data, alt_contactid: `ERP-${++serial}` })
    const [record, row] = [await recordOf(id), await rowOf(id)]
    server.clock.ms += 60_000
    const xml = await edit('update', { contactid: id, billing_city: 'Margate', maillist: 0 })

    expect(xml).toBe(answer('OK', id, row.altContactId ?? ''))
    expect(await recordOf(id)).toEqual({ ...record, BillingCity: 'Margate', MailList: false })
    const changed = {
      city: 'Margate',
      updatedAt: new Date(server.clock.ms),
      details: expect.objectContaining({ Website: 'https://ada.example' }),
    }
    expect(await rowOf(id)).toEqual({ ...row, ...changed })
  })

  test('with empty values clears each field that may be empty', async () => {
    const id = await inserted(fullData())
    const names = [...texts.map(([name]) => name).filter((name) => name !== 'email'), 'website']
    const empty = Object.fromEntries([...names, 'maillist'].map((name) => [name, '']))
    const data = { contactid: id, ...empty, custenabled: ' ', discount: ' ', shipping_phone: '' }
    expect(await edit('update', data)).toBe(answer('OK', id))

    const record = await recordOf(id)
    for (const [name, , field] of texts) if (name !== 'email') expect(record[field], name).toBe('')
    expect(record).toMatchObject({ MailList: false, Enabled: false, CustomerGroupID: 0 })
    expect((await rowOf(id)).details).toEqual({})
  })

  test('does not take the e-mail address away: error 43', async () => {
    const id = await inserted()
    expect(await edit('update', { contactid: id, email: '' })).toBe(invalidData)
    expect(await edit('update', { contactid: id, email: '  ', comments: '' })).toBe(invalidData)
  })

  test('changes the password; an empty one leaves it', async () => {
    const id = await inserted({ pass: 'the first' })
    const { passwordHash } = await rowOf(id)
    await edit('update', { contactid: id, pass: '', comments: 'new' })
    expect((await rowOf(id)).passwordHash).toBe(passwordHash)

    await edit('update', { contactid: id, pass: 'the second' })
    const stored = (await rowOf(id)).passwordHash
    expect([await verifyPassword(stored, 'the first'), await verifyPassword(stored, 'the second')]).toEqual([
      false,
      true,
    ])
  })

  test('of what only a number names needs nothing more, and changes nothing', async () => {
    const id = await shop.add('/Customers', { Email: `rest-${++serial}@home.example`, Password: 'secret words' })
    const before = await rowOf(id)
    server.clock.ms += 60_000
    expect(await edit('UPDATE', { contactid: ` ${id} ` })).toBe(answer('OK', id))

    expect(await rowOf(id)).toEqual(before)
  })

  test('tells of what happens to a customer, as REST does', async () => {
    const id = await inserted()
    const { store } = shop
    await edit('update', { contactid: id, comments: 'new' })
    await edit('delete', { contactid: id })

    const where = { storeId: store.id, recordId: id }
    const events = await server.database.db.event.findMany({ where, orderBy: { id: 'asc' } })
    expect(events.map(({ eventType, changed }) => [eventKind(eventType)?.name, changed])).toEqual([
      ['Customer New', null],
      ['Customer Changed', 'Comments'],
      ['Customer Deleted', null],
    ])
  })
})

describe('delete', () => {
  test('takes the customer away and keeps the orders, and answers with the ids that there were', async () => {
    const id = await inserted({ alt_contactid: `ERP-${++serial}` })
    const { altContactId } = await rowOf(id)
    const CatalogID = await shop.add('/Products', { SKUInfo: { SKU: `SKU-${++serial}`, Name: 'Lamp', Stock: 5 } })
    const order = await server.operate('POST', `/admin/stores/${shop.store.id}/orders`, {
      CustomerID: id,
      OrderItemList: [{ CatalogID, ItemQuantity: 1 }],
    })
    expect(order.statusCode, order.body).toBe(201)

    expect(await edit('Delete', { contactid: id })).toBe(answer('OK', id, altContactId ?? ''))
    expect((await shop.call('GET', `/Customers/${id}`)).statusCode).toBe(404)
    const [kept] = (await shop.call('GET', `/Orders/${order.json()[0].Value}`)).json()
    expect(kept.CustomerID).toBe(0)
    expect(await edit('delete', { contactid: id })).toBe(noCustomer)
  })

  test('needs nothing but an id, and looks at no other value', async () => {
    const id = await inserted()
    expect(await edit('delete', { contactid: id, billing_country: 'too long', pass: '' })).toBe(answer('OK', id))
  })
})

describe('alt_contactid', () => {
  test('finds the customer, and contactid is then not looked at', async () => {
    const [other, alt_contactid] = [await inserted(), `ERP-${++serial}`]
    const id = await inserted({ alt_contactid })
    const untouched = await rowOf(other)

    for (const contactid of [other, 'none', 0]) {
      const xml = await edit('update', { contactid, alt_contactid, comments: `from ${contactid}` })
      expect(xml).toBe(answer('OK', id, alt_contactid))
      expect((await recordOf(id)).Comments).toBe(`from ${contactid}`)
    }
    expect(await edit('delete', { contactid: other, alt_contactid })).toBe(answer('OK', id, alt_contactid))
    expect(await rowOf(other)).toEqual(untouched)
  })

  test('is compared letter by letter, without the blanks around it', async () => {
    const name = `Erp-${++serial}`
    const [lower, id] = [
      await inserted({ alt_contactid: name.toLowerCase() }),
      await inserted({ alt_contactid: ` ${name} ` }),
    ]

    expect(await edit('update', `alt_contactid===${name}  |||comments===new`)).toBe(answer('OK', id, name))
    expect(await edit('update', { alt_contactid: name.toLowerCase() })).toBe(answer('OK', lower, name.toLowerCase()))
    expect(await edit('update', { alt_contactid: name.toUpperCase() })).toBe(noCustomer)
  })

  test('is one store’s own: two stores may have the same, and none finds the other’s', async () => {
    const [other, alt_contactid] = [await server.openStore(), `ERP-${++serial}`]
    const id = await inserted({ alt_contactid })
    expect(await edit('update', { alt_contactid }, other)).toBe(noCustomer)
    const theirs = await inserted({ alt_contactid }, other)

    expect(await edit('delete', { alt_contactid }, other)).toBe(answer('OK', theirs, alt_contactid))
    expect((await rowOf(id)).altContactId).toBe(alt_contactid)
  })

  test('is not given to a customer by an update', async () => {
    const id = await inserted()
    expect(await edit('update', { contactid: id, alt_contactid: `ERP-${++serial}` })).toBe(noCustomer)
    expect(await edit('update', { contactid: id, alt_contactid: '', comments: 'new' })).toBe(answer('OK', id))
    expect((await rowOf(id)).altContactId).toBe(null)
  })
})

describe('what another customer has already', () => {
  test('is NOT_OK for a new one, in any case of an e-mail address, and nothing is stored', async () => {
    const data = needed({ alt_contactid: `ERP-${++serial}` })
    await edit('insert', data)
    const { db } = server.database
    const where = { storeId: shop.store.id }
    const count = async () => [await db.customer.count({ where }), await db.event.count({ where })]
    const before = await count()

    expect(await edit('insert', needed({ email: data.email as string }))).toBe(answer('NOT_OK', ''))
    expect(await edit('insert', needed({ email: String(data.email).toUpperCase() }))).toBe(answer('NOT_OK', ''))
    expect(await edit('insert', needed({ alt_contactid: data.alt_contactid as string }))).toBe(answer('NOT_OK', ''))
    expect(await count()).toEqual(before)
  })

  test('is NOT_OK for an update, which changes nothing', async () => {
    const { email } = needed()
    await inserted({ email: email as string })
    const alt_contactid = `ERP-${++serial}`
    const id = await inserted({ alt_contactid })
    const before = await rowOf(id)

    const data = { contactid: id, email: email as string, comments: 'changed' }
    expect(await edit('update', data)).toBe(answer('NOT_OK', id, alt_contactid))
    expect(await rowOf(id)).toEqual(before)
  })

  test('is no hindrance in another store, and none for the customer that has it', async () => {
    const other = await server.openStore()
    const { email } = needed()
    const id = await inserted({ email: email as string })

    await inserted({ email: email as string }, other)
    expect(await edit('update', { contactid: id, email: String(email).toUpperCase() })).toBe(answer('OK', id))
  })
})

describe('refused', () => {
  test.each(['', 'upsert', 'insert,update', 'constructor'])('the action %j: error 42', async (action) => {
    expect(await edit(action, needed())).toBe(invalidAction)
  })

  test.each([
    ['none', ''],
    ['separators alone', '||||||'],
    ['a name alone', 'billing_firstname'],
    ['one equals sign', 'contactid=1'],
    ['unknown names alone', 'favourite===blue|||BillingFirstName===Ada'],
    ['no name', 'contactid===1|||<b>favourite</b>===blue'],
    ['a name that is too long', `contactid===1|||${'x'.repeat(51)}===blue`],
    ['a name twice', 'contactid===1|||comments===a|||comments===b'],
    ['a name twice in other letters', 'contactid===1|||comments===a|||Comments===a'],
    ['an empty name', 'contactid===1|||===x'],
  ])('customerData with %s: error 41', async (_name, customerData) => {
    for (const action of ['insert', 'update', 'delete']) {
      expect(await edit(action, customerData), action).toBe(invalidCustomerData)
    }
  })

  test('another separator, which makes the rest a part of the value: error 43', async () => {
    expect(await edit('update', `contactid===${await inserted()}||comments===a`)).toBe(invalidData)
  })

  test.each(['update', 'delete'])(
    '%s of nobody: error 43 without a number, 47 for one that no customer has',
    async (action) => {
      const other = await server.openStore()
      const theirs = await inserted({}, other)
      for (let count = 0; count < 3; count++) await inserted({}, other)

      for (const contactid of ['', 'abc', '1.5', '1e1', '99999999999']) {
        expect(await edit(action, { contactid, comments: 'x' }, other), contactid).toBe(invalidData)
      }
      expect(await edit(action, { comments: 'x' }, other)).toBe(invalidData)
      for (const contactid of ['0', '-1', '2147483647', '77']) {
        expect(await edit(action, { contactid, comments: 'x' }, other), contactid).toBe(noCustomer)
      }
      expect((await recordOf(theirs, other)).Comments).toBe('')
    },
  )
})

describe('a name that is not known', () => {
  const edited = (customerData: string, action: string) =>
    post(server, envelope(request(shop, 'editCustomer', { customerData, action })))

  test.each(['favourite', 'billing_adress', 'BillingFirstName', '__proto__', 'passwordhash', 'e-mail', 'größe'])(
    '%s is passed over, and named in the header; all else is done',
    async (name) => {
      const id = await inserted()
      const before = await rowOf(id)
      const { body, headers } = await edited(`contactid===${id}|||${name}===blue|||billing_city===Margate`, 'update')

      expect(body).toContain(answer('OK', id))
      const reason = `customerData names fields that editCustomer does not know: "${name}"`
      expect(headers['x-error-reason']).toBe(reason.replaceAll(/[^\x20-\x7e]/g, '?'))
      // A name may be a password in a wrong place.
      const lines = server.log.filter((each) => each.includes(String(headers['x-request-id'])))
      const detail = 'customerData names fields that editCustomer does not know: "…"'
      expect(lines.map((each) => JSON.parse(each))).toContainEqual(
        expect.objectContaining({ operation: 'editCustomer', detail }),
      )
      expect(lines.join('')).not.toContain(name)
      expect(await rowOf(id)).toEqual({ ...before, city: 'Margate' })
    },
  )

  test('is passed over by inserts and deletions too, several times over, ten of them by name', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `Name ${index}`)
    const unknown = [...names, ...names].map((name) => `${name}===x`).join('|||')
    const made = await edited(`${unknown}|||${textOf(needed())}`, 'insert')
    const [, id = ''] = /<contactid>(\d+)</.exec(made.body) ?? []
    const gone = await edited(`contactid===${id}|||${unknown}`, 'delete')

    expect([made.body, gone.body]).toEqual([
      expect.stringContaining(answer('OK', Number(id))),
      expect.stringContaining(answer('OK', Number(id))),
    ])
    for (const { headers } of [made, gone]) {
      expect(headers['x-error-reason']).toMatch(/: "Name 0", .*, "Name 9"$/)
    }
  })

  test.each(['insert', 'update'])('beside ids alone leaves nothing to %s: error 41', async (action) => {
    const id = await inserted()
    const before = await rowOf(id)
    server.clock.ms += 60_000
    const { body, headers } = await edited(`contactid===${id}|||billing_adress===Dorset Street`, action)

    expect(body).toContain(invalidCustomerData)
    expect(headers['x-error-reason']).toBe(
      'customerData names fields that editCustomer does not know: "billing_adress"',
    )
    expect(await rowOf(id)).toEqual(before)
  })

  test('is not told where something else is refused, and its value nowhere', async () => {
    const { body, headers } = await edited('contactid===1|||paswort===open sesame|||maillist===yes', 'update')

    expect(body).toContain(invalidData)
    expect(headers['x-error-reason']).toMatch(/^maillist /)
    expect(server.log.join('')).not.toContain('sesame')
  })
})

describe('discount', () => {
  const groupOf = async (id: number) => (await recordOf(id)).CustomerGroupID

  test.each(['Wholesale', ' wholesale ', 'WHOLESALE'])('may be the name of the group: %j', async (discount) => {
    const id = await inserted({ discount })
    expect(await groupOf(id)).toBe(group)
    await edit('update', { contactid: id, discount: 0 })
    expect(await groupOf(id)).toBe(0)
    await edit('update', { contactid: id, discount })
    expect(await groupOf(id)).toBe(group)
  })

  test('takes what getCustomer shows', async () => {
    const Name = ' Gold & “Silver” '
    const id = await inserted({ discount: await shop.add('/CustomerGroups', { Name }) })
    const before = await recordOf(id)
    const { DiscountGroup } = await shownOf(String(before.Email))
    await edit('update', { contactid: id, discount: String(DiscountGroup) })
    expect(await groupOf(id)).toBe(before.CustomerGroupID)
  })

  test('of digits is the id, as documented, and a name where no group has this id', async () => {
    const named = await shop.add('/CustomerGroups', { Name: String(group) })
    const rebate = await shop.add('/CustomerGroups', { Name: '2026' })
    expect(await groupOf(await inserted({ discount: group }))).toBe(group)
    expect(await groupOf(await inserted({ discount: `00${named}` }))).toBe(named)
    expect(await groupOf(await inserted({ discount: 2026 }))).toBe(rebate)
  })

  test('of several groups’ name is refused, unless its letters tell them apart', async () => {
    const ids = []
    for (const Name of ['Trade', 'TRADE', 'Club', 'Club']) ids.push(await shop.add('/CustomerGroups', { Name }))
    expect(await groupOf(await inserted({ discount: 'TRADE' }))).toBe(ids[1])
    for (const discount of ['trade', 'Club']) expect(await edit('insert', needed({ discount }))).toBe(invalidData)
  })

  test('of another store is unknown by its name too: error 43', async () => {
    const other = await server.openStore()
    expect(await edit('insert', needed({ discount: 'Wholesale' }), other)).toBe(invalidData)
  })
})

test('names are taken in any case and with blanks around, nothing between two separators too, and lastlogindate is passed over', async () => {
  const id = await inserted()
  const data = `ContactID===${id}||| BILLING_City ===Margate|||lastlogindate===5/6/2014||||||Comments===new|||`
  expect(await edit('update', data)).toBe(answer('OK', id))

  expect(await recordOf(id)).toMatchObject({ BillingCity: 'Margate', Comments: 'new' })
  expect((await rowOf(id)).lastLoginAt).toBe(null)
})

describe('at once', () => {
  test.each(['email', 'alt_contactid'])('of ten inserts with one %s, one is OK and the others NOT_OK', async (name) => {
    const value = `once-${++serial}@home.example`
    const answers = await Promise.all(Array.from({ length: 10 }, () => edit('insert', needed({ [name]: value }))))

    const results = answers.map((xml) => (treeOf(xml) as { result: string }).result)
    expect(results.toSorted()).toEqual([...Array(9).fill('NOT_OK'), 'OK'])
    const [won] = answers.filter((xml) => xml.includes('>OK<'))
    const where = { storeId: shop.store.id, ...(name === 'email' ? { email: value } : { altContactId: value }) }
    const stored = await server.database.db.customer.findMany({ where })
    expect(stored.map(({ id }) => answer('OK', id, name === 'email' ? '' : value))).toEqual([won])
  })

  test('a delete and updates of one customer: each is OK or finds nobody', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await inserted()
      const updates = Array.from({ length: 4 }, (_, index) => edit('update', { contactid: id, comments: `${index}` }))
      const answers = await Promise.all([
        ...updates,
        edit('delete', { contactid: id }),
        edit('delete', { contactid: id }),
      ])

      for (const xml of answers) expect([answer('OK', id), noCustomer]).toContain(xml)
      expect(answers.slice(4).toSorted()).toEqual([noCustomer, answer('OK', id)].toSorted())
      expect((await shop.call('GET', `/Customers/${id}`)).statusCode).toBe(404)
    }
  })

  test('an update and a delete find nobody when a deletion comes between', async () => {
    for (const action of ['update', 'delete']) {
      const id = await inserted()
      const deletion = await hold(server, shop, (tx) => deleteRecord(tx, customers, id))
      const asked = edit(action, { contactid: id, comments: 'late' })
      await untilItWaits(server.database, asked)
      await deletion.commit()

      expect(await asked).toBe(noCustomer)
    }
  })

  test('updates of one customer’s different fields: none is lost', async () => {
    const id = await inserted()
    const names = ['billing_city', 'billing_state', 'comments', 'website', 'additional_field1', 'shipping_city']
    await Promise.all(names.map((name) => edit('update', { contactid: id, [name]: name })))

    expect(await recordOf(id)).toMatchObject({
      BillingCity: 'billing_city',
      BillingState: 'billing_state',
      Comments: 'comments',
      AdditionalField1: 'additional_field1',
      ShippingCity: 'shipping_city',
    })
    expect((await rowOf(id)).details).toMatchObject({ Website: 'website' })
  })
})

describe('what cartAPI alone knows of a customer', () => {
  const own = ['AltContactID', 'Website', 'LastLoginDate', 'LastUpdate', 'UserID', 'PasswordHash']

  test('REST neither shows nor takes, and leaves as it is', async () => {
    const id = await inserted({ alt_contactid: `ERP-${++serial}`, website: 'https://ada.example' })
    const before = await rowOf(id)
    const sent = Object.fromEntries(own.map((name) => [name, 'x']))
    const changed = await shop.call('PUT', `/Customers/${id}`, {
      body: { ...sent, Comments: 'by REST' },
      tolerated: true,
    })
    expect(changed.statusCode, changed.body).toBe(200)
    const body = { ...sent, Email: `rest-${++serial}@home.example`, Password: 'secret words' }
    const made = await shop.call('POST', '/Customers', { body, tolerated: true })

    expect(Object.keys(await recordOf(id)).filter((name) => own.includes(name))).toEqual([])
    const { altContactId, lastLoginAt, details, passwordHash } = await rowOf(id)
    expect({ altContactId, lastLoginAt, passwordHash }).toEqual({
      altContactId: before.altContactId,
      lastLoginAt: null,
      passwordHash: before.passwordHash,
    })
    expect(details).toMatchObject({ Website: 'https://ada.example', Comments: 'by REST' })
    const fresh = await rowOf(Number(made.json()[0].Value))
    expect([fresh.altContactId, fresh.lastLoginAt, fresh.details]).toEqual([null, null, {}])
  })

  test('goes along with an export and its import', async () => {
    const [source, target] = [await server.openStore(), await server.openStore()]
    const data = needed({ alt_contactid: 'ERP-1', website: 'https://ada.example' })
    const id = await inserted(data, source)
    const lastLoginAt = new Date('2026-02-03T04:05:06Z')
    await server.database.db.customer.updateMany({ where: { storeId: source.store.id }, data: { lastLoginAt } })
    const file = await exportOf(server, source)
    expect(linesOf(file).find(({ service }) => service === 'Customers')).toMatchObject({
      private: { AltContactID: 'ERP-1', Website: 'https://ada.example', LastLoginDate: '2026-02-02T23:05:06' },
    })

    expect((await importInto(server, target, file)).refused).toEqual([])
    expect(await rowOf(id, target)).toEqual({ ...(await rowOf(id, source)), storeId: target.store.id })
    expect(await edit('update', { alt_contactid: 'ERP-1' }, target)).toBe(answer('OK', id, 'ERP-1'))
  })

  test('an import refuses a second customer with one AltContactID by the field’s name', async () => {
    const target = await server.openStore()
    const line = (CustomerID: number) => ({
      service: 'Customers',
      record: { CustomerID },
      private: { AltContactID: 'ERP-1' },
    })
    const { refused } = await importInto(server, target, [line(1), line(2)])

    const message = 'AltContactID is already used by another Customer'
    expect(refused).toEqual([{ line: 2, service: 'Customers', id: '2', message }])
  })
})
