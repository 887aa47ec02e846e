import { beforeEach, expect, test } from 'vitest'
import { testPerson } from '../../../support/person.ts'
import { developerIn, operatorIn } from '../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { freshEmail, mailTo, memberWith, password, type TestMember } from './fixture.ts'

// What the people of a store are called, where their e-mail addresses stand otherwise.

let shop: TestStore
let owner: TestMember

const server = await sharedServer()
beforeEach(async () => {
  server.clock.ms += 86_400_000
  shop = await server.openStore()
  owner = await memberWith(server, shop, 'owner')
})

const nameIn = (by: Pick<TestMember, 'person'>, Name: string) =>
  by.person.submit('/admin/account', { Name }, { action: '/admin/account/name' })

const count = (body: string, text: string) => body.split(text).length - 1

test('a name stands for its person in histories, notes, movements and imports, with the address once, and REST shows the address', async () => {
  expect((await nameIn(owner, ' Ada <Byron> ')).statusCode).toBe(303)
  const id = await shop.add('/Customers', { Email: 'bob@home.example', Password: 'a password of bob' })
  const customer = `/admin/customers/${id}`
  for (const Note of ['one', 'two']) await owner.person.submit(customer, { Note }, { action: `${customer}/notes` })
  const edit = `${customer}/edit?section=billing-address`
  for (const BillingCity of ['Rome', 'Oslo']) {
    server.clock.ms += 60_000
    await owner.person.submit(edit, { ...(await owner.person.formOf(edit)), BillingCity })
  }
  const named = `Ada &lt;Byron&gt; (${owner.email})`
  for (const address of [`${customer}/history`, '/admin/history']) {
    const { body } = await owner.person.open(address)
    expect([address, count(body, named), count(body, 'Ada &lt;Byron&gt;')]).toEqual([address, 1, 2])
  }
  const { body } = await owner.person.open(customer)
  expect(body).toMatch(/two[\s\S]*Ada &lt;Byron&gt; \([\s\S]*one[\s\S]*Ada &lt;Byron&gt;, /)
  expect((await owner.person.open('/admin/people')).body).toContain(`<bdi>${named}</bdi>`)
  const product = await shop.add('/Products', { SKUInfo: { SKU: 'L-1', Name: 'Lamp' } })
  const stock = `/admin/products/${product}/stock`
  await owner.person.submit(stock, { Cause: 'adjust', Quantity: '1', Note: 'found' })
  const choosing = { action: '/admin/products/bulk?' }
  const { headers } = await owner.person.submit('/admin/products', { ids: String(product) }, choosing)
  const imported = String(headers.location).replace('/change', '')
  for (const address of [stock, '/admin/csv', imported]) {
    expect([address, count((await owner.person.open(address)).body, named)]).toEqual([address, 1])
  }
  const maker = { ManufacturerName: 'Lamps' }
  await owner.person.submit('/admin/manufacturers/new', maker, { action: '/admin/manufacturers' })
  const [{ UserID }] = (await shop.call('GET', '/Manufacturers')).json()
  expect(UserID).toBe(owner.email)

  const other = await memberWith(server, shop, 'manager')
  await nameIn(other, 'Ada <Byron>')
  expect(count((await owner.person.open(`${customer}/history`)).body, named)).toBe(2)
  await nameIn(owner, '')
  expect(count((await owner.person.open(`${customer}/history`)).body, '&lt;Byron&gt;')).toBe(0)
})

test('an invitation is of somebody with a name, and who accepts it as new gives one', async () => {
  await nameIn(owner, 'Ada Byron')
  const email = freshEmail()
  const form = { action: '/admin/people/invitations' }
  await owner.person.submit('/admin/people', { Email: email, Role: 'orders', HandOver: [] }, form)
  const mail = await mailTo(server, email)
  const by = `Ada Byron (${owner.email})`
  expect(mail?.text).toContain(`${by} invites you`)
  const link = mail?.link ?? ''
  const person = testPerson(server.app)
  expect((await person.open(link)).body).toContain(`<bdi>${by}</bdi>`)
  const joining = { Name: 'Bob', Password: password }
  await person.submit(link, joining, { action: '/admin/invitations' })
  expect((await person.formOf('/admin/account', '/admin/account/name')).Name).toBe('Bob')
})

test('a name is one line without an address, and people of all areas have one', async () => {
  for (const Name of ['x'.repeat(101), 'two\nlines', 'owner@shop.example', 'A\u202eB']) {
    const answer = await nameIn(owner, Name)
    expect([answer.statusCode, answer.body.includes('id="Name-problem"')]).toEqual([400, true])
  }
  for (const [area, person] of [
    ['/developers', await developerIn(server)],
    ['/operator', await operatorIn(server)],
  ] as const) {
    await person.submit(`${area}/account`, { Name: 'Cy' }, { action: `${area}/account/name` })
    expect((await person.formOf(`${area}/account`, `${area}/account/name`)).Name).toBe('Cy')
  }
})
