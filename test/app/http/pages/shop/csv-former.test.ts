import { stringify } from 'csv-stringify/sync'
import { describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

// Files of the platform that merchants come from (3dcart, Shift4Shop), as it writes them.

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, refusalOf, apply, linesAt, countsAt, assign, choicesAt, meaningsAt } = csvPages(() => ({
  server,
  merchant,
}))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const add = (service: string, body: object) => shop.add(`/${service}`, body)
const read = async (path: string) => {
  const answer = await shop.call('GET', `/${path}`)
  return answer.statusCode === 404 ? [] : answer.json()
}
const productOf = async (sku: string) => (await read(`Products?sku=${encodeURIComponent(sku)}`))[0]
const customerOf = async (email: string) => (await read(`Customers?email=${encodeURIComponent(email)}`))[0]

type Row = Readonly<Record<string, string | number>>
const fileOf = (...rows: readonly Row[]) =>
  stringify(rows as Row[], { header: true, record_delimiter: 'windows', columns: Object.keys(rows[0] ?? {}) })

const numbered = <T>(first: number, last: number, of: (n: number) => readonly [string, T]) =>
  Object.fromEntries(Array.from({ length: last - first + 1 }, (_, index) => of(first + index)))

/** A row with every heading of the product file, each with a value of its own. */
const product = {
  catalogid: 4711,
  id: 'LAMP-1',
  name: 'Desk lamp',
  categories: 'Lamps@Lamps/Desk@Sale',
  mfgid: 'MF-77',
  manufacturer: '1888',
  distributor: 'Brass & Co',
  cost: 11.5,
  price: 29.99,
  price2: 39.99,
  price3: 1,
  saleprice: 24.5,
  onsale: 1,
  stock: 12.5,
  stock_alert: 3,
  display_stock: 'In stock',
  weight: 1.25,
  minimumorder: 2,
  maximumorder: 8,
  date_created: '1/2/2019 3:04:05 PM',
  description: 'Short <b>text</b>',
  extended_description: '<p>Long\r\ntext</p>',
  keywords: 'lamp, desk',
  sorting: 7,
  thumbnail: 'assets/images/t.jpg',
  image1: 'assets/images/1.jpg',
  ...numbered(2, 4, (n) => [`image${n}`, `assets/images/${n}.jpg`]),
  realmedia: 'assets/lamp.mp4',
  related: 'LAMP-2,LAMP-3',
  accessories: 'BULB-1',
  shipcost: 4.25,
  ...numbered(1, 4, (n) => [`imagecaption${n}`, `Caption ${n}`]),
  title: 'A lamp for desks',
  metatags: '<meta name="x" content="y">',
  displaytext: 'from',
  eproduct_password: 'download-secret',
  eproduct_random: 1,
  eproduct_expire: 30,
  eproduct_path: 'files/a.zip',
  eproduct_serial: 1,
  eproduct_instructions: 'Read me',
  homespecial: 'yes',
  categoryspecial: 'Y',
  hide: 'false',
  free_shipping: 'TRUE',
  nontax: 1,
  notforsale: 0,
  giftcertificate: 'n',
  userid: 'admin',
  last_update: '1/2/2020 3:04:05 PM',
  ...numbered(1, 13, (n) => [`extra_field_${n}`, `Extra ${n}`]),
  usecatoptions: 1,
  qtyoptions: '1,2,5',
  ...numbered(1, 10, (n) => [`price_${n}`, 20 + n]),
  ...numbered(1, 10, (n) => [`hide_${n}`, n % 2]),
  minorderpkg: 1,
  listing_displaytype: 3,
  show_out_stock: 2,
  pricing_groupopt: 1,
  qtydiscount_opt: 1,
  loginlevel: 2,
  redirectto: 'login.asp',
  accessgroup: 'Wholesale',
  self_ship: 1,
  tax_code: 'T1',
  eproduct_reuseserial: 1,
  nonsearchable: 1,
  instock_message: 'Here',
  outofstock_message: 'Gone',
  backorder_message: 'Later',
  height: 10,
  width: 20,
  depth: 30,
  reward_points: 5,
  reward_disable: 1,
  reward_redeem: 6,
  filename: 'desk-lamp.html',
  fractional_qty: 1,
  gtin: '0012345678905',
  rma_maxperiod: '30',
  recurring_order: 1,
  reminders_enabled: 1,
  reminders_frequency: 2,
  review_average: 4.5,
  review_count: 9,
  qty_reorder: 11,
  giftwrap_option: 1,
  warehouse_location: 'W1',
  warehouse_bin: 'B2',
  warehouse_aisle: 'A3',
  warehouse_custom: 'C4',
  makeanoffer_enabled: 1,
  makeanoffer_price: '25',
  canonical_url: 'https://shop.example/lamp',
  link: 'https://shop.example/other',
  sample_enable: 1,
  sample_name: 'Sample',
  sample_sku_prefix: 'S-',
  sample_price: 1.5,
  sample_weight: 0.5,
}

/** What that row makes of a product, member by member. */
const productMembers = {
  SKUInfo: {
    SKU: 'LAMP-1',
    Name: 'Desk lamp',
    Cost: 11.5,
    Price: 29.99,
    RetailPrice: 39.99,
    SalePrice: 24.5,
    OnSale: true,
    Stock: 12.5,
  },
  MFGID: 'MF-77',
  ManufacturerName: '1888',
  StockAlert: 3,
  Weight: 1.25,
  MinimumQuantity: 2,
  MaximumQuantity: 8,
  ShortDescription: 'Short <b>text</b>',
  Description: '<p>Long\ntext</p>',
  Keywords: 'lamp, desk',
  ThumbnailFile: 'assets/images/t.jpg',
  MainImageFile: 'assets/images/1.jpg',
  ...numbered(2, 4, (n) => [`AdditionalImageFile${n}`, `assets/images/${n}.jpg`]),
  MediaFile: 'assets/lamp.mp4',
  ShipCost: 4.25,
  MainImageCaption: 'Caption 1',
  ...numbered(2, 4, (n) => [`AdditionalImageCaption${n}`, `Caption ${n}`]),
  Title: 'A lamp for desks',
  MetaTags: '<meta name="x" content="y">',
  DisplayText: 'from',
  AssignKey: true,
  SpecialInstructions: 'Read me',
  HomeSpecial: true,
  CategorySpecial: true,
  Hide: false,
  FreeShipping: true,
  NonTaxable: true,
  NotForSale: false,
  GiftCertificate: false,
  ...numbered(1, 13, (n) => [`ExtraField${n}`, `Extra ${n}`]),
  DoNotUseCategoryOptions: true,
  QuantityOptions: '1,2,5',
  ...numbered(1, 10, (n) => [`PriceLevel${n}`, 20 + n]),
  ...numbered(1, 10, (n) => [`PriceLevel${n}Hide`, n % 2 === 1]),
  AllowOnlyMultiples: true,
  ListingTemplateID: 3,
  InventoryControl: 2,
  GroupOptionsForQuantityPricing: true,
  ApplyQuantityDiscountToOptions: true,
  LoginRequiredOptionID: 2,
  LoginRequiredOptionRedirectTo: 'login.asp',
  AllowAccessCustomerGroupName: 'Wholesale',
  SelfShip: true,
  TaxCode: 'T1',
  ReUseKeys: true,
  NonSearchable: true,
  InStockMessage: 'Here',
  OutOfStockMessage: 'Gone',
  BackOrderMessage: 'Later',
  Height: 10,
  Width: 20,
  Depth: 30,
  RewardPoints: 5,
  DisableRewards: true,
  RedeemPoints: 6,
  CustomFileName: 'desk-lamp.html',
  AllowFractionalQuantity: true,
  GTIN: '0012345678905',
  RMAMaxPeriod: '30',
  ReviewAverage: 0,
  ReviewCount: 0,
  ReorderQuantity: 11,
  GiftWrapItem: true,
  WarehouseLocation: 'W1',
  WarehouseBin: 'B2',
  WarehouseAisle: 'A3',
  WarehouseCustom: 'C4',
  EnableMakeAnOfferFeature: true,
  MinimumAcceptableOffer: '25',
  CanonicalUrl: 'https://shop.example/lamp',
  RedirectLink: 'https://shop.example/other',
  SampleEnable: true,
  SampleName: 'Sample',
  SampleSKUPrefix: 'S-',
  SamplePrice: 1.5,
  SampleWeight: 0.5,
  RelatedProductList: [],
  UpSellingItemList: [],
  EProductList: [],
}

describe('a whole product file of the former platform', () => {
  test('asks only what is not certain, and then brings every member in', async () => {
    const asking = await takeIn('products', fileOf(product))
    expect(asking).toMatch(/\/columns$/)
    const page = (await merchant.open(asking)).body
    expect(page).toContain('This is a file of the platform you come from.')
    expect(wordsOf(page)).toContain('2 columns need your answer')
    expect(page).not.toContain('download-secret')
    const address = await assign(asking)
    const preview = wordsOf((await merchant.open(address)).body)
    expect(preview).toContain('Read as a file of the platform you come from.')
    expect(await meaningsAt(address)).toMatchObject({
      price2: 'Retail price',
      review_count: 'Not taken in, because it is written by the platform itself.',
    })
    expect(preview).toMatch(/Will be made: 3 categories Lamps ?Lamps\/Desk ?Sale .*Will be made: 1 manufacturer 1888/)
    expect(await countsAt(address)).toEqual(['New (1)'])
    expect(await productOf('LAMP-1')).toBeUndefined()
    await apply(address)
    expect(await countsAt(address)).toEqual(['Added (1)'])
    const made = await productOf('LAMP-1')
    expect(made).toMatchObject(productMembers)
    expect(made.SKUInfo.CatalogID).not.toBe(4711)
    expect(made.DistributorList).toMatchObject([{ DistributorName: 'Brass & Co' }])
    const categories = new Map((await read('Category')).map((one: { CategoryID: number }) => [one.CategoryID, one]))
    const placements = made.CategoryList.map(({ CategoryID }: { CategoryID: number }) => categories.get(CategoryID))
    expect(placements.map((one: { CategoryName: string }) => one.CategoryName).toSorted()).toEqual([
      'Desk',
      'Lamps',
      'Sale',
    ])
    const of = (name: string) => placements.find((one: { CategoryName: string }) => one.CategoryName === name)
    expect(of('Desk').CategoryParent).toBe(of('Lamps').CategoryID)
    expect([of('Lamps').CategoryParent, of('Sale').CategoryParent]).toEqual([0, 0])

    // The same file changes nothing more, and a file with fewer columns needs no answer.
    expect(await countsAt(await assign(await takeIn('products', fileOf(product))))).toEqual(['Unchanged (1)'])
    const { usecatoptions, distributor, ...certain } = product
    const again = await takeIn('products', fileOf({ ...certain, price2: 41 }))
    expect(again).not.toMatch(/\/columns$/)
    expect(await linesAt(again, 'changes')).toEqual([['2', 'LAMP-1', 'Retail price: 39.99 → 41']])
  })

  test('is read whatever the order and case of its headings, and its empty cells change nothing', async () => {
    const { usecatoptions, distributor, ...certain } = product
    const rows = Object.entries(certain).toReversed()
    const upper = Object.fromEntries(rows.map(([heading, value]) => [heading.toUpperCase(), value]))
    await apply(await takeIn('products', fileOf(upper)))
    const before = await productOf('LAMP-1')
    expect(before).toMatchObject({ ShortDescription: 'Short <b>text</b>', SKUInfo: { RetailPrice: 39.99 } })
    const empty = Object.fromEntries(rows.map(([heading, value]) => [heading, heading === 'id' ? value : '']))
    expect(await countsAt(await takeIn('products', fileOf(empty)))).toEqual(['Unchanged (1)'])
  })

  test('in Windows-1252 is read as such, with a word about it', async () => {
    const { usecatoptions, distributor, ...certain } = product
    const bytes = Buffer.from(fileOf({ ...certain, name: 'Lämpchen' }), 'latin1')
    const address = await takeIn('products', bytes)
    expect((await merchant.open(address)).body).toContain('read as Windows-1252')
    await apply(address)
    expect((await productOf('LAMP-1')).SKUInfo.Name).toBe('Lämpchen')
    const mixed = Buffer.concat([Buffer.from(fileOf({ ...certain, name: 'Lämpchen' })), Buffer.from('\r\nä', 'latin1')])
    expect(await refusalOf('products', mixed)).toMatch(/^Line \d+ has characters that are not UTF-8/)
  })

  const short = (others: Row) => fileOf({ id: 'P-1', price2: '', extended_description: '', nontax: '', ...others })

  test.each<[string, Row, object]>([
    ['id is the SKU, also of digits', { id: '12', name: 'Twelve' }, { SKUInfo: { SKU: '12' } }],
    [
      'description is the short text',
      { name: 'n', description: 'short' },
      { ShortDescription: 'short', Description: '' },
    ],
    ['price2 is the list price', { name: 'n', price2: 5, price_2: 6 }, { SKUInfo: { RetailPrice: 5 }, PriceLevel2: 6 }],
    ['hide is not hide_n', { name: 'n', hide: 1, hide_1: 0 }, { Hide: true, PriceLevel1Hide: false }],
    [
      'redirectto is not link',
      { name: 'n', redirectto: 'a', link: 'b' },
      { LoginRequiredOptionRedirectTo: 'a', RedirectLink: 'b' },
    ],
    [
      'minimumorder is not minorderpkg',
      { name: 'n', minimumorder: 4, minorderpkg: 1 },
      { MinimumQuantity: 4, AllowOnlyMultiples: true },
    ],
    ['eproduct_serial is a flag', { name: 'n', eproduct_serial: 1 }, { AssignKey: true, SerialList: [] }],
    ['imagecaption1 has its number at the end', { name: 'n', imagecaption1: 'c' }, { MainImageCaption: 'c' }],
    ['title is never the name', { name: 'n', title: 't' }, { Title: 't', SKUInfo: { Name: 'n' } }],
    ['a nontax of 1 is not taxable', { name: 'n', nontax: 1 }, { NonTaxable: true }],
  ])('%s', async (_trap, row, members) => {
    await apply(await takeIn('products', short(row)))
    expect(await productOf(String(row.id ?? 'P-1'))).toMatchObject(members)
  })

  test('a manufacturer is a name, also of digits that are the number of another one', async () => {
    const first = await add('Manufacturers', { ManufacturerName: 'Acme' })
    const address = await takeIn('products', short({ name: 'n', manufacturer: String(first) }))
    expect(wordsOf((await merchant.open(address)).body)).toContain(`Will be made: 1 manufacturer ${first}`)
    await apply(address)
    const { ManufacturerID, ManufacturerName } = await productOf('P-1')
    expect([ManufacturerName, ManufacturerID === first]).toEqual([String(first), false])
  })

  test('accessories, related products and downloads are left out, with the reason', async () => {
    const address = await takeIn(
      'products',
      short({ name: 'n', accessories: 'A', related: 'B', eproduct_path: 'c', categoriesaaa: 'd' }),
    )
    const meanings = await meaningsAt(address)
    for (const heading of ['accessories', 'related', 'eproduct_path', 'categoriesaaa']) {
      expect(meanings[heading]).toMatch(/^Not taken in, because it /)
    }
    await apply(address)
    expect(await productOf('P-1')).toMatchObject({
      UpSellingItemList: [],
      RelatedProductList: [],
      EProductList: [],
      CategoryList: [],
    })
  })
})

/** A row with every heading of the customer file. */
const customer = {
  ...Object.fromEntries(
    ['firstname', 'lastname', 'address', 'address2', 'city', 'state', 'zip', 'country', 'company', 'phone'].flatMap(
      (part) => ['billing', 'shipping'].map((kind) => [`${kind}_${part}`, `${kind} ${part}`]),
    ),
  ),
  email: 'ada@shop.example',
  comments: 'A comment',
  pass: 'secret-of-ada',
  discount: '',
  accountno: 'TAX-1',
  maillist: 1,
  custenabled: 0,
  lastlogindate: '1/2/2019 3:04:05 PM',
  website: 'https://ada.example',
  custother1: 'x',
  type: 1,
  userid: 'admin',
  last_update: '1/2/2019 3:04:05 PM',
  additional_field1: 'F1',
  additional_field2: 'F2',
  additional_field3: 'F3',
  additional_field4: 'F4',
  alt_contactid: 'ALT-1',
  oshipaddresstype: 2,
  reset_pass: 1,
}

const customerMembers = (kind: 'Billing' | 'Shipping', from: string) => ({
  [`${kind}FirstName`]: `${from} firstname`,
  [`${kind}LastName`]: `${from} lastname`,
  [`${kind}Address1`]: `${from} address`,
  [`${kind}Address2`]: `${from} address2`,
  [`${kind}City`]: `${from} city`,
  [`${kind}State`]: `${from} state`,
  [`${kind}ZipCode`]: `${from} zip`,
  [`${kind}Country`]: `${from} country`,
  [`${kind}Company`]: `${from} company`,
  [`${kind}PhoneNumber`]: `${from} phone`,
})

describe('a whole customer file of the former platform', () => {
  const everything = async () => {
    const tables = [
      'CsvImport',
      'CsvImportLine',
      'CsvImportPart',
      'CsvImportName',
      'CsvMapping',
      'HistoryEntry',
      'Customer',
    ]
    const rows = await Promise.all(
      tables.map((table) => server.database.db.$queryRawUnsafe(`SELECT t::text AS "row" FROM "${table}" t`)),
    )
    return JSON.stringify(rows)
  }

  test('brings every member in, and no password', async () => {
    const group = await add('CustomerGroups', { Name: 'Wholesale' })
    const address = await takeIn('customers', fileOf({ ...customer, discount: group }))
    expect(address).not.toMatch(/\/columns$/)
    const preview = (await merchant.open(address)).body
    expect((await meaningsAt(address)).pass).toBe('Not taken in, because it has passwords, which are never taken over.')
    expect(preview).not.toContain('secret-of-ada')
    expect(await everything()).not.toContain('secret-of-ada')
    await apply(address)
    expect(await countsAt(address)).toEqual(['Added (1)'])
    expect(await customerOf('ada@shop.example')).toMatchObject({
      ...customerMembers('Billing', 'billing'),
      ...customerMembers('Shipping', 'shipping'),
      Comments: 'A comment',
      CustomerGroupID: group,
      BillingTaxID: 'TAX-1',
      MailList: true,
      Enabled: false,
      NonTaxable: true,
      AdditionalField1: 'F1',
      AdditionalField2: 'F2',
      AdditionalField3: 'F3',
      ShippingAddressType: 2,
      ResetPassword: true,
    })
    const [row] = await server.database.db.customer.findMany({ where: { storeId: shop.store.id } })
    expect(row).toMatchObject({ passwordHash: null, altContactId: null, lastLoginAt: null })
    expect(await countsAt(await takeIn('customers', fileOf({ ...customer, discount: group })))).toEqual([
      'Unchanged (1)',
    ])
  })

  test('asks about contactid, which is taken in only where somebody says so', async () => {
    const ada = await add('Customers', { Email: 'ada@shop.example', Password: 'secret', BillingCity: 'Rome' })
    const row = { contactid: 9_999, ...customer, discount: '', billing_city: 'Oslo' }
    const asking = await takeIn('customers', fileOf(row))
    expect(asking).toMatch(/\/columns$/)
    expect((await choicesAt(asking)).contactid).toBe('-')
    expect(await everything()).not.toContain('secret-of-ada')
    const byEmail = await assign(asking)
    expect((await linesAt(byEmail, 'changes'))[0]?.[2]).toContain('Billing city: Rome → Oslo')
    const byNumber = await assign(`${byEmail}/columns`, { contactid: 'CustomerID' })
    expect(await linesAt(byNumber, 'errors')).toEqual([
      ['2', 'ada@shop.example', 'Customer number “9999” names no Customer of the store'],
    ])
    const own = await assign(await takeIn('customers', fileOf({ ...row, contactid: ada })), { contactid: 'CustomerID' })
    await apply(own)
    expect((await read(`Customers/${ada}`))[0].BillingCity).toBe('Oslo')
  })

  test('a discount is the number or name of a group, and a name of none makes one', async () => {
    const group = await add('CustomerGroups', { Name: 'Wholesale' })
    const rows = [group, 'WHOLESALE ', 'Friends', 777].map((discount, at) => ({
      ...customer,
      email: `${at}@shop.example`,
      discount,
    }))
    const address = await takeIn('customers', fileOf(...rows))
    expect(await linesAt(address, 'errors')).toEqual([
      ['5', '3@shop.example', 'Customer group “777” names no CustomerGroup of the store, by number or by name'],
    ])
    expect(wordsOf((await merchant.open(address)).body)).toContain('Will be made: 1 customer group Friends')
    await apply(address)
    const groups = await read('CustomerGroups')
    expect(groups.map(({ Name }: { Name: string }) => Name)).toEqual(['Wholesale', 'Friends'])
    const ids = await Promise.all([0, 1, 2].map(async (at) => (await customerOf(`${at}@shop.example`)).CustomerGroupID))
    expect(ids).toEqual([group, group, groups[1].CustomerGroupID])
  })
})
