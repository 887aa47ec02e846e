import { beforeAll, describe, expect, test } from 'vitest'
import { customerValues } from '../../../../src/http/soap/records/customer.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { errorDocument, soapCall, type Tree, treeOf } from './support.ts'

// getCustomer and getCustomerCount (soap-cartapi §4.1, §4.2).

const server = await sharedServer()

let serial = 0

async function newCustomer(shop: TestStore, fields: object = {}): Promise<number> {
  const body = { Email: `customer-${++serial}@home.example`, Password: 'secret words', ...fields }
  return shop.add('/Customers', body)
}

async function newGroup(shop: TestStore, Name = `Group ${++serial}`): Promise<number> {
  return shop.add('/CustomerGroups', { Name })
}

/** A store with one customer, of whom every field has a value of its own. */
async function storeWithOne(options: { timeZone?: string } = {}) {
  const shop = await server.openStore(options)
  await newGroup(shop)
  const CustomerGroupID = await newGroup(shop)
  const id = await newCustomer(shop, { ...full, CustomerGroupID })
  const data = { lastLoginAt: new Date('2026-02-28T23:30:00Z'), updatedBy: 'Ada & <Bob>' }
  await server.database.db.customer.update({ where: { storeId_id: { storeId: shop.store.id, id } }, data })
  return { shop, id }
}

const full = {
  BillingCompany: 'Analytical & Sons <Ltd> ]]>',
  BillingFirstName: 'Ada “the first”',
  BillingLastName: 'Lovelace\r\nCountess',
  BillingAddress1: '12 St James’s Square',
  BillingAddress2: ' second floor ',
  BillingCity: 'London',
  BillingState: 'US-CA',
  BillingZipCode: '01234',
  BillingCountry: 'GB',
  BillingPhoneNumber: '+44 20 1234',
  BillingTaxID: 'GB 999',
  ShippingCompany: 'Engine works',
  ShippingFirstName: 'Charles',
  ShippingLastName: 'Babbage 😀',
  ShippingAddress1: '1 Dorset Street',
  ShippingAddress2: 'yard',
  ShippingCity: 'Marylebone',
  ShippingState: 'LND',
  ShippingZipCode: 'W1U 4EG',
  ShippingCountry: 'UK',
  ShippingPhoneNumber: '555-2',
  Enabled: true,
  MailList: true,
  NonTaxable: true,
  Comments: 'It\'s "so"\tgood',
  AdditionalField1: 'one',
  AdditionalField2: 'two',
  AdditionalField3: 'three',
}

type Page = Readonly<Record<string, string | number>>

async function getCustomers(shop: TestStore, page: Page = {}, version: '1.1' | '1.2' = '1.1'): Promise<string> {
  return soapCall(server, shop, 'getCustomer', { batchSize: 100, startNum: 1, ...page }, { version })
}

async function idsOf(shop: TestStore, page: Page = {}): Promise<number[]> {
  return idsIn(await getCustomers(shop, page))
}

function idsIn(xml: string): number[] {
  const { Customer } = treeOf(xml) as { Customer: Tree | Tree[] }
  return [Customer].flat().map((customer) => Number(valueAt(customer, 'CustomerID')))
}

function valueAt(tree: Tree, path: string): Tree | undefined {
  let value: Tree | Tree[] | undefined = tree
  for (const name of path.split('.')) value = (value as { [name: string]: Tree | Tree[] })[name]
  return value as Tree | undefined
}

const noCustomer = errorDocument(47, 'No Data Found')
const invalidData = errorDocument(43, 'Data Error')

describe('a customer', () => {
  const address = (of: 'Billing' | 'Shipping'): [path: string, field: string][] =>
    Object.entries({
      FirstName: 'FirstName',
      LastName: 'LastName',
      Address: 'Address1',
      Address2: 'Address2',
      City: 'City',
      StateCode: 'State',
      ZipCode: 'ZipCode',
      CountryCode: 'Country',
      Company: 'Company',
      Phone: 'PhoneNumber',
    }).map(([name, field]) => [`${of}Address.${name}`, `${of}${field}`])
  /** What getCustomer shows beside what REST says of the same record. */
  const equals: [path: string, field: string][] = [
    ['CustomerID', 'CustomerID'],
    ...address('Billing'),
    ['BillingAddress.Email', 'Email'],
    ...address('Shipping'),
    ['Comments', 'Comments'],
    ['AccountNumber', 'BillingTaxID'],
    ['MailList', 'MailList'],
    ['CustomerType', 'NonTaxable'],
    ['CustEnabled', 'Enabled'],
    ['AditionalFields.AdditionalField1', 'AdditionalField1'],
    ['AditionalFields.AdditionalField2', 'AdditionalField2'],
    ['AditionalFields.AdditionalField3', 'AdditionalField3'],
  ]

  test('has the name of its group, as REST’s group has it', async () => {
    const shop = await server.openStore()
    const names = ['Wholesale', 'New “customer” & <more>', '7']
    const groups: number[] = []
    for (const name of names) groups.push(await newGroup(shop, name))
    for (const [index, CustomerGroupID] of [...groups, 0, groups[1]].entries())
      await newCustomer(shop, { Email: `${index}@home.example`, CustomerGroupID })
    const { Customer } = treeOf(await getCustomers(shop)) as { Customer: Tree[] }

    expect(Customer.map((customer) => valueAt(customer, 'DiscountGroup'))).toEqual([...names, '', names[1]])
  })

  test('says of everything what REST says', async () => {
    const { shop, id } = await storeWithOne()
    const [record] = (await shop.call('GET', `/Customers/${id}`)).json()
    const { Customer } = treeOf(await getCustomers(shop)) as { Customer: Tree }

    for (const [path, field] of equals) {
      expect(valueAt(Customer, path), path).toBe(record[field] === true ? '1' : String(record[field]))
    }
    // Each of them has a value of its own, so that no two can be mistaken for one another.
    const flags = ['MailList', 'NonTaxable', 'Enabled']
    const values = equals.filter(([, field]) => !flags.includes(field)).map(([path]) => valueAt(Customer, path))
    expect(new Set(values).size).toBe(values.length)
    expect(values).not.toContain('')
  })

  test.each(['MailList', 'NonTaxable', 'Enabled'])('has its own 1 or 0 for %s', async (field) => {
    const shop = await server.openStore()
    const flags = { MailList: false, NonTaxable: false, Enabled: false, [field]: true }
    await newCustomer(shop, flags)
    const { Customer } = treeOf(await getCustomers(shop)) as { Customer: Tree }

    expect([
      valueAt(Customer, 'MailList'),
      valueAt(Customer, 'CustomerType'),
      valueAt(Customer, 'CustEnabled'),
    ]).toEqual(['MailList', 'NonTaxable', 'Enabled'].map((name) => (name === field ? '1' : '0')))
  })

  test('without values has empty elements, and no group', async () => {
    const shop = await server.openStore()
    const id = await newCustomer(shop, { Email: 'bare@home.example', Enabled: false })

    const nothing = (names: string) =>
      names
        .split(' ')
        .map((name) => `<${name}></${name}>`)
        .join('')
    const address = nothing('FirstName LastName Address Address2 City StateCode ZipCode CountryCode Company Phone')
    expect(await getCustomers(shop)).toBe(
      `<CustomersRequestResponse xmlns=""><Customer><CustomerID>${id}</CustomerID>` +
        `<UserID>${shop.caller.actor}</UserID>` +
        `<BillingAddress>${address}<Email>bare@home.example</Email></BillingAddress>` +
        `<ShippingAddress>${address}</ShippingAddress>` +
        nothing('Comments LastLoginDate WebSite DiscountGroup AccountNumber') +
        '<MailList>0</MailList><CustomerType>0</CustomerType><LastUpdate>3/10/2026 12:00:00 PM</LastUpdate>' +
        '<CustEnabled>0</CustEnabled>' +
        `<AditionalFields>${nothing('AdditionalField1 AdditionalField2 AdditionalField3')}</AditionalFields>` +
        '<AdditionalField4></AdditionalField4></Customer></CustomersRequestResponse>',
    )
  })

  test.each([
    { timeZone: 'America/New_York', LastLoginDate: '2/28/2026', LastUpdate: '3/10/2026 12:00:00 PM' },
    { timeZone: 'Asia/Tokyo', LastLoginDate: '3/1/2026', LastUpdate: '3/11/2026 1:00:00 AM' },
    // At midnight the day alone.
    { timeZone: 'Australia/Perth', LastLoginDate: '3/1/2026', LastUpdate: '3/11/2026' },
  ])('has its last editor, and the days of $timeZone where the store is there', async ({ timeZone, ...dates }) => {
    const { shop } = await storeWithOne({ timeZone })
    const { Customer } = treeOf(await getCustomers(shop)) as { Customer: Tree }

    expect(Customer).toMatchObject({ ...dates, UserID: 'Ada & <Bob>', AdditionalField4: '' })
  })

  test('shows nothing of the password, which is not even read', async () => {
    const { shop } = await storeWithOne()

    expect(await getCustomers(shop)).not.toMatch(/password|argon2|secret words/i)
    expect(customerValues.select).not.toContain('passwordHash')
  })
})

describe('a page', () => {
  test('behind the last customer, or of a store without one, is error 47', async () => {
    const shop = await server.openStore()
    expect(await getCustomers(shop)).toBe(noCustomer)

    await newCustomer(shop)
    expect(await getCustomers(shop, { startNum: 2 })).toBe(noCustomer)
    expect(await getCustomers(shop, { startNum: 2_147_483_647 })).toBe(noCustomer)
  })
})

describe('customersFilter', () => {
  let shop: TestStore
  let ada: number
  let bob: number
  let eve: number
  beforeAll(async () => {
    shop = await server.openStore()
    const person = (name: string, more: object) => newCustomer(shop, { Email: `${name}@home.example`, ...more })
    ada = await person('ada', {
      BillingFirstName: 'Ada',
      BillingLastName: 'Ångström',
      BillingCountry: 'GB',
      BillingState: 'LND',
      BillingCity: 'London',
      BillingPhoneNumber: '+44 20 1',
      // Of these nothing may be found.
      ShippingFirstName: 'Bob',
      ShippingCity: 'Margate',
    })
    bob = await person('bob', {
      BillingFirstName: 'Bob=1',
      BillingLastName: 'Brown',
      BillingCountry: 'US',
      BillingState: 'FL',
      BillingCity: 'Margate',
      BillingPhoneNumber: '555-1',
    })
    eve = await person('eve', {
      BillingFirstName: 'Adam',
      BillingLastName: 'Brown',
      BillingCountry: 'US',
      BillingState: 'CA',
      BillingPhoneNumber: '555-10',
    })
    const other = await server.openStore()
    await newCustomer(other, { Email: 'ada@home.example', BillingFirstName: 'Ada', BillingCity: 'London' })
  })

  test.each<[filter: string, names: string]>([
    ['firstname=Ada', 'ada'],
    ['lastname=Brown', 'bob eve'],
    ['email=bob@home.example', 'bob'],
    ['countrycode=US', 'bob eve'],
    ['statecode=FL', 'bob'],
    ['city=Margate', 'bob'],
    ['phone=555-1', 'bob'],
    ['', 'ada bob eve'],
    ['lastname=Brown,statecode=CA', 'eve'],
    [
      'firstname=Ada,lastname=Ångström,email=ada@home.example,countrycode=GB,statecode=LND,city=London,phone=+44 20 1',
      'ada',
    ],
    // Without regard to case, of names and of values.
    ['FirstName=ADA', 'ada'],
    ['LASTNAME=ÅNGSTRÖM', 'ada'],
    ['Email=EVE@Home.Example', 'eve'],
    ['countryCode=gb', 'ada'],
    ['stateCode=lnd', 'ada'],
    ['City=LONDON', 'ada'],
    // Blanks around, and nothing between two commas.
    ['  lastname = Brown , statecode=CA ', 'eve'],
    ['lastname=Brown,,statecode=CA,', 'eve'],
    // A value begins behind the first =.
    ['firstname=bob=1', 'bob'],
    // No value: those who have none.
    ['city=', 'eve'],
  ])('%s', async (customersFilter, names) => {
    const ids = { ada, bob, eve }
    expect(await idsOf(shop, { customersFilter })).toEqual(
      names.split(' ').map((name) => ids[name as keyof typeof ids]),
    )
  })

  test.each([
    'firstname=Ad',
    'firstname=da',
    'firstname=Ad_',
    'firstname=%',
    'city=Lond%',
    'lastname=Brown,statecode=LND',
    'countrycode=United Kingdom',
    "email=' or 1=1 --",
    'email=',
  ])('finds nobody by %s: error 47', async (customersFilter) => {
    expect(await getCustomers(shop, { customersFilter })).toBe(noCustomer)
  })

  test.each([
    ['an unknown name', 'company=Brown'],
    ['a name of REST', 'country=US'],
    ['a name that objects have', 'constructor=1'],
    ['a name twice', 'city=London,city=Margate'],
    ['a name twice in other letters', 'city=London,City=London'],
    ['a value with a comma', 'lastname=Brown, Junior'],
    ['a name alone', 'lastname'],
    ['no name', '=Brown'],
    ['more than 2,000 characters', `city=${'x'.repeat(1_996)}`],
  ])('with %s is error 43', async (_name, customersFilter) => {
    expect(await getCustomers(shop, { customersFilter })).toBe(invalidData)
  })

  test('may have 2,000 characters', async () => {
    expect(await getCustomers(shop, { customersFilter: `city=${'x'.repeat(1_995)}` })).toBe(noCustomer)
  })
})
