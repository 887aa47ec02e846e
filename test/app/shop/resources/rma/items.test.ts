import { describe, expect, test } from 'vitest'
import { shared } from '../../../../support/shared.ts'
import { openReturns, type Wire } from './fixture.ts'

// Which lines of an order a return may name, and how much of them.

const returns = await shared(openReturns())

/** An order with a line of a product, two of another one's options, and one without a product. */
async function soldThings() {
  const [bag, shirt] = [await returns.product(), await returns.product(['801', '802'])]
  const orderId = await returns.order([
    { CatalogID: bag.id, ItemQuantity: 3 },
    { ItemID: `${shirt.sku}-801`, ItemQuantity: 1 },
    { ItemID: `${shirt.sku}-802`, ItemQuantity: 2.5 },
  ])
  const engraving = { ItemID: 'Engraving', ItemDescription: 'Your name', ItemQuantity: 1 }
  const added = await returns.shop.call('POST', `/Orders/${orderId}/Items`, { body: engraving })
  expect(added.statusCode, added.body).toBe(201)
  return { orderId, bag, shirt }
}

const post =
  (OrderID: unknown, ...RMAItemList: Wire[]) =>
  () =>
    returns.shop.call('POST', '/RMA', { body: { OrderID, RMAItemList } })

describe('an item', () => {
  test('takes SKU, name and product from the order’s line; what is sent of them stays as it is sent, but for blanks around a SKU', async () => {
    const { orderId, bag, shirt } = await soldThings()

    const id = await returns.rma({
      OrderID: orderId,
      RMAItemList: [
        { CatalogID: bag.id },
        { SKU: `${shirt.sku}-802`.toUpperCase(), ItemName: 'Shirt, large' },
        { CatalogID: shirt.id },
        { SKU: ' engraving ', ReturnQuantity: 1, RestockQuantity: 1 },
      ],
    })

    const { RMAItemList } = await returns.read('RMA', id)
    expect(RMAItemList).toEqual([
      { CatalogID: bag.id, SKU: bag.sku, ItemName: 'Tote Bag', ...none },
      { CatalogID: shirt.id, SKU: `${shirt.sku}-802`.toUpperCase(), ItemName: 'Shirt, large', ...none },
      { CatalogID: shirt.id, SKU: `${shirt.sku}-801`, ItemName: expect.stringContaining('Tote Bag'), ...none },
      { CatalogID: 0, SKU: 'engraving', ItemName: 'Your name', ...none, ReturnQuantity: 1, RestockQuantity: 1 },
    ])
    expect((await returns.shop.call('GET', `/RMA/${id}/Items`)).json()).toEqual(RMAItemList)
  })

  const none = { ReturnQuantity: 0, ReceivedQuantity: 0, RestockQuantity: 0 }

  test('of a product, a SKU or both that the order does not have is refused, and says what it has', async () => {
    const { orderId, bag, shirt } = await soldThings()
    const foreign = await returns.product()
    const known = { CatalogID: bag.id }

    for (const [item, member, allowed] of [
      [{ CatalogID: foreign.id }, 'CatalogID', `${bag.id}, ${shirt.id}`],
      [{ CatalogID: foreign.id, SKU: bag.sku }, 'CatalogID', `${bag.id}, ${shirt.id}`],
      [{ CatalogID: 2_000_000_000 }, 'CatalogID', `${bag.id}, ${shirt.id}`],
      [{ ReturnQuantity: 1 }, 'CatalogID', `${bag.id}, ${shirt.id}`],
      [{ SKU: foreign.sku }, 'SKU', `${bag.sku}, ${shirt.sku}-801, ${shirt.sku}-802, Engraving`],
      [{ SKU: shirt.sku }, 'SKU', `${bag.sku}, ${shirt.sku}-801, ${shirt.sku}-802, Engraving`],
      [{ CatalogID: shirt.id, SKU: bag.sku }, 'SKU', `${shirt.sku}-801, ${shirt.sku}-802`],
    ] as const) {
      const message = await returns.expectRefused(post(orderId, known, known, item), `RMAItemList[2].${member}`)
      expect(message).toMatch(new RegExp(`one of ${allowed}$`))
    }
  })

  test('of an order with many lines is refused with ten of them', async () => {
    const lines: Wire[] = []
    for (let index = 0; index < 12; index++) lines.push({ CatalogID: (await returns.product()).id, ItemQuantity: 1 })
    const orderId = await returns.order(lines)

    const message = await returns.expectRefused(post(orderId, { SKU: 'x' }), 'RMAItemList[0].SKU')

    expect(message.split(', ')).toHaveLength(11)
    expect(message).toMatch(/ and more$/)
  })

  test('may not return more than the order’s lines of these goods sold together', async () => {
    const { id, sku } = await returns.product(['801', '802'])
    const lines = ['801', '802', '801'].map((code) => ({ ItemID: `${sku}-${code}`, ItemQuantity: 2 }))
    const orderId = await returns.order(lines)

    const tooMany = { SKU: `${sku}-801`, ReturnQuantity: 4.0001 }
    const message = await returns.expectRefused(post(orderId, tooMany), 'RMAItemList[0].ReturnQuantity')
    expect(message).toContain(`must be at most 4: the order has 4 of ${sku}-801`)
    const one = { CatalogID: id, SKU: `${sku}-802`, ReturnQuantity: 3 }
    await returns.expectRefused(post(orderId, { ...tooMany, ReturnQuantity: 4 }, one), 'RMAItemList[1].ReturnQuantity')

    expect((await post(orderId, { ...tooMany, ReturnQuantity: 4 }, { ...one, ReturnQuantity: 2 })()).statusCode).toBe(
      201,
    )
  })

  test('may not put back in stock what others of the return, or other returns of the order, put back', async () => {
    const { orderId, bag } = await soldThings()
    const item = (RestockQuantity: number) => ({ CatalogID: bag.id, RestockQuantity })

    await returns.expectRefused(post(orderId, item(3.0001)), 'RMAItemList[0].RestockQuantity')
    await returns.expectRefused(post(orderId, item(2), item(1.5)), 'RMAItemList[1].RestockQuantity')
    const id = await returns.rma({ OrderID: orderId, RMAItemList: [item(1), item(0.5)] })
    const message = await returns.expectRefused(post(orderId, item(2)), 'RMAItemList[0].RestockQuantity')
    expect(message).toContain(`must be at most 1.5: the order has 3 of ${bag.sku}, of which 1.5 went back to stock`)
    const second = await returns.rma({ OrderID: orderId, RMAItemList: [item(1.5)] })
    await returns.expectRefused(() => returns.put(id, { RMAItemList: [item(2)] }), 'RMAItemList[0].RestockQuantity')

    // A return's own items are replaced, so they do not count twice.
    expect((await returns.put(second, { RMAItemList: [item(1), item(0.5)] })).statusCode).toBe(200)
    expect(await returns.stockOf(bag.id)).toBe(10)
  })

  test('without a product is measured by its SKU', async () => {
    const { orderId } = await soldThings()
    const item = { SKU: 'Engraving', RestockQuantity: 1 }

    await returns.rma({ OrderID: orderId, RMAItemList: [{ ...item, SKU: 'ENGRAVING' }] })

    await returns.expectRefused(post(orderId, item), 'RMAItemList[0].RestockQuantity')
  })
})

describe('the order', () => {
  test('to which a return is moved must have its items', async () => {
    const { orderId, bag } = await soldThings()
    const id = await returns.rma({ OrderID: orderId, RMAItemList: [{ CatalogID: bag.id, RestockQuantity: 1 }] })
    const other = await returns.sold()

    await returns.expectRefused(() => returns.put(id, { OrderID: other.orderId }), 'RMAItemList[0].CatalogID')

    const body = { OrderID: other.orderId, RMAItemList: [{ CatalogID: other.productId, RestockQuantity: 2 }] }
    expect((await returns.put(id, body)).statusCode).toBe(200)
    expect([await returns.stockOf(bag.id), await returns.stockOf(other.productId)]).toEqual([7, 9])
  })
})
