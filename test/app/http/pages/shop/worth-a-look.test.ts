import { beforeEach, describe, expect, test } from 'vitest'
import { changeRecord } from '../../../../../src/engine/changing/change.ts'
import { Handling } from '../../../../../src/engine/definition/handling.ts'
import { resources } from '../../../../../src/shop/registry.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { hold, untilItWaits } from '../../../../support/held.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, linesAt, countsAt, apply } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const declared = resources.flatMap(({ service, worthALook }) => {
  const { prices = [], costs = [], stocks = [] } = worthALook ?? {}
  const of = (kind: 'price' | 'stock') => (column: string) => ({ service, kind, column })
  return [...[...prices, ...costs].map(of('price')), ...stocks.map(of('stock'))]
})

test('products say what is worth a look of them', () => {
  expect(declared.map(({ column }) => column)).toEqual(expect.arrayContaining(['SKUInfo.Price', 'SKUInfo.Stock']))
})

/** Values in place of 23.95 of a price or cost, and of a stock, with what is said of them; null: nothing. */
const values = {
  price: [
    [239.5, 'is 10 times 23.95: a lost decimal point?'],
    [0.24, 'differs from 23.95 by more than half.'],
    [35.93, 'differs from 23.95 by more than half.'],
    [24.5, null],
    [35.92, null],
    [11.98, null],
    [2395, 'is 100 times 23.95: a lost decimal point?'],
  ],
  stock: [
    [-0.5, 'is below 0.'],
    [0, null],
    [7, null],
    [-3, 'is below 0.'],
  ],
} as const

/** One column of each kind is asked all values, the others what slips and what does not. */
function valuesFor({ kind, column }: (typeof declared)[number]): readonly (readonly [number, string | null])[] {
  const isFirst = declared.find((each) => each.kind === kind)?.column === column
  return isFirst
    ? values[kind]
    : [values[kind].find(([, said]) => said === null), values[kind].at(-1)].flatMap((each) => (each ? [each] : []))
}

describe.each(declared)('$service: $column', (declaredColumn) => {
  const { column } = declaredColumn
  const tried = valuesFor(declaredColumn)
  let id: number
  const [name = '', inner] = column.split('.')
  const withValue = (value: number) => {
    const SKUInfo = { SKU: 'P-1', Name: 'Lamp', Price: 9000 }
    return inner === undefined ? { SKUInfo, [name]: value } : { [name]: { ...SKUInfo, [inner]: value } }
  }
  const file = (value: number) => takeIn('products', `SKUInfo.SKU,${column}\nP-1,${value}\n`)
  /** What a file shows of a value, and the page for many products if it has a form for the column. */
  const previews = async (value: number): Promise<string[]> => {
    const form = bulkForms[column]
    if (form === undefined) return [await file(value)]
    const chosen = await merchant.submit('/admin/products', { ids: [String(id)] }, { action: '/admin/products/bulk?' })
    const typed = { ...form, Value: String(value), Quantity: String(value) }
    const { headers } = await merchant.submit(String(chosen.headers.location), typed)
    return [await file(value), String(headers.location)]
  }
  beforeEach(async () => {
    id = await shop.add('/Products', withValue(23.95))
  })

  test('slips stand first and are counted, by file and by bulk change, and are made if somebody says so', async () => {
    for (const [value, said] of tried) {
      for (const address of await previews(value)) {
        const [first, ...others] = await countsAt(address)
        expect([first, others], `${column} ${value}`).toEqual(
          said === null ? ['Changes (1)', []] : ['Worth a look (1)', ['Changes (1)']],
        )
        if (said === null) continue
        expect((await linesAt(address, 'marked'))[0]?.at(-1)).toContain(said)
        expect(wordsOf((await merchant.open(address)).body)).toMatch(/1 (line|record) is worth a look\. Show what/)
      }
    }
    const [last = 0] = tried.at(-1) ?? []
    await apply(await file(last))
    const { SKUInfo, ...others } = (await shop.call('GET', `/Products/${id}`)).json()[0]
    expect(inner === undefined ? others[name] : SKUInfo[inner]).toBe(last)
  })
})

const price = { Kind: 'price', How: 'set', Round: 'unit', OnSale: 'same' }
/** What the page for many products offers, by column. */
const bulkForms: Readonly<Record<string, Record<string, string>>> = {
  'SKUInfo.Price': { ...price, Field: 'Price' },
  'SKUInfo.SalePrice': { ...price, Field: 'SalePrice' },
  'SKUInfo.Stock': { Kind: 'stock', StockHow: 'set' },
}

test('a price below the cost is told to those alone who are shown the cost', async () => {
  await shop.add('/Products', { SKUInfo: { SKU: 'P-1', Name: 'Lamp', Price: 24, Cost: 20 } })
  const address = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,19\n')
  expect(await linesAt(address, 'marked')).toEqual([
    ['2', 'P-1', 'SKUInfo.Price 24 → 19 | check “19” is below the cost.'],
  ])
  const dearer = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Cost\nP-1,25\n')
  expect((await linesAt(dearer, 'marked'))[0]?.at(-1)).toContain('“25” is above a price.')
  merchant = await memberIn(server, shop, { Name: 'Prices', Privileges: { Products: ['read', 'write'] } })
  expect(wordsOf((await merchant.open(address)).body)).not.toContain('cost')
  expect(await countsAt(await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,19\n'))).toEqual(['Changes (1)'])
})

test('pieces that are put back are told below 0, and a former price is not', async () => {
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'P-1', Name: 'Lamp', Price: 23.95, Stock: 1 } })
  const address = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price,SKUInfo.Stock\nP-1,2395,5\n')
  await apply(address)
  await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 2 } } })
  const { headers } = await merchant.submit(address, {}, { action: `${address}/back` })
  expect((await linesAt(String(headers.location), 'marked'))[0]?.at(-1)).toBe('Stock: 2 → -2 | check “-2” is below 0.')
})

describe('an invoice number that another order has', () => {
  beforeEach(async () => {
    await shop.add('/Products', { SKUInfo: { SKU: 'P-1', Name: 'Lamp', Price: 24, Stock: 9 } })
    const body = { BillingEmail: 'guest@shop.example', OrderItemList: [{ ItemID: 'P-1', ItemQuantity: 1 }] }
    for (let n = 0; n < 3; n++) await placeOrder(shop.caller, body)
  })
  const strict = { prefer: 'handling=strict' }
  const put = (id: number, body: object, headers = {}) => shop.call('PUT', `/Orders/${id}`, { body, headers })

  test('is told in files, also when an earlier line gives it', async () => {
    const address = await takeIn('orders', 'OrderID,InvoiceNumber,InternalComments\n1,1002,\n2,5000,\n3,5000,new\n')
    expect(await countsAt(address)).toEqual(['Worth a look (2)', 'Changes (3)'])
    expect((await linesAt(address, 'marked')).map((line) => line.at(-1))).toEqual([
      'InvoiceNumber 1000 → 1002 | check “1002” is already used by Order 3.',
      'InvoiceNumber 1002 → 5000 | check “5000” is already used by Order 2.',
    ])
  })

  test('is refused in a strict request, taken in a lenient one, and told by the page of the order', async () => {
    const refused = await put(1, { InvoiceNumber: 1001 }, strict)
    expect([refused.statusCode, refused.json()[0]]).toMatchObject([
      400,
      { Value: 'InvoiceNumber', Message: 'InvoiceNumber is already used by Order 2' },
    ])
    expect((await put(1, { InvoiceNumber: 1001, InvoiceNumberPrefix: 'X-' }, strict)).statusCode).toBe(200)
    expect(wordsOf((await merchant.open('/admin/orders/1')).body)).not.toContain('Another order has this')
    expect((await put(2, { InvoiceNumberPrefix: 'x-' }, strict)).statusCode).toBe(400)
    expect((await put(2, { InvoiceNumberPrefix: 'x-' })).statusCode).toBe(200)
    const page = (await merchant.open('/admin/orders/1')).body
    expect(wordsOf(page)).toContain('Another order has this invoice number too')
    expect(page).toContain('<a href="/admin/orders/2">Look at that order</a>')
    // What nobody changes is not refused, and 0 is no number.
    expect((await put(2, { InternalComments: 'x' }, strict)).statusCode).toBe(200)
    for (const id of [1, 2]) expect((await put(id, { InvoiceNumber: 0 }, strict)).statusCode).toBe(200)
  })

  test('is taken by one of two strict requests at once', async () => {
    const first = await hold(server, shop, async (caller) => {
      const handling = new Handling(true)
      const body = { InvoiceNumber: 7000 }
      await changeRecord({ ...caller, channel: 'api' }, orders, { kind: 'update', id: 1, body, handling })
    })
    const second = put(2, { InvoiceNumber: 7000 }, strict)
    await untilItWaits(server.database, second)
    await first.commit()
    expect((await second).statusCode).toBe(400)
  })

  test('is reported by an import, which stores it', async () => {
    const order = (OrderID: number) => ({
      service: 'Orders',
      record: { OrderID, OrderStatusID: 4, InvoiceNumber: 1001 },
    })
    const { refused, warned } = await importInto(server, shop, [order(8), order(9)])
    expect(refused).toEqual([])
    expect(warned.map(({ line, id, message }) => [line, id, message])).toEqual([
      [1, '8', 'InvoiceNumber is already used by Order 9'],
      [2, '9', 'InvoiceNumber is already used by Order 8'],
    ])
  })
})
