import { beforeAll, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { type Orders, openOrders, type Rest, type Wire } from './orders-stage.ts'
import { childNames, errorDocument } from './support.ts'

// getOrder and getOrderCount (soap-cartapi §4.5, §4.6).

const server = await sharedServer()

const all = { batchSize: 100, startNum: 1 }
const nothing = errorDocument(49, 'No Data Found')
const refused = (id: number) => errorDocument(id, 'Data Error')

/** An order in which everything that can be shown has a value of its own. */
async function placeRich({ product, place, shop, rest }: Orders): Promise<number> {
  const shirt = await product(
    {
      Weight: 0.4,
      NonTaxable: true,
      WarehouseLocation: 'Hall <2>',
      WarehouseCustom: 'Pallet & crate',
      OptionSetList: [
        { OptionSetName: 'Size', OptionType: 'Dropdown', OptionList: [{ OptionName: 'XL', OptionValue: 2.5 }] },
        { OptionSetName: 'Color & trim', OptionType: 'Radio', OptionList: [{ OptionName: '<Navy>', OptionValue: 1 }] },
      ],
    },
    { SKU: 'SHIRT', Name: 'Shirt & <tie>', Price: 19.99, Cost: 7.25 },
  )
  const manual = await product(
    { EProductList: [{ FilePath: 'manual.pdf' }], AllowFractionalQuantity: true },
    { Price: 3.335 },
  )
  const { OptionSetList } = await rest(`/Products/${shirt}`)
  const options = OptionSetList.map(({ OptionList }: Rest) => `,${OptionList[0].OptionID}`).join('')
  const customer = await shop.call('POST', '/Customers', {
    body: { Email: 'grace@home.example', Password: 'secret words' },
  })
  const id = await place(
    [
      {
        CatalogID: shirt,
        ItemQuantity: 3,
        ItemOptions: options,
        ItemShipmentID: 1,
        ItemPageAdded: 'shirt_p_1.html',
        ItemWarehouseID: 6,
      },
      { CatalogID: manual, ItemQuantity: 1.5, ItemShipmentID: 2, ItemDateAdded: '03/09/2026 23:59:58' },
    ],
    {
      CustomerID: Number(customer.json()[0].Value),
      OrderDate: '03/08/2026 00:07:05',
      SalesPerson: 'Edna',
      BillingFirstName: 'Grace',
      BillingLastName: 'Hopper',
      BillingCompany: 'Navy & Sons',
      BillingAddress: '1 Harbour Street',
      BillingAddress2: 'Pier <9>',
      BillingCity: 'Arlington',
      BillingState: 'US-VA',
      BillingZipCode: '01234',
      BillingCountry: 'US',
      BillingPhoneNumber: '555-0100',
      BillingEmail: 'grace@home.example',
      BillingPaymentMethod: 'Online Credit Card',
      CardType: 'Visa',
      ShipmentList: [
        {
          ShipmentCost: 4.5,
          ShipmentMethodName: 'Ground ®',
          ShipmentFirstName: 'Ada',
          ShipmentLastName: 'Lovelace',
          ShipmentCompany: 'Engines Ltd',
          ShipmentAddress: '12 Square',
          ShipmentAddress2: 'Floor 2',
          ShipmentCity: 'London',
          ShipmentZipCode: 'W1U 4EG',
          ShipmentState: 'LND',
          ShipmentCountry: 'GB',
          ShipmentPhone: '555-0200',
          ShipmentInternalComment: 'fragile & <heavy>',
          ShipmentTrackingCode: '1Z-1',
          ShipmentShippedDate: '07/18/2013',
        },
        { ShipmentCost: 2, ShipmentWeight: 1.25, ShipmentCity: 'Oslo', ShipmentMethodName: 'Boat' },
      ],
      PromotionList: [
        { PromotionName: '1% off', DiscountAmount: 0.3 },
        { PromotionName: 'Spring', Coupon: 'SPRING', DiscountAmount: 2 },
      ],
      OrderDiscountCoupon: 0.3,
      OrderDiscountPromotion: 2,
      SalesTax: 1.1,
      SalesTax2: 0.22,
      SalesTax3: 0.03,
      AffiliateCommission: 2.5,
      TransactionList: [
        {
          TransactionID: 'T-1',
          TransactionType: 'Authorize',
          TransactionAmount: 75.07,
          TransactionApproval: 'OK-7',
          TransactionCVV2: 'M',
          TransactionAVS: 'Y',
          TransactionResponseText: 'Approved <1>',
        },
        { TransactionID: 'T-2', TransactionType: 'Sale', TransactionAmount: 0.5 },
      ],
      QuestionList: [
        { QuestionID: 4, QuestionTitle: 'Gift wrap?', QuestionAnswer: 'yes & bow' },
        { QuestionID: 9, QuestionTitle: 'How did you find us?', QuestionAnswer: "I don't know" },
      ],
      Referer: 'https://search.example/?q=shirt&n=1',
      IP: '203.0.113.9',
      CustomerComments: 'Please ring\ntwice',
      InternalComments: 'a <careful> customer',
      ExternalComments: 'sent to depot',
    },
  )
  server.clock.ms += 90_000
  const [{ ShipmentID }] = (await rest(`/Orders/${id}`)).ShipmentList
  await shop.call('PUT', `/Orders/${id}/Shipments/${ShipmentID}`, { body: { ShipmentOrderStatus: 4 } })
  return id
}

describe('an order', () => {
  test('is written exactly so: elements, their order, and the form of values', async () => {
    const shop = await openOrders(server)
    const product = await shop.product({}, { SKU: 'BAG' })
    const id = await shop.place([{ CatalogID: product, ItemQuantity: 3 }], { OrderDate: '03/10/2026 09:08:07' })
    const stamp = server.clock.ms
    server.clock.ms = Date.parse('2026-03-11T04:00:00Z')
    await shop.shop.call('PUT', `/Orders/${id}`, { body: { InternalComments: 'seen' } })
    server.clock.ms = stamp

    const address = '<FirstName></FirstName><LastName></LastName>'
    const expected =
      '<GetOrdersResponse xmlns=""><Order><OrderID>1</OrderID><InvoiceNumber>AB-1000</InvoiceNumber>' +
      '<CustomerID>0</CustomerID><Date>3/10/2026</Date><Total>60</Total><Tax>0.00</Tax><Tax2>0.00</Tax2>' +
      `<Tax3>0.00</Tax3><Shipping>0</Shipping><BillingAddress>${address}<Email>guest@shop.example</Email>` +
      '<Address></Address><Address2></Address2><City></City><ZipCode></ZipCode><StateCode></StateCode>' +
      '<CountryCode></CountryCode><Phone></Phone><Company></Company></BillingAddress>' +
      '<Comments><OrderComment></OrderComment><OrderInternalComment>seen</OrderInternalComment>' +
      '<OrderExternalComment></OrderExternalComment></Comments><PaymentMethod></PaymentMethod><CardType></CardType>' +
      '<Time>9:08:07 AM</Time><Transaction></Transaction><Discount>0.00</Discount><Promotions></Promotions>' +
      '<GiftCertificatePurchased></GiftCertificatePurchased><GiftCertificateUsed></GiftCertificateUsed>' +
      '<OrderStatus>New</OrderStatus><Referer></Referer><SalesPerson></SalesPerson><IP></IP>' +
      `<DateStarted>3/10/2026 9:08:07 AM</DateStarted><UserID>${shop.shop.application.name}</UserID>` +
      '<LastUpdate>3/11/2026</LastUpdate><Weight>0.00</Weight>' +
      '<AffiliateInformation><AffiliateID>0</AffiliateID><AffiliateCommission>0</AffiliateCommission>' +
      '<AffiliateApproved></AffiliateApproved><AffiliateApprovedreason></AffiliateApprovedreason></AffiliateInformation>' +
      '<ShippingInformation><Shipment><ShipmentID>0</ShipmentID><ShipmentDate></ShipmentDate><Shipping>0</Shipping>' +
      `<Method></Method>${address}<Company></Company><Address></Address><Address2></Address2><City></City>` +
      '<ZipCode></ZipCode><StateCode></StateCode><CountryCode></CountryCode><Phone></Phone><Weight>0.00</Weight>' +
      '<Status>New</Status><InternalComment></InternalComment><TrackingCode></TrackingCode></Shipment>' +
      '<OrderItems><Item><ShipmentID>0</ShipmentID><ProductID>BAG</ProductID><ProductName>Tote Bag</ProductName>' +
      '<Quantity>3</Quantity><UnitPrice>20.00</UnitPrice><UnitCost>0.00</UnitCost><OptionPrice>0.00</OptionPrice>' +
      '<Weight>0.00</Weight><Dimension></Dimension><WarehouseID>0</WarehouseID>' +
      '<DateAdded>3/10/2026 12:00:00 PM</DateAdded><PageAdded></PageAdded><ProdType>Tangible</ProdType>' +
      '<Taxable>1</Taxable><ItemPrice>20.00</ItemPrice><Total>60.00</Total></Item></OrderItems></ShippingInformation>' +
      '<CheckoutQuestions></CheckoutQuestions></Order></GetOrdersResponse>'
    expect(await shop.soap('getOrder', all)).toBe(expected)
    expect(await shop.soap('getOrder', all, { version: '1.2' })).toBe(expected)
  })

  test('says what REST says of the same order', async () => {
    const shop = await openOrders(server)
    const id = await placeRich(shop)
    const rest = await shop.rest(`/Orders/${id}`)
    const [order] = await shop.list()

    expect(order).toEqual(shownOf(rest))
    // What it does not take from there, and that there was something to take.
    expect(order.OrderStatus).toBe('New')
    expect(order.ShippingInformation.Shipment.map(({ Status }: Rest) => Status)).toEqual(['Shipped', 'New'])
    expect(order.ShippingInformation.OrderItems.Item).toMatchObject([
      {
        ProdType: 'Tangible',
        Taxable: '0',
        ItemPrice: '23.49',
        Total: '70.47',
        ProductName: 'Shirt & <tie>\nSize: XL - $2.50\nColor & trim: <Navy> - $1.00',
      },
      { ProdType: 'Downloadable', Taxable: '1', UnitPrice: '3.34', ItemPrice: '3.34', Total: '5.00', Quantity: '1.5' },
    ])
    expect([order.Date, order.Time, order.Shipping, order.Weight]).toEqual(['3/8/2026', '12:07:05 AM', '6.5', '2.45'])
    expect(order.AffiliateInformation.AffiliateCommission).toBe('2.5')
  })

  test('has what is inside of its lists in the documented order', async () => {
    const shop = await openOrders(server)
    await placeRich(shop)
    const xml = await shop.soap('getOrder', all)
    const inside = (...path: string[]) => childNames(xml, 'Order', ...path).join(' ')
    expect(inside('Transaction')).toBe('CVV2 ResponseText AVS TransactionId ApprovalCode TransactionType Amount')
    expect(inside('Promotions')).toBe('Promotion Promotion')
    expect(inside('Promotions', 'Promotion')).toBe('Code Amount')
    expect(inside('ShippingInformation')).toBe('Shipment Shipment OrderItems')
    expect(inside('ShippingInformation', 'OrderItems')).toBe('Item Item')
    expect(inside('CheckoutQuestions')).toBe('Question Question')
    expect(inside('CheckoutQuestions', 'Question')).toBe('Id Question Answer')
  })

  test('names of an item’s warehouse what has a value, and nothing else', async () => {
    const shop = await openOrders(server)
    await placeRich(shop)
    const xml = await shop.soap('getOrder', all)
    const names = (item: string) => [...item.matchAll(/<(Warehouse\w+)>/g)].map(([, name]) => name)
    const items = xml.split('<Item>').slice(1)
    expect(items.map(names)).toEqual([['WarehouseID', 'WarehouseLocation', 'WarehouseCustom'], ['WarehouseID']])
    expect(items[0]?.split('</Item>')[0]).toMatch(
      /<\/Total><WarehouseLocation>Hall &lt;2&gt;<\/WarehouseLocation><WarehouseCustom>Pallet &amp; crate<\/WarehouseCustom>$/,
    )
  })

  test('without an invoice number shows 0, whatever its prefix', async () => {
    const shop = await openOrders(server)
    await shop.bring(
      { OrderID: 1, InvoiceNumberPrefix: 'AB-', InvoiceNumber: 0 },
      { OrderID: 2, InvoiceNumberPrefix: '', InvoiceNumber: 77 },
    )
    expect((await shop.list()).map(({ InvoiceNumber }) => InvoiceNumber)).toEqual(['0', '77'])
  })

  test('of which no shipment and no item is known has neither', async () => {
    const shop = await openOrders(server)
    await shop.bring({ OrderID: 1 })
    const xml = await shop.soap('getOrder', all)
    expect(xml).toContain('<ShippingInformation><OrderItems></OrderItems></ShippingInformation>')
  })

  test('is told in the time of its store', async () => {
    const shop = await openOrders(server, { timeZone: 'Asia/Tokyo' })
    await shop.bring({
      OrderID: 1,
      OrderDate: '2013-07-18T15:30:00Z',
      LastUpdate: '2013-07-19T15:00:00Z',
      OrderItemList: [{ ItemDateAdded: '2013-12-31T14:59:59Z' }],
    })
    const [order] = await shop.list()
    expect(order).toMatchObject({
      Date: '7/19/2013',
      Time: '12:30:00 AM',
      DateStarted: '7/19/2013 12:30:00 AM',
      LastUpdate: '7/20/2013',
      ShippingInformation: { OrderItems: { Item: { DateAdded: '12/31/2013 11:59:59 PM' } } },
    })
  })

  test('that began at midnight still has a time, since programs read day and time together', async () => {
    const shop = await openOrders(server)
    await shop.bring({ OrderID: 1, OrderDate: '2009-06-22T00:00:00' })
    expect(await shop.list()).toMatchObject([{ Date: '6/22/2009', Time: '12:00:00 AM', DateStarted: '6/22/2009' }])
  })

  test.each([
    ['', ''],
    ['07/18/2013', '7/18/2013'],
    ['7/18/2013 15:08:30', '7/18/2013 3:08:30 PM'],
    ['2013-07-18T23:30:00Z', '7/18/2013 7:30:00 PM'],
    ['02/30/2013', '02/30/2013'],
    ['next <week> & later', 'next <week> & later'],
  ])('whose shipment’s date is kept as "%s" shows "%s"', async (stored, shown) => {
    const shop = await openOrders(server)
    await shop.bring({ OrderID: 1, ShipmentList: [{ ShipmentShippedDate: stored }] })
    expect((await shop.list())[0].ShippingInformation.Shipment.ShipmentDate).toBe(shown)
  })

  test('whose shipment’s day has no midnight, since its clocks go forward then, shows the day alone', async () => {
    const shop = await openOrders(server, { timeZone: 'America/Havana' })
    await shop.bring({ OrderID: 1, ShipmentList: [{ ShipmentShippedDate: '03/08/2026' }] })
    expect((await shop.list())[0].ShippingInformation.Shipment.ShipmentDate).toBe('3/8/2026')
  })

  test('shows lines whose products are gone as taxed and tangible', async () => {
    const shop = await openOrders(server)
    const product = await shop.product({ NonTaxable: true, EProductList: [{ FilePath: 'x' }] })
    await shop.place([{ CatalogID: product, ItemQuantity: 1 }])
    const item = async () => {
      const { ProdType, Taxable, ProductName } = (await shop.list())[0].ShippingInformation.OrderItems.Item
      return [ProdType, Taxable, ProductName]
    }
    expect(await item()).toEqual(['Downloadable', '0', 'Tote Bag'])
    await shop.shop.call('DELETE', `/Products/${product}`)
    expect(await item()).toEqual(['Tangible', '1', 'Tote Bag'])
  })

  test('looks at the products of its own store', async () => {
    const shops = [await openOrders(server), await openOrders(server)]
    const taxed: unknown[] = []
    for (const [index, shop] of shops.entries()) {
      expect(await shop.product({ NonTaxable: index === 0 })).toBe(1)
      await shop.place([{ CatalogID: 1, ItemQuantity: 1 }])
    }
    for (const shop of shops) taxed.push((await shop.list())[0].ShippingInformation.OrderItems.Item.Taxable)
    expect(taxed).toEqual(['0', '1'])
  })

  test.each([
    ['Tote Bag<br><b>Color:</b>&nbsp;Khaki', 'Tote Bag\nColor: Khaki'],
    ['Cap<BR /><B>Text:</B>&nbsp;A &amp; B &lt;b&gt; &quot;x&quot;<br/>more', 'Cap\nText: A & B <b> "x"\nmore'],
    ['R&amp;B <b>Hits</b> & more', 'R&amp;B <b>Hits</b> & more'],
    ['Bag<br><b>Note:</b>&nbsp;&amp;lt;', 'Bag\nNote: &lt;'],
    ['', ''],
  ])('of whose line REST says %j names it %j', async (ItemDescription, name) => {
    const shop = await openOrders(server)
    await shop.bring({ OrderID: 1, OrderItemList: [{ ItemDescription }] })
    expect((await shop.list())[0].ShippingInformation.OrderItems.Item.ProductName).toBe(name)
  })

  test('reckons amounts exactly: a tenth of a cent times a thousand is a dollar', async () => {
    const shop = await openOrders(server)
    await shop.bring({
      OrderID: 1,
      OrderAmount: 1234.5,
      ShipmentList: [{ ShipmentCost: 0.1 }, { ShipmentCost: 0.2 }],
      OrderItemList: [
        { ItemUnitPrice: 0.0007, ItemOptionPrice: 0.0003, ItemQuantity: 1000 },
        { ItemUnitPrice: 1.005, ItemQuantity: 1 },
        { ItemUnitPrice: 90_000_000_000.01, ItemOptionPrice: -0.02, ItemQuantity: 1 },
      ],
    })
    const [{ Total, Shipping, ShippingInformation }] = await shop.list()
    expect([Total, Shipping]).toEqual(['1234.5', '0.3'])
    expect(ShippingInformation.OrderItems.Item.map((item: Rest) => item.Total)).toEqual([
      '1.00',
      '1.01',
      '89999999999.99',
    ])
  })
})

/** What an order's record is in SOAP, by the names of both (soap-cartapi §4.5). */
function shownOf(rest: Rest): Rest {
  const money = (amount: number) => (Math.round(Number((amount * 100).toFixed(4))) / 100).toFixed(2)
  const sum = (list: Rest[], name: string) => Number(list.reduce((total, item) => total + item[name], 0).toFixed(4))
  return {
    OrderID: `${rest.OrderID}`,
    InvoiceNumber: `${rest.InvoiceNumberPrefix}${rest.InvoiceNumber}`,
    CustomerID: `${rest.CustomerID}`,
    Date: americanOf(rest.OrderDate).split(' ')[0],
    Total: `${rest.OrderAmount}`,
    Tax: money(rest.SalesTax),
    Tax2: money(rest.SalesTax2),
    Tax3: money(rest.SalesTax3),
    Shipping: `${sum(rest.ShipmentList, 'ShipmentCost')}`,
    BillingAddress: {
      FirstName: rest.BillingFirstName,
      LastName: rest.BillingLastName,
      Email: rest.BillingEmail,
      Address: rest.BillingAddress,
      Address2: rest.BillingAddress2,
      City: rest.BillingCity,
      ZipCode: rest.BillingZipCode,
      StateCode: rest.BillingState,
      CountryCode: rest.BillingCountry,
      Phone: rest.BillingPhoneNumber,
      Company: rest.BillingCompany,
    },
    Comments: {
      OrderComment: rest.CustomerComments,
      OrderInternalComment: rest.InternalComments,
      OrderExternalComment: rest.ExternalComments,
    },
    PaymentMethod: rest.BillingPaymentMethod,
    CardType: rest.CardType,
    Time: americanOf(rest.OrderDate).replace(/^\S+ /, ''),
    Transaction: rest.TransactionList.map((transaction: Rest) => ({
      CVV2: transaction.TransactionCVV2,
      ResponseText: transaction.TransactionResponseText,
      AVS: transaction.TransactionAVS,
      TransactionId: transaction.TransactionID,
      ApprovalCode: transaction.TransactionApproval,
      TransactionType: transaction.TransactionType,
      Amount: money(transaction.TransactionAmount),
    })),
    Discount: money(rest.OrderDiscount),
    Promotions: {
      Promotion: rest.PromotionList.map(({ Coupon, PromotionName, DiscountAmount }: Rest) => ({
        Code: Coupon === '' ? PromotionName : Coupon,
        Amount: money(DiscountAmount),
      })),
    },
    GiftCertificatePurchased: '',
    GiftCertificateUsed: '',
    OrderStatus: statuses[rest.OrderStatusID - 1],
    Referer: rest.Referer,
    SalesPerson: rest.SalesPerson,
    IP: rest.IP,
    DateStarted: americanOf(rest.OrderDate),
    UserID: rest.UserID,
    LastUpdate: americanOf(rest.LastUpdate),
    Weight: money(sum(rest.ShipmentList, 'ShipmentWeight')),
    AffiliateInformation: {
      AffiliateID: '0',
      AffiliateCommission: `${rest.AffiliateCommission}`,
      AffiliateApproved: '',
      AffiliateApprovedreason: '',
    },
    ShippingInformation: {
      Shipment: rest.ShipmentList.map((shipment: Rest) => ({
        ShipmentID: `${shipment.ShipmentID}`,
        ShipmentDate: shipment.ShipmentShippedDate.replace(/\b0/g, ''),
        Shipping: `${shipment.ShipmentCost}`,
        Method: shipment.ShipmentMethodName,
        FirstName: shipment.ShipmentFirstName,
        LastName: shipment.ShipmentLastName,
        Company: shipment.ShipmentCompany,
        Address: shipment.ShipmentAddress,
        Address2: shipment.ShipmentAddress2,
        City: shipment.ShipmentCity,
        ZipCode: shipment.ShipmentZipCode,
        StateCode: shipment.ShipmentState,
        CountryCode: shipment.ShipmentCountry,
        Phone: shipment.ShipmentPhone,
        Weight: money(shipment.ShipmentWeight),
        Status: statuses[shipment.ShipmentOrderStatus - 1],
        InternalComment: shipment.ShipmentInternalComment,
        TrackingCode: shipment.ShipmentTrackingCode,
      })),
      OrderItems: {
        Item: rest.OrderItemList.map((item: Rest) => ({
          ShipmentID: `${item.ItemShipmentID}`,
          ProductID: item.ItemID,
          ProductName: item.ItemDescription.replace(/<br><b>/g, '\n')
            .replace(/<\/b>&nbsp;/g, ' ')
            .replace('&amp; trim', '& trim')
            .replace('&lt;Navy&gt;', '<Navy>'),
          Quantity: `${item.ItemQuantity}`,
          UnitPrice: money(item.ItemUnitPrice),
          UnitCost: money(item.ItemUnitCost),
          OptionPrice: money(item.ItemOptionPrice),
          Weight: money(item.ItemWeight),
          Dimension: '',
          WarehouseID: `${item.ItemWarehouseID}`,
          DateAdded: americanOf(item.ItemDateAdded),
          PageAdded: item.ItemPageAdded,
          ProdType: expect.any(String),
          Taxable: expect.any(String),
          ItemPrice: money(item.ItemUnitPrice + item.ItemOptionPrice),
          Total: money(Math.round((item.ItemUnitPrice + item.ItemOptionPrice) * item.ItemQuantity * 100) / 100),
          ...warehouseOf(item),
        })),
      },
    },
    CheckoutQuestions: {
      Question: rest.QuestionList.map(({ QuestionID, QuestionTitle, QuestionAnswer }: Rest) => ({
        Id: `${QuestionID}`,
        Question: QuestionTitle,
        Answer: QuestionAnswer,
      })),
    },
  }
}

const statuses = ['New', 'Processing', 'Partial', 'Shipped', 'Cancel', 'Hold']

function warehouseOf(item: Rest): Wire {
  const parts = ['Location', 'Bin', 'Aisle', 'Custom'].filter((part) => item[`ItemWarehouse${part}`] !== '')
  return Object.fromEntries(parts.map((part) => [`Warehouse${part}`, item[`ItemWarehouse${part}`]]))
}

/** `2013-07-18T15:08:30` as `7/18/2013 3:08:30 PM`. */
function americanOf(date: string): string {
  return new Date(`${date}Z`).toLocaleString('en-US', { timeZone: 'UTC' }).replace(', ', ' ').replace('\u202f', ' ')
}

describe('a page', () => {
  let shop: Orders
  beforeAll(async () => {
    shop = await openOrders(server)
    // Brought in out of order: neither age nor invoice number decides.
    await shop.bring(
      ...[5, 3, 9, 1, 7].map((OrderID) => ({
        OrderID,
        InvoiceNumber: 5000 - OrderID,
        OrderDate: `2026-03-0${OrderID}T12:00:00`,
      })),
    )
  })

  test.each([
    [100, 1, [1, 3, 5, 7, 9]],
    [2, 0, [1, 3]],
    [2, 1, [1, 3]],
    [2, 2, [3, 5]],
    [3, 4, [7, 9]],
    [1, 5, [9]],
  ])('of %i from %i on has these orders, by OrderID: %j', async (batchSize, startNum, ids) => {
    expect(await shop.ids({ batchSize, startNum })).toEqual(ids)
  })

  test.each([
    ['behind the last order', { startNum: 6 }, nothing],
    ['far behind the last order', { startNum: 2_147_483_647 }, nothing],
    ['that begins before the first', { startNum: -1 }, refused(34)],
    ['that begins at no number', { startNum: 'two' }, refused(34)],
    ['of none', { batchSize: 0 }, refused(33)],
    ['of more than 100', { batchSize: 101 }, refused(33)],
    ['of no number', { batchSize: 'abc' }, refused(33)],
  ])('%s is refused', async (_, parameters, expected) => {
    expect(await shop.soap('getOrder', { ...all, ...parameters })).toBe(expected)
  })
})

describe('by invoice number', () => {
  let shop: Orders
  beforeAll(async () => {
    shop = await openOrders(server)
    const numbered = (OrderID: number, InvoiceNumberPrefix: string, InvoiceNumber: number) => ({
      OrderID,
      InvoiceNumberPrefix,
      InvoiceNumber,
    })
    await shop.bring(
      numbered(1, 'AB-', 1000),
      numbered(2, 'X-', 1000),
      numbered(3, '', 1000),
      numbered(4, 'AB-', 1001),
      numbered(5, 'S1', 1000),
      numbered(6, 'S', 11000),
      numbered(7, 'Ä-', 1003),
      numbered(8, 'AB-', 0),
      numbered(9, 'AB-', 2_147_483_647),
      numbered(10, '20', 1005),
      numbered(11, '😀-', 1006),
    )
    const other = await openOrders(server)
    await other.bring(numbered(90, 'AB-', 1000), numbered(91, 'AB-', 4444))
  })

  test.each<[string, number[]]>([
    ['1001', [4]],
    ['AB-1001', [4]],
    ['ab-1001', [4]],
    ['AB-0001001', [4]],
    ['0001001', [4]],
    ['1000', [1, 2, 3, 5]],
    ['AB-1000', [1]],
    ['x-1000', [2]],
    ['AB1000', []],
    ['B-1000', []],
    ['AB-100', []],
    ['AB--1000', []],
    ['-1000', []],
    ['S11000', [5, 6]],
    ['S1000', []],
    ['11000', [6]],
    ['ä-1003', [7]],
    ['201005', [10]],
    ['😀-1006', [11]],
    ['0', [8]],
    ['AB-0', []],
    ['AB-2147483647', [9]],
    ['2147483648', []],
    ['AB-2147483648', []],
    ['99999999999999999999', []],
    [`${'0'.repeat(56)}1001`, [4]],
    ['4444', []],
    ['%1000', []],
    ["'; --1000", []],
  ])('%s means the orders %j', async (invoiceNum, ids) => {
    const list = await shop.soap('getOrder', { ...all, invoiceNum })
    if (ids.length === 0) expect(list).toBe(nothing)
    else expect(await shop.ids({ invoiceNum })).toEqual(ids)
    expect(await shop.soap('getOrderCount', { invoiceNum })).toBe(counted(ids.length))
    expect(await shop.soap('getOrderCount', { invoiceNum, startFrom: false })).toBe(counted(ids.length))
  })

  test.each<[string, number[]]>([
    ['1001', [4, 6, 7, 9, 10, 11]],
    ['AB-1001', [4, 9]],
    ['ab-1000', [1, 4, 9]],
    ['X-1001', []],
    ['S11000', [5, 6]],
    ['S11001', []],
    ['S5000', [6]],
    ['0', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
    ['AB-0', [1, 4, 8, 9]],
    ['😀-1006', [11]],
    ['201005', [9]],
    ['2147483647', [9]],
    ['2147483648', []],
    ['99999999999999999999', []],
    ['Q-1', []],
  ])('%s with startFrom means it and all above it: %j', async (invoiceNum, ids) => {
    if (ids.length > 0) expect(await shop.ids({ invoiceNum, startFrom: true })).toEqual(ids)
    else expect(await shop.soap('getOrder', { ...all, invoiceNum, startFrom: 1 })).toBe(nothing)
    expect(await shop.soap('getOrderCount', { invoiceNum, startFrom: 'True' })).toBe(counted(ids.length))
  })

  test.each(['abc', 'AB-', '1000x', 'AB-10 00-', `1${'0'.repeat(60)}`, '١٠٠٠'])(
    '%s is no number',
    async (invoiceNum) => {
      for (const startFrom of [true, false]) {
        expect(await shop.soap('getOrder', { ...all, invoiceNum, startFrom })).toBe(refused(35))
        expect(await shop.soap('getOrderCount', { invoiceNum, startFrom })).toBe(refused(35))
      }
    },
  )

  test('startFrom says nothing without a number, and must be readable all the same', async () => {
    expect(await shop.ids({ startFrom: true })).toHaveLength(11)
    expect(await shop.ids({ startFrom: '' })).toHaveLength(11)
    expect(await shop.soap('getOrder', { ...all, startFrom: 'yes' })).toBe(refused(38))
    expect(await shop.soap('getOrderCount', { startFrom: 'yes' })).toBe(refused(38))
  })
})

const counted = (count: number) => `<OrdersCountResponse xmlns=""><Quantity>${count}</Quantity></OrdersCountResponse>`

describe('by status', () => {
  let shop: Orders
  beforeAll(async () => {
    shop = await openOrders(server)
    await shop.bring(
      ...[1, 2, 5, 7, 8, 8, 9, 10].map((OrderStatusID, index) => ({ OrderID: index + 1, OrderStatusID })),
    )
    const rename = (id: number, text: string) =>
      server.database.db.orderStatus.update({
        where: { storeId_id: { storeId: shop.shop.store.id, id } },
        data: { text },
      })
    // What was New is called Received, and Custom 1 is called New.
    await rename(1, 'Received & <read>')
    await rename(8, 'NEW')
    await rename(2, ' In Arbeit Ä ')
    // Two of one text, as an import may bring them.
    await rename(10, 'twice')
    await rename(9, 'Twice')
  })

  test.each([
    ['the merchant’s text', 'Received & <read>', [1]],
    ['the merchant’s text in other case', 'in arbeit ä', [2]],
    ['the built-in name of one that was renamed', 'processing', [2]],
    ['a text that is another status’s built-in name', 'New', [5, 6]],
    ['the built-in name of a hidden one', 'custom 1', [5, 6]],
    ['Not Completed', 'not completed', [4]],
    ['a text that two have, the first of them,', 'twice', [7]],
    ['nothing', '', [1, 2, 3, 4, 5, 6, 7, 8]],
  ])('%s names it', async (_, status, ids) => {
    expect(await shop.ids({ status })).toEqual(ids)
    expect(await shop.soap('getOrderCount', { status })).toBe(counted(ids.length))
  })

  test('the merchant’s texts are shown', async () => {
    const texts = (await shop.list()).map(({ OrderStatus }) => OrderStatus)
    expect(texts).toEqual([
      'Received & <read>',
      ' In Arbeit Ä ',
      'Cancel',
      'Not Completed',
      'NEW',
      'NEW',
      'Twice',
      'twice',
    ])
  })

  test('a status that no order has matches nothing; a text that no status has is refused', async () => {
    expect(await shop.soap('getOrder', { ...all, status: 'Shipped' })).toBe(nothing)
    expect(await shop.soap('getOrderCount', { status: 'Shipped' })).toBe(counted(0))
    for (const status of ['Lost', '1', 'Ship%', 'x'.repeat(5000)]) {
      expect(await shop.soap('getOrder', { ...all, status })).toBe(refused(39))
      expect(await shop.soap('getOrderCount', { status })).toBe(refused(39))
    }
  })
})

describe('by day', () => {
  let shop: Orders
  let tokyo: Orders
  beforeAll(async () => {
    shop = await openOrders(server)
    // New York: on 8 March 2026 the clock goes from 2 to 3, so that the day has 23 hours; on 1 November it has 25.
    await shop.bring(
      { OrderID: 1, OrderDate: '2026-03-08T04:59:59Z' },
      { OrderID: 2, OrderDate: '2026-03-08T05:00:00Z' },
      { OrderID: 3, OrderDate: '2026-03-09T03:59:59Z' },
      { OrderID: 4, OrderDate: '2026-03-09T04:00:00Z' },
      { OrderID: 5, OrderDate: '2026-11-01T03:59:59Z' },
      { OrderID: 6, OrderDate: '2026-11-01T04:00:00Z' },
      { OrderID: 7, OrderDate: '2026-11-02T04:59:59Z' },
      { OrderID: 8, OrderDate: '2026-11-02T05:00:00Z' },
    )
    tokyo = await openOrders(server, { timeZone: 'Asia/Tokyo' })
    await tokyo.bring(
      { OrderID: 1, OrderDate: '2026-03-07T14:59:59Z' },
      { OrderID: 2, OrderDate: '2026-03-07T15:00:00Z' },
      { OrderID: 3, OrderDate: '2026-03-08T14:59:59Z' },
      { OrderID: 4, OrderDate: '2026-03-08T15:00:00Z' },
    )
  })

  test.each([
    ['03/08/2026', '03/08/2026', [2, 3]],
    ['3/8/2026', '3/9/2026', [2, 3, 4]],
    ['11/01/2026', '11/01/2026', [6, 7]],
    ['10/31/2026', '11/02/2026', [5, 6, 7, 8]],
    ['03/09/2026', '', [4, 5, 6, 7, 8]],
    ['', '03/07/2026', [1]],
    // Programs that send a time mean the day as well.
    ['03/08/2026 23:00:00', '3/8/2026 12:00:00 AM', [2, 3]],
    ['2026-03-08', '2026-03-08T00:00:00', [2, 3]],
    ['2026-03-09T03:00:00Z', '2026-03-08', [2, 3]],
  ])('from %s to %s both days are in, as the store has them', async (dateFrom, dateTo, ids) => {
    expect(await shop.ids({ dateFrom, dateTo })).toEqual(ids)
    expect(await shop.soap('getOrderCount', { dateFrom, dateTo })).toBe(counted(ids.length))
  })

  test('another store’s day is another', async () => {
    expect(await tokyo.ids({ dateFrom: '03/08/2026', dateTo: '03/08/2026' })).toEqual([2, 3])
  })

  test('a range without orders counts 0 and has no page', async () => {
    const range = { dateFrom: '01/01/2001', dateTo: '12/31/2001' }
    expect(await shop.soap('getOrder', { ...all, ...range })).toBe(nothing)
    expect(await shop.soap('getOrderCount', range)).toBe(counted(0))
  })

  test.each([
    ['dateFrom', 'yesterday'],
    ['dateTo', '02/30/2026'],
    ['dateFrom', '01/01/1752'],
    ['dateTo', '9999-12-31T23:59:59-14:00'],
    ['dateFrom', '1753-01-01T00:00:00+14:00'],
    ['dateTo', `03/08/2026${' '.repeat(5000)}x`],
    ['dateFrom', `03/08/2026${' '.repeat(40)}12:00:00`],
  ])('%s "%s" is no date', async (name, value) => {
    expect(await shop.soap('getOrder', { ...all, [name]: value })).toBe(refused(36))
    expect(await shop.soap('getOrderCount', { [name]: value })).toBe(refused(36))
  })

  test.each(['01/01/0001', '01/01/0001 00:00:00', '0001-01-01T00:00:00Z', '0001-01-01'])(
    '%s, the empty date of .NET, is none',
    async (date) => {
      for (const range of [{ dateFrom: date }, { dateTo: date }, { dateFrom: date, dateTo: date }]) {
        expect(await shop.ids(range)).toEqual(await shop.ids({}))
        expect(await shop.soap('getOrderCount', range)).toBe(counted(8))
      }
      expect(await shop.ids({ dateFrom: '03/09/2026', dateTo: date })).toEqual([4, 5, 6, 7, 8])
      expect(await shop.ids({ dateFrom: date, dateTo: '03/07/2026' })).toEqual([1])
    },
  )

  test.each(['01/01/1753', '12/31/9999'])('%s is one', async (date) => {
    for (const name of ['dateFrom', 'dateTo']) {
      expect(await shop.soap('getOrderCount', { [name]: date })).toMatch(/<Quantity>[08]</)
    }
  })

  test('an end before its beginning is refused', async () => {
    const range = { dateFrom: '10/01/2026', dateTo: '09/30/2026' }
    expect(await shop.soap('getOrder', { ...all, ...range })).toBe(refused(37))
    expect(await shop.soap('getOrderCount', range)).toBe(refused(37))
  })
})

test('all that is asked for must fit', async () => {
  const shop = await openOrders(server)
  const order = { InvoiceNumberPrefix: 'AB-', InvoiceNumber: 10, OrderStatusID: 4, OrderDate: '2026-03-05T12:00:00' }
  await shop.bring(
    { ...order, OrderID: 1 },
    { ...order, OrderID: 2, InvoiceNumber: 9 },
    { ...order, OrderID: 3, OrderStatusID: 1 },
    { ...order, OrderID: 4, OrderDate: '2026-03-04T12:00:00' },
    { ...order, OrderID: 5, OrderDate: '2026-03-06T12:00:00' },
    { ...order, OrderID: 6, InvoiceNumberPrefix: 'X-' },
    { ...order, OrderID: 7, InvoiceNumber: 11 },
  )
  const asked = {
    invoiceNum: 'AB-10',
    startFrom: true,
    status: 'shipped',
    dateFrom: '03/05/2026',
    dateTo: '03/05/2026',
  }
  expect(await shop.ids(asked)).toEqual([1, 7])
  expect(await shop.ids({ ...asked, batchSize: 1, startNum: 2 })).toEqual([7])
  expect(await shop.soap('getOrderCount', asked)).toBe(counted(2))
})
