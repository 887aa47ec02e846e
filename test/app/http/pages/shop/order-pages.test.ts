import { describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../../src/parts/retention.ts'
import { fieldsAt, type TestPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'
import { alertIn } from './order-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant(async (scene) => {
  ;({ server, shop, merchant } = scene)
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 } } })
})

const line = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '3', BillingEmail: 'guest@shop.example' }

function place(fields: Record<string, string> = {}) {
  return merchant.submit('/admin/orders/new', { ...line, ...fields }, { action: '/admin/orders' })
}

async function stock(): Promise<number> {
  const [{ SKUInfo }] = (await shop.call('GET', '/Products?sku=LAMP')).json()
  return SKUInfo.Stock
}

async function order(id: number) {
  const [record] = (await shop.call('GET', `/Orders/${id}`)).json()
  return record
}

describe('an order that is placed by hand', () => {
  test('is placed as by the checkout: priced, taken off the stock, in the name of the merchant', async () => {
    const answer = await place({
      BillingEmail: 'guest@shop.example',
      BillingFirstName: 'Ada',
      BillingCity: 'London',
      ShipmentMethodName: 'Ground',
      ShipmentCost: '6.5',
      SalesTax: '1.25',
      BillingOnLinePayment: 'yes',
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/admin/orders/1?notice=order-placed'])
    expect(await stock()).toBe(7)
    expect(await order(1)).toMatchObject({
      OrderAmount: 135.25,
      OrderStatusID: 1,
      UserID: 'merchant@shop.example',
      ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentCity: 'London', ShipmentMethodName: 'Ground' }],
    })
    const page = (await merchant.open('/admin/orders/1?notice=order-placed')).body
    expect(page).toContain('The order is placed.')
    expect(page).toContain('$135.25')
  })

  test('names one of the payment methods that the store offers', async () => {
    const hidden = [
      { PaymentMethodID: 2, Visible: false },
      { PaymentMethodID: 7, Name: 'Gift card' },
    ]
    const changed = await server.operate('PUT', `/admin/stores/${shop.store.id}/payment-methods`, hidden)
    expect(changed.statusCode).toBe(200)

    const { body } = await merchant.open('/admin/orders/new')
    expect(body).toContain('<option value="7">Gift card</option>')
    expect(body).not.toContain('<option value="2">')
    await place({ BillingPaymentMethodID: '7' })
    expect(await order(1)).toMatchObject({ BillingPaymentMethodID: '7', BillingPaymentMethod: 'Gift card' })
    expect((await merchant.open('/admin/orders/1')).body).toContain('Gift card')
  })

  test('without goods and without a customer is told both at once', async () => {
    const answer = await place({ 'ItemID.1': '', BillingEmail: '' })
    expect(answer.statusCode).toBe(400)
    const [, said = ''] = /role="alert">([\s\S]*?)<\/div>/.exec(answer.body) ?? []
    expect(said).toContain('<a href="#ItemID.1">Line 1: the product</a> has to be chosen')
    expect(said).toContain('<a href="#BillingEmail">')
    expect(answer.body).toContain('<small id="ItemID.1-problem" class="problem">Product has to be chosen</small>')
  })

  test('is refused with what was typed still there, and nothing is stored', async () => {
    const answer = await place({ BillingCity: 'Köln <b>', 'ItemQuantity.1': '11' })
    expect([answer.statusCode, alertIn(answer.body)]).toEqual([
      409,
      expect.stringContaining('<a href="#ItemQuantity.1">Line 1: the quantity</a> is more than there is: LAMP has 10'),
    ])
    expect(answer.body).toContain('value="Köln &lt;b&gt;"')
    expect(await stock()).toBe(10)
    expect((await shop.call('GET', '/Orders')).statusCode).toBe(404)
  })
})

describe('the form of a new order', () => {
  const newForm = '/admin/orders/new'
  const shown = async (fields: Record<string, string | string[]>) =>
    (await merchant.submit(newForm, fields, { action: '/admin/orders', to: newForm })).body

  async function addShirt() {
    const catalogId = await shop.add('/Products', {
      SKUInfo: { SKU: 'SHIRT', Name: 'Shirt <i>', Price: 20, Stock: 1 },
      OptionSetList: [
        {
          OptionSetName: 'Size',
          OptionType: 'Dropdown',
          OptionRequired: true,
          OptionList: [{ OptionName: 'Medium' }, { OptionName: 'Large', OptionValue: 3 }],
        },
        {
          OptionSetName: 'Extras',
          OptionType: 'Checkbox',
          OptionList: [
            { OptionName: 'Gift box', OptionValue: 1.5 },
            { OptionName: 'Cheaper', OptionValue: -2 },
          ],
        },
        { OptionSetName: 'Engraving', OptionType: 'Text', OptionRequired: true },
      ],
    })
    const [{ OptionSetList }] = (await shop.call('GET', `/Products/${catalogId}`)).json()
    const [size, extras] = OptionSetList
    const [medium, large] = size.OptionList
    const [box] = extras.OptionList
    const AdvancedOptionList = [medium, large].map(({ OptionID, OptionName }, index) => ({
      AdvancedOptionCode: String(OptionID),
      AdvancedOptionSufix: `-${OptionName[0]}`,
      AdvancedOptionName: OptionName,
      AdvancedOptionStock: 5 + index,
    }))
    await shop.call('PUT', `/Products/${catalogId}`, { body: { AdvancedOptionList } })
    return {
      catalogId,
      size: `Option.2.${size.OptionSetID}`,
      extras: `Option.2.${extras.OptionSetID}`,
      large: String(large.OptionID),
      box: String(box.OptionID),
    }
  }

  test('gets another line with everything that was typed, and no order is placed', async () => {
    const page = await shown({ ...line, BillingCity: 'Köln', 'ItemID.3': 'NONE', AddLine: 'yes' })
    expect(page.match(/<tbody role="rowgroup" class="line"/g)).toHaveLength(4)
    for (const value of ['LAMP', 'guest@shop.example', 'Köln', 'NONE']) expect(page).toContain(`value="${value}"`)
    expect(page).toContain('name="Lines" value="4"')
    expect((await shop.call('GET', '/Orders')).statusCode).toBe(404)
    expect(await shown({ ...line, Lines: '499', AddLine: 'yes' })).toContain('name="Lines" value="500"')
    const last = await shown({ ...line, Lines: '500', AddLine: 'yes' })
    expect(last).toContain('name="Lines" value="500"')
    expect(last).not.toContain('Add a line')
    const needsToken = await merchant.submit(newForm, { ...line, _csrf: '' }, { action: '/admin/orders', to: newForm })
    expect(needsToken.statusCode).toBe(403)
  })

  test('shows a product’s options by name with what they add, and places the order with those that are chosen', async () => {
    const shirt = await addShirt()
    const wanted = { ...line, 'ItemID.2': 'shirt', 'ItemQuantity.2': '2' }
    const page = await shown(wanted)
    for (const text of ['>Medium<', '>Large (+$3.00)<', 'Gift box (+$1.50)', 'Cheaper (-$2.00)', 'Shirt &lt;i&gt;']) {
      expect(page).toContain(text)
    }
    expect(page).toContain('“Engraving” into the comments')
    const chosen = { ...wanted, [shirt.size]: shirt.large, [shirt.extras]: [shirt.box] }
    const again = await shown(chosen)
    expect(again).toContain(`value="${shirt.large}" selected`)
    expect(again).toContain(`value="${shirt.box}" checked`)
    expect(again).toMatch(/SHIRT-L<\/span>, \$24\.50 each, 6 in stock/)

    const answer = await merchant.submit(newForm, chosen, { action: '/admin/orders' })
    expect(answer.statusCode).toBe(303)
    expect(await order(1)).toMatchObject({
      OrderAmount: 176.5,
      OrderItemList: [{ ItemID: 'LAMP' }, { ItemID: 'SHIRT-L', ItemQuantity: 2, ItemOptionPrice: 4.5 }],
    })
  })

  test('says beside the option that it has to be chosen', async () => {
    const shirt = await addShirt()
    const answer = await merchant.submit(
      newForm,
      { ...line, 'ItemID.2': String(shirt.catalogId), 'ItemQuantity.2': '1', [shirt.size]: '' },
      { action: '/admin/orders' },
    )
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(`<a href="#${shirt.size}">Line 2: Size</a> has to be chosen`)
    expect(answer.body).toContain(`<small id="${shirt.size}-problem" class="problem">Size has to be chosen</small>`)
    expect(answer.body).toContain(`name="ItemID.2" type="text" value="${shirt.catalogId}"`)
  })

  test('takes the SKU of an advanced option for the product with these options', async () => {
    const shirt = await addShirt()
    const page = await shown({ ...line, 'ItemID.2': 'SHIRT-L', 'ItemQuantity.2': '1' })
    expect(page).toContain('name="ItemID.2" type="text" value="SHIRT"')
    expect(page).toContain(`value="${shirt.large}" selected`)
    await merchant.submit(
      newForm,
      { ...line, 'ItemID.2': 'shirt-m', 'ItemQuantity.2': '1', [shirt.size]: shirt.large },
      { action: '/admin/orders' },
    )
    expect((await order(1)).OrderItemList[1]).toMatchObject({ ItemID: 'SHIRT-M' })
  })

  test('offers advanced options that no choice of options leads to by their names', async () => {
    await shop.call('POST', '/Products', {
      body: {
        SKUInfo: { SKU: 'MUG', Name: 'Mug', Price: 8, Stock: 0 },
        AdvancedOptionList: [
          { AdvancedOptionCode: 'BLUE', AdvancedOptionSufix: '-B', AdvancedOptionName: 'Blue', AdvancedOptionStock: 4 },
        ],
      },
    })
    const wanted = { ...line, 'ItemID.2': 'MUG', 'ItemQuantity.2': '1', 'Variant.2': 'MUG-B' }
    expect(await shown(wanted)).toContain('<option value="MUG-B" selected>Blue</option>')
    expect(await shown({ ...wanted, 'ItemID.2': 'MUG-B', 'Variant.2': '' })).toContain('value="MUG-B" selected')
    await merchant.submit(newForm, wanted, { action: '/admin/orders' })
    expect((await order(1)).OrderItemList[1]).toMatchObject({ ItemID: 'MUG-B' })
  })

  test('shows the price that the customer’s group pays', async () => {
    const groups = { body: { Name: 'Trade', PriceLevel: 2 } }
    const [{ Value: CustomerGroupID }] = (await shop.call('POST', '/CustomerGroups', groups)).json()
    await shop.call('POST', '/Customers', {
      body: { Email: 'trade@shop.example', Password: 'x', CustomerGroupID: Number(CustomerGroupID) },
    })
    await shop.call('PUT', '/Products/1', { body: { PriceLevel2: 30 } })
    expect(await shown({ ...line, CustomerID: '1' })).toContain('$30.00 each')
    expect(await shown({ ...line, CustomerID: '99' })).toContain('$42.50 each')
  })

  test.each(['\0', `${'x'.repeat(151)}`, '99999999999', '\ud800'])(
    'looks nothing up by what no product can have: %j',
    async (typed) => {
      expect(await shown({ ...line, 'ItemID.2': typed })).toContain('Line 3')
      const answer = await merchant.submit(newForm, { ...line, 'ItemID.2': typed }, { action: '/admin/orders' })
      expect(answer.statusCode).toBe(400)
    },
  )

  test('sent twice places one order, and changed in between it says so', async () => {
    const page = (await merchant.open(newForm)).body
    const OneTimeKey = /name="OneTimeKey" value="([^"]+)"/.exec(page)?.[1] ?? ''
    expect(OneTimeKey).not.toBe('')
    const both = await Promise.all([place({ OneTimeKey }), place({ OneTimeKey })])
    const again = await place({ OneTimeKey })
    expect([...both, again].filter(({ statusCode }) => statusCode === 303).length).toBeGreaterThanOrEqual(2)
    for (const { statusCode, headers } of [...both, again]) {
      if (statusCode !== 409) expect(headers.location).toBe('/admin/orders/1?notice=order-placed')
    }
    expect(await stock()).toBe(7)

    const changed = await place({ OneTimeKey, 'ItemQuantity.1': '2' })
    expect(changed.statusCode).toBe(409)
    expect(changed.body).toContain('has placed an order already')
    const newKey = /name="OneTimeKey" value="([^"]+)"/.exec(changed.body)?.[1] ?? ''
    expect((await place({ OneTimeKey: newKey, 'ItemQuantity.1': '2' })).statusCode).toBe(303)
    expect(await stock()).toBe(5)
  })

  test('that was refused is placed with the same key once it is corrected', async () => {
    const OneTimeKey = 'a-key-of-this-form'
    expect((await place({ OneTimeKey, 'ItemQuantity.1': '11' })).statusCode).toBe(409)
    expect((await place({ OneTimeKey })).statusCode).toBe(303)
    expect(await stock()).toBe(7)
  })
})

/** A form of a new order that somebody has open in a tab, which is sent and shown again. */
async function tab(person: TestPerson, url = '/admin/orders/new') {
  const first = await person.open(url)
  expect(first.statusCode, first.body).toBe(200)
  let page = first.body
  const send = async (changes: Record<string, string>, to = '/admin/orders/new') => {
    const fields = fieldsAt(page, '/admin/orders')
    const answer = await person.submit('/admin/orders/new', { ...fields, ...changes }, { action: '/admin/orders', to })
    if (answer.body !== '') page = answer.body
    return answer
  }
  return {
    page: () => page,
    fields: () => fieldsAt(page, '/admin/orders'),
    lookUp: async (changes: Record<string, string> = {}) => {
      expect((await send(changes)).statusCode, page).toBe(200)
      return page
    },
    place: (changes: Record<string, string> = {}) => send(changes, '/admin/orders'),
  }
}

const guest = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '2', BillingEmail: 'guest@shop.example' }

const addProduct = (SKU: string, Name: string, more: object = {}) =>
  shop.add('/Products', { SKUInfo: { SKU, Name, Price: 5, Stock: 4 }, ...more })

async function addCustomer(body: object = {}): Promise<string> {
  const ada = {
    Email: 'ada@customers.example',
    Password: 'x',
    BillingFirstName: 'Ada',
    BillingLastName: 'Byron',
    BillingAddress1: '5 Main St',
    BillingCompany: 'Engines',
    BillingPhoneNumber: '(202) 555-0120',
    ShippingFirstName: 'Charles',
    ShippingAddress1: '1 Dorset St',
  }
  return String(await shop.add('/Customers', { ...ada, ...body }))
}

describe('the products of a new order', () => {
  test('are found by a part of their name, with price and stock, and placed when they have been seen', async () => {
    const form = await tab(merchant)
    const refused = await form.place({ ...guest, 'ItemID.1': 'lam' })
    expect([refused.statusCode, alertIn(refused.body)]).toEqual([400, expect.stringContaining('was found by its name')])
    expect(refused.body).toContain('name="ItemID.1" type="text" value="LAMP"')
    expect(refused.body).toMatch(/<strong>Lamp<\/strong>.*\$42\.50 each, 10 in stock/)
    expect((await form.place()).statusCode).toBe(303)
    expect((await order(1)).OrderItemList).toMatchObject([{ ItemID: 'LAMP', ItemQuantity: 2 }])
  })

  test('are chosen where several fit; a line can be removed, and the others move up', async () => {
    await addProduct('LAMP-2', 'Lamp of brass')
    const form = await tab(merchant)
    const page = await form.lookUp({ ...guest, 'ItemID.1': 'amp', 'ItemID.2': 'nothing such', 'ItemID.3': 'LAMP' })
    expect(page).toMatch(
      /name="ItemID\.1\.choice" value="LAMP-2"[^>]*><span class="thumbnail" aria-hidden="true"><\/span><strong>Lamp of brass<\/strong> LAMP-2 · \$5\.00 · 4 in stock/,
    )
    expect(page).toContain('No product of this store has this name')
    expect(page).toContain('name="ItemQuantity.3" type="text" value="1"')
    expect(alertIn((await form.place()).body)).toContain('Line 1: the product</a> fits several products')

    await form.lookUp({ 'ItemID.1.choice': 'LAMP-2' })
    await form.lookUp({ RemoveLine: '2' })
    expect(form.fields()).toMatchObject({
      'ItemID.1': 'LAMP-2',
      'ItemQuantity.1': '2',
      'ItemID.2': 'LAMP',
      'ItemID.3': '',
    })
    expect((await form.place()).statusCode).toBe(303)
    expect((await order(1)).OrderItemList).toMatchObject([{ ItemID: 'LAMP-2' }, { ItemID: 'LAMP', ItemQuantity: 1 }])
  })

  test('are suggested while somebody types, also to a role that reads no products, and only of the own store', async () => {
    const other = await server.openStore()
    await other.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP-X', Name: 'Lamp', Price: 1, Stock: 1 } } })
    const seller = await memberIn(server, shop, 'orders')
    const suggested = await seller.call('GET', '/admin/orders/products?q=lam')
    expect(suggested.json()).toEqual([{ ID: 'LAMP', Name: 'Lamp · $42.50 · 10 in stock' }])
    expect((await seller.call('GET', `/admin/orders/products?q=${'x'.repeat(256)}`)).statusCode).toBe(400)
    expect((await (await memberIn(server, shop, 'reader')).call('GET', '/admin/orders/products?q=a')).statusCode).toBe(
      403,
    )
    expect(await (await tab(seller)).lookUp({ 'ItemID.1': 'lam' })).toContain('<strong>Lamp</strong>')
  })
})

describe('the customer of a new order', () => {
  test('is found by name, and both addresses are taken over and may be changed', async () => {
    await addCustomer()
    const form = await tab(merchant)
    const refused = await form.place({ ...guest, BillingEmail: '', CustomerID: 'byron' })
    expect(alertIn(refused.body)).toContain('Customer</a> was found by what you typed')
    expect(form.page()).toContain('<a href="/admin/customers/1">Ada Byron</a>')
    expect(form.fields()).toMatchObject({
      CustomerID: '1',
      BillingAddress: '5 Main St',
      ShipmentAddress: '1 Dorset St',
    })
    expect(form.fields()).not.toHaveProperty('ShipToBilling')

    expect((await form.place({ BillingCompany: '', ShipmentCity: 'London' })).statusCode).toBe(303)
    // An emptied field stays empty, though the customer has a company.
    expect(await order(1)).toMatchObject({
      CustomerID: 1,
      BillingFirstName: 'Ada',
      BillingCompany: '',
      BillingEmail: 'ada@customers.example',
      ShipmentList: [{ ShipmentFirstName: 'Charles', ShipmentAddress: '1 Dorset St', ShipmentCity: 'London' }],
    })
  })

  test('is chosen of several, by the address of the page, or by a guest’s e-mail address; what was typed stays', async () => {
    await addCustomer()
    await addCustomer({
      Email: 'grace@customers.example',
      BillingPhoneNumber: '',
      BillingFirstName: 'Grace',
      ShippingFirstName: '',
      ShippingAddress1: '',
    })
    const form = await tab(merchant)
    expect(await form.lookUp({ CustomerID: 'byron' })).toMatch(
      /name="CustomerID\.choice" value="1"[^>]*><strong>Ada Byron · ada@customers\.example<\/strong> [^<]*\(202\) 555-0120</,
    )
    await form.lookUp({ 'CustomerID.choice': '2', BillingCity: 'Köln' })
    // A city was typed, so the address is not the customer's until somebody asks for it.
    expect(form.fields()).toMatchObject({
      CustomerID: '2',
      BillingFirstName: '',
      BillingCity: 'Köln',
      ShipToBilling: 'yes',
    })
    await form.lookUp({ TakeAddresses: 'yes' })
    expect(form.fields()).toMatchObject({ BillingFirstName: 'Grace', BillingCity: '', ShipToBilling: 'yes' })
    await form.lookUp({ OtherCustomer: 'yes' })
    expect(form.fields()).toMatchObject({ CustomerID: '', BillingFirstName: '', AddressOf: '' })
    expect(await form.lookUp({ CustomerID: 'nobody at all' })).toContain('No customer of this store fits')
    expect(await form.lookUp({ CustomerID: '', BillingEmail: 'ADA@customers.example' })).toContain(
      'Choose this customer',
    )

    await form.lookUp({ BillingEmail: '', CustomerID: '5550120' })
    expect(form.fields()).toMatchObject({ CustomerID: '1', BillingFirstName: 'Ada' })

    const forCustomer = await tab(merchant, '/admin/orders/new?customer=1')
    expect(forCustomer.fields()).toMatchObject({
      CustomerID: '1',
      BillingFirstName: 'Ada',
      ShipmentFirstName: 'Charles',
    })
    expect((await merchant.open('/admin/orders/new?customer=77')).body).toContain('No customer of this store fits')
  })

  test('is made with the order: both, or none', async () => {
    const form = await tab(merchant)
    const wanted = { ...guest, NewCustomer: 'yes', BillingFirstName: 'Mary', BillingAddress: '2 High St' }
    expect((await form.place({ ...wanted, BillingEmail: '' })).body).toContain('is required for a guest')
    expect((await form.place({ ...wanted, 'ItemQuantity.1': '11' })).statusCode).toBe(409)
    expect((await shop.call('GET', '/Customers')).statusCode).toBe(404)

    const placed = await form.place(wanted)
    const id = Number(/\d+/.exec(String(placed.headers.location))?.[0])
    const [mary] = (await shop.call('GET', '/Customers')).json()
    expect(mary).toMatchObject({ Email: 'guest@shop.example', BillingFirstName: 'Mary', BillingAddress1: '2 High St' })
    expect(await order(id)).toMatchObject({ CustomerID: mary.CustomerID, BillingFirstName: 'Mary' })

    const again = await (await tab(merchant)).place(wanted)
    expect([again.statusCode, alertIn(again.body)]).toEqual([
      400,
      expect.stringContaining('E-mail</a> is already used'),
    ])
    expect((await shop.call('GET', '/Orders')).json()).toHaveLength(1)
    const seller = await memberIn(server, shop, {
      Name: 'Seller',
      Privileges: { Orders: ['read', 'write'], Customers: ['read'] },
    })
    expect((await seller.open('/admin/orders/new')).body).not.toContain('NewCustomer')
    expect((await (await tab(seller)).place({ ...wanted, BillingEmail: 'new@shop.example' })).statusCode).toBe(403)
  })
})

describe('what a new order comes to', () => {
  test('is shown before it is placed, and nothing of it is stored', async () => {
    const form = await tab(merchant)
    const amounts = { ShipmentCost: '6.5', SalesTax: '1.25', OrderDiscountPromotion: '5', DiscountReason: 'Late' }
    const page = await form.lookUp({ ...guest, BillingEmail: '', ...amounts })
    const rows = [...page.matchAll(/<tr><th scope="row">(\w+)<\/th><td class="right">(?:<strong>)?([^<]+)/g)].map(
      ([, ...row]) => row,
    )
    expect(rows).toEqual([
      ['Goods', '$85.00'],
      ['Discount', '-$5.00'],
      ['Shipping', '$6.50'],
      ['Tax', '$1.25'],
      ['Total', '$87.75'],
    ])
    expect(page).toContain('<strong>$85.00</strong></td>')
    expect([await stock(), (await shop.call('GET', '/Orders')).statusCode]).toEqual([10, 404])

    expect((await form.place({ BillingEmail: 'guest@shop.example' })).headers.location).toBe(
      '/admin/orders/1?notice=order-placed',
    )
    expect(await order(1)).toMatchObject({
      OrderAmount: 87.75,
      InvoiceNumber: 1000,
      PromotionList: [{ PromotionName: 'Late', DiscountAmount: 5 }],
    })
  })

  test('has a discount in percent of the goods, which is an amount of the order with its reason', async () => {
    const form = await tab(merchant)
    const given = { ShipmentCost: '6.5', OrderDiscountPromotion: ' 12.5 %', DiscountReason: 'Late' }
    const page = await form.lookUp({ ...guest, ...given })
    expect(page).toMatch(/Discount<\/th><td class="right">-\$10.63/)
    expect(page).toContain('value=" 12.5 %"')
    expect((await form.place()).headers.location).toBe('/admin/orders/1?notice=order-placed')
    expect(await order(1)).toMatchObject({
      OrderAmount: 80.87,
      OrderDiscountPromotion: 10.63,
      PromotionList: [{ PromotionName: 'Late', DiscountAmount: 10.63 }],
    })
    expect((await merchant.open('/admin/orders/1')).body).toMatch(
      /<dt>Discount<br><small class="quiet">Late<\/small><\/dt><dd>-\$10.63/,
    )
  })

  test.each([
    ['ten %', 'it has &quot;ten&quot;'],
    ['%', 'must be an amount, such as 12, or a percentage, such as 10%'],
    ['10 % 5', 'it has &quot;%&quot;'],
    ['10,5%', 'it has &quot;,&quot;'],
    ['1.005', 'must have at most 2 decimals in USD'],
  ])('has no discount of %s', async (OrderDiscountPromotion, problem) => {
    const refused = await (await tab(merchant)).place({ ...guest, OrderDiscountPromotion })
    expect(refused.statusCode).toBe(400)
    expect(alertIn(refused.body)).toMatch(/Discount<\/a> must/)
    expect(alertIn(refused.body)).toContain(problem)
  })

  test('has a discount of the goods at most', async () => {
    const form = await tab(merchant)
    const page = await form.lookUp({ ...guest, OrderDiscountPromotion: '100.1%' })
    expect(page).toContain('<a href="#OrderDiscountPromotion">Discount</a> must not be above the goods')
    expect((await form.place({ OrderDiscountPromotion: '100%' })).statusCode).toBe(303)
    expect(await order(1)).toMatchObject({ OrderAmount: 0, OrderDiscountPromotion: 85 })
  })

  test('is told beside the line where more is wanted than there is, and that nothing says where it goes', async () => {
    const form = await tab(merchant)
    expect(await form.lookUp({ ...guest, 'ItemQuantity.1': '10' })).not.toContain('not enough in stock')
    const page = await form.lookUp({ 'ItemQuantity.1': '11' })
    expect(page).toMatch(/id="ItemID.1-name"[^\n]*<span class="badge bad">not enough in stock<\/span>/)
    expect(page).toContain('No shipping address: the goods go to the billing address.')
    expect(await form.lookUp({ ShipmentCity: 'Oslo' })).not.toContain('No shipping address')
  })

  test('is not known while something is missing, which is named', async () => {
    const form = await tab(merchant)
    expect(await form.lookUp({ ...guest, 'ItemQuantity.1': '11' })).toMatch(
      /once this is settled:<\/p>\s*<ul>\s*<li><a href="#ItemQuantity\.1">Line 1: the quantity<\/a> is more than there is/,
    )
    const refused = await form.place({
      'ItemID.1': 'nothing such',
      'ItemQuantity.1': 'many',
      CustomerID: 'nobody',
      SalesTax: '1,5',
      DiscountReason: 'Late',
    })
    const problems = [...alertIn(refused.body).matchAll(/<a href="#([^"]+)">[^<]+<\/a> ([a-z ]+)/g)].map(
      ([, ...each]) => each,
    )
    expect(problems).toEqual([
      ['ItemID.1', 'fits no product of this store'],
      ['ItemQuantity.1', 'must be a number in digits'],
      ['SalesTax', 'must be a number in digits'],
      ['OrderDiscountPromotion', 'must be above '],
      ['CustomerID', 'fits no customer of this store'],
    ])
  })
})

describe('a draft of a new order', () => {
  const draftsOf = async (person: TestPerson) =>
    [
      ...(await person.open('/admin/orders/new')).body.matchAll(/href="\/admin\/orders\/new\?draft=(\d+)">([^<]*)</g),
    ].map(([, id, title]) => [Number(id), title])
  const idOf = (page: string) => Number(/name="Draft" value="(\d+)"/.exec(page)?.[1])

  test('outlives the browser, is the person’s own, and goes when it is placed or thrown away', async () => {
    const form = await tab(merchant)
    await form.lookUp()
    expect(await draftsOf(merchant)).toEqual([])
    const page = await form.lookUp({ ...guest, BillingFirstName: 'Ada', BillingCity: 'Köln <b>' })
    expect(page).toContain('Kept as a draft')
    const id = idOf(page)
    await form.lookUp({ 'ItemQuantity.1': '3' })
    expect(await draftsOf(merchant)).toEqual([[id, 'Ada']])

    const seller = await memberIn(server, shop, 'orders')
    expect(await draftsOf(seller)).toEqual([])
    expect((await seller.open(`/admin/orders/new?draft=${id}`)).statusCode).toBe(404)
    await seller.submit('/admin/orders/new', {}, { action: '/admin/orders', to: `/admin/orders/drafts/${id}/delete` })
    const named = { ...guest, Draft: String(id), DraftVersion: '2', BillingFirstName: 'Eve' }
    expect(await (await tab(seller)).lookUp(named)).toContain('kept as a draft of its own')
    expect(await draftsOf(merchant)).toEqual([[id, 'Ada']])

    const later = await tab(merchant, `/admin/orders/new?draft=${id}`)
    expect(later.fields()).toMatchObject({ 'ItemID.1': 'LAMP', 'ItemQuantity.1': '3', BillingCity: 'Köln <b>' })
    expect((await later.place()).statusCode).toBe(303)
    expect(await draftsOf(merchant)).toEqual([])
    expect((await merchant.open(`/admin/orders/new?draft=${id}`)).statusCode).toBe(404)

    const other = idOf(await (await tab(merchant)).lookUp(guest))
    const thrown = await merchant.submit('/admin/orders/new', {}, { action: `/admin/orders/drafts/${other}/delete` })
    expect(thrown.headers.location).toBe('/admin/orders/new?notice=draft-deleted')
    expect(await draftsOf(merchant)).toEqual([])
  })

  test('is not written over by another tab, and not placed twice', async () => {
    const first = await tab(merchant)
    const id = idOf(await first.lookUp({ ...guest, CustomerComments: 'of the first' }))
    const second = await tab(merchant, `/admin/orders/new?draft=${id}`)
    await first.lookUp({ CustomerComments: 'of the first, later' })
    const page = await second.lookUp({ CustomerComments: 'of the second' })
    expect(page).toContain('This draft was changed in another tab or window')
    expect((await tab(merchant, `/admin/orders/new?draft=${id}`)).fields().CustomerComments).toBe('of the first, later')
    const own = idOf(page)
    expect(own).not.toBe(id)
    expect((await draftsOf(merchant)).map(([each]) => each)).toEqual([own, id])

    const [third, fourth] = [
      await tab(merchant, `/admin/orders/new?draft=${id}`),
      await tab(merchant, `/admin/orders/new?draft=${id}`),
    ]
    const answers = await Promise.all([third.place(), fourth.place()])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 409])
    expect(await stock()).toBe(8)
    const [refused] = answers.filter(({ statusCode }) => statusCode === 409)
    expect(alertIn(refused?.body ?? '')).toContain('was placed or thrown away meanwhile')
    const again = answers[0]?.statusCode === 409 ? third : fourth
    expect((await again.place()).statusCode).toBe(303)
    expect(await stock()).toBe(6)
  })

  test('is bounded: 20 of a person, 64 kB each, for 30 days, and for as long as the person belongs to the store', async () => {
    const large = await tab(merchant)
    expect(await large.lookUp({ ...guest, InternalComments: 'x'.repeat(64 * 1024) })).toContain('more than the 64 kB')
    expect(await draftsOf(merchant)).toEqual([])
    const { db } = server.database
    const { storeId, identityId } = await db.storeUser.findFirstOrThrow({ where: { storeId: shop.store.id } })
    const draft = { storeId, identityId, version: 1, title: 'x', lines: 1, fields: '{}', keptAt: server.services.now() }
    await db.orderDraft.createMany({ data: Array.from({ length: 19 }, (_, at) => ({ ...draft, page: `page-${at}` })) })
    const [last, none] = [await tab(merchant), await tab(merchant)]
    expect(await last.lookUp(guest)).toContain('Kept as a draft')
    expect(await none.lookUp(guest)).toContain('You have 20 drafts')
    // What is kept already goes on being kept.
    expect(await last.lookUp({ 'ItemQuantity.1': '4' })).toContain('Kept as a draft')

    await db.orderDraft.updateMany({
      where: { storeId },
      data: { keptAt: new Date(server.services.now().getTime() - 30 * 86_400_000) },
    })
    expect(await draftsOf(merchant)).toEqual([])
    expect(await none.lookUp()).toContain('Kept as a draft')
    await sweepsByAge(server.services, { historyDays: null })['old drafts of orders'](() => false)
    expect(await db.orderDraft.count({ where: { storeId } })).toBe(1)

    const seller = await memberIn(server, shop, 'orders')
    await (await tab(seller)).lookUp(guest)
    const user = await db.storeUser.findFirstOrThrow({ where: { storeId, role: 'orders' } })
    const left = await server.operate('DELETE', `/admin/stores/${storeId}/users/${user.id}`)
    expect(left.statusCode, left.body).toBe(200)
    expect(await db.orderDraft.count({ where: { storeId } })).toBe(1)
  })
})

test('an order’s page writes dates and addresses as all pages do', async () => {
  await place({
    BillingFirstName: 'Ada',
    BillingLastName: 'Byron',
    BillingAddress: '5 Main St',
    BillingCity: 'Austin',
    BillingState: 'TX',
    BillingZipCode: '78701',
    BillingCountry: 'United States',
    ShipmentMethodName: 'Ground',
  })
  await shop.call('PUT', '/Orders/1', { body: { ShipmentList: [{ ShipmentID: 0, ShipmentShippedDate: '3/9/2026' }] } })
  const { body } = await merchant.open('/admin/orders/1')
  expect(body).toContain('Placed Mar 10, 2026, 12:00 PM')
  expect(body).toContain('Ada Byron<br>5 Main St<br>Austin, TX 78701<br>United States<br>')
  expect(body).toContain('Mar 9, 2026')
})

describe('the page of an order', () => {
  const Billing = { BillingFirstName: 'Ada', BillingLastName: 'Byron', BillingCity: 'London' }
  const page = async (id = 1) => (await merchant.open(`/admin/orders/${id}`)).body
  /** The buttons, of which the one that stands out is the next step. */
  const buttons = (body: string) =>
    [...body.matchAll(/<a href="[^"]*" class="button( secondary outline)?">([^<]*)</g)].map(([, other, text]) =>
      other === undefined ? `${text}!` : text,
    )

  test('offers the next step first: the payment, then the goods, then nothing', async () => {
    await place()
    expect(buttons(await page()).slice(0, 2)).toEqual(['Record a payment!', 'Ship the goods'])
    const paid = { TransactionType: 'Sale', TransactionAmount: 127.5 }
    expect((await shop.call('POST', '/Orders/1/Transactions', { body: paid })).statusCode).toBe(201)
    expect(buttons(await page()).slice(0, 2)).toEqual(['Ship the goods!', 'Record a payment'])
    await shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 4 } })
    expect(buttons(await page()).filter((text = '') => text.endsWith('!'))).toEqual([])
    await shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 5 } })
    expect(buttons(await page())[0]).toBe('Refund!')
  })

  test('names the customer, and leads to them, their telephone and their mail', async () => {
    const Email = 'ada.byron+shop@mail.example'
    await shop.call('POST', '/Customers', { body: { Email, Password: 'x', ...Billing } })
    await place({ CustomerID: '1', ...Billing, BillingEmail: Email, BillingPhoneNumber: '+44 (0)20 7946 0958' })
    const body = await page()
    expect(body).toContain('<a href="/admin/customers/1"><strong>Ada Byron</strong></a>')
    expect(body).toContain('<a href="tel:+442079460958">+44 (0)20 7946 0958</a>')
    expect(body).toContain(`<a href="mailto:ada.byron%2Bshop@mail.example">${Email}</a>`)
    expect(body).toContain('Same as bill-to')
    expect(body).not.toContain('customer 1')
    const to = { ShipmentID: 0, ShipmentFirstName: 'Bob', ShipmentCity: 'Paris', ShipmentPhone: '12' }
    await shop.call('PUT', '/Orders/1', { body: { ShipmentList: [to] } })
    expect(await page()).toMatch(
      /<dt>Bill to<\/dt><dd>Ada Byron<br>London<br>[\s\S]*<dt>Ship to<\/dt>\s*<dd>Bob Byron<br>Paris<br>\s*12</,
    )
    await place({ BillingEmail: 'nobody' })
    expect(await page(2)).toMatch(/<strong>nobody<\/strong> <small class="quiet">guest</)
  })

  test('has what the customer wrote above the goods, and the notes of the shop in sight', async () => {
    await place({ CustomerComments: 'Ring <twice>' })
    expect(await page()).toContain('Write a note')
    await shop.call('PUT', '/Orders/1', { body: { InternalComments: 'Called & waits', ExternalComments: 'Soon' } })
    const body = await page()
    expect(body).toMatch(/The customer wrote[\s\S]*Ring &lt;twice&gt;[\s\S]*Still to ship/)
    expect(body).toMatch(
      /<dd class="text">Called &amp; waits<\/dd>[\s\S]*<dd class="text">Soon<\/dd>[\s\S]*Change the notes/,
    )
  })
})

describe('the status of an order', () => {
  const move = (OrderStatusID: string) =>
    merchant.submit('/admin/orders/1', { OrderStatusID }, { action: '/admin/orders/1/status' })

  test('says what the change did to the stock', async () => {
    await place()
    const noticed = async (statusId: string) => {
      const { headers } = await move(statusId)
      return /<p[^>]*role="status"[^>]*>([^<]*)/.exec((await merchant.open(String(headers.location))).body)?.[1]
    }
    expect(await noticed('2')).toBe('The status is changed.')
    expect(await noticed('5')).toBe('The status is changed, and the goods are back in stock.')
    expect(await noticed('7')).toBe('The status is changed.')
    expect(await noticed('2')).toBe('The status is changed, and the goods are taken from stock again.')
  })

  test('is offered to be New once an unpaid order is paid, and Shipped leads to the parcels', async () => {
    await place()
    const page = async () => (await merchant.open('/admin/orders/1')).body
    const offer = /still in the status <strong>Unpaid<\/strong>/
    expect(await page()).not.toMatch(offer)
    const pay = async (TransactionAmount: number) =>
      shop.call('POST', '/Orders/1/Transactions', { body: { TransactionType: 'Sale', TransactionAmount } })
    await pay(100)
    expect(await page()).not.toMatch(offer)
    await pay(27.5)
    expect(await page()).toMatch(offer)
    expect(await page()).toContain('Shipped chosen here records no parcel: <a href="/admin/orders/1/shipments/0">')
    expect(await page()).toContain('<input type="hidden" name="OrderStatusID" value="1">')
    await move('1')
    expect(await page()).not.toMatch(offer)
    await move('5')
    expect(await page()).not.toContain('records no parcel')
  })
})
