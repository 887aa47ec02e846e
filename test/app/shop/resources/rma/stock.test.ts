import { describe, expect, test } from 'vitest'
import { shared } from '../../../../support/shared.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { openReturns } from './fixture.ts'

// What goes back to stock with a return.

const returns = await shared(openReturns())

/** A return of an order of 3 of the 10 pieces of a product, of which so many went back to stock. */
async function returned(RestockQuantity: number) {
  const order = await returns.sold()
  const { orderId: OrderID, productId: CatalogID } = order
  return { ...order, id: await returns.rma({ OrderID, RMAItemList: [{ CatalogID, RestockQuantity }] }) }
}

describe('a return', () => {
  test('moves nothing when it is put again as it is, as it was read, or in other fields alone', async () => {
    const { id, productId, sku } = await returned(2)
    const record = await returns.read('RMA', id)

    for (const body of [
      { RMAItemList: [{ CatalogID: productId, RestockQuantity: 2 }] },
      { RMAItemList: [{ SKU: sku.toUpperCase(), ReceivedQuantity: 2, RestockQuantity: 2 }] },
      record,
      { Comments: 'seen', RMAStatusID: 3 },
    ]) {
      expect((await returns.put(id, body)).statusCode).toBe(200)
      expect(await returns.stockOf(productId)).toBe(9)
    }
    expect(await returns.movements(productId)).toHaveLength(2)
    expect(await returns.read('RMA', id)).toEqual({ ...record, Comments: 'seen', RMAStatusID: 3 })
  })

  test('moves the difference when more or less goes back, or nothing, and takes back what went to stock when it is deleted', async () => {
    const { id, orderId, productId } = await returned(2)
    const restock = (...quantities: number[]) =>
      returns.put(id, { RMAItemList: quantities.map((each) => ({ CatalogID: productId, RestockQuantity: each })) })
    for (const quantities of [[2.5], [0.5, 1], [], [1]]) await restock(...quantities)
    expect(await returns.stockOf(productId)).toBe(8)
    expect((await returns.shop.call('DELETE', `/RMA/${id}`)).statusCode).toBe(200)

    expect(await returns.stockOf(productId)).toBe(7)
    const [sold, ...moved] = await returns.movements(productId)
    expect(sold).toEqual({ quantity: -3, cause: 'order', orderId })
    expect(moved).toEqual([2, 0.5, -1, -1.5, 1, -1].map((quantity) => ({ quantity, cause: 'return', orderId })))
  })

  test('of an option that was deleted goes back to its product; of a product that was deleted, to nothing', async () => {
    const { id: productId, sku } = await returns.product(['801'])
    const gone = await returns.product()
    const OrderID = await returns.order([
      { ItemID: `${sku}-801`, ItemQuantity: 3 },
      { CatalogID: gone.id, ItemQuantity: 3 },
    ])
    await returns.shop.call('PUT', `/Products/${productId}`, { body: { AdvancedOptionList: [] } })
    await returns.shop.call('DELETE', `/Products/${gone.id}`)

    const id = await returns.rma({
      OrderID,
      RMAItemList: [
        { CatalogID: productId, RestockQuantity: 2 },
        { SKU: gone.sku, RestockQuantity: 1 },
      ],
    })

    expect(await returns.stockOf(productId)).toBe(12)
    expect(await returns.movements(gone.id)).toHaveLength(1)
    expect((await returns.read('RMA', id)).RMAItemList).toMatchObject([
      { CatalogID: productId, SKU: `${sku}-801` },
      { CatalogID: 0, SKU: gone.sku, ItemName: 'Tote Bag', RestockQuantity: 1 },
    ])
  })
})

describe('an order with returns', () => {
  test('that is cancelled gives back the rest alone, and that is reopened takes it again', async () => {
    const { orderId, productId } = await returned(2)

    await returns.setStatus(orderId, 5)
    expect(await returns.stockOf(productId)).toBe(10)
    await returns.setStatus(orderId, 5)
    expect(await returns.stockOf(productId)).toBe(10)
    await returns.setStatus(orderId, 2)

    expect(await returns.stockOf(productId)).toBe(9)
    expect((await returns.movements(productId)).slice(2)).toEqual([
      { quantity: 1, cause: 'cancel', orderId },
      { quantity: -1, cause: 'reopen', orderId },
    ])
  })

  test('keeps in its lines what went back to stock; above that they may be changed', async () => {
    const { orderId, productId, sku } = await returned(2)
    const [{ ItemIndexID }] = (await returns.read('Orders', orderId)).OrderItemList
    const change = (body: object) => () => returns.shop.call('PUT', `/Orders/${orderId}`, { body })

    for (const items of [[], [{ ItemIndexID, ItemQuantity: 1.9999 }], [{ ItemIndexID, CatalogID: 0 }]]) {
      const message = await returns.expectRefused(change({ OrderItemList: items }), 'OrderItemList')
      expect(message).toContain(`at least 2 of ${sku}`)
    }

    expect((await change({ OrderItemList: [{ ItemIndexID, ItemQuantity: 2 }] })()).statusCode).toBe(200)
    expect(await returns.stockOf(productId)).toBe(10)
    expect((await change({ OrderItemList: [{ ItemIndexID, ItemQuantity: 6 }] })()).statusCode).toBe(200)
    expect(await returns.stockOf(productId)).toBe(6)
  })
})

describe('an import', () => {
  test('moves nothing, also where the order is not there, and what it brought is moved from then on', async () => {
    const { id: productId, sku } = await returns.product(['801'])
    const item = { CatalogID: productId, SKU: `${sku}-801`, ItemName: 'Bag', RestockQuantity: 2 }
    const record = { RMAID: 900, RMAItemList: [item, { ...item, SKU: sku }] }
    const line = { service: 'RMA', record, private: { Rows: { RMAItemList: [{ optionCode: '801' }, {}] } } }
    const stocks = async () => [await returns.stockOf(productId), await returns.stockOf(productId, '801')]
    const { refused } = await importInto(returns.server, returns.shop, [line])
    expect(refused).toEqual([])
    expect(await stocks()).toEqual([10, 10])

    const [first, second] = (await returns.read('RMA', 900)).RMAItemList
    expect((await returns.put(900, await returns.read('RMA', 900))).statusCode).toBe(200)
    expect(await stocks()).toEqual([10, 10])
    await returns.put(900, { RMAItemList: [second, { ...first, RestockQuantity: 3 }] })
    expect(await stocks()).toEqual([10, 11])
    await returns.expectRefused(
      () => returns.put(900, { RMAItemList: [{ CatalogID: 999_999 }] }),
      'RMAItemList.CatalogID',
    )
    await returns.shop.call('DELETE', '/RMA/900')

    expect(await stocks()).toEqual([8, 8])
  })

  test('may bring a return of which the order has other lines; it can be sent back as it was read', async () => {
    const { orderId } = await returns.sold()
    const record = { RMAID: 901, OrderID: orderId, RMAItemList: [{ SKU: 'unknown', RestockQuantity: 5 }] }
    expect((await importInto(returns.server, returns.shop, [{ service: 'RMA', record }])).refused).toEqual([])
    const read = await returns.read('RMA', 901)

    expect((await returns.put(901, { ...read, Comments: 'seen' })).statusCode).toBe(200)

    expect(await returns.read('RMA', 901)).toEqual({ ...read, Comments: 'seen' })
  })
})
