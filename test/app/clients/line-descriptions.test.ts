import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { goodsWords } from '../../../src/shop/resources/orders/line-description.ts'
import { sharedServer, type TestStore } from '../../support/store.ts'
import { openSandbox } from '../http/reference/sandbox-store.ts'
import { soapCall, treeOf } from '../http/soap/support.ts'

// A loader as the clients' programs have it: it takes the price of an option from the description of a line alone, and
// compares what it adds up with the order's total.

interface Line {
  readonly ItemIndexID: number
  readonly ItemDescription: string
  readonly ItemQuantity: number
  readonly ItemUnitPrice: number
  readonly ItemOptionPrice: number
  readonly ItemOptions: string
}

interface Order {
  readonly OrderID: number
  readonly OrderAmount: number
  readonly OrderDiscount: number
  readonly SalesTax: number
  readonly SalesTax2: number
  readonly SalesTax3: number
  readonly ShipmentList: readonly { readonly ShipmentCost: number }[]
  readonly OrderItemList: readonly Line[]
}

/** The options of a line: caption, value and price. */
function optionsOf({
  ItemDescription,
}: Pick<Line, 'ItemDescription'>): [caption: string, value: string, price: number][] {
  const [, ...sets] = ItemDescription.split('<br><b>')
  return sets.flatMap((set) => {
    const [caption = '', values = ''] = set.split(/<\/b>(?:&nbsp;| )/)
    return values.split('<br>').map((text): [string, string, number] => {
      const [price = ''] = /-?\$\d+(?:\.\d+)?/.exec(text) ?? []
      return [caption.replace(/:$/, ''), text.replace(/ (- )?-?\$\d+(?:\.\d+)?/, ''), Number(price.replace('$', ''))]
    })
  })
}

const cents = (amount: number) => Math.round(amount * 100)
const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)

function totalCents(order: Order): number {
  const lines = order.OrderItemList.map((line) => {
    const options = sum(optionsOf(line).map(([, , price]) => price))
    return Math.round(Number(((line.ItemUnitPrice + options) * line.ItemQuantity * 100).toFixed(4)))
  })
  const charges = [...order.ShipmentList.map(({ ShipmentCost }) => ShipmentCost), order.SalesTax, order.SalesTax2]
  return sum(lines) + sum([...charges, order.SalesTax3].map(cents)) - cents(order.OrderDiscount)
}

/** Orders that the loader shows another total of than their own. */
const wrong = (orders: readonly Order[]) =>
  orders
    .filter((order) => totalCents(order) !== cents(order.OrderAmount))
    .map((order) => [order.OrderID, totalCents(order), cents(order.OrderAmount), order.OrderItemList])

const server = await sharedServer()

test('every order of the sandbox adds up', async () => {
  const store = await openSandbox(server)
  const orders: Order[] = []
  for (let offset = 0; ; offset += 100) {
    const answer = await store.call('GET', `/Orders?limit=100&offset=${offset}`)
    if (answer.statusCode !== 200) break
    orders.push(...answer.json<Order[]>())
    if (answer.json<Order[]>().length < 100) break
  }
  expect(orders.length).toBeGreaterThan(300)
  const priced = orders.filter(({ OrderItemList }) => OrderItemList.some(({ ItemOptionPrice }) => ItemOptionPrice > 0))
  expect(priced.length).toBeGreaterThan(50)
  expect(wrong(orders)).toEqual([])
})

describe('orders placed and changed', () => {
  let store: TestStore
  beforeAll(async () => {
    store = await server.openStore()
  })
  let serial = 0

  async function ok(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) {
    const answer = await store.call(method, path, { body })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
    return answer.json()
  }

  interface Made {
    readonly id: number
    readonly optionIds: readonly number[]
  }

  /** A product of unlimited stock at 20.00, and the ids of its options in order. */
  async function product(sets: readonly object[], more: object = {}): Promise<Made> {
    const SKUInfo = { SKU: `HAT-${++serial}`, Name: 'Cool hat', Price: 20, Stock: 1000 }
    const body = { SKUInfo, InventoryControl: 2, OptionSetList: sets, ...more }
    const [{ Value }] = await ok('POST', '/Products', body)
    const [{ OptionSetList }] = await ok('GET', `/Products/${Value}`)
    const optionIds = OptionSetList.flatMap(({ OptionList }: { OptionList: { OptionID: number }[] }) =>
      OptionList.map(({ OptionID }) => OptionID),
    )
    return { id: Number(Value), optionIds }
  }

  const orderOf = async (id: number): Promise<Order> => (await ok('GET', `/Orders/${id}`))[0]
  const chosen = (ids: readonly number[]) => ids.map((id) => `,${id}`).join('')
  const set = (OptionType: string, OptionSetName: string, ...options: [name: string, price: number][]) => ({
    OptionType,
    OptionSetName,
    OptionList: options.map(([OptionName, OptionValue]) => ({ OptionName, OptionValue })),
  })

  test.each([
    ['a drop-down', set('Dropdown', 'Size', ['Large', 1]), '<br><b>Size:</b>&nbsp;Large - $1.00'],
    ['a drop-down without a price', set('Dropdown', 'Color', ['Blue', 0]), '<br><b>Color:</b>&nbsp;Blue'],
    ['a radio button', set('Radio', 'Cool Image', ['Eagle', 1234.5]), '<br><b>Cool Image:</b>&nbsp;Eagle - $1234.50'],
    ['a picture to choose', set('DropImage', 'Image', ['Eagle', 8]), '<br><b>Image:</b>&nbsp;Eagle - $8.00'],
    ['a check box', set('Checkbox', 'Wrapping', ['Paper', 2.5]), '<br><b>Wrapping:</b> Paper - $2.50'],
    ['a check box without a price', set('Checkbox', 'Wrapping', ['Paper', 0]), '<br><b>Wrapping:</b> Paper - $0.00'],
    ['a text', set('Text', 'Engraving', ['Up to 20', 3]), '<br><b>Engraving:</b> Up to 20 - $3.00'],
    ['a long text', set('textarea', 'Card', ['Card', 0]), '<br><b>Card:</b> Card - $0.00'],
    [
      'several values',
      set('Checkbox', 'Pins', ['Cool Pin', 2], ['Sweet Pin', 3], ['Plain Pin', 0]),
      '<br><b>Pins:</b>&nbsp;Cool Pin $2.00<br>Sweet Pin $3.00<br>Plain Pin',
    ],
    [
      'a file',
      set('File', 'Custom Image', ['/assets/order_images/159(2).jpg', 2]),
      '<br><b>Custom Image:</b>&nbsp;<a href="/assets/order_images/159(2).jpg" target=_new>File</a> - $2.00',
    ],
    ['a file of no address', set('File', 'Image', ['Your picture', 2]), '<br><b>Image:</b>&nbsp;Your picture - $2.00'],
    ['a price below 0', set('Radio', 'Lid', ['No lid', -2]), '<br><b>Lid:</b>&nbsp;No lid - -$2.00'],
    ['a price finer than cents', set('Radio', 'Ink', ['Red', 0.125]), '<br><b>Ink:</b>&nbsp;Red - $0.125'],
    [
      'names that could be markup or a price',
      set('Radio', '<b>A & "B"', ['$5 <br>off', 4]),
      '<br><b>&lt;b&gt;A &amp; &quot;B&quot;:</b>&nbsp;&#36;5 &lt;br&gt;off - $4.00',
    ],
  ])('%s has its form in the description, by the operator’s door and by REST', async (_case, given, expected) => {
    const { id, optionIds } = await product([given])
    const ItemOptions = chosen(optionIds)
    const orderId = await store.placeOrder([{ CatalogID: id, ItemQuantity: 3, ItemOptions }], { SalesTax: 1.23 })
    const placed = await orderOf(orderId)
    expect(placed.OrderItemList.map(({ ItemDescription }) => ItemDescription)).toEqual([`Cool hat${expected}`])
    expect(wrong([placed])).toEqual([])
    const [{ ItemUnitPrice, ItemOptionPrice }] = placed.OrderItemList as [Line]
    const line = { CatalogID: id, ItemQuantity: 1, ItemOptions, ItemUnitPrice, ItemOptionPrice }
    await ok('POST', `/Orders/${orderId}/Items`, line)
    expect((await orderOf(orderId)).OrderItemList[1]?.ItemDescription).toBe(`Cool hat${expected}`)
  })

  test.each([
    ['EUR', '€2.00', '-€0.50'],
    ['JPY', '¥2.00', '-¥0.50'],
    ['CAD', '$2.00', '-$0.50'],
    ['CHF', 'CHF\u00a02.00', '-CHF\u00a00.50'],
  ])(
    'the currency %s gives the sign, with two decimals, by which pages find the price again',
    async (Currency, price, discount) => {
      const change = (body: object) => server.operate('PUT', `/admin/stores/${store.store.id}`, body)
      expect((await change({ Currency })).statusCode).toBe(200)
      const { id, optionIds } = await product([set('Radio', 'Size', ['L', 2]), set('Radio', 'Color', ['Ecru', -0.5])])
      const orderId = await store.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: chosen(optionIds) }])
      await change({ Currency: 'USD' })
      const description = `Cool hat<br><b>Size:</b>&nbsp;L - ${price}<br><b>Color:</b>&nbsp;Ecru - ${discount}`
      expect((await orderOf(orderId)).OrderItemList[0]?.ItemDescription).toBe(description)
      expect(goodsWords(description, Currency).options).toEqual(['Size: L', 'Color: Ecru'])
    },
  )

  test('cartAPI names the prices behind the values', async () => {
    const own = await server.openStore()
    store = own
    const { id, optionIds } = await product([
      set('Radio', 'Color', ['Khaki', 1]),
      set('Checkbox', 'Pins', ['Cool Pin', 2], ['Sweet Pin', 3]),
      set('File', 'Image', ['/a.jpg', 0]),
    ])
    await store.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: chosen(optionIds) }])
    const tree = treeOf(await soapCall(server, own, 'getOrder', { batchSize: 1, startNum: 1 })) as unknown as {
      Order: { ShippingInformation: { OrderItems: { Item: unknown } } }
    }
    expect(tree.Order.ShippingInformation.OrderItems.Item).toMatchObject({
      ProductName: 'Cool hat\nColor: Khaki - $1.00\nPins: Cool Pin $2.00\nSweet Pin $3.00\nImage: File',
      OptionPrice: '6.00',
    })
  })

  test('an advanced option’s own price stands with the first of its options, or in a line of its own', async () => {
    const { id, optionIds } = await product([set('Radio', 'Size', ['XL', 3]), set('Radio', 'Color', ['Navy', 1.5])])
    const [size, color] = optionIds as [number, number]
    await ok('PUT', `/Products/${id}`, {
      AdvancedOptionList: [
        {
          AdvancedOptionCode: `${size},${color}`,
          AdvancedOptionSufix: '-A',
          AdvancedOptionStock: 9,
          AdvancedOptionPrice: 7,
        },
        {
          AdvancedOptionCode: '900001',
          AdvancedOptionSufix: '-B',
          AdvancedOptionName: 'Signed',
          AdvancedOptionStock: 9,
          AdvancedOptionPrice: 11,
        },
      ],
    })
    const [{ SKUInfo }] = await ok('GET', `/Products/${id}`)
    const both = await orderOf(
      await store.placeOrder([{ CatalogID: id, ItemQuantity: 2, ItemOptions: chosen(optionIds) }]),
    )
    expect(both.OrderItemList[0]?.ItemDescription).toBe(
      'Cool hat<br><b>Size:</b>&nbsp;XL - $7.00<br><b>Color:</b>&nbsp;Navy',
    )
    const signed = await orderOf(await store.placeOrder([{ ItemID: `${SKUInfo.SKU}-B`, ItemQuantity: 2 }]))
    expect(signed.OrderItemList[0]?.ItemDescription).toBe('Cool hat<br><b>Option:</b>&nbsp;Signed - $11.00')
    expect(wrong([both, signed])).toEqual([])
  })

  test('a description of the platform follows a changed price of the options; anybody else’s stays', async () => {
    const { id, optionIds } = await product([set('Radio', 'Size', ['XL', 3]), set('Radio', 'Color', ['Navy', 1])])
    const line = { CatalogID: id, ItemQuantity: 1, ItemOptions: chosen(optionIds) }
    const orderId = await store.placeOrder([line, line])
    const [first, second] = (await orderOf(orderId)).OrderItemList as [Line, Line]
    const address = (item: Line) => `/Orders/${orderId}/Items/${item.ItemIndexID}`
    await ok('PUT', address(first), { ItemOptionPrice: 2 })
    await ok('PUT', address(second), { ItemDescription: 'Hat, made to measure', ItemUnitPrice: 24, ItemOptionPrice: 0 })
    await ok('PUT', address(second), { ItemOptionPrice: 5 })
    expect((await orderOf(orderId)).OrderItemList.map(({ ItemDescription }) => ItemDescription)).toEqual([
      'Cool hat<br><b>Size:</b>&nbsp;XL - $1.50<br><b>Color:</b>&nbsp;Navy - $0.50',
      'Hat, made to measure',
    ])
    await ok('PUT', address(first), { ItemOptionPrice: 0 })
    expect((await orderOf(orderId)).OrderItemList[0]?.ItemDescription).toBe(
      'Cool hat<br><b>Size:</b>&nbsp;XL<br><b>Color:</b>&nbsp;Navy',
    )
  })

  test.each([
    [5, ['L - $2.00', 'Yes - $3.00']],
    [-4, ['L - $2.00', 'Yes - -$6.00']],
    [0, ['L - $2.00', 'Yes - -$2.00']],
    [2, ['L - $2.00', 'Yes']],
  ])('of a surcharge and a reduction, the last takes what a price of %s differs by', async (price, expected) => {
    const { id, optionIds } = await product([set('Radio', 'Size', ['L', 2]), set('Radio', 'Returned', ['Yes', -1.99])])
    const orderId = await store.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: chosen(optionIds) }])
    const [{ ItemIndexID }] = (await orderOf(orderId)).OrderItemList as [Line]
    await ok('PUT', `/Orders/${orderId}/Items/${ItemIndexID}`, { ItemOptionPrice: price })
    const [size, returned] = expected
    expect((await orderOf(orderId)).OrderItemList[0]?.ItemDescription).toBe(
      `Cool hat<br><b>Size:</b>&nbsp;${size}<br><b>Returned:</b>&nbsp;${returned}`,
    )
  })

  test('a description ends before the option that it has no room for', async () => {
    const options = Array.from({ length: 60 }, (_, index): [string, number] => [`${index} ${'&'.repeat(240)}`, 1])
    const { id, optionIds } = await product(options.map((option, index) => set('Radio', `Set ${index}`, option)))
    const placed = await orderOf(
      await store.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: chosen(optionIds) }]),
    )
    const [{ ItemDescription }] = placed.OrderItemList as [Line]
    expect(ItemDescription.length).toBeLessThanOrEqual(65_535)
    expect(ItemDescription.slice(-13)).toBe('&amp; - $1.00')
  })

  test('whatever is ordered, discounted and priced anew adds up', async () => {
    // Reductions stay below the price of the piece, because a total below 0 is 0.
    const price = fc
      .oneof(fc.integer({ min: -200, max: 999_999 }), fc.integer({ min: -200, max: 200 }))
      .map((units) => units / 100)
    const type = fc.constantFrom('Dropdown', 'Radio', 'Checkbox', 'Text', 'Textarea', 'File', 'DropImage', '')
    const sets = fc.array(fc.record({ type, prices: fc.array(price, { minLength: 1, maxLength: 3 }) }), {
      maxLength: 3,
    })
    const shape = fc.record({
      sets,
      variantPrice: fc.option(fc.integer({ min: 0, max: 999_999 }).map((units) => units / 100)),
      percent: fc.option(fc.integer({ min: 1, max: 9999 })),
      quantity: fc.integer({ min: 1, max: 20 }),
      tax: fc.integer({ min: 0, max: 99_999 }),
      repriced: fc.integer({ min: 0, max: 9_999_999 }),
    })
    await fc.assert(
      fc.asyncProperty(shape, async ({ sets, variantPrice, percent, quantity, tax, repriced }) => {
        const { id, optionIds } = await product(
          sets.map(({ type, prices }, index) =>
            set(type, `Set ${index}`, ...prices.map((each, at): [string, number] => [`$${at}`, each])),
          ),
          {
            ApplyQuantityDiscountToOptions: true,
            ...(percent !== null && {
              DiscountList: [{ DiscountLowbound: 1, DiscountPrice: percent / 100, DiscountPercentage: true }],
            }),
          },
        )
        const countOf = ({ type, prices }: (typeof sets)[number]) => (/Dropdown|Radio/.test(type) ? 1 : prices.length)
        const ids = sets.flatMap((each, index) => {
          const from = sum(sets.slice(0, index).map((before) => before.prices.length))
          return optionIds.slice(from, from + countOf(each))
        })
        const prices = [...sets.flatMap((each) => each.prices.slice(0, countOf(each))), variantPrice ?? 0]
        const beyond = (item: Line) => {
          const most = sum(prices.map(Math.abs)) + Math.abs(item.ItemOptionPrice) + 0.0001
          return optionsOf(item).filter(([, , shown]) => Math.abs(shown) > most)
        }
        if (variantPrice !== null && ids.length > 0) {
          const AdvancedOptionCode = ids.slice(0, 2).join(',')
          await ok('PUT', `/Products/${id}`, {
            AdvancedOptionList: [{ AdvancedOptionCode, AdvancedOptionSufix: '-V', AdvancedOptionPrice: variantPrice }],
          })
        }
        const line = { CatalogID: id, ItemQuantity: quantity, ItemOptions: chosen(ids) }
        const orderId = await store.placeOrder([line], { SalesTax: tax / 10_000 })
        const placed = await orderOf(orderId)
        expect(wrong([placed])).toEqual([])
        expect(placed.OrderItemList.flatMap(beyond)).toEqual([])

        const [{ ItemIndexID }] = placed.OrderItemList as [Line]
        await ok('PUT', `/Orders/${orderId}/Items/${ItemIndexID}`, { ItemOptionPrice: repriced / 10_000 })
        await ok('POST', `/Orders/${orderId}/Items`, { ...line, ItemOptionPrice: repriced / 10_000 })
        for (const item of (await orderOf(orderId)).OrderItemList) {
          const shown = sum(optionsOf(item).map(([, , each]) => each))
          // A line without options that gets a price for them keeps its description.
          if (ids.length > 0) expect(shown).toBeCloseTo(repriced / 10_000, 6)
          expect(beyond(item)).toEqual([])
        }
      }),
      { numRuns: 30 },
    )
  })
})
