import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeRecord, createRecord, updateRecord } from '../../../../../src/engine/changing/change.ts'
import type { NestedSubResource } from '../../../../../src/engine/definition/resource.ts'
import { getRecord } from '../../../../../src/engine/reading/read.ts'
import { categories } from '../../../../../src/shop/resources/categories/categories.ts'
import { orderFigures } from '../../../../../src/shop/resources/orders/figures.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { products } from '../../../../../src/shop/resources/products/products.ts'
import { shared } from '../../../../support/shared.ts'
import { openShop } from './fixture.ts'

const shop = await shared(openShop())

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

describe('stock', () => {
  test('100 orders at once for the last 10 pieces: 10 succeed, the stock is 0, the ledger adds up', async () => {
    const { id } = await shop.product({ Stock: 10 })
    const placed = await Promise.allSettled(
      Array.from({ length: 100 }, () => shop.place([{ CatalogID: id, ItemQuantity: 1 }])),
    )
    const refused = placed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(placed.length - refused.length).toBe(10)
    for (const reason of refused) {
      expect(reason).toMatchObject({ code: 'insufficient-stock', status: 409, field: 'OrderItemList[0].ItemQuantity' })
    }
    expect(await shop.stockOf(id)).toBe(0)
    const moved = await shop.movements(id)
    expect(sum(moved.map(({ quantity }) => quantity))).toBe(0)
    expect(moved.filter(({ cause }) => cause === 'order')).toHaveLength(10)
    expect(new Set(moved.map(({ orderId }) => orderId)).size).toBe(11)
    const sold = await shop.db.orderItem.findMany({ where: { productId: id } })
    const found = sold.map(({ unitStock }) => Number(unitStock)).sort((one, other) => one - other)
    expect(found).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('orders of several products that name them in opposite order do not fail one another', async () => {
    const [one, other] = [await shop.product({ Stock: 1000 }), await shop.product({ Stock: 1000 })]
    const lines = [one, other].map(({ id }) => ({ CatalogID: id, ItemQuantity: 1 }))
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => shop.place(index % 2 === 0 ? lines : lines.toReversed())),
    )
    expect(await shop.stockOf(one.id)).toBe(960)
    expect(await shop.stockOf(other.id)).toBe(960)
  })

  test('two lines of a product share its stock, and remember what each found', async () => {
    const { id } = await shop.product({ Stock: 5 })
    const line = (quantity: number) => ({ CatalogID: id, ItemQuantity: quantity })
    await expect(shop.place([line(3), line(3)])).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('has 5 in stock, and 6 are ordered'),
    })
    const placed = await shop.place([line(3), line(2)])
    const { OrderItemList } = await shop.order(placed.id)
    expect(OrderItemList.map((item: { ItemUnitStock: number }) => item.ItemUnitStock)).toEqual([5, 2])
    expect(await shop.stockOf(id)).toBe(0)
  })

  test.each([-1, 0, 1, 3])('InventoryControl %i refuses what is not in stock', async (InventoryControl) => {
    const { id } = await shop.product({ Stock: 1, InventoryControl })
    await expect(shop.place([{ CatalogID: id, ItemQuantity: 2 }])).rejects.toMatchObject({ status: 409 })
    expect(await shop.stockOf(id)).toBe(1)
  })

  test('a product on back order is sold below zero, and the line says so', async () => {
    const { id } = await shop.product({ Stock: 1, InventoryControl: 2, BackOrderMessage: 'Ships in a week' })
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 3 }])
    expect(await shop.stockOf(id)).toBe(-2)
    expect((await shop.order(placed.id)).OrderItemList[0]).toMatchObject({
      ItemUnitStock: 1,
      ItemAvailability: 'Ships in a week',
    })
  })

  test('an order that fails after its stock was taken takes nothing', async () => {
    const { id } = await shop.product()
    const soldOut = await shop.product({ Stock: 0 })
    const items = [id, soldOut.id].map((CatalogID) => ({ CatalogID, ItemQuantity: 1 }))
    await expect(shop.place(items)).rejects.toMatchObject({ field: 'OrderItemList[1].ItemQuantity' })
    expect(await shop.stockOf(id)).toBe(10)
    expect(await shop.movements(id)).toHaveLength(1)
  })
})

describe('invoice numbers', () => {
  test('have no gaps although other orders failed between, and carry the prefix', async () => {
    const { id } = await shop.product({ Stock: 15 })
    const attempts = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        shop.place([{ CatalogID: id, ItemQuantity: index % 3 === 0 ? 1000 : 1 }]),
      ),
    )
    const placed = attempts.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(placed).toHaveLength(15)
    const numbers = placed.map(({ invoiceNumber }) => invoiceNumber).sort((a, b) => a - b)
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
    const { nextInvoiceNumber } = await shop.db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
    expect(nextInvoiceNumber).toBe((numbers.at(-1) as number) + 1)
    const { id: orderId, invoiceNumber } = placed[0] as (typeof placed)[0]
    expect(await shop.order(orderId)).toMatchObject({ InvoiceNumberPrefix: 'AB-', InvoiceNumber: invoiceNumber })
  })
})

describe('what an order is made of', () => {
  test('a guest order: prices, totals, status, one shipment to the billing address', async () => {
    const { id, sku } = await shop.product({
      Price: 12.5,
      Weight: 1.5,
      InStockMessage: 'In stock',
      WarehouseBin: 'B7',
      MainImageFile: 'assets/images/bag.jpg',
    })
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 3 }], {
      BillingFirstName: 'Ann',
      BillingLastName: 'Lee',
      BillingAddress: '1 High Street',
      BillingCity: 'Boston',
      BillingPaymentMethodID: '2',
      BillingPaymentMethod: 'Online Credit Card',
      BillingOnLinePayment: true,
      SalesTax: 2.33,
      OrderDiscountPromotion: 5,
      OrderDiscountCoupon: 0.5,
      ContinueURL: 'https://shop.example/continue?key=abc',
      CustomerComments: 'Ring twice',
      Referer: 'https://search.example',
      IP: '203.0.113.9',
      PromotionList: [{ PromotionName: 'Spring', Coupon: 'SPRING', DiscountAmount: 5 }],
      TransactionList: [{ TransactionType: 'Sale', TransactionAmount: 34.33, TransactionCaptured: 1 }],
      QuestionList: [{ QuestionID: 4, QuestionTitle: 'How did you find us?', QuestionAnswer: 'By chance' }],
    })
    expect(placed.orderAmount).toBe(34.33)
    const order = await shop.order(placed.id)
    expect(order).toMatchObject({
      OrderID: placed.id,
      CustomerID: 0,
      OrderStatusID: 1,
      UserID: 'operator',
      OrderDate: order.LastUpdate,
      OrderAmount: 34.33,
      OrderDiscount: 5.5,
      SalesTax: 2.33,
      BillingEmail: 'guest@shop.example',
      BillingPaymentMethod: 'Online Credit Card',
      ContinueURL: 'https://shop.example/continue?key=abc',
      CustomerComments: 'Ring twice',
      PromotionList: [{ PromotionName: 'Spring', Coupon: 'SPRING', DiscountAmount: 5 }],
      TransactionList: [{ OrderID: placed.id, TransactionType: 'Sale', TransactionAmount: 34.33 }],
      QuestionList: [{ OrderID: placed.id, QuestionID: 4, QuestionTitle: 'How did you find us?' }],
    })
    expect(order.ShipmentList).toEqual([
      expect.objectContaining({
        ShipmentID: 0,
        ShipmentNumber: 1,
        ShipmentOrderStatus: 1,
        ShipmentLastUpdate: order.LastUpdate,
        ShipmentUserID: 'operator',
        ShipmentFirstName: 'Ann',
        ShipmentLastName: 'Lee',
        ShipmentAddress: '1 High Street',
        ShipmentCity: 'Boston',
        ShipmentEmail: 'guest@shop.example',
        ShipmentWeight: 4.5,
        ShipmentBoxes: 1,
      }),
    ])
    expect(order.OrderItemList).toEqual([
      expect.objectContaining({
        CatalogID: id,
        ItemID: sku,
        ItemShipmentID: 0,
        ItemQuantity: 3,
        ItemDescription: 'Tote Bag',
        ItemUnitPrice: 12.5,
        ItemOptionPrice: 0,
        ItemUnitCost: 8,
        ItemWeight: 1.5,
        ItemUnitStock: 10,
        ItemAvailability: 'In stock',
        ItemImage1: 'assets/images/bag.jpg',
        ItemWarehouseBin: 'B7',
        ItemDateAdded: order.OrderDate,
      }),
    ])
  })

  test('an order that is not paid online begins as Unpaid; a Not Completed one takes no stock until it is completed', async () => {
    const { id } = await shop.product({ Stock: 3 })
    const unpaid = await shop.place([{ CatalogID: id, ItemQuantity: 1 }])
    expect((await shop.order(unpaid.id)).OrderStatusID).toBe(11)
    const open = await shop.place([{ CatalogID: id, ItemQuantity: 5 }], { OrderStatusID: 7 })
    expect((await shop.order(open.id)).OrderStatusID).toBe(7)
    expect(await shop.stockOf(id)).toBe(2)
    await shop.update(open.id, { OrderStatusID: 1 })
    expect(await shop.stockOf(id)).toBe(-3)
    expect((await shop.movements(id)).at(-1)).toEqual({ quantity: -5, cause: 'order', orderId: open.id })
  })

  test('a customer order takes the billing address from the record, but what was sent stands', async () => {
    const { id } = await shop.product()
    const customerId = await shop.customer({
      Email: 'carla@shop.example',
      BillingFirstName: 'Carla',
      BillingAddress1: `${'x'.repeat(199)}😀`,
      BillingCity: 'Lyon',
      BillingPhoneNumber: '0'.repeat(50),
    })
    const placed = await placeOrder(shop.operator, {
      CustomerID: customerId,
      BillingCity: 'Paris',
      OrderItemList: [{ CatalogID: id, ItemQuantity: 1 }],
    })
    expect(await shop.order(placed.id)).toMatchObject({
      CustomerID: customerId,
      BillingEmail: 'carla@shop.example',
      BillingFirstName: 'Carla',
      BillingAddress: 'x'.repeat(199),
      BillingCity: 'Paris',
      BillingPhoneNumber: '0'.repeat(30),
      ShipmentList: [{ ShipmentCity: 'Paris', ShipmentFirstName: 'Carla' }],
    })
  })

  test('several shipments: lines name them by their number, costs count, weights are those of their lines', async () => {
    const { id } = await shop.product({ Price: 10, Weight: 2 })
    const placed = await shop.place(
      [
        { CatalogID: id, ItemQuantity: 1, ItemShipmentID: 2 },
        { CatalogID: id, ItemQuantity: 3 },
      ],
      {
        ShipmentList: [
          { ShipmentCity: 'Oslo', ShipmentCost: 6.5, ShipmentMethodName: 'Ground' },
          { ShipmentCity: 'Bergen', ShipmentCost: 3.25, ShipmentWeight: 9 },
        ],
      },
    )
    const { ShipmentList, OrderItemList, OrderAmount } = await shop.order(placed.id)
    expect(OrderAmount).toBe(49.75)
    const [first, second] = ShipmentList
    expect(first).toMatchObject({ ShipmentCity: 'Oslo', ShipmentNumber: 1, ShipmentWeight: 6 })
    expect(second).toMatchObject({ ShipmentCity: 'Bergen', ShipmentNumber: 2, ShipmentWeight: 9 })
    expect(first.ShipmentID).toBeGreaterThan(0)
    expect(OrderItemList.map((item: { ItemShipmentID: number }) => item.ItemShipmentID)).toEqual([
      second.ShipmentID,
      first.ShipmentID,
    ])
  })

  test('an empty ShipmentList places an order without shipment', async () => {
    const { id } = await shop.product()
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1 }], { ShipmentList: [] })
    expect((await shop.order(placed.id)).ShipmentList).toEqual([])
  })

  test.each([
    [{ OrderDiscountCoupon: 10 }, null],
    [{ OrderDiscountCoupon: 4, OrderDiscountPromotion: 6.004 }, null],
    [{ OrderDiscountCoupon: 10.005 }, 'OrderDiscountCoupon'],
    [{ OrderDiscountCoupon: 4, OrderDiscountPromotion: 6.01 }, 'OrderDiscountPromotion'],
    [{ OrderDiscountPromotion: 99, SalesTax: 200 }, 'OrderDiscountPromotion'],
  ])('discounts %j of goods for 10 are taken up to the goods, whatever else is charged', async (discounts, field) => {
    const { id } = await shop.product({ Price: 10 })
    const placing = shop.place([{ CatalogID: id, ItemQuantity: 1 }], discounts)
    if (field === null) expect((await placing).orderAmount).toBe(0)
    else {
      await expect(placing).rejects.toMatchObject({
        status: 400,
        field,
        message: expect.stringContaining('must not be above the goods: the goods cost 10 USD, and the discounts'),
      })
      expect(await shop.stockOf(id)).toBe(10)
    }
  })

  test('whatever the amounts, those of the order add up to its total, and so do those that pages show', async () => {
    const amount = fc.integer({ min: 0, max: 99_999 }).map((units) => units / 10_000)
    const price = fc.integer({ min: 0, max: 9_999_999 }).map((units) => units / 10_000)
    const shape = fc.record({
      goods: fc.array(fc.tuple(price, fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 3 }),
      taxes: fc.tuple(amount, amount, amount),
      costs: fc.array(amount, { minLength: 1, maxLength: 3 }),
      discounts: fc.tuple(amount, amount),
    })
    const units = (value: number) => Math.round(value * 10_000)
    await fc.assert(
      fc.asyncProperty(shape, async ({ goods, taxes, costs, discounts }) => {
        const items: Record<string, unknown>[] = []
        for (const [Price, ItemQuantity] of goods) {
          items.push({ CatalogID: (await shop.product({ Price })).id, ItemQuantity })
        }
        const [SalesTax, SalesTax2, SalesTax3] = taxes
        const [OrderDiscountCoupon, OrderDiscountPromotion] = discounts
        const ShipmentList = costs.map((ShipmentCost) => ({ ShipmentCost }))
        const amounts = { SalesTax, SalesTax2, SalesTax3, OrderDiscountCoupon, OrderDiscountPromotion, ShipmentList }
        const placed = await shop.place(items, amounts).catch((error) => {
          expect(error.message).toContain('must not be above the goods')
          return null
        })
        if (placed === null) return
        const order = await shop.order(placed.id)
        const costsStored = order.ShipmentList.map(({ ShipmentCost }: { ShipmentCost: number }) => ShipmentCost)
        const discountsStored = [order.OrderDiscountCoupon, order.OrderDiscountPromotion]
        const charges = [order.SalesTax, order.SalesTax2, order.SalesTax3, ...costsStored]
        for (const each of [...charges, ...discountsStored]) expect(units(each) % 100).toBe(0)
        expect(units(orderFigures(order, shop.store.currency).sum)).toBe(units(order.OrderAmount))
      }),
      { numRuns: 30 },
    )
  })

  test('a transaction without a date gets the time of its order; one with a date keeps it', async () => {
    const { id } = await shop.product()
    const TransactionList = [
      { TransactionType: 'Sale', TransactionAmount: 5 },
      { TransactionType: 'Sale', TransactionAmount: 5, TransactionDateTime: '' },
      { TransactionType: 'Sale', TransactionAmount: 5, TransactionDateTime: '2026-01-02T03:04:05' },
    ]
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1 }], { TransactionList })
    const order = await shop.order(placed.id)
    const dates = (of: { TransactionList: { TransactionDateTime: string }[] }) =>
      of.TransactionList.map(({ TransactionDateTime }) => TransactionDateTime)
    expect(dates(order)).toEqual([order.OrderDate, order.OrderDate, '2026-01-02T03:04:05'])
    const list = orders.subResources.Transactions as NestedSubResource
    const body = { TransactionType: 'Sale' }
    await changeRecord(shop.application, orders, { kind: 'add-item', id: placed.id, list, body })
    expect(dates(await shop.order(placed.id)).at(-1)).toBe(order.OrderDate)
  })
})

describe('options', () => {
  const sets = [
    {
      OptionSetName: 'Size',
      OptionType: 'Dropdown',
      OptionRequired: true,
      OptionList: [{ OptionName: 'S' }, { OptionName: 'XL', OptionValue: 3 }],
    },
    {
      OptionSetName: 'Color & trim',
      OptionType: 'Radio',
      OptionList: [{ OptionName: '<Navy>', OptionValue: 1.5 }, { OptionName: 'Rust' }],
    },
    { OptionSetName: 'Engraving', OptionType: 'Text', OptionRequired: true },
  ]

  async function shirt(changes: Record<string, unknown> = {}) {
    const { id, sku } = await shop.product({ Name: 'Shirt', OptionSetList: sets, ...changes })
    const { OptionSetList } = JSON.parse(await getRecord(shop.operator, products, id))
    const ids: number[] = OptionSetList.flatMap((set: { OptionList: { OptionID: number }[] }) =>
      set.OptionList.map(({ OptionID }) => OptionID),
    )
    const [small, large, navy, rust] = ids as [number, number, number, number]
    return { id, sku, small, large, navy, rust }
  }

  /** A shirt whose sizes have stocks of their own. */
  async function sizedShirt(large: Record<string, unknown> = {}) {
    const made = await shirt()
    await updateRecord(shop.operator, products, made.id, {
      AdvancedOptionList: [
        { AdvancedOptionCode: `${made.small}`, AdvancedOptionSufix: '-S', AdvancedOptionStock: 2 },
        {
          AdvancedOptionCode: `${made.large}`,
          AdvancedOptionSufix: `${made.sku}-XL`,
          AdvancedOptionStock: 4,
          ...large,
        },
      ],
    })
    return made
  }

  const item = async (orderId: number) => (await shop.order(orderId)).OrderItemList[0]

  test('are written into description, price and ItemOptions', async () => {
    const { id, large, navy } = await shirt()
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 2, ItemOptions: `,${large},${navy}` }])
    expect(await item(placed.id)).toMatchObject({
      ItemDescription: 'Shirt<br><b>Size:</b>&nbsp;XL - $3.00<br><b>Color &amp; trim:</b>&nbsp;&lt;Navy&gt; - $1.50',
      ItemUnitPrice: 20,
      ItemOptionPrice: 4.5,
      ItemOptions: `,${large},${navy}`,
    })
    expect(placed.orderAmount).toBe(49)
  })

  test('of a category serve its products, unless they do without', async () => {
    const category = await createRecord(shop.operator, categories, {
      CategoryName: 'Gifts',
      OptionSetList: [{ OptionSetName: 'Wrapping', OptionType: 'Checkbox', OptionList: [{ OptionName: 'Paper' }] }],
    })
    const { OptionSetList } = JSON.parse(await getRecord(shop.operator, categories, category))
    const paper = OptionSetList[0].OptionList[0].OptionID
    const CategoryList = [{ CategoryID: category }]
    const { id } = await shop.product({ CategoryList })
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1, ItemOptions: `${paper}` }])
    expect((await item(placed.id)).ItemDescription).toBe('Tote Bag<br><b>Wrapping:</b> Paper - $0.00')
    const plain = await shop.product({ CategoryList, DoNotUseCategoryOptions: true })
    await expect(shop.place([{ CatalogID: plain.id, ItemQuantity: 1, ItemOptions: `${paper}` }])).rejects.toMatchObject(
      { field: 'OrderItemList[0].ItemOptions' },
    )
  })

  test.each([
    ['of another product', '999999', 'names 999999, which is not an option of'],
    ['that are no ids', 'large', 'must be a list of option ids'],
    ['twice', '{small},{small}', 'none of them twice'],
    ['two of a set that takes one', '{small},{large}', 'names 2 options of "Size"'],
    ['none of a required set', '{navy}', 'must name an option of "Size"'],
  ])('%s are refused', async (_case, options, message) => {
    const made = await shirt()
    const ItemOptions = options.replace(/\{(\w+)\}/g, (_all, name) => String(made[name as 'small']))
    await expect(shop.place([{ CatalogID: made.id, ItemQuantity: 1, ItemOptions }])).rejects.toMatchObject({
      status: 400,
      field: 'OrderItemList[0].ItemOptions',
      message: expect.stringContaining(message),
    })
  })

  test('with a stock of their own take from it, and name their SKU', async () => {
    const { id, sku, large, rust } = await sizedShirt()
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 3, ItemOptions: `,${large},${rust}` }])
    expect(await item(placed.id)).toMatchObject({ ItemID: `${sku}-XL`, ItemUnitStock: 4, ItemOptionPrice: 3 })
    expect(await shop.stockOf(id)).toBe(10)
    expect((await shop.movements(id, `${large}`)).at(-1)).toMatchObject({ quantity: -3, cause: 'order' })
    await expect(shop.place([{ CatalogID: id, ItemQuantity: 2, ItemOptions: `,${large}` }])).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(`${sku}-XL has 1 in stock`),
    })
    await shop.update(placed.id, { OrderStatusID: 5 })
    expect((await shop.movements(id, `${large}`)).at(-1)).toMatchObject({ quantity: 3, cause: 'cancel' })
  })

  test('can be named by the SKU alone, in either way of writing the suffix', async () => {
    const { id, sku, small, large, navy } = await sizedShirt()
    const placed = await shop.place([
      { ItemID: `${sku}-S`.toLowerCase(), ItemQuantity: 1 },
      { ItemID: `${sku}-XL`, ItemQuantity: 1, ItemOptions: `${navy}` },
      { CatalogID: id, ItemID: `${sku}-XL`, ItemQuantity: 1 },
    ])
    const { OrderItemList } = await shop.order(placed.id)
    expect(OrderItemList).toMatchObject([
      { CatalogID: id, ItemID: `${sku}-S`, ItemOptions: `,${small}` },
      { CatalogID: id, ItemID: `${sku}-XL`, ItemOptions: `,${large},${navy}` },
      { CatalogID: id, ItemID: `${sku}-XL`, ItemOptions: `,${large}` },
    ])
    expect((await shop.movements(id, `${small}`)).at(-1)).toMatchObject({ quantity: -1 })
  })

  test('with a price, cost and weight of their own have them instead of those of the product', async () => {
    const { sku, navy } = await sizedShirt({
      AdvancedOptionPrice: 7,
      AdvancedOptionCost: 9.5,
      AdvancedOptionWeight: 0.4,
    })
    const placed = await shop.place([{ ItemID: `${sku}-XL`, ItemQuantity: 1, ItemOptions: `${navy}` }])
    expect(await item(placed.id)).toMatchObject({ ItemOptionPrice: 8.5, ItemUnitCost: 9.5, ItemWeight: 0.4 })
  })
})

describe('refusals', () => {
  const ofLine =
    'ItemIndexID ItemDescription ItemUnitPrice ItemOptionPrice ItemUnitCost ItemUnitStock ItemWeight ItemImage1'
  test.each<[string, Record<string, unknown>, object?]>([
    ['OrderID', { OrderID: 7 }],
    ['InvoiceNumber', { invoicenumber: 7 }],
    ['InvoiceNumberPrefix', { InvoiceNumberPrefix: 'X-' }],
    ['OrderAmount', { OrderAmount: 1 }],
    ['OrderDiscount', { OrderDiscount: 1 }],
    ['LastUpdate', { LastUpdate: '01/01/2026' }],
    ['UserID', { UserID: 'me' }],
    ['ShipmentList[0].ShipmentID', { ShipmentList: [{ ShipmentID: 1 }] }],
    ['ShipmentList[0].ShipmentOrderStatus', { ShipmentList: [{ ShipmentOrderStatus: 4 }] }],
    ['PromotionList[0].PromotionID', { PromotionList: [{ PromotionID: 4 }] }],
    ['TransactionList[0].OrderID', { TransactionList: [{ OrderID: 4 }] }],
    ['QuestionList[0].OrderID', { QuestionList: [{ OrderID: 4 }] }],
    ...[...ofLine.split(' '), 'ItemWarehouseBin'].map((name): [string, Record<string, unknown>, object] => [
      `OrderItemList[0].${name}`,
      {},
      { [name]: 1 },
    ]),
  ])('%s is computed, and refused when sent', async (field, changes, line) => {
    const { id } = await shop.product()
    await expect(shop.place([{ CatalogID: id, ItemQuantity: 1, ...line }], changes)).rejects.toMatchObject({
      status: 400,
      field,
      message: expect.stringContaining('is computed when the order is placed'),
    })
  })

  test.each<[string, Record<string, unknown>, string?]>([
    ['OrderItemList', { OrderItemList: [] }],
    ['OrderItemList', { OrderItemList: Array.from({ length: 501 }, () => ({ CatalogID: 1, ItemQuantity: 1 })) }],
    ['OrderItemList[0].CatalogID', { OrderItemList: [{ ItemQuantity: 1 }] }],
    ['OrderItemList[0].CatalogID', { OrderItemList: [{ CatalogID: 999_999, ItemQuantity: 1 }] }],
    ['OrderItemList[0].ItemID', { OrderItemList: [{ ItemID: 'NO-SUCH', ItemQuantity: 1 }] }],
    ['OrderItemList[0].ItemQuantity', { OrderItemList: [{ CatalogID: 1 }] }],
    ['OrderItemList[0].ItemQuantity', { OrderItemList: [{ CatalogID: 1, ItemQuantity: -1 }] }],
    ['OrderItemList[0].ItemQuantity', { OrderItemList: [{ CatalogID: 1, ItemQuantity: 'many' }] }],
    ['BillingEmail', { BillingEmail: '' }],
    ['CustomerID', { CustomerID: 999_999 }],
    ['OrderStatusID', { OrderStatusID: 4 }],
    ['SalesTax2', { SalesTax2: -1 }],
    ['OrderDiscountCoupon', { OrderDiscountCoupon: -1 }],
    ['ShipmentList[0].ShipmentCost', { ShipmentList: [{ ShipmentCost: -1 }] }],
    ['OrderItemList[0].ItemShipmentID', { ItemShipmentID: 2 }],
    ['BillingEmial', { BillingEmial: 'x' }],
    ['BillingFirstName', { BillingFirstName: 'x'.repeat(70_000) }],
  ])('%s is refused by name', async (field, changes) => {
    const { id } = await shop.product()
    const { ItemShipmentID = 0, ...rest } = changes
    await expect(shop.place([{ CatalogID: id, ItemQuantity: 1, ItemShipmentID }], rest)).rejects.toMatchObject({
      status: 400,
      field,
      message: expect.stringContaining(field),
    })
  })

  test.each([[null], ['text'], [[]], [7]])('a body %j is refused', async (body) => {
    await expect(placeOrder(shop.operator, body)).rejects.toMatchObject({ status: 400 })
  })

  test.each([
    ['CatalogID', { NotForSale: true }, {}, 'not for sale'],
    ['ItemQuantity', { MinimumQuantity: 3 }, { ItemQuantity: 2 }, 'at least 3'],
    ['ItemQuantity', { MaximumQuantity: 3 }, { ItemQuantity: 4 }, 'at most 3'],
    ['ItemQuantity', { MinimumQuantity: 3, AllowOnlyMultiples: true }, { ItemQuantity: 4 }, 'a multiple of 3'],
    ['ItemQuantity', {}, { ItemQuantity: 1.5 }, 'a whole number'],
  ])('%s of a product with %j and a line with %j is refused', async (name, of, line, message) => {
    const { id } = await shop.product(of)
    await expect(shop.place([{ CatalogID: id, ItemQuantity: 1, ...line }])).rejects.toMatchObject({
      field: `OrderItemList[0].${name}`,
      message: expect.stringContaining(message),
    })
  })

  test('ItemID that does not belong to CatalogID is refused', async () => {
    const [one, other] = [await shop.product(), await shop.product()]
    await expect(shop.place([{ CatalogID: one.id, ItemID: other.sku, ItemQuantity: 1 }])).rejects.toMatchObject({
      field: 'OrderItemList[0].ItemID',
    })
  })

  test('a hidden product is sold', async () => {
    const hidden = await shop.product({ Hide: true })
    await expect(shop.place([{ CatalogID: hidden.id, ItemQuantity: 1 }])).resolves.toMatchObject({ orderAmount: 20 })
  })

  test('a fractional quantity is sold where the product allows it', async () => {
    const { id } = await shop.product({ AllowFractionalQuantity: true, Price: 9.99, Stock: 2 })
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1.25 }])
    expect(placed.orderAmount).toBe(12.49)
    expect(await shop.stockOf(id)).toBe(0.75)
  })

  test('card number and verification are stored nowhere', async () => {
    const { id } = await shop.product()
    const card = { CardType: 'Visa', CardNumber: '4111111111111111', CardVerification: '98765', CardName: 'A Lee' }
    const placed = await shop.place([{ CatalogID: id, ItemQuantity: 1 }], card)
    const rows = await shop.db.$queryRawUnsafe<{ row: string }[]>(
      'SELECT to_json(o)::text AS "row" FROM "Order" o WHERE "id" = $1::int',
      placed.id,
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.row).toContain('A Lee')
    expect(rows[0]?.row).not.toMatch(/41111|98765/)
    expect(await shop.order(placed.id)).toMatchObject({ CardType: 'Visa', CardNumber: '', CardVerification: '' })
  })
})
