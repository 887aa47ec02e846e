import { beforeEach, describe, expect, test } from 'vitest'
import { operatorCaller } from '../../../../../src/access/stores/caller-store.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { soapCall, treeOf } from '../../../http/soap/support.ts'

let shop: TestStore
const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

/** A no-break space, a tab, a line end and an ideographic space: white space is more than blanks. */
const padded = (sku: string) => `\u00a0\t${sku} \r\n\u3000`

async function created(SKU: string, fields: object = {}): Promise<number> {
  const body = { SKUInfo: { SKU, Name: 'Shirt', Stock: 10 }, ...fields }
  const answer = await shop.call('POST', '/Products', { body, tolerated: true })
  expect(answer.statusCode, answer.body).toBe(201)
  return Number(answer.json()[0].Value)
}

const infoOf = async (id: number) => (await shop.call('GET', `/Products/${id}`)).json()[0].SKUInfo
const storedSku = async (id: number) =>
  (await server.database.db.product.findUniqueOrThrow({ where: { storeId_id: { storeId: shop.store.id, id } } })).sku

describe('a SKU loses the white space around it', () => {
  test('when a product is created or changed, in JSON and in XML', async () => {
    const id = await created(padded('MUG 1'))
    expect(await storedSku(id)).toBe('MUG 1')
    await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { SKU: padded('MUG 2') } } })
    expect(await storedSku(id)).toBe('MUG 2')
    const body = `<Product><SKUInfo><SKU>${padded('MUG 3')}</SKU></SKUInfo></Product>`
    await shop.call('PUT', `/Products/${id}`, { body, contentType: 'application/xml' })
    expect(await storedSku(id)).toBe('MUG 3')
  })

  test('so that another product cannot have the same one', async () => {
    await created('MUG')
    const answer = await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: padded('mug'), Name: 'Mug' } } })
    expect([answer.statusCode, answer.json()[0].Value]).toEqual([400, 'SKUInfo.SKU'])
  })

  test('and is not empty then', async () => {
    const answer = await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: padded(''), Name: 'Mug' } } })
    expect([answer.statusCode, answer.json()[0].Value]).toEqual([400, 'SKUInfo.SKU'])
  })

  test('before its length counts', async () => {
    expect(await storedSku(await created(padded('x'.repeat(255))))).toBe('x'.repeat(255))
  })

  test('in an import', async () => {
    const record = { SKUInfo: { CatalogID: 70, SKU: padded('MUG'), Name: 'Mug' } }
    expect((await importInto(server, shop, [{ service: 'Products', record }])).refused).toEqual([])
    expect(await storedSku(70)).toBe('MUG')
  })

  test('in items of returns and gift registries', async () => {
    const record = { OrderID: 9, OrderStatusID: 4, OrderItemList: [{ ItemID: ' MUG', ItemQuantity: 3 }] }
    expect((await importInto(server, shop, [{ service: 'Orders', record }])).refused).toEqual([])
    const returned = { OrderID: 9, RMAItemList: [{ SKU: padded('MUG'), ReturnQuantity: 1, RestockQuantity: 1 }] }
    expect((await shop.call('POST', '/RMA', { body: returned })).statusCode).toBe(201)
    const unnamed = { OrderID: 9, RMAItemList: [{ SKU: ' mug ', RestockQuantity: 3 }] }
    const tooMuch = await shop.call('POST', '/RMA', { body: unnamed })
    expect([tooMuch.statusCode, tooMuch.json()[0].Message]).toEqual([
      400,
      expect.stringContaining('went back to stock'),
    ])
    const wished = { Name: 'Wedding', GiftRegistryItemList: [{ SKU: padded('MUG') }] }
    expect((await shop.call('POST', '/GiftRegistries', { body: wished })).statusCode).toBe(201)
    for (const path of ['/RMA', '/GiftRegistries']) {
      const found = await shop.call('GET', `${path}?sku=${encodeURIComponent(padded('mug'))}`)
      expect(found.body, path).toContain('"SKU":"MUG"')
    }
    const [order] = (await shop.call('GET', '/Orders/9')).json()
    expect(order.OrderItemList[0].ItemID).toBe(' MUG')
  })
})

describe('a product is found by its SKU with white space around it', () => {
  test('by filters, in lists of updates, in orders and by cartAPI', async () => {
    const id = await created('MUG', {
      AdvancedOptionList: [{ AdvancedOptionCode: '4', AdvancedOptionSufix: ' L\t', AdvancedOptionStock: 5 }],
    })
    for (const path of ['/Products', '/Products/skuinfo']) {
      expect((await shop.call('GET', `${path}?sku=${encodeURIComponent(padded('mug'))}`)).json()).toHaveLength(1)
    }
    const change = { SKUInfo: { SKU: padded('mug'), Price: 5 } }
    expect((await shop.call('PUT', '/Products', { body: [change] })).json()[0].Value).toBe(String(id))
    expect(await infoOf(id)).toMatchObject({ SKU: 'MUG', Price: 5 })

    const operator = await operatorCaller(server.services, shop.store.id)
    const items = [padded('mug'), padded('mug l')].map((ItemID) => ({ ItemID, ItemQuantity: 1 }))
    const placed = await placeOrder(operator, { BillingEmail: 'guest@shop.example', OrderItemList: items })
    const [order] = (await shop.call('GET', `/Orders/${placed.id}`)).json()
    expect(order.OrderItemList.map(({ ItemID }: { ItemID: string }) => ItemID)).toEqual(['MUG', 'MUG L'])

    const productId = padded('MUG')
    const tree = treeOf(await soapCall(server, shop, 'getProduct', { batchSize: 1, startNum: 1, productId }))
    expect(tree).toMatchObject({ Product: { CatalogID: String(id) } })
    await soapCall(server, shop, 'updateProductInventory', { productId, quantity: 7, replaceStock: true })
    expect((await infoOf(id)).Stock).toBe(7)
  })
})

test('a stored SKU that could not be trimmed stays when the record is sent back as it was read, and is trimmed once no other product has it', async () => {
  const [first, second] = [await created('MUG'), await created('MUG-2')]
  await server.database.db.product.update({
    where: { storeId_id: { storeId: shop.store.id, id: second } },
    data: { sku: ' MUG' },
  })
  const [record] = (await shop.call('GET', `/Products/${second}`)).json()
  const answer = await shop.call('PUT', `/Products/${second}`, { body: { ...record, ShortDescription: 'Blue' } })
  expect(answer.statusCode, answer.body).toBe(200)
  expect([await storedSku(first), await storedSku(second)]).toEqual(['MUG', ' MUG'])

  await shop.call('PUT', `/Products/${first}`, { body: { SKUInfo: { SKU: 'CUP' } } })
  await shop.call('PUT', `/Products/${second}`, { body: { SKUInfo: { SKU: 'MUG' } } })
  expect([await storedSku(first), await storedSku(second)]).toEqual(['CUP', 'MUG'])
})

describe('a SKU loses the characters that nobody sees', () => {
  /** A zero-width space, a mark of direction, a soft hyphen, a byte order mark, a joiner and a tag; é of two characters. */
  const unseen = (sku: string) =>
    [...`\u200b${sku}\u200e`].join('\u00ad').normalize('NFD').replace('-', '-\u200d\ufeff\u{e0041}')

  test('wherever one is stored, and counts as it is read: in JSON, XML and an import', async () => {
    const id = await created(unseen('CAFÉ-1'))
    expect(await storedSku(id)).toBe('CAFÉ-1')
    const body = `<Product><SKUInfo><SKU>${unseen('CAFÉ-2')}</SKU></SKUInfo></Product>`
    await shop.call('PUT', `/Products/${id}`, { body, contentType: 'application/xml' })
    expect(await storedSku(id)).toBe('CAFÉ-2')
    const record = { SKUInfo: { CatalogID: 70, SKU: unseen('CAFÉ-3'), Name: 'Mug' } }
    expect((await importInto(server, shop, [{ service: 'Products', record }])).refused).toEqual([])
    expect(await storedSku(70)).toBe('CAFÉ-3')
    const answer = await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: '\u200b\u00ad', Name: 'Mug' } } })
    expect([answer.statusCode, answer.json()[0].Value]).toEqual([400, 'SKUInfo.SKU'])
  })

  test.each(['CAFÉ-1', '\u200bCAF\u00adÉ-1', 'CAFÉ-1'.normalize('NFD')])(
    'and is found whatever form is stored: %j',
    async (stored) => {
      const id = await created('OTHER', {
        AdvancedOptionList: [{ AdvancedOptionCode: '4', AdvancedOptionSufix: ' \u200bL', AdvancedOptionStock: 5 }],
      })
      await server.database.db.product.update({
        where: { storeId_id: { storeId: shop.store.id, id } },
        data: { sku: stored },
      })
      const operator = await operatorCaller(server.services, shop.store.id)
      // Whoever sends the stored one has read it, and all send the plain one, but it finds no stored one with unseen characters.
      const isPlain = stored.normalize('NFC') === 'CAFÉ-1'
      const givens = isPlain ? ['café-1', unseen('CAFÉ-1'), 'café-1'.normalize('NFD'), padded('Café-1')] : [stored]
      for (const [index, given] of givens.entries()) {
        const encoded = encodeURIComponent(given)
        for (const path of [`/Products?sku=${encoded}`, `/Products/skuinfo?sku=${encoded}`]) {
          expect((await shop.call('GET', path)).json()).toHaveLength(1)
        }
        const change = { SKUInfo: { SKU: given, Price: index + 1 } }
        expect((await shop.call('PUT', '/Products', { body: [change] })).json()[0].Value).toBe(String(id))
        expect(await infoOf(id)).toMatchObject({ SKU: stored, Price: index + 1 })

        const items = [given, `${given.trimEnd()} l`].map((ItemID) => ({ ItemID, ItemQuantity: 1 }))
        await placeOrder(operator, { BillingEmail: 'guest@shop.example', OrderItemList: items })
        await soapCall(server, shop, 'updateProductInventory', { productId: given, quantity: 7, replaceStock: true })
        const tree = treeOf(await soapCall(server, shop, 'getProductInventory', { productId: given }))
        expect(tree).toMatchObject({ Inventory: '7' })
        const listed = treeOf(
          await soapCall(server, shop, 'getProduct', { batchSize: 1, startNum: 1, productId: given }),
        )
        expect(listed).toMatchObject({ Product: { CatalogID: String(id) } })
      }
      expect(await storedSku(id)).toBe(stored)
    },
  )
})
