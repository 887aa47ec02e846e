import { beforeEach, describe, expect, test } from 'vitest'
import type { TransferLine } from '../../../../src/engine/transfer/import.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { exportOf, importInto, linesOf, operator, rowsOf } from './fixture.ts'

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

describe('a line that cannot be taken is reported with its number and reason, and the others are stored', () => {
  test.each<{ name: string; line: object | string; service?: string; id?: string; message: string | RegExp }>([
    { name: 'broken JSON', line: '{"service": "Products", "rec', message: 'The line is not valid JSON' },
    { name: 'not an object', line: '[1]', message: 'The line must be an object with service and record' },
    {
      name: 'an unknown service',
      line: { service: 'Prodcts', record: {} },
      service: 'Prodcts',
      message:
        /^service "Prodcts" is not one of PaymentMethods, ReturnReasons, ReturnMethods, ReturnStatuses, Category, /,
    },
    {
      name: 'no service',
      line: { record: {} },
      message: /^service must be one of PaymentMethods, ReturnReasons, ReturnMethods, ReturnStatuses, Category, /,
    },
    { name: 'no record', line: { service: 'Products' }, service: 'Products', message: /^record must be an object/ },
    {
      name: 'private that is no object',
      line: { ...customer(7), private: [] },
      ...of('Customers', 7),
      message: 'private must be an object with fields',
    },
    {
      name: 'no id',
      line: { service: 'Customers', record: {} },
      service: 'Customers',
      message: 'CustomerID must be a whole number from 1 to 2146483647',
    },
    {
      name: 'a product without SKU, which is more likely a part of one',
      line: { service: 'Products', record: { SKUInfo: { CatalogID: 7, Stock: 3 } } },
      ...of('Products', 7),
      message: 'SKUInfo.SKU is required and must not be empty',
    },
    {
      name: 'a wrong value in a list',
      line: order(7, { OrderItemList: [{ ItemIndexID: 1 }, { ItemIndexID: 2, ItemQuantity: 'many' }] }),
      ...of('Orders', 7),
      message: /^OrderItemList\[1\]\.ItemQuantity must be a number/,
    },
    {
      name: 'a negative id in a list',
      line: order(7, { OrderItemList: [{ ItemIndexID: -1 }] }),
      ...of('Orders', 7),
      message: 'OrderItemList[0].ItemIndexID must be from 1 to 2146483647, or 0 for a new id',
    },
    {
      name: 'an id that a list has twice',
      line: order(7, { OrderItemList: [{ ItemIndexID: 5 }, { ItemIndexID: 5 }] }),
      ...of('Orders', 7),
      message: 'OrderItemList[1].ItemIndexID 5 is in the list twice',
    },
    {
      name: 'a password hash of another kind',
      line: customer(7, {}, { PasswordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
      ...of('Customers', 7),
      message: /^PasswordHash must be an argon2id hash/,
    },
    {
      name: 'a password in clear',
      line: customer(7, { Password: 'secret' }),
      ...of('Customers', 7),
      message: 'Password cannot be imported: leave it out',
    },
    {
      name: 'a SKU of another product, in other letters',
      line: product(7, { SKUInfo: { CatalogID: 7, SKU: 'good-1', Name: 'Thief' } }),
      ...of('Products', 7),
      message: 'SKUInfo.SKU is already used by another Product',
    },
    {
      name: 'an item of another order',
      line: order(7, { OrderItemList: [{ ItemIndexID: 501 }] }),
      ...of('Orders', 7),
      message: 'OrderItemList has an id that an item of another Order has',
    },
    {
      name: 'a reference to a record that is nowhere',
      line: product(7, { ManufacturerID: 77 }),
      ...of('Products', 7),
      message: 'ManufacturerID 77 refers to a record that does not exist',
    },
    {
      name: 'a reference in a list to a record that is nowhere',
      line: product(7, { CategoryList: [{ CategoryID: 78 }] }),
      ...of('Products', 7),
      message: 'CategoryList.CategoryID 78 refers to a record that does not exist',
    },
    {
      name: 'a status that the store does not have',
      line: order(7, { OrderStatusID: 99 }),
      ...of('Orders', 7),
      message: 'OrderStatusID 99 is not an order status of this store',
    },
    {
      name: 'more movements of a product that is not there',
      line: { ...product(7), private: { StockMovements: [{ Cause: 'set' }] }, continues: 1000 },
      ...of('Products', 7),
      message: 'There is no Product 7 to continue',
    },
    {
      name: 'more of what a service does not have',
      line: { ...customer(7), continues: 1000 },
      ...of('Customers', 7),
      message: 'continues does not occur here (Customers)',
    },
    {
      name: 'hidden columns that do not fit their list',
      line: { ...order(7), private: { Rows: { OrderItemList: [{ optionCode: '4' }] } } },
      ...of('Orders', 7),
      message: 'Rows.OrderItemList must be a list of 0, as OrderItemList is',
    },
  ])('$name', async ({ line, service = '', id = '', message }) => {
    const good = [
      product(1),
      customer(1, { Email: 'one@mail.example' }),
      order(1, { OrderItemList: [{ ItemIndexID: 501 }] }),
    ]
    const { counts, refused } = await importInto(server, shop, [...good, '', line, product(2)])
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(refused).toEqual([{ line: 5, service, id, message: expected }])
    expect(counts).toEqual({ lines: 5, stored: 4, refused: 1, passed: 0 })
    expect(await namesOf('Products')).toEqual(['Product 1', 'Product 2'])
    expect((await shop.call('GET', '/Orders/7')).statusCode).toBe(404)
  })

  test('a line that is not UTF-8, and one that is longer than 10 MB', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(product(1))}\n`),
      Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]),
      Buffer.alloc(10 * 1024 * 1024 + 1, 0x20),
      Buffer.from(`\n${JSON.stringify(product(2))}`),
    ])
    const { counts, refused } = await importInto(server, shop, bytes)
    expect(refused.map(({ line, message }) => [line, message])).toEqual([
      [2, 'The line is not valid UTF-8'],
      [3, 'The line is longer than 10485760 bytes'],
    ])
    expect(counts).toEqual({ lines: 4, stored: 2, refused: 2, passed: 0 })
  })

  test('some bad ones among thousands', async () => {
    const lines = Array.from({ length: 1200 }, (_value, index) => product(index + 1))
    const thief = (id: number) => product(id, { SKUInfo: { CatalogID: id, SKU: 'GOOD-1', Name: 'Thief' } })
    const { counts, refused } = await importInto(server, shop, lines.with(299, thief(300)).with(899, thief(900)))
    expect(refused.map(({ line, id }) => [line, id])).toEqual([
      [300, '300'],
      [900, '900'],
    ])
    expect(counts).toEqual({ lines: 1200, stored: 1198, refused: 2, passed: 0 })
    expect(await countOf('Products')).toBe(1198)
  })

  test('an end line that counts more records than there are', async () => {
    const { counts, refused } = await importInto(server, shop, [product(1), { end: { records: 2 } }])
    expect(refused).toEqual([
      { line: 2, service: '', id: '', message: 'The file ends with 2 records by its own account, and has 1' },
    ])
    expect(counts).toEqual({ lines: 1, stored: 1, refused: 1, passed: 0 })
  })
})

describe('references', () => {
  test('may point forwards, over any number of lines', async () => {
    const filler = Array.from({ length: 600 }, (_value, index) => manufacturer(1_000 + index))
    const lines = [
      order(1, { CustomerID: 5, OrderItemList: [{ CatalogID: 6 }] }),
      product(6, { ManufacturerID: 7, CategoryList: [{ CategoryID: 2 }], DistributorList: [{ DistributorID: 8 }] }),
      customer(5, { CustomerGroupID: 9 }),
      { service: 'CustomerGroups', record: { CustomerGroupID: 9, Name: 'Late' } },
      ...filler,
      { service: 'Distributors', record: { DistributorID: 8, CompanyName: 'Late' } },
      manufacturer(7),
      category(3),
      category(2, 3),
    ]
    const { refused } = await importInto(server, shop, [...lines, { end: { records: lines.length } }])
    expect(refused).toEqual([])
    const [found] = (await shop.call('GET', '/Products/6')).json()
    expect([found.ManufacturerName, found.CategoryList[0].CategoryID]).toEqual(['Maker 7', 2])
    const [sold] = (await shop.call('GET', '/Orders/1')).json()
    expect([sold.CustomerID, sold.OrderItemList[0].CatalogID]).toEqual([5, 6])
  })

  test('among records of one service may point forwards, in any order', async () => {
    // Longer than a batch, every one before its parent.
    const chain = Array.from({ length: 1100 }, (_value, index) => category(index + 1, index + 2))
    const { counts, refused } = await importInto(server, shop, [...chain, category(1101)])
    expect(refused).toEqual([])
    expect(counts.stored).toBe(1101)
    expect((await shop.call('GET', '/Category/550')).json()[0].CategoryParent).toBe(551)
  })

  test('to what was refused are refused with it', async () => {
    const { refused } = await importInto(server, shop, [category(1, 2), category(2, 3), category(4)])
    expect(refused.map(({ line, message }) => [line, message])).toEqual([
      [1, 'CategoryParent 2 refers to a record that does not exist'],
      [2, 'CategoryParent 3 refers to a record that does not exist'],
    ])
    expect(await countOf('Category')).toBe(1)
  })

  test('to another store’s records are refused', async () => {
    const other = await server.openStore()
    await importInto(server, other, [manufacturer(70)])
    const { refused } = await importInto(server, shop, [product(1, { ManufacturerID: 70 })])
    expect(refused.map(({ message }) => message)).toEqual(['ManufacturerID 70 refers to a record that does not exist'])
  })
})

describe('a record that is there', () => {
  test('becomes exactly the given one, its lists too', async () => {
    const full = product(1, {
      MFGID: 'M',
      Weight: 3,
      FeatureList: [{ FeatureID: 3, FeatureTitle: 'F' }],
      AdvancedOptionList: [{ AdvancedOptionCode: '1' }, { AdvancedOptionCode: '2' }],
    })
    const first = await importInto(server, shop, [full, order(1, { OrderItemList: [{ ItemIndexID: 1 }] })])
    expect(first.refused).toEqual([])
    await importInto(server, shop, [product(1, { Height: 4 }), order(1)])

    const other = await server.openStore()
    await importInto(server, other, [product(1, { Height: 4 }), order(1)])
    expect(await rowsOf(server, shop)).toEqual(await rowsOf(server, other))
  })

  test('keeps the ids of list items that the file does not number', async () => {
    const lines = [
      product(1, {
        FeatureList: [{ FeatureTitle: 'A' }, { FeatureTitle: 'B' }],
        OptionSetList: [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'S' }, { OptionName: 'L' }] }],
        EProductList: [{ FilePath: 'a' }, { FilePath: 'b' }],
      }),
      order(1, { ShipmentList: [{ ShipmentID: 0 }], OrderItemList: [{}, { ItemIndexID: 900 }, {}] }),
    ]
    await importInto(server, shop, lines)
    const before = await rowsOf(server, shop)
    expect((await importInto(server, shop, lines)).refused).toEqual([])
    expect(await rowsOf(server, shop)).toEqual(before)
  })

  test('may give its SKU to another one, whatever their order', async () => {
    const named = (id: number, sku: string) => product(id, { SKUInfo: { CatalogID: id, SKU: sku, Name: sku } })
    await importInto(server, shop, [named(1, 'A'), named(2, 'B')])
    const { refused } = await importInto(server, shop, [named(1, 'B'), manufacturer(1), named(2, 'C')])
    expect(refused).toEqual([])
    expect(await namesOf('Products')).toEqual(['B', 'C'])
  })

  test('may give an item to another one, whatever their order', async () => {
    const items = (...ids: number[]) => ({ OrderItemList: ids.map((ItemIndexID) => ({ ItemIndexID })) })
    await importInto(server, shop, [order(1, items(1, 2)), order(2, items(3))])
    const { refused } = await importInto(server, shop, [order(2, items(2, 3)), manufacturer(1), order(1, items(1))])
    expect(refused).toEqual([])
    const [second] = (await shop.call('GET', '/Orders/2')).json()
    expect(second.OrderItemList.map((item: { ItemIndexID: number }) => item.ItemIndexID)).toEqual([2, 3])
  })

  test('is the last of several of one id in a file', async () => {
    const named = (name: string) => product(1, { SKUInfo: { CatalogID: 1, SKU: 'S', Name: name } })
    const { counts } = await importInto(server, shop, [named('first'), named('second'), named('third')])
    expect(counts).toEqual({ lines: 3, stored: 3, refused: 0, passed: 0 })
    expect(await namesOf('Products')).toEqual(['third'])
  })
})

describe('nothing but the record changes', () => {
  test('an order moves no stock, and stocks that come without movements get one each', async () => {
    const withStock = (stock: number) => product(1, { SKUInfo: { CatalogID: 1, SKU: 'S', Name: 'S', Stock: stock } })
    await importInto(server, shop, [withStock(10), order(1, { OrderItemList: [{ CatalogID: 1, ItemQuantity: 4 }] })])
    expect((await shop.call('GET', '/Products/1')).json()[0].SKUInfo.Stock).toBe(10)
    await importInto(server, shop, [withStock(3)])
    expect((await shop.call('GET', '/Products/1')).json()[0].SKUInfo.Stock).toBe(3)
    const moved = await server.database.db.stockMovement.findMany({
      where: { storeId: shop.store.id },
      orderBy: { id: 'asc' },
    })
    expect(moved.map(({ quantity, stockAfter, cause }) => [Number(quantity), Number(stockAfter), cause])).toEqual([
      [10, 10, 'initial'],
      [-7, 3, 'set'],
    ])
  })

  test('the movements of a product stay when the line brings none, and become those that it brings', async () => {
    const movement = (Quantity: number) => ({ Quantity, StockAfter: Quantity, Cause: 'set' })
    const withStock = product(1, { SKUInfo: { CatalogID: 1, SKU: 'S', Name: 'S', Stock: 6 } })
    const bringing = (StockMovements: object[]) => ({ ...withStock, private: { StockMovements } })
    const quantities = async () => {
      const found = await server.database.db.stockMovement.findMany({
        where: { storeId: shop.store.id },
        orderBy: { id: 'asc' },
      })
      return found.map(({ quantity }) => Number(quantity))
    }
    await importInto(server, shop, [bringing([movement(1), movement(2), movement(3)])])
    await importInto(server, shop, [withStock])
    expect(await quantities()).toEqual([1, 2, 3])
    await importInto(server, shop, [bringing([movement(4)])])
    expect(await quantities()).toEqual([4])
    const more = { ...bringing([movement(5), movement(6)]), continues: 1 }
    for (let time = 1; time <= 2; time++) {
      expect((await importInto(server, shop, [more])).refused).toEqual([])
      expect(await quantities()).toEqual([4, 5, 6])
    }
  })

  test('customers need neither e-mail nor password, and any number may have none', async () => {
    const { refused } = await importInto(server, shop, [customer(1), customer(2), customer(3, { Email: '' })])
    expect(refused).toEqual([])
    expect(await countOf('Customers')).toBe(3)
  })
})

describe('ids given out later', () => {
  test('lie above every imported id, in records and in lists', async () => {
    const { refused } = await importInto(server, shop, [
      product(4_000, { FeatureList: [{ FeatureID: 90_000 }] }),
      order(5_000, { InvoiceNumber: 6_000, OrderItemList: [{ ItemIndexID: 70_000 }] }),
    ])
    expect(refused).toEqual([])
    const body = { SKUInfo: { SKU: 'N', Name: 'N', Stock: 5 }, FeatureList: [{ FeatureTitle: 'new' }] }
    const created = await shop.call('POST', '/Products', { body })
    expect(created.json()[0].Value).toBe('4001')
    const [record] = (await shop.call('GET', '/Products/4001')).json()
    expect(record.FeatureList[0].FeatureID).toBe(90_001)

    const placed = await server.operate('POST', `/admin/stores/${shop.store.id}/orders`, {
      BillingEmail: 'g@mail.example',
      OrderItemList: [{ CatalogID: 4001, ItemQuantity: 1 }],
    })
    expect(placed.json()[0].Value).toBe('5001')
    const [order5001] = (await shop.call('GET', '/Orders/5001')).json()
    expect(order5001.InvoiceNumber).toBe(6_001)
    expect(order5001.OrderItemList[0].ItemIndexID).toBeGreaterThan(90_001)
  })

  test('an id that comes along without one is above all that came before it', async () => {
    await importInto(server, shop, [
      order(1, { ShipmentList: [{ ShipmentID: 40 }, { ShipmentID: 41 }] }),
      order(2, { ShipmentList: [{ ShipmentID: 0 }] }),
    ])
    const rows = await server.database.db.orderShipment.findMany({ where: { storeId: shop.store.id, orderId: 2 } })
    expect(rows.map(({ id }) => id)).toEqual([42])
  })
})

describe('the form of a file', () => {
  test('blank lines, CRLF, a byte order mark and any case of names are taken', async () => {
    const text = `\uFEFF\r\n  \n${JSON.stringify(product(1)).replace('Products', 'PRODUCTS').replace('CatalogID', 'catalogid')}\r\n\n${JSON.stringify({ ...category(3), service: 'categories' })}`
    expect((await importInto(server, shop, text)).counts).toEqual({ lines: 2, stored: 2, refused: 0, passed: 0 })
  })

  test('an empty file is an import of nothing', async () => {
    expect((await importInto(server, shop, '')).counts).toEqual({ lines: 0, stored: 0, refused: 0, passed: 0 })
  })

  test('several exports, one behind the other, are one import', async () => {
    const other = await server.openStore()
    await importInto(server, shop, [manufacturer(1)])
    await importInto(server, other, [manufacturer(2)])
    const both = (await exportOf(server, shop)) + (await exportOf(server, other))
    const third = await server.openStore()
    const { counts } = await importInto(server, third, both)
    expect(counts).toEqual({ lines: linesOf(both).length - 2, stored: linesOf(both).length - 2, refused: 0, passed: 0 })
  })
})

describe('at once', () => {
  test('two imports of one file into one store leave what one would', async () => {
    const lines = [
      ...Array.from({ length: 700 }, (_value, index) => category(index + 1, index > 0 ? index : undefined)),
      ...Array.from({ length: 300 }, (_value, index) =>
        order(index + 1, { OrderItemList: [{}, {}], ShipmentList: [{ ShipmentID: 0 }] }),
      ),
    ]
    const answers = await Promise.all([importInto(server, shop, lines), importInto(server, shop, lines.toReversed())])
    expect(answers.map(({ refused }) => refused)).toEqual([[], []])
    expect([await countOf('Category'), await countOf('Orders')]).toEqual([700, 300])
    expect(await server.database.db.orderItem.count({ where: { storeId: shop.store.id } })).toBe(600)
    expect(await server.database.db.orderShipment.count({ where: { storeId: shop.store.id } })).toBe(300)
  })

  test('a record that is changed during an import is the one or the other, whole', async () => {
    const lines = Array.from({ length: 50 }, (_value, index) =>
      product(index + 1, { Weight: 1, Height: 1, FeatureList: [{ FeatureTitle: 'imported' }] }),
    )
    await importInto(server, shop, lines)
    const body = { Weight: 2, Height: 2, FeatureList: [{ FeatureTitle: 'changed' }] }
    const [{ refused }, ...changes] = await Promise.all([
      importInto(server, shop, [...lines, ...lines]),
      ...lines.map((_line, index) => shop.call('PUT', `/Products/${index + 1}`, { body })),
    ])
    expect(refused).toEqual([])
    expect(changes.map(({ statusCode }) => statusCode)).toEqual(lines.map(() => 200))
    for (const record of (await shop.call('GET', '/Products?limit=50')).json()) {
      const features = record.FeatureList.map((feature: { FeatureTitle: string }) => feature.FeatureTitle)
      expect([
        [1, 1, ['imported']],
        [2, 2, ['changed']],
      ]).toContainEqual([record.Weight, record.Height, features])
    }
  })
})

describe('who may', () => {
  const url = (id: number | string, kind: string) => `/admin/stores/${id}/${kind}`

  test.each(['import', 'export'])('%s answers 404 for a store that is not there', async (kind) => {
    const headers = { ...operator(server), ...(kind === 'import' && { 'content-type': 'application/x-ndjson' }) }
    const options = kind === 'import' ? { method: 'POST' as const, payload: '\n' } : {}
    const answer = await server.app.inject({ ...options, url: url(999_999, kind), headers })
    expect(answer.statusCode).toBe(404)
  })

  test.each([{ 'content-type': 'application/json' }, { 'content-type': 'text/plain' }, {}])(
    'an import of another type than NDJSON is refused: %o',
    async (type) => {
      const headers = { ...operator(server), ...type }
      const payload = 'content-type' in type ? { payload: '{}' } : {}
      const answer = await server.app.inject({ method: 'POST', url: url(shop.store.id, 'import'), headers, ...payload })
      expect(answer.statusCode).toBe(415)
      expect(answer.json()[0].Message).toBe('Content-Type must be application/x-ndjson: one JSON object a line')
    },
  )
})

function product(id: number, others: object = {}): TransferLine {
  return {
    service: 'Products',
    record: { SKUInfo: { CatalogID: id, SKU: `GOOD-${id}`, Name: `Product ${id}` }, ...others },
  }
}

function customer(id: number, others: object = {}, hidden: Record<string, unknown> = {}): TransferLine {
  return { service: 'Customers', record: { CustomerID: id, ...others }, private: hidden }
}

function order(id: number, others: object = {}): TransferLine {
  return { service: 'Orders', record: { OrderID: id, OrderStatusID: 4, ...others } }
}

function category(id: number, parent?: number): TransferLine {
  return {
    service: 'Category',
    record: { CategoryID: id, CategoryName: `Category ${id}`, ...(parent && { CategoryParent: parent }) },
  }
}

function manufacturer(id: number): TransferLine {
  return { service: 'Manufacturers', record: { ManufacturerID: id, ManufacturerName: `Maker ${id}` } }
}

function of(service: string, id: number) {
  return { service, id: String(id) }
}

async function countOf(service: string): Promise<number> {
  return (await shop.call('GET', `/${service}?countonly=1`)).json().TotalCount
}

async function namesOf(service: 'Products'): Promise<string[]> {
  const records = (await shop.call('GET', `/${service}?limit=200`)).json()
  return records.map((record: { SKUInfo: { Name: string } }) => record.SKUInfo.Name)
}
