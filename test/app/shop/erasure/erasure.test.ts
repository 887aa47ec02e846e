import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FieldSet, ValueField } from '../../../../src/engine/definition/fields.ts'
import type { Resource } from '../../../../src/engine/definition/resource.ts'
import { Prisma } from '../../../../src/foundation/database/generated/client.ts'
import { servedResources, transferredResources } from '../../../../src/shop/registry.ts'
import { sharedServer } from '../../../support/store.ts'
import { markedLine, marks, PATTERN, type Wire } from './marked.ts'
import { plantCopies } from './planted.ts'
import { searchTables } from './search.ts'

const server = await sharedServer()

type Declared = Readonly<Record<string, Readonly<Record<string, string>>>>
const personal: { members: Declared; columns: Declared } = JSON.parse(
  readFileSync('src/shop/personal/personal.json', 'utf8'),
)
const namesIn = (declared: Declared) =>
  Object.entries(declared).flatMap(([at, treatments]) =>
    Object.values(treatments).flatMap((names) => names.split(' ').map((name) => `${at}.${name}`)),
  )
/** The members of an object have its name before theirs. */
const treatmentIn = (declared: Declared, path: string): string | undefined => {
  for (const [at, treatments] of Object.entries(declared)) {
    const of = Object.entries(treatments).find(([, names]) => names.split(' ').some((name) => `${at}.${name}` === path))
    if (of !== undefined) return of[0]
  }
  return undefined
}
const orderOf = async (id: number) => {
  const stored = await server.services.db.order.findFirstOrThrow({ where: { id: 40 } })
  return { ...stored, id, details: {} }
}
const definitions: readonly Resource[] = [...new Set<Resource>([...transferredResources, ...servedResources])]

describe('the table of what is personal', () => {
  test('declares each member of a definition once', () => {
    const membersOf = (at: string, { entries }: FieldSet, within = ''): string[] =>
      entries.flatMap(([name, field]) => {
        if (field.kind === 'list') return membersOf(`${at}.${within}${name}`, field.fields)
        return field.kind === 'object' ? membersOf(at, field.fields, `${within}${name}.`) : [`${at}.${within}${name}`]
      })
    const all = definitions.flatMap(({ service, storedFields }) => membersOf(service, storedFields))
    expect(namesIn(personal.members).sort()).toEqual(all.sort())
  })

  test('leaves nothing of what only those see who may read customers, and of no text of a customer', () => {
    const kept = ['Orders.CustomerID', 'Orders.BillingCountry', 'Customers.UserID']
    const isOfPerson = (at: string, { kind, needs }: ValueField) =>
      needs === 'Customers' || (at === 'Customers' && kind === 'text')
    const pathsIn = (at: string, { entries }: FieldSet, within = ''): string[] =>
      entries.flatMap(([name, field]) => {
        const path = `${at}.${within}${name}`
        if (field.kind === 'list') return pathsIn(path, field.fields)
        if (field.kind === 'object') return pathsIn(at, field.fields, `${within}${name}.`)
        return isOfPerson(at, field) ? [path] : []
      })
    const paths = definitions.flatMap(({ service, storedFields }) => pathsIn(service, storedFields))
    expect(paths.length).toBeGreaterThan(50)
    const left = paths.filter((path) => ['kept', 'other'].includes(String(treatmentIn(personal.members, path))))
    expect(left.sort()).toEqual(kept.sort())
  })

  test('declares each column once that no member is stored in', () => {
    const ofMembers = (table: string, { entries }: FieldSet): string[] =>
      entries.flatMap(([, field]) => {
        if (field.kind === 'list') return field.rows === undefined ? [] : ofMembers(field.rows.table, field.fields)
        if (field.kind === 'object') return ofMembers(table, field.fields)
        return field.column === undefined ? [] : [`${table}.${field.column}`]
      })
    const members = new Set(definitions.flatMap(({ table, storedFields }) => ofMembers(table, storedFields)))
    const columns = Object.values(Prisma.ModelName).flatMap((table) =>
      Object.values(Prisma[`${table}ScalarFieldEnum` as 'OrderScalarFieldEnum']).map((column) => `${table}.${column}`),
    )
    expect(namesIn(personal.columns).sort()).toEqual(columns.filter((column) => !members.has(column)).sort())
  })
})

describe('a person with a mark in every text', async () => {
  const shop = await server.openStore()
  const { id: storeId } = shop.store
  const erase = (query: string, body?: object) =>
    server.operate('POST', `/admin/stores/${storeId}/customers/12/erase${query}`, body)
  let before: Awaited<ReturnType<typeof searchTables>>
  const columnsWhere = (...treatments: string[]) =>
    namesIn(personal.columns).filter((path) => treatments.includes(treatmentIn(personal.columns, path) ?? ''))

  beforeAll(async () => {
    await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5 } })
    const customer = markedLine('Customers', { CustomerID: 12 })
    const {
      BillingFirstName: FirstName,
      BillingLastName: LastName,
      BillingAddress1: Address1,
    } = customer.record as Wire
    const order = markedLine('Orders', { OrderID: 40, CustomerID: 12, OrderStatusID: 1, InvoiceNumber: 1040 })
    const registry = markedLine('GiftRegistries', { GiftRegistryID: 5 })
    Object.assign(registry.record.CustomerAddressBook as Wire, { FirstName, LastName, Address1 })
    const lines = [customer, order, registry, markedLine('RMA', { RMAID: 3, OrderID: 40 })]
    const imported = await server.app.inject({
      method: 'POST',
      url: `/admin/stores/${storeId}/import`,
      headers: { authorization: `Bearer ${server.services.operatorKey}`, 'content-type': 'application/x-ndjson' },
      payload: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    })
    expect(imported.body).toContain('"stored":4')
    // Replaces what the history and the events then hold.
    await shop.call('PUT', '/Customers/12', { body: { BillingCity: 'Elsewhere' } })
    await shop.call('PUT', '/Orders/40', { body: { BillingCity: 'Elsewhere', InternalComments: '' } })
    await plantCopies(server, shop, { FirstName, LastName, Email: customer.record.Email } as never)
    before = await searchTables(server, PATTERN)
  })

  test('is found in every column that is declared to have something, and in no other', () => {
    const found = new Set([...before.keys()])
    const declared = columnsWhere('searched', 'logged', 'opened', 'keyed', 'members')
    const never = ['Erasure.wordsSealed']
    expect(declared.filter((column) => !found.has(column) && !never.includes(column))).toEqual([])
    const notPersonal = columnsWhere('other', 'staff')
    expect(notPersonal.filter((column) => found.has(column))).toEqual([])
  })

  test('is gone from all of them after the erasure that a dry run allowed', async () => {
    const dry = await erase('?dry=true')
    expect(dry.statusCode, dry.body).toBe(200)
    const { Confirm, ...goes } = dry.json()
    expect(goes).toMatchObject({ CustomerID: 12, Orders: [40], Returns: [3], GiftRegistries: [5] })
    expect(await searchTables(server, PATTERN)).toEqual(before)
    const done = await erase('', { Confirm })
    expect(done.statusCode, done.body).toBe(200)
    const after = await searchTables(server, PATTERN)
    const left = [...after].flatMap(([column, words]) =>
      [...words].flatMap((word) => {
        const path = marks.get(word) ?? ''
        const treatment = treatmentIn(personal.members, path)
        return treatment === 'kept' || treatment === 'other' ? [] : [`${column}: ${path} (${treatment})`]
      }),
    )
    expect(left).toEqual([])
    const [order] = (await shop.call('GET', '/Orders/40')).json()
    expect(order).toMatchObject({ InvoiceNumber: 1040, CustomerID: 12, BillingEmail: '', BillingFirstName: '', IP: '' })
    const { body } = await server.services.db.event.findFirstOrThrow({ where: { storeId, eventType: 29 } })
    expect(body).toBe('{"CustomerID":12}')
    expect(server.log.join('')).not.toMatch(new RegExp(PATTERN))
  })

  test('is not erased again by the same Confirm, and is told by number alone', async () => {
    const { Confirm } = (await erase('?dry=true')).json()
    await server.services.db.order.create({ data: await orderOf(41) })
    const stale = await erase('', { Confirm })
    expect([stale.statusCode, stale.body]).toEqual([409, expect.stringContaining('Look at them again')])
    expect((await erase('', {})).body).toContain('?dry=true')
    const [entry, ...others] = (await server.operate('GET', `/admin/stores/${storeId}/erasures`)).json()
    expect(others).toEqual([])
    expect(entry).toMatchObject({ CustomerID: 12, Orders: [40], Counts: { Orders: 1, Mails: 1, Session: 1 } })
  })
})
