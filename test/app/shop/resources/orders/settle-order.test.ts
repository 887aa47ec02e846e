import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../../../src/engine/caller.ts'
import { changeRecord, deleteRecord, updateRecord } from '../../../../../src/engine/changing/change.ts'
import type { NestedSubResource } from '../../../../../src/engine/definition/resource.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { products } from '../../../../../src/shop/resources/products/products.ts'
import { shared } from '../../../../support/shared.ts'
import { openShop } from './fixture.ts'

const shop = await shared(openShop())

const items = orders.subResources.Items as NestedSubResource
const shipments = orders.subResources.Shipments as NestedSubResource
const addItem = (caller: Caller, resource: typeof orders, list: NestedSubResource, id: number, body: object) =>
  changeRecord(caller, resource, { kind: 'add-item', id, list, body })
const updateItem = (
  caller: Caller,
  resource: typeof orders,
  list: NestedSubResource,
  id: number,
  key: number,
  body: object,
) => changeRecord(caller, resource, { kind: 'update-item', id, list, key, body })
const refusedStatus = { status: 400, message: 'Not updated. Requested Change Status not allowed' }

/** An order of 3 of the 10 pieces of a product. */
async function placed(changes: Record<string, unknown> = {}) {
  const product = await shop.product()
  const { id } = await shop.place([{ CatalogID: product.id, ItemQuantity: 3 }], changes)
  return { id, productId: product.id, sku: product.sku }
}

const twoShipments = { ShipmentList: [{ ShipmentCity: 'Oslo' }, { ShipmentCity: 'Bergen' }] }

describe('status and stock', () => {
  test('Cancel gives the items back once, also when two cancel at once', async () => {
    const { id, productId } = await placed()
    await Promise.all([shop.update(id, { OrderStatusID: 5 }), shop.update(id, { OrderStatusID: 5 })])
    await shop.update(id, { OrderStatusID: 5 })
    expect(await shop.stockOf(productId)).toBe(10)
    expect(await shop.movements(productId)).toEqual([
      { quantity: 10, cause: 'initial', orderId: null },
      { quantity: -3, cause: 'order', orderId: id },
      { quantity: 3, cause: 'cancel', orderId: id },
    ])
  })

  test('out of Cancel an application is refused, and nothing of the record is changed', async () => {
    const { id, productId } = await placed()
    await shop.update(id, { OrderStatusID: 5 })
    for (const body of [
      { OrderStatusID: 2, InternalComments: 'again' },
      { ShipmentList: [{ ShipmentID: 0, ShipmentOrderStatus: 4 }], InternalComments: 'again' },
      { OrderStatusID: 7 },
    ]) {
      await expect(shop.update(id, body)).rejects.toMatchObject(refusedStatus)
    }
    await expect(
      updateItem(shop.application, orders, shipments, id, 0, { ShipmentOrderStatus: 4 }),
    ).rejects.toMatchObject(refusedStatus)
    expect(await shop.order(id)).toMatchObject({ OrderStatusID: 5, InternalComments: '' })
    expect(await shop.stockOf(productId)).toBe(10)
  })

  test('what else is sent to a cancelled order is taken, with its own status too', async () => {
    const { id } = await placed()
    await shop.update(id, { OrderStatusID: 5 })
    await shop.update(id, { OrderStatusID: 5, InternalComments: 'refunded' })
    expect(await shop.order(id)).toMatchObject({ OrderStatusID: 5, InternalComments: 'refunded' })
  })

  test('the operator reopens a cancelled order, and its items are taken again', async () => {
    const { id, productId } = await placed()
    await shop.update(id, { OrderStatusID: 5 })
    await shop.update(id, { OrderStatusID: 2 }, shop.operator)
    expect(await shop.order(id)).toMatchObject({ OrderStatusID: 2, ShipmentList: [{ ShipmentOrderStatus: 2 }] })
    expect(await shop.stockOf(productId)).toBe(7)
    expect((await shop.movements(productId)).at(-1)).toEqual({ quantity: -3, cause: 'reopen', orderId: id })
  })

  test.each([0, 13, -5, 99])('status %i, which the store does not have, is refused by name', async (status) => {
    const { id } = await placed()
    const failure = { status: 400, field: 'OrderStatusID' }
    await expect(shop.update(id, { OrderStatusID: status })).rejects.toMatchObject(failure)
    expect((await shop.order(id)).OrderStatusID).toBe(11)
  })

  test('an unknown ShipmentOrderStatus is refused by name, with one shipment or several', async () => {
    const failure = { status: 400, field: 'ShipmentOrderStatus' }
    for (const { id } of [await placed(), await placed(twoShipments)]) {
      const { ShipmentID } = (await shop.order(id)).ShipmentList[0]
      const body = { ShipmentOrderStatus: 99 }
      await expect(updateItem(shop.application, orders, shipments, id, ShipmentID, body)).rejects.toMatchObject(failure)
    }
  })

  test('a merchant’s own status can be given', async () => {
    const { id } = await placed()
    await shop.db.orderStatus.create({
      data: { storeId: shop.store.id, id: 21, sorting: 13, definition: 'Quote', text: 'Quote', visible: true },
    })
    await shop.update(id, { OrderStatusID: 21 })
    expect((await shop.order(id)).OrderStatusID).toBe(21)
  })

  test('a product that was deleted has no stock to give back to', async () => {
    const { id, productId } = await placed()
    await deleteRecord(shop.operator, products, productId)
    expect((await shop.order(id)).OrderItemList[0].CatalogID).toBe(0)
    await shop.update(id, { OrderStatusID: 5 })
    expect((await shop.order(id)).OrderStatusID).toBe(5)
  })

  test('an advanced option that was deleted gives back to its product', async () => {
    const { id: productId, sku } = await shop.product({
      AdvancedOptionList: [{ AdvancedOptionCode: '900', AdvancedOptionSufix: '-L', AdvancedOptionStock: 5 }],
    })
    const { id } = await shop.place([{ ItemID: `${sku}-L`, ItemQuantity: 2 }])
    await updateRecord(shop.operator, products, productId, { AdvancedOptionList: [] })
    await shop.update(id, { OrderStatusID: 5 })
    expect(await shop.stockOf(productId)).toBe(12)
  })
})

describe('one shipment', () => {
  test('OrderStatusID is its status too, and its LastUpdate and user are the order’s', async () => {
    const { id } = await placed()
    shop.clock.ms += 60_000
    await shop.update(id, { OrderStatusID: 2 })
    const order = await shop.order(id)
    expect(order.UserID).toBe('Sync')
    expect(order.ShipmentList).toEqual([
      expect.objectContaining({
        ShipmentID: 0,
        ShipmentOrderStatus: 2,
        ShipmentLastUpdate: order.LastUpdate,
        ShipmentUserID: 'Sync',
      }),
    ])
  })

  test('PUT /Orders/{id}/Shipments/0 ships it: status of the order, tracking, date', async () => {
    const { id } = await placed()
    shop.clock.ms += 60_000
    await updateItem(shop.application, orders, shipments, id, 0, {
      ShipmentID: 0,
      ShipmentOrderStatus: 4,
      ShipmentTrackingCode: '1Z999',
      ShipmentShippedDate: '03/01/2026',
    })
    const order = await shop.order(id)
    expect(order).toMatchObject({
      OrderStatusID: 4,
      UserID: 'Sync',
      ShipmentList: [
        {
          ShipmentID: 0,
          ShipmentOrderStatus: 4,
          ShipmentTrackingCode: '1Z999',
          ShipmentShippedDate: '03/01/2026',
          ShipmentLastUpdate: order.LastUpdate,
        },
      ],
    })
  })

  test('Cancel by its ShipmentOrderStatus gives the items back', async () => {
    const { id, productId } = await placed()
    await shop.update(id, { ShipmentList: [{ ShipmentID: 0, ShipmentOrderStatus: 5 }] })
    expect((await shop.order(id)).OrderStatusID).toBe(5)
    expect(await shop.stockOf(productId)).toBe(10)
  })

  test.each([
    ['the order’s new status wins over the shipment’s as it was read', { OrderStatusID: 2 }, 11, 2],
    ['the shipment’s new status wins over the order’s as it was read', { OrderStatusID: 11 }, 4, 4],
    ['the order’s wins where both are new', { OrderStatusID: 2 }, 4, 2],
  ])('sent with both, %s', async (_case, own, ofShipment, status) => {
    const { id } = await placed()
    await shop.update(id, { ...own, ShipmentList: [{ ShipmentID: 0, ShipmentOrderStatus: ofShipment }] })
    const order = await shop.order(id)
    expect([order.OrderStatusID, order.ShipmentList[0].ShipmentOrderStatus]).toEqual([status, status])
  })
})

describe('several shipments', () => {
  test('have statuses of their own, and OrderStatusID leaves them alone', async () => {
    const { id } = await placed(twoShipments)
    const [first] = (await shop.order(id)).ShipmentList
    await updateItem(shop.application, orders, shipments, id, first.ShipmentID, { ShipmentOrderStatus: 4 })
    await shop.update(id, { OrderStatusID: 3 })
    expect(await shop.order(id)).toMatchObject({
      OrderStatusID: 3,
      ShipmentList: [{ ShipmentOrderStatus: 4 }, { ShipmentOrderStatus: 11 }],
    })
  })

  test('are stamped one by one', async () => {
    const { id } = await placed(twoShipments)
    const [first, second] = (await shop.order(id)).ShipmentList
    shop.clock.ms += 60_000
    await updateItem(shop.application, orders, shipments, id, second.ShipmentID, { ShipmentTrackingCode: 'T2' })
    const order = await shop.order(id)
    expect(order.ShipmentList[0]).toEqual(first)
    expect(order.ShipmentList[1]).toEqual({
      ...second,
      ShipmentTrackingCode: 'T2',
      ShipmentLastUpdate: order.LastUpdate,
      ShipmentUserID: 'Sync',
    })
  })

  test('a second one makes ids appear, and takes the next number and the order’s status; without it they are 0 again', async () => {
    const { id } = await placed()
    const added = await addItem(shop.application, orders, shipments, id, { ShipmentCity: 'Bergen' })
    const { ShipmentList, OrderItemList } = await shop.order(id)
    const [first, second] = ShipmentList
    expect(second).toMatchObject({ ShipmentID: added, ShipmentNumber: 2, ShipmentOrderStatus: 11 })
    expect(first.ShipmentID).toBeGreaterThan(0)
    expect(OrderItemList[0].ItemShipmentID).toBe(first.ShipmentID)
    await shop.update(id, { ShipmentList: [{ ShipmentID: second.ShipmentID }] })
    const order = await shop.order(id)
    expect(order.ShipmentList).toMatchObject([{ ShipmentID: 0, ShipmentCity: 'Bergen' }])
    expect(order.OrderItemList[0].ItemShipmentID).toBe(0)
  })

  test('lines can be moved between them, and to no other', async () => {
    const { id } = await placed(twoShipments)
    const { ShipmentList, OrderItemList } = await shop.order(id)
    const { ItemIndexID } = OrderItemList[0]
    const move = (ItemShipmentID: number) =>
      updateItem(shop.application, orders, items, id, ItemIndexID, { ItemShipmentID })
    await move(ShipmentList[1].ShipmentID)
    expect((await shop.order(id)).OrderItemList[0].ItemShipmentID).toBe(ShipmentList[1].ShipmentID)
    await expect(move(999_999)).rejects.toMatchObject({ field: 'OrderItemList[0].ItemShipmentID' })
  })
})

describe('discounts', () => {
  test('are raised up to the goods; a change of the goods, and one that lowers them, are taken as they are', async () => {
    const { id } = await placed({ OrderDiscountPromotion: 10 })
    await expect(shop.update(id, { OrderDiscountPromotion: 60.01 })).rejects.toMatchObject({
      status: 400,
      field: 'OrderDiscountPromotion',
      message: expect.stringContaining('the goods cost 60 USD, and the discounts of the order are 60.01 USD together'),
    })
    await expect(shop.update(id, { OrderDiscountCoupon: 50.01 })).rejects.toMatchObject({ status: 400 })
    await shop.update(id, { OrderDiscountCoupon: 50, OrderAmount: 0 })
    const [{ ItemIndexID }] = (await shop.order(id)).OrderItemList
    await shop.update(id, { OrderItemList: [{ ItemIndexID, ItemQuantity: 1 }] })
    await shop.update(id, { OrderDiscountCoupon: 50, OrderDiscountPromotion: 10, InternalComments: 'sent back' })
    await shop.update(id, { OrderDiscountCoupon: 40 })
    const more = { OrderItemList: [{ ItemIndexID, ItemQuantity: 4 }], OrderDiscountCoupon: 70 }
    await shop.update(id, more)
    expect(await shop.order(id)).toMatchObject({ OrderDiscount: 80, OrderItemList: [{ ItemQuantity: 4 }] })
  })
})

describe('lines', () => {
  test('a changed quantity moves the difference', async () => {
    const { id, productId } = await placed()
    const [{ ItemIndexID }] = (await shop.order(id)).OrderItemList
    await updateItem(shop.application, orders, items, id, ItemIndexID, { ItemQuantity: 1 })
    expect(await shop.stockOf(productId)).toBe(9)
    await shop.update(id, { OrderItemList: [{ ItemIndexID, ItemQuantity: 25 }] })
    expect(await shop.stockOf(productId)).toBe(-15)
    expect((await shop.movements(productId)).slice(-2)).toEqual([
      { quantity: 2, cause: 'order-edit', orderId: id },
      { quantity: -24, cause: 'order-edit', orderId: id },
    ])
  })

  test('a new line takes its product’s stock, and from the product what was left out', async () => {
    const { id } = await placed()
    const other = await shop.product({ Name: 'Mug', Weight: 0.5, WarehouseBin: 'A1' })
    const key = await addItem(shop.application, orders, items, id, {
      CatalogID: other.id,
      ItemQuantity: 2,
      ItemUnitPrice: 7.5,
    })
    expect((await shop.order(id)).OrderItemList[1]).toMatchObject({
      ItemIndexID: key,
      CatalogID: other.id,
      ItemID: other.sku,
      ItemDescription: 'Mug',
      ItemUnitPrice: 7.5,
      ItemUnitCost: 8,
      ItemWeight: 0.5,
      ItemUnitStock: 10,
      ItemWarehouseBin: 'A1',
    })
    expect(await shop.stockOf(other.id)).toBe(8)
  })

  test('a replaced list gives back what is gone and takes what is new', async () => {
    const { id, productId } = await placed()
    const other = await shop.product()
    await shop.update(id, { OrderItemList: [{ CatalogID: other.id, ItemID: 'own', ItemQuantity: 4 }] })
    expect((await shop.order(id)).OrderItemList).toMatchObject([{ CatalogID: other.id, ItemID: 'own' }])
    expect(await shop.stockOf(productId)).toBe(10)
    expect(await shop.stockOf(other.id)).toBe(6)
    await shop.update(id, { OrderItemList: [] })
    expect(await shop.stockOf(other.id)).toBe(10)
  })

  test('a line that changes its option moves from one stock to the other', async () => {
    const { id: productId, sku } = await shop.product({
      AdvancedOptionList: [
        { AdvancedOptionCode: '901', AdvancedOptionSufix: '-A', AdvancedOptionStock: 5 },
        { AdvancedOptionCode: '902', AdvancedOptionSufix: '-B', AdvancedOptionStock: 5 },
      ],
    })
    const { id } = await shop.place([{ ItemID: `${sku}-A`, ItemQuantity: 2 }])
    const [{ ItemIndexID }] = (await shop.order(id)).OrderItemList
    await updateItem(shop.application, orders, items, id, ItemIndexID, { ItemOptions: ',902' })
    expect((await shop.order(id)).OrderItemList[0]).toMatchObject({ ItemID: `${sku}-B`, ItemOptions: ',902' })
    expect((await shop.movements(productId, '901')).at(-1)).toMatchObject({ quantity: 2, cause: 'order-edit' })
    expect((await shop.movements(productId, '902')).at(-1)).toMatchObject({ quantity: -2, cause: 'order-edit' })
  })

  test('of several advanced options that fit, the one that combines most options is meant', async () => {
    const codes = ['903', '903,904', '904']
    const { id: productId } = await shop.product({
      AdvancedOptionList: codes.map((code) => ({ AdvancedOptionCode: code, AdvancedOptionStock: 5 })),
    })
    const { id } = await placed()
    await shop.update(id, { OrderItemList: [{ CatalogID: productId, ItemQuantity: 1, ItemOptions: ',904,903,905' }] })
    expect(await shop.movements(productId, '903,904')).toHaveLength(2)
  })

  test('cancelled together with a change of its lines, an order gives back what it held', async () => {
    const { id, productId } = await placed()
    const [{ ItemIndexID }] = (await shop.order(id)).OrderItemList
    await shop.update(id, { OrderStatusID: 5, OrderItemList: [{ ItemIndexID, ItemQuantity: 1 }] })
    expect(await shop.stockOf(productId)).toBe(10)
  })

  test.each([11, 5])('a CatalogID that no product has is refused by name, in status %i', async (status) => {
    const { id } = await placed()
    await shop.update(id, { OrderStatusID: status })
    await expect(shop.update(id, { OrderItemList: [{ CatalogID: 999_999, ItemQuantity: 1 }] })).rejects.toMatchObject({
      status: 400,
      field: 'OrderItemList[0].CatalogID',
    })
    expect((await shop.order(id)).OrderItemList).toHaveLength(1)
  })

  test('edits of the same order at once add up', async () => {
    const { id, productId } = await placed()
    await Promise.all(
      Array.from({ length: 8 }, () =>
        addItem(shop.application, orders, items, id, { CatalogID: productId, ItemQuantity: 1 }),
      ),
    )
    expect(await shop.stockOf(productId)).toBe(-1)
    expect((await shop.order(id)).OrderItemList).toHaveLength(9)
  })

  test('orders that are cancelled while others are placed leave the stock right', async () => {
    const [one, other] = [await shop.product({ Stock: 500 }), await shop.product({ Stock: 500 })]
    const lines = [one, other].map(({ id }) => ({ CatalogID: id, ItemQuantity: 1 }))
    const first = await Promise.all(Array.from({ length: 15 }, () => shop.place(lines)))
    await Promise.all([
      ...first.map(({ id }) => shop.update(id, { OrderStatusID: 5 })),
      ...Array.from({ length: 15 }, () => shop.place(lines.toReversed())),
    ])
    expect(await shop.stockOf(one.id)).toBe(485)
    expect(await shop.stockOf(other.id)).toBe(485)
  })
})
