import { describe, expect, test } from 'vitest'
import { deleteRecord } from '../../../../src/engine/changing/change.ts'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { storedEvents } from '../../../support/events.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { errorDocument, soapCall } from './support.ts'

// getProductInventory and updateProductInventory (soap-cartapi §4.12, §4.13).

const server = await sharedServer()
const shop = await openWideStore()

/** A store whose bucket for cartAPI no test fills. */
async function openWideStore(): Promise<TestStore> {
  const opened = await server.openStore()
  const answer = await server.operate('PUT', `/admin/stores/${opened.store.id}`, {
    Throttle: { Capacity: 10_000, LeakPerSecond: 10 },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return opened
}

let serial = 0

interface Sold {
  readonly id: number
  readonly sku: string
}

/** A product with 10 pieces, unless `Stock` says otherwise. */
async function newProduct(Stock = 10, { body = {}, store = shop }: { body?: object; store?: TestStore } = {}) {
  const sku = `Bag-${++serial}`
  return { id: await store.add('/Products', { SKUInfo: { SKU: sku, Name: 'Bag', Stock }, ...body }), sku }
}

async function restRecord(id: number, store = shop) {
  return (await store.call('GET', `/Products/${id}`)).json()[0]
}

async function stockOf({ id }: Sold, store = shop): Promise<number> {
  return (await restRecord(id, store)).SKUInfo.Stock
}

/** What moved the stocks of a product, after what it began with. */
async function movementsOf({ id }: Sold, { store } = shop) {
  const rows = await server.database.db.stockMovement.findMany({
    where: { storeId: store.id, productId: id, cause: { not: 'initial' } },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ quantity, stockAfter, cause, actor, optionCode, orderId }) => ({
    quantity: Number(quantity),
    stockAfter: Number(stockAfter),
    cause,
    actor,
    optionCode,
    orderId,
  }))
}

/** What was recorded of a product, after that it is new. */
async function eventsOf({ id }: Sold, { store } = shop) {
  const where = { recordId: id, eventType: { in: [5, 6, 7] } }
  const events = await storedEvents(server.database.db, store.id, where)
  return events.map(({ eventType, record }) => ({
    name: eventKinds.find(({ type }) => type === eventType)?.name,
    record,
  }))
}

const get = (productId: string, store = shop) => soapCall(server, store, 'getProductInventory', { productId })

const update = (parameters: Record<string, string | number | boolean>, store = shop) =>
  soapCall(server, store, 'updateProductInventory', parameters)

const read = (sku: string, stock: string) =>
  `<GetInventoryResponse xmlns=""><ProductID>${sku}</ProductID><Inventory>${stock}</Inventory></GetInventoryResponse>`

const updated = (sku: string, stock: number | string) =>
  `<UpdateInventoryResponse xmlns=""><ProductID>${sku}</ProductID><NewInventory>${stock}</NewInventory></UpdateInventoryResponse>`

const notFound = errorDocument(46, 'No Data Found')

describe('getProductInventory', () => {
  test.each([
    [0, '0'],
    [12, '12'],
    [-3, '-3'],
    // In whole pieces, and never more than there is.
    [2.5, '2'],
    [2.9999, '2'],
    [0.5, '0'],
    [-0.5, '-1'],
    [1_000_000, '1000000'],
  ])('of a stock of %d says %s', async (stock, written) => {
    const { sku } = await newProduct(stock)
    expect(await get(sku)).toBe(read(sku, written))
  })

  test('finds the SKU without regard to case, and gives it back as it was sent', async () => {
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'Æ <bag> & 1', Name: 'Bag', Stock: 7 } } })
    expect(await get('æ <BAG> & 1')).toBe(read('æ &lt;BAG&gt; &amp; 1', '7'))
  })

  test('refuses no productId (3), and what no product of the store has for its SKU (46)', async () => {
    const { sku, id } = await newProduct(1, {
      body: { AdvancedOptionList: [{ AdvancedOptionCode: '1', AdvancedOptionSufix: '-RED', AdvancedOptionStock: 5 }] },
    })
    const other = await openWideStore()
    const { sku: foreign } = await newProduct(1, { store: other })
    expect(await soapCall(server, shop, 'getProductInventory')).toBe(errorDocument(3, 'XML file error'))
    expect(await get('  ')).toBe(errorDocument(3, 'XML file error'))
    for (const productId of ['nothing', `${sku}-RED`, '-RED', String(id), `${sku}%`, foreign]) {
      expect(await get(productId), productId).toBe(notFound)
    }
    expect(await get(foreign, other)).toBe(read(foreign, '1'))
  })
})

describe('updateProductInventory', () => {
  test.each([
    { replaceStock: true, quantity: 25, stock: 25, moved: 15, cause: 'set' },
    { replaceStock: true, quantity: 0, stock: 0, moved: -10, cause: 'set' },
    { replaceStock: true, quantity: -2, stock: -2, moved: -12, cause: 'set' },
    { replaceStock: false, quantity: 5, stock: 15, moved: 5, cause: 'adjust' },
    { replaceStock: false, quantity: '+5', stock: 15, moved: 5, cause: 'adjust' },
    { replaceStock: false, quantity: -4, stock: 6, moved: -4, cause: 'adjust' },
    { replaceStock: false, quantity: -11, stock: -1, moved: -11, cause: 'adjust' },
  ])('$quantity with replaceStock $replaceStock makes 10 pieces $stock', async (asked) => {
    const { replaceStock, quantity, stock, moved, cause } = asked
    const product = await newProduct(10)

    expect(await update({ productId: product.sku, quantity, replaceStock })).toBe(updated(product.sku, stock))

    expect(await stockOf(product)).toBe(stock)
    expect(await get(product.sku)).toBe(read(product.sku, String(stock)))
    expect(await movementsOf(product)).toEqual([
      { quantity: moved, stockAfter: stock, cause, actor: 'API', optionCode: null, orderId: null },
    ])
    const record = await restRecord(product.id)
    expect(record.UserID).toBe('API')
    expect(await eventsOf(product)).toEqual([{ name: 'Product Stock Changed', record }])
  })

  test('gives productId back as it was sent: programs compare it', async () => {
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'Mug & <1>', Name: 'Mug', Stock: 7 } } })
    const answer = await update({ productId: 'MUG & <1>', quantity: 8, replaceStock: true })
    expect(answer).toBe(updated('MUG &amp; &lt;1&gt;', 8))
  })

  test('keeps the fraction that is in stock', async () => {
    const product = await newProduct(2.75)
    expect(await update({ productId: product.sku, quantity: 2, replaceStock: false })).toBe(updated(product.sku, 4.75))
    expect(await stockOf(product)).toBe(4.75)
  })

  test('changes the stock of the product alone where it has advanced options, as REST does', async () => {
    const body = {
      AdvancedOptionList: [{ AdvancedOptionCode: '1', AdvancedOptionSufix: '-R', AdvancedOptionStock: 5 }],
    }
    const [ours, rests] = [await newProduct(10, { body }), await newProduct(10, { body })]

    await update({ productId: ours.sku, quantity: 3, replaceStock: true })
    await shop.call('PUT', `/Products/${rests.id}`, { body: { SKUInfo: { Stock: 3 } } })

    const [our, rest] = [await restRecord(ours.id), await restRecord(rests.id)]
    expect(our.SKUInfo.Stock).toBe(3)
    expect(our.AdvancedOptionList).toMatchObject([{ AdvancedOptionStock: 5 }])
    expect(our.AdvancedOptionList).toEqual(rest.AdvancedOptionList)
    const byRest = (await movementsOf(rests)).map((movement) => ({ ...movement, actor: 'API' }))
    expect(await movementsOf(ours)).toEqual(byRest)
    expect((await eventsOf(ours)).map(({ name }) => name)).toEqual((await eventsOf(rests)).map(({ name }) => name))
  })

  test.each([
    { replaceStock: true, quantity: 10 },
    { replaceStock: false, quantity: 0 },
  ])('with $quantity and replaceStock $replaceStock 10 pieces stay: no movement, no event, no stamp', async (asked) => {
    const [ours, rests] = [await newProduct(10), await newProduct(10)]
    server.clock.ms += 60_000

    expect(await update({ productId: ours.sku, ...asked })).toBe(updated(ours.sku, 10))
    await shop.call('PUT', `/Products/${rests.id}`, { body: { SKUInfo: { Stock: 10 } } })

    const [our, rest] = [await restRecord(ours.id), await restRecord(rests.id)]
    expect([our.LastUpdate, rest.LastUpdate]).toEqual([our.DateCreated, rest.DateCreated])
    expect([our.UserID, rest.UserID]).toEqual([shop.caller.actor, shop.caller.actor])
    for (const product of [ours, rests]) {
      expect(await movementsOf(product)).toEqual([])
      expect(await eventsOf(product)).toEqual([])
    }
  })

  test('the whole pieces that it shows replace nothing: the fraction stays', async () => {
    const product = await newProduct(7.5)
    const before = await restRecord(product.id)
    server.clock.ms += 60_000
    expect(await get(product.sku)).toBe(read(product.sku, '7'))
    const asked = { productId: product.sku, quantity: 7, replaceStock: true }
    expect(await update(asked)).toBe(updated(product.sku, 7))
    expect(await restRecord(product.id)).toEqual(before)
    expect(await update({ ...asked, quantity: 8 })).toBe(updated(product.sku, 8))
    expect(await stockOf(product)).toBe(8)
  })

  describe('refuses, and leaves every stock as it is,', () => {
    const asked = { quantity: 5, replaceStock: true }
    const [missing, quantityMissing] = [errorDocument(3, 'XML file error'), errorDocument(4, 'XML file error')]
    const [badQuantity, badData] = [errorDocument(32, 'Data Error'), errorDocument(43, 'Data Error')]

    test.each<[string, (sku: string) => Record<string, string | number | boolean>, string]>([
      ['no productId', () => asked, missing],
      ['an empty productId', () => ({ ...asked, productId: ' ' }), missing],
      ['no quantity', (productId) => ({ productId, replaceStock: true }), quantityMissing],
      ['words for a quantity', (productId) => ({ ...asked, productId, quantity: 'five' }), badQuantity],
      ['neither true nor false', (productId) => ({ ...asked, productId, replaceStock: 'yes' }), badData],
      ['no replaceStock', (productId) => ({ productId, quantity: 5 }), badData],
      ['an unknown SKU', () => ({ ...asked, productId: 'nothing' }), notFound],
      ['everything wrong: the missing productId first', () => ({ quantity: 'x', replaceStock: 'x' }), missing],
    ])('%s', async (_, parametersOf, document) => {
      const AdvancedOptionList = [{ AdvancedOptionCode: '1', AdvancedOptionSufix: '-RED', AdvancedOptionStock: 5 }]
      const product = await newProduct(10, { body: { AdvancedOptionList } })
      const before = await restRecord(product.id)

      expect(await update(parametersOf(product.sku))).toBe(document)

      expect(await restRecord(product.id)).toEqual(before)
      expect(await movementsOf(product)).toEqual([])
      expect(await eventsOf(product)).toEqual([])
    })

    test('a sum that is larger than can be stored (32)', async () => {
      const product = await newProduct(99_999_999_999)
      const answer = await update({ productId: product.sku, quantity: 1, replaceStock: false })
      expect(answer).toBe(badQuantity)
      expect(await stockOf(product)).toBe(99_999_999_999)
      expect(await movementsOf(product)).toEqual([])
      expect(await eventsOf(product)).toEqual([])
    })

    test('a product that is deleted while the call waits for it (46)', async () => {
      const { id, sku } = await newProduct(10)
      const deletion = await hold(server, shop, (tx) => deleteRecord(tx, products, id))
      const answer = update({ productId: sku, quantity: 5, replaceStock: false })
      await untilItWaits(server.database, answer)
      await deletion.commit()
      expect(await answer).toBe(notFound)
    })
  })
})

describe('at once', () => {
  const many = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)))

  /** The ledger leads from the first stock to the last, and each change was told with the stock that it left. */
  async function expectLedger(product: Sold, from: number, to: number, count: number): Promise<void> {
    const movements = await movementsOf(product)
    let stock = from
    for (const { quantity, stockAfter } of movements) {
      stock += quantity
      expect(stockAfter).toBe(stock)
    }
    expect(movements).toHaveLength(count)
    expect(stock).toBe(to)
    expect(await stockOf(product)).toBe(to)
    const events = await eventsOf(product)
    expect(events.map(({ name }) => name)).toEqual(Array(count).fill('Product Stock Changed'))
    expect(events.map(({ record }) => (record.SKUInfo as { Stock: number }).Stock)).toEqual(
      movements.map(({ stockAfter }) => stockAfter),
    )
  }

  test('50 calls that add 1 and orders in between add up in the ledger', async () => {
    const product = await newProduct(30)
    const orders: Promise<number>[] = []

    await many(50, async (index) => {
      if (index % 10 === 5) orders.push(shop.placeOrder([{ CatalogID: product.id, ItemQuantity: 3 }]))
      await update({ productId: product.sku, quantity: 1, replaceStock: false })
    })
    const orderIds = await Promise.all(orders)

    await expectLedger(product, 30, 65, 55)
    const movements = await movementsOf(product)
    const ofOrders = movements.filter(({ cause }) => cause === 'order')
    expect(ofOrders.map(({ orderId }) => orderId).sort()).toEqual(orderIds.sort())
    expect(ofOrders.map(({ quantity }) => quantity)).toEqual([-3, -3, -3, -3, -3])
  })

  test('calls that replace, calls that add and changes by REST lose none of each other', async () => {
    const product = await newProduct(10)

    await many(30, async (index) => {
      if (index % 3 === 0) return update({ productId: product.sku, quantity: 1_000 + index * 100, replaceStock: true })
      if (index % 3 === 1) return update({ productId: product.sku, quantity: 1, replaceStock: false })
      return shop.call('PUT', `/Products/${product.id}`, { body: { SKUInfo: { Stock: 100_000 + index * 100 } } })
    })

    await expectLedger(product, 10, await stockOf(product), 30)
  })
})
