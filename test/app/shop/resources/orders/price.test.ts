import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { amountOf, exact, reduced, rounded, toNumber } from '../../../../../src/shop/resources/orders/amounts.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { priceOf } from '../../../../../src/shop/resources/orders/price.ts'
import { openShop, type Shop } from './fixture.ts'

describe('the price of a piece', () => {
  const plain = { price: 20, salePrice: 0, onSale: false, details: {} }
  const buying = { priceLevel: 0, quantity: 1, optionPrice: 0, currency: 'USD' }
  const off = (...rows: object[]) => ({ details: { DiscountList: rows as never } })
  const sale = (salePrice: number) => ({ salePrice, onSale: true })
  const from10 = { DiscountLowbound: 10, DiscountUpbound: 49, DiscountPrice: 10, DiscountPercentage: true }
  const from50 = { DiscountLowbound: 50, DiscountPrice: 15 }
  const to20 = { ...from10, DiscountUpbound: 20 }
  const from2 = { ...from10, DiscountLowbound: 2, DiscountPrice: 5 }
  const ofLevel2 = { ...from10, DiscountPriceLevel: 2 }
  const half = { ...from10, DiscountPrice: 50 }
  const level2 = { details: { PriceLevel2: 17 } }
  const ten = { quantity: 10 }

  test.each([
    ['the list price', {}, {}, 20],
    ['the sale price on sale', sale(15), {}, 15],
    ['the list price when a sale price is set but not on', { salePrice: 15 }, {}, 20],
    ['the list price when on sale without a sale price', { onSale: true }, {}, 20],
    ['the price level of the group', level2, { priceLevel: 2 }, 17],
    ['the list price when the level is not set', level2, { priceLevel: 3 }, 20],
    ['the list price without a group', { details: { PriceLevel1: 17 } }, {}, 20],
    ['the sale price before the level', { ...sale(18), ...level2 }, { priceLevel: 2 }, 18],
    ['below the bounds of a discount', off(from10, from50), { quantity: 9 }, 20],
    ['at the lower bound, a percentage', off(from10, from50), ten, 18],
    ['at the upper bound', off(from10, from50), { quantity: 49 }, 18],
    ['past it, where no upper bound is, a price', off(from10, from50), { quantity: 5000 }, 15],
    ['between the bounds of two', off(to20, from50), { quantity: 30 }, 20],
    ['a percentage off the sale price', { ...sale(10), ...off(from10) }, ten, 9],
    ['never dearer by a discount', { ...sale(10), ...off(from50) }, { quantity: 50 }, 10],
    ['a discount for another level', off(ofLevel2), ten, 20],
    ['the discount of the own level before one for all', off(half, ofLevel2), { ...ten, priceLevel: 2 }, 18],
    ['the discount that begins highest of several', off(from2, from10), { quantity: 12 }, 18],
    ['a discount without a price is none', off({ DiscountLowbound: 1 }), { quantity: 5 }, 20],
    ['at most 100 percent', off({ ...from10, DiscountPrice: 250 }), ten, 0],
    ['a percentage rounds to a cent', { price: 9.99, ...off({ ...from10, DiscountPrice: 15 }) }, ten, 8.49],
    ['to a yen', { price: 999, ...off(from10) }, { ...ten, currency: 'JPY' }, 899],
    ['to a fils', { price: 2.125, ...off(from10) }, { ...ten, currency: 'KWD' }, 1.913],
    ['a price finer than cents stays as fine', { price: 0.0125, ...off(from10) }, ten, 0.0113],
  ])('%s', (_case, product, purchase, unitPrice) => {
    const price = priceOf({ ...plain, ...product }, { ...buying, ...purchase })
    expect(toNumber(price.unitPrice)).toBe(unitPrice)
  })

  test.each([
    ['stays for options', {}, 4],
    ['is for options too when the product says so', { ApplyQuantityDiscountToOptions: true }, 3.6],
  ])('a percentage %s', (_case, details, optionPrice) => {
    const product = { ...plain, details: { ...details, ...off(from10).details } }
    expect(toNumber(priceOf(product, { ...buying, ...ten, optionPrice: 4 }).optionPrice)).toBe(optionPrice)
  })
})

describe('amounts', () => {
  test.each([
    [1.005, 1, 1.01, 'EUR'],
    [0.1, 3, 0.3, 'EUR'],
    [99_999_999.99, 999.9999, 99_999_989_990, 'EUR'],
    [-1.005, 1, -1.01, 'EUR'],
    [0.0125, 0.4, 0.01, 'EUR'],
    [0.0124, 0.4, 0, 'EUR'],
    [2.125, 3, 6.375, 'KWD'],
    [12.5, 3, 38, 'JPY'],
    [0.0125, 0.5, 0.0063, 'CLF'],
  ])('%d times %d is %d %s, with halves away from zero', (price, quantity, amount, currency) => {
    expect(toNumber(amountOf(exact(price), exact(quantity), currency))).toBe(amount)
  })

  test('sums and percentages round the same way', () => {
    expect(toNumber(rounded(exact(2.675), 'EUR'))).toBe(2.68)
    expect(toNumber(reduced(exact(-1.5), exact(33), 'EUR'))).toBe(-1.01)
  })
})

describe('an order', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  test('is priced by the level of its customer’s group', async () => {
    const { id } = await shop.product({ PriceLevel3: 12.34 })
    const customerId = await shop.customer({ CustomerGroupID: await shop.group(3) })
    const OrderItemList = [{ CatalogID: id, ItemQuantity: 2 }]
    expect((await placeOrder(shop.operator, { CustomerID: customerId, OrderItemList })).orderAmount).toBe(24.68)
    const guest = { BillingEmail: 'guest@shop.example', OrderItemList }
    expect((await placeOrder(shop.operator, guest)).orderAmount).toBe(40)
  })

  test('counts the lines of a product together for quantity discounts when the product says so', async () => {
    const DiscountList = [{ DiscountLowbound: 4, DiscountPrice: 50, DiscountPercentage: true }]
    const lines = (id: number) => [1, 3].map((ItemQuantity) => ({ CatalogID: id, ItemQuantity }))
    const apart = await shop.product({ DiscountList })
    expect((await shop.place(lines(apart.id))).orderAmount).toBe(80)
    const together = await shop.product({ DiscountList, GroupOptionsForQuantityPricing: true })
    expect((await shop.place(lines(together.id))).orderAmount).toBe(40)
  })
})
