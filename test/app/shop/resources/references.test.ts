import { beforeEach, describe, expect, test } from 'vitest'
import { deleteRecord, updateRecord } from '../../../../src/engine/changing/change.ts'
import { hasRows } from '../../../../src/engine/definition/fields.ts'
import type { Transaction } from '../../../../src/foundation/database/client.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { importInto, rowsOf } from '../../engine/transfer/fixture.ts'

// What docs/decisions/references.md says of each relation. That a record of every service loses what it refers to, and
// nothing else, is in the conformance suite.

const HOUR_MS = 3_600_000

let shop: TestStore

const server = await sharedServer()

beforeEach(async () => {
  shop = await server.openStore({ timeZone: 'UTC' })
})

/** A record of every service, with a reference of every kind; what is in the way of one test is not in that of another. */
const records = [
  line('Category', { CategoryID: 1, CategoryName: 'Above' }),
  line('Category', { CategoryID: 2, CategoryName: 'Below', CategoryParent: 1 }),
  line('Category', { CategoryID: 3, CategoryName: 'Bundles', OptionSetList: options([1, 4]) }),
  line('Manufacturers', { ManufacturerID: 1, ManufacturerName: 'Maker' }),
  line('Distributors', { DistributorID: 1, CompanyName: 'Carrier' }),
  line('CustomerGroups', { CustomerGroupID: 1, Name: 'Members' }),
  line('CustomerGroups', { CustomerGroupID: 2, Name: 'Insiders' }),
  line('Products', {
    ...named(1),
    ManufacturerID: 1,
    DistributorList: [{ DistributorID: 1 }],
    CategoryList: [{ CategoryID: 2 }],
    AdvancedOptionList: [{ AdvancedOptionCode: '7', AdvancedOptionStock: 3 }],
    RelatedProductList: related(1, 1, 2),
  }),
  line('Products', {
    ...named(2),
    CategoryList: [{ CategoryID: 1 }, { CategoryID: 3 }],
    RelatedProductList: related(10, 1, 4),
    UpSellingItemList: [{ UpSellingIndexID: 30, UpSellingItemID: 1 }],
    OptionSetList: options([4, 1]),
  }),
  line('Products', { ...named(3), AllowAccessCustomerGroupID: 2 }),
  line('Products', { ...named(4), RelatedProductList: related(20, 3) }),
  line('Customers', { CustomerID: 1, Email: 'one@mail.example', CustomerGroupID: 1 }),
  line('Customers', { CustomerID: 2, Email: 'two@mail.example', CustomerGroupID: 2 }),
  line('Orders', { OrderID: 1, CustomerID: 1, OrderStatusID: 4, OrderItemList: [sold(1), sold(4)] }),
  line('Orders', { OrderID: 2, CustomerID: 2, OrderStatusID: 4, OrderItemList: [sold(4)] }),
  line('GiftRegistries', { GiftRegistryID: 1, Name: 'Wedding', GiftRegistryItemList: [sold(1), sold(4)] }),
  line('GiftRegistries', { GiftRegistryID: 2, Name: 'Birth', GiftRegistryItemList: [sold(4)] }),
  line('RMA', { RMAID: 1, OrderID: 1, RMAItemList: [sold(1), sold(4)] }),
  line('RMA', { RMAID: 2, OrderID: 2, RMAItemList: [sold(4)] }),
]

test('every foreign key to records that can be deleted has a rule that is the database’s own, and every rule has a key', async () => {
  const keys = await server.database.db.$queryRawUnsafe<
    { table: string; column: string; target: string; rule: string }[]
  >(
    `SELECT c."conrelid"::regclass::text AS "table", c."confrelid"::regclass::text AS "target", a."attname" AS "column",
       CASE c."confdeltype" WHEN 'a' THEN 'refuse' ELSE 'clear' END AS "rule"
     FROM pg_constraint c JOIN pg_attribute a ON a."attrelid" = c."conrelid" AND a."attnum" = ANY (c."conkey")
     WHERE c."contype" = 'f' AND a."attname" <> 'storeId'`,
  )
  const unquoted = (name: string) => name.replaceAll('"', '')
  const relations = keys.flatMap(({ table, column, target, rule }) => {
    const owner = resources.find((each) => each.table === unquoted(target))
    const referring = ownerOf(unquoted(table), column)
    if (owner === undefined || referring === undefined || !owner.methods.some((method) => method === 'DELETE'))
      return []
    return [`${owner.service}: ${referring} ${rule}`]
  })

  const rules = resources.flatMap(({ service, referrers }) =>
    referrers.filter(({ without }) => !without).map(({ table, rule }) => `${service}: ${table} ${rule}`),
  )
  expect(relations.length).toBeGreaterThan(8)
  expect(rules.sort()).toEqual(relations.sort())
})

/** The table of the records whose column, or whose items' column, refers to others. */
function ownerOf(table: string, column: string): string | undefined {
  for (const resource of resources) {
    if (resource.table === table) return table
    const lists = resource.fields.entries.flatMap(([, field]) => (hasRows(field) ? [field.rows] : []))
    if (lists.some((rows) => rows.table === table && rows.parent !== column)) return resource.table
  }
  return undefined
}

describe('a deletion', () => {
  let other: TestStore

  beforeEach(async () => {
    other = await server.openStore({ timeZone: 'UTC' })
    for (const each of [shop, other]) expect((await importInto(server, each, records)).refused).toEqual([])
    server.clock.ms += HOUR_MS
  })

  test.each([
    ['/Category/2', ['Product 1']],
    ['/Category/3', ['Product 2']],
    ['/Manufacturers/1', ['Product 1']],
    ['/Distributors/1', ['Product 1']],
    ['/CustomerGroups/1', ['Customer 1']],
    ['/Customers/1', ['Order 1']],
    ['/Products/1', ['Category 3', 'GiftRegistry 1', 'Order 1', 'Product 2', 'Rma 1']],
    ['/Products/3', ['Product 4']],
  ])('of %s stamps %j, no other record, and none of another store', async (path, stamped) => {
    const others = await rowsOf(server, other)

    expect((await shop.call('DELETE', path)).statusCode).toBe(200)

    expect(await stampedNow()).toEqual(stamped)
    expect(await rowsOf(server, other)).toEqual(others)
  })

  test.each(['NO ACTION', 'RESTRICT'])('is refused for a foreign key without a rule too: %s', async (rule) => {
    const { db } = server.database
    await db.$executeRawUnsafe(`
      CREATE TABLE "Extra" ("storeId" int, "categoryId" int, CONSTRAINT "Extra_storeId_categoryId_fkey"
        FOREIGN KEY ("storeId", "categoryId") REFERENCES "Category" ("storeId", "id") ON DELETE ${rule})`)
    await db.$executeRawUnsafe(`INSERT INTO "Extra" VALUES (${shop.store.id}, 3)`)

    const answer = await shop.call('DELETE', '/Category/3')

    await db.$executeRawUnsafe('DROP TABLE "Extra"')
    const Message = 'This Category cannot be deleted: Extra records refer to it'
    expect(answer.json()).toEqual([{ Key: 'Error', Value: 'CategoryID', Status: '400', Message }])
  })

  async function stampedNow(): Promise<string[]> {
    return (await rowsOf(server, shop))
      .map((text) => ({ table: text.split(' ', 1)[0], row: JSON.parse(text.slice(text.indexOf('{'))) }))
      .filter(({ row }) => row.updatedAt?.startsWith(now()))
      .map(({ table, row }) => `${table} ${row.id}`)
      .sort()
  }
})

describe('a product that a body names', () => {
  let [first, second] = [0, 0]

  beforeEach(async () => {
    first = await shop.add('/Products', product('first'))
    second = await shop.add('/Products', product('second'))
  })

  test('must be there: 400 that names the field, on every way in, and nothing is changed', async () => {
    const other = await server.openStore()
    const foreign = 1000 + (await other.add('/Products', product('foreign')))
    await server.database.db.$executeRawUnsafe(
      `UPDATE "Product" SET "id" = $2::int WHERE "storeId" = $1::int`,
      other.store.id,
      foreign,
    )
    const category = await shop.add('/Category', { CategoryName: 'Bundles' })
    const items = [first, second, foreign].map((RelatedProductID) => ({ RelatedProductID }))
    await changed(`/Products/${first}`, { RelatedProductList: [{ RelatedProductID: second }] })
    const [{ RelatedIndexID }] = (await read(`/Products/${first}`)).RelatedProductList
    const before = await rowsOf(server, shop)

    for (const [method, path, body, field] of [
      [
        'POST',
        '/Category',
        { CategoryName: 'New', OptionSetList: options([77]) },
        'OptionSetList[0].OptionList[0].OptionBundleCatalogId',
      ],
      ['POST', '/Products', { ...product('new'), RelatedProductList: items }, 'RelatedProductList[2].RelatedProductID'],
      ['POST', `/Products/${first}/Related`, { RelatedProductID: 77 }, 'RelatedProductList[1].RelatedProductID'],
      [
        'PUT',
        `/Products/${first}/Related/${RelatedIndexID}`,
        { RelatedProductID: 77 },
        'RelatedProductList[0].RelatedProductID',
      ],
      [
        'POST',
        `/Category/${category}/Options`,
        options([77])[0],
        'OptionSetList[0].OptionList[0].OptionBundleCatalogId',
      ],
    ] as const) {
      const answer = await shop.call(method, path, { body })
      const Message = `${field} refers to a record that does not exist`
      expect({ method, path, status: answer.statusCode, items: answer.json() }).toEqual({
        method,
        path,
        status: 400,
        items: [{ Key: 'Error', Value: field, Status: '400', Message }],
      })
    }

    expect(await rowsOf(server, shop)).toEqual(before)
  })

  test('may be none, or the record itself, which then goes with itself', async () => {
    await changed(`/Products/${first}`, {
      RelatedProductList: [{ RelatedProductID: 0 }, { RelatedProductSorting: 1 }, { RelatedProductID: first }],
      OptionSetList: options([0, first]),
    })
    expect((await read(`/Products/${first}`)).RelatedProductList.map(idOf)).toEqual([0, 0, first])

    expect((await shop.call('DELETE', `/Products/${first}`)).statusCode).toBe(200)
    expect((await shop.call('GET', '/Products')).json()).toHaveLength(1)
  })

  test('may come later in an import, in a circle too', async () => {
    const lines = [
      line('Products', { ...named(50), RelatedProductList: related(50, 51) }),
      line('Products', { ...named(51), RelatedProductList: related(60, 50) }),
    ]
    expect((await importInto(server, shop, lines)).refused).toEqual([])
    expect((await read('/Products/50')).RelatedProductList.map(idOf)).toEqual([51])
  })

  test('and that an import did not bring is kept when the record is sent back; a change to another that is not there is not', async () => {
    const lines = [
      line('Products', { ...named(50), RelatedProductList: related(50, 900), OptionSetList: options([901]) }),
    ]
    await importInto(server, shop, lines)
    const before = await read('/Products/50')

    await changed('/Products/50', before)
    expect((await read('/Products/50')).RelatedProductList).toEqual(before.RelatedProductList)

    const body = { RelatedProductList: [{ RelatedIndexID: 50, RelatedProductID: 902 }] }
    expect((await shop.call('PUT', '/Products/50', { body })).statusCode).toBe(400)
  })

  test('and that an import did not bring has a number that no new product gets, and that does not use numbers up', async () => {
    const lines = [
      line('Category', { CategoryID: 9, CategoryName: 'Bundles', OptionSetList: options([300, 2_147_483_647]) }),
      line('Products', { ...named(50), RelatedProductList: related(50, 200) }),
    ]
    expect((await importInto(server, shop, lines)).refused).toEqual([])
    expect(await shop.add('/Products', product('next'))).toBe(301)

    await importInto(server, shop, [line('Products', { ...named(50), RelatedProductList: related(50, 400) })])
    expect(await shop.add('/Products', product('next but one'))).toBe(401)
  })
})

describe('many records that refer to one', () => {
  test('are named in a refusal, up to ten', async () => {
    const parent = await shop.add('/Category', { CategoryName: 'Above' })
    const ids: number[] = []
    for (const last of ['10', '11 and more', '12 and more']) {
      while (ids.length < Number.parseInt(last, 10)) {
        ids.push(await shop.add('/Category', { CategoryName: 'Below', CategoryParent: parent }))
      }
      const [{ Message }] = (await shop.call('DELETE', `/Category/${parent}`)).json()
      expect(Message).toMatch(
        new RegExp(`: CategoryParent of Category ${ids.slice(0, 10).join(', ')}${last.slice(2)}$`),
      )
    }
  })

  test('each lose it from their document', async () => {
    const count = 450
    const lines = Array.from({ length: count }, (_each, index) =>
      line('Products', { ...named(index + 2), RelatedProductList: related(2 * index + 1, 1, 2) }),
    )
    expect((await importInto(server, shop, [line('Products', named(1)), ...lines])).refused).toEqual([])
    server.clock.ms += HOUR_MS

    expect((await shop.call('DELETE', '/Products/1')).statusCode).toBe(200)

    const after = (await rowsOf(server, shop)).filter((row) => row.startsWith('Product '))
    expect(after).toHaveLength(count)
    expect(after.filter((row) => row.includes(`"updatedAt": "${now()}`))).toHaveLength(count)
    expect(
      after.filter((row) => row.includes('"RelatedProductID": 1}') || row.includes('"RelatedProductID": 1,')),
    ).toEqual([])
    expect(after.filter((row) => row.includes('"RelatedProductID": 2'))).toHaveLength(count)
  })

  // Of a store that PostgreSQL has not counted yet it believes that any index gives next to nothing. Orders times lines
  // takes minutes then; by the indexes of the references it is a blink.
  test('are found by an index, in a store that was just filled too', async () => {
    const { db } = server.database
    const counted = await server.openStore()
    await fillWithOrders(counted, 8_000)
    await db.$executeRawUnsafe('ANALYZE')
    await fillWithOrders(shop, 8_000)
    server.clock.ms += HOUR_MS

    expect((await shop.call('DELETE', '/Products/2')).statusCode).toBe(200)
    expect((await shop.call('DELETE', '/Customers/1')).statusCode).toBe(200)

    expect((await shop.call('GET', `/Orders?countonly=1&lastupdatestart=${now()}`)).json()).toEqual({ TotalCount: 3 })
  })

  /** Of the first product in every order two, of the second two pieces in all; the customer has one order. */
  async function fillWithOrders(each: TestStore, count: number): Promise<void> {
    const lines = [
      ...[1, 2].map((id) => line('Products', named(id))),
      line('Customers', { CustomerID: 1, Email: 'one@mail.example' }),
      line('Orders', { OrderID: 1, CustomerID: 1, OrderStatusID: 4, OrderItemList: [sold(1), sold(1)] }),
      ...[2, 3].map((OrderID) => line('Orders', { OrderID, OrderStatusID: 4, OrderItemList: [sold(2)] })),
    ]
    expect((await importInto(server, each, lines)).refused).toEqual([])
    const copy = (tx: Transaction, table: string, record: string, change: string) =>
      tx.$executeRawUnsafe(
        `INSERT INTO "${table}" SELECT (json_populate_record(t, json_build_object(${change}))).*
         FROM "${table}" t, generate_series(1, $2::int) n
         WHERE t."storeId" = $1::int AND t."${record}" = 1`,
        each.store.id,
        count,
      )
    await server.database.db.$transaction(
      async (tx) => {
        await copy(tx, 'Order', 'id', `'id', n + 3, 'customerId', NULL`)
        await copy(tx, 'OrderItem', 'orderId', `'id', t."id" + n * 10, 'orderId', n + 3`)
      },
      { timeout: 30_000 },
    )
  }
})

describe('at the same time', () => {
  test('a deletion waits for a change that names the record, and takes back what it wrote', async () => {
    const [named, naming] = [
      await shop.add('/Products', product('named')),
      await shop.add('/Products', product('naming')),
    ]
    const body = { RelatedProductList: [{ RelatedProductID: named }], OptionSetList: options([named]) }
    const held = await hold(server, shop, (tx) => updateRecord(tx, products, naming, body))

    const deletion = shop.call('DELETE', `/Products/${named}`)
    await untilItWaits(server.database, deletion)
    await held.commit()

    expect((await deletion).statusCode).toBe(200)
    const { RelatedProductList, OptionSetList } = await read(`/Products/${naming}`)
    expect(RelatedProductList).toEqual([])
    expect(OptionSetList[0].OptionList[0].OptionBundleCatalogId).toBe(0)
  })

  test('a change that names a record which is being deleted waits, and is refused', async () => {
    const [named, naming] = [
      await shop.add('/Products', product('named')),
      await shop.add('/Products', product('naming')),
    ]
    const category = await shop.add('/Category', { CategoryName: 'Bundles' })
    const held = await hold(server, shop, (tx) => deleteRecord(tx, products, named))

    const changes = [
      shop.call('PUT', `/Products/${naming}`, { body: { UpSellingItemList: [{ UpSellingItemID: named }] } }),
      shop.call('PUT', `/Category/${category}`, { body: { OptionSetList: options([named]) } }),
    ]
    for (const change of changes) await untilItWaits(server.database, change)
    await held.commit()

    for (const change of changes) expect((await change).statusCode).toBe(400)
    expect((await read(`/Products/${naming}`)).UpSellingItemList).toEqual([])
  })

  test('what refers is stamped with the time at which its lock was had, and LastUpdate never goes back', async () => {
    const maker = await shop.add('/Manufacturers', { ManufacturerName: 'Maker' })
    const id = await shop.add('/Products', { ...product('made'), ManufacturerID: maker })
    await importInto(server, shop, [
      line('Products', { ...named(70), ManufacturerID: maker, LastUpdate: '2031-01-01T00:00:00' }),
    ])
    const held = await hold(server, shop, (tx) => updateRecord(tx, products, id, { MFGID: 'M' }))

    const deletion = shop.call('DELETE', `/Manufacturers/${maker}`)
    await untilItWaits(server.database, deletion)
    server.clock.ms += HOUR_MS
    await held.commit()

    expect((await deletion).statusCode).toBe(200)
    expect(await read(`/Products/${id}`)).toMatchObject({ ManufacturerID: 0, MFGID: 'M', LastUpdate: now() })
    expect(await read('/Products/70')).toMatchObject({ ManufacturerID: 0, LastUpdate: '2031-01-01T00:00:00' })
  })

  test('records that all name one another are all deleted, at once', async () => {
    const ids: number[] = []
    for (let each = 0; each < 8; each++) ids.push(await shop.add('/Products', product(`tied ${each}`)))
    const all = { RelatedProductList: ids.map((RelatedProductID) => ({ RelatedProductID })) }
    for (const id of ids) await changed(`/Products/${id}`, all)

    const answers = await Promise.all(ids.map((id) => shop.call('DELETE', `/Products/${id}`)))

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(ids.map(() => 200))
  })

  test('changes and deletions, many of each, leave no number that nothing has', async () => {
    const ids: number[] = []
    for (let each = 0; each < 12; each++) ids.push(await shop.add('/Products', product(`busy ${each}`)))
    const idAt = (place: number) => ids[place % ids.length] as number
    // Neither of the two is deleted, and whatever else becomes of the list, it keeps this one.
    const kept = { RelatedProductList: [{ RelatedProductID: idAt(2) }] }
    await shop.call('PUT', `/Products/${idAt(1)}`, { body: kept })

    const answers = await Promise.all(
      ids.flatMap((id, place) => [
        shop.call('PUT', `/Products/${id}`, {
          body: { RelatedProductList: [1, 2, 5].map((step) => ({ RelatedProductID: idAt(place + step) })) },
        }),
        ...(place % 3 === 0 ? [shop.call('DELETE', `/Products/${idAt(place + 3)}`)] : []),
        shop.call('POST', `/Products/${id}/UpSelling`, { body: { UpSellingItemID: idAt(place + 7) } }),
      ]),
    )

    for (const { statusCode } of answers) expect([200, 201, 400, 404]).toContain(statusCode)
    const left = (await shop.call('GET', '/Products?limit=100')).json()
    const there = left.map(({ SKUInfo }: Wire) => (SKUInfo as Wire).CatalogID)
    const names = left.flatMap(({ RelatedProductList, UpSellingItemList }: Wire) => [
      ...(RelatedProductList as Wire[]).map(idOf),
      ...(UpSellingItemList as Wire[]).map(({ UpSellingItemID }) => UpSellingItemID),
    ])
    expect(there).toHaveLength(8)
    expect(names.filter((id: unknown) => !there.includes(id))).toEqual([])
    expect(names).toContain(idAt(2))
  })
})

type Wire = Record<string, unknown>

function line(service: string, record: object) {
  return { service, record }
}

function named(id: number) {
  return { SKUInfo: { CatalogID: id, SKU: `GOOD-${id}`, Name: `Product ${id}` } }
}

function product(sku: string) {
  return { SKUInfo: { SKU: sku, Name: sku } }
}

/** Related products, their items numbered from `first` on. */
function related(first: number, ...ids: number[]) {
  return ids.map((RelatedProductID, index) => ({
    RelatedIndexID: first + index,
    RelatedProductID,
    RelatedProductSorting: 5,
  }))
}

/** A set for each list of products, with an option for each of them. */
function options(...sets: number[][]) {
  return sets.map((bundled) => ({
    OptionSetName: 'Extras',
    OptionList: bundled.map((OptionBundleCatalogId) => ({
      OptionName: 'Extra',
      OptionValue: 2.5,
      OptionBundleCatalogId,
    })),
  }))
}

function sold(CatalogID: number) {
  return { CatalogID, SKU: `GOOD-${CatalogID}`, ItemID: `GOOD-${CatalogID}`, ItemQuantity: 2, ItemName: 'Sold' }
}

function idOf({ RelatedProductID }: Wire): unknown {
  return RelatedProductID
}

/** The present as the stores of these tests write it. */
function now(): string {
  return new Date(server.clock.ms).toISOString().slice(0, 19)
}

async function changed(path: string, body: object): Promise<void> {
  const answer = await shop.call('PUT', path, { body })
  expect(answer.statusCode, answer.body).toBe(200)
}

async function read(path: string) {
  const answer = await shop.call('GET', path)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()[0]
}
