import { beforeAll, describe, expect, test } from 'vitest'
import { childElements, readXmlDocument, textOf, type XmlElement } from '../../../../src/foundation/xml/read.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { fullBody, nextSeed } from '../../conformance/records.ts'
import { fixtureOf, openShop, type Shop } from '../../conformance/stage.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { errorDocument, soapCall } from './support.ts'

// getProduct (soap-cartapi §4.10), beside what REST says of the same products.

const server = await sharedServer()

// biome-ignore lint/suspicious/noExplicitAny: a record as REST answers it.
type Wire = Record<string, any>
type Node = readonly [name: string, content: string | readonly Node[]]

const notFound = errorDocument(46, 'No Data Found')
const everything = { batchSize: 100, startNum: 1 }

/** The elements of a result, in their order; empty ones have the text ''. */
function nodeOf(element: XmlElement): Node {
  const children = childElements(element)
  return [element.name, children.length > 0 ? children.map(nodeOf) : textOf(element, element.name)]
}

/** Products as they stand in the answer. */
async function askFor(shop: Pick<TestStore, 'store'>, parameters: Record<string, string | number>) {
  const [root, found] = nodeOf(readXmlDocument(await soapCall(server, shop, 'getProduct', parameters)))
  expect(root, JSON.stringify(found)).toBe('GetProductDetailsResponse')
  return found as Node[]
}

async function skusOf(shop: Pick<TestStore, 'store'>, parameters: Record<string, string | number>) {
  return (await askFor(shop, parameters)).map((product) => contentOf(product, 'ProductID'))
}

/** What an element of a product holds. */
function contentOf([, children]: Node, name: string): Node[1] | undefined {
  return (children as Node[]).find(([child]) => child === name)?.[1]
}

async function readWithRest(shop: TestStore, query: string): Promise<Wire[]> {
  const answer = await shop.call('GET', `/Products?${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

test('a page that would be too large for one answer is refused, and a smaller one comes', async () => {
  const shop = await server.openStore()
  const large = '&'.repeat(65_535)
  const names = ['ShortDescription', 'Description', 'Keywords', 'MetaTags', 'SpecialInstructions']
  const extra = Array.from({ length: 8 }, (_, index) => `ExtraField${index + 6}`)
  const texts = Object.fromEntries([...names, ...extra].map((name) => [name, large]))
  for (let number = 0; number < 8; number++) {
    await shop.add('/Products', { SKUInfo: { SKU: `LARGE-${number}`, Name: 'Large' }, ...texts })
  }
  expect(await soapCall(server, shop, 'getProduct', everything)).toBe(errorDocument(33, 'Data Error'))
  expect((await soapCall(server, shop, 'getProduct', { batchSize: 7, startNum: 1 })).length).toBeGreaterThan(29_000_000)
})

const money = (value: number) => value.toFixed(2)
const number = (value: number) => String(value)
const flag = (value: boolean) => (value ? '1' : '0')
const list = (nodes: Node[]) => (nodes.length === 0 ? '' : nodes)
const numbered = (first: number, last: number, node: (at: number) => Node) =>
  Array.from({ length: last - first + 1 }, (_, index) => node(first + index))

function day(date: string): string {
  return new Date(`${date}Z`).toLocaleDateString('en-US', { timeZone: 'UTC' })
}

function moment(date: string): string {
  const time = new Date(`${date}Z`).toLocaleTimeString('en-US', { timeZone: 'UTC' }).replace('\u202f', ' ')
  return time === '12:00:00 AM' ? day(date) : `${day(date)} ${time}`
}

/** A product that another names. */
const productNode = ({ SKU: ProductID, Name: ProductName }: Wire): Node => [
  'Product',
  Object.entries({ ProductID, ProductName }),
]

/** What getProduct has to say of a product that REST answers so; `all` are the store's products. */
function expected(rest: Wire, all: readonly Wire[]): Node {
  const { SKUInfo } = rest
  const related = rest.RelatedProductList.flatMap(({ RelatedProductID }: Wire) =>
    all.filter((other) => other.SKUInfo.CatalogID === RelatedProductID),
  )
  const image = (Url: string, Caption: string): Node => ['Image', Object.entries({ Url, Caption })]
  return [
    'Product',
    [
      ['CatalogID', number(SKUInfo.CatalogID)],
      ['ProductID', SKUInfo.SKU],
      ['ProductName', SKUInfo.Name],
      [
        'Categories',
        list(
          rest.CategoryList.map(({ CategoryID, CategoryName }: Wire) => [
            'Category',
            Object.entries({ CategoryID: number(CategoryID), CategoryName }),
          ]),
        ),
      ],
      ['Mfgid', rest.MFGID],
      ['Manufacturer', rest.ManufacturerName],
      ['Distributor', rest.DistributorList[0]?.DistributorName ?? ''],
      ['Cost', money(SKUInfo.Cost)],
      ['Price', money(SKUInfo.Price)],
      ['RetailPrice', number(SKUInfo.RetailPrice)],
      ['SalePrice', money(SKUInfo.SalePrice)],
      ['OnSale', flag(SKUInfo.OnSale)],
      ['Stock', number(SKUInfo.Stock)],
      ['StockAlert', number(rest.StockAlert)],
      ['Weight', money(rest.Weight)],
      ['Width', money(rest.Width)],
      ['Height', money(rest.Height)],
      ['Depth', money(rest.Depth)],
      ['MinimumOrder', number(rest.MinimumQuantity)],
      ['MaximumOrder', number(rest.MaximumQuantity)],
      ['DateCreated', day(rest.DateCreated)],
      ['Description', rest.ShortDescription],
      ['ExtendedDescription', rest.Description],
      ['Keywords', rest.Keywords],
      ['RelatedProducts', list(related.map(({ SKUInfo }: Wire) => productNode(SKUInfo)))],
      ['ShipCost', money(rest.ShipCost)],
      ['Title', rest.Title],
      ['MetaTags', rest.MetaTags],
      ['DisplayText', rest.DisplayText],
      ['HomeSpecial', flag(rest.HomeSpecial)],
      ['CategorySpecial', flag(rest.CategorySpecial)],
      ['Hide', flag(rest.Hide)],
      ['FreeShipping', flag(rest.FreeShipping)],
      ['NonTax', flag(rest.NonTaxable)],
      ['NotForsale', flag(rest.NotForSale)],
      ['GiftCertificate', flag(rest.GiftCertificate)],
      ['UserId', rest.UserID],
      ['LastUpdate', moment(rest.LastUpdate)],
      ['ExtraFields', numbered(1, 13, (at) => [`ExtraField${at}`, rest[`ExtraField${at}`]])],
      ['WarehouseLocation', rest.WarehouseLocation],
      ['WarehouseBin', rest.WarehouseBin],
      ['WarehouseAisle', rest.WarehouseAisle],
      ['WarehouseCustom', rest.WarehouseCustom],
      ['UseCatoptions', flag(rest.DoNotUseCategoryOptions)],
      ['QuantityOptions', rest.QuantityOptions],
      [
        'PriceLevel',
        [
          ['Price_1', number(SKUInfo.Price)],
          ...numbered(2, 10, (at) => [`Price_${at}`, number(rest[`PriceLevel${at}`])]),
        ],
      ],
      ['MinOrder', flag(rest.AllowOnlyMultiples)],
      ['ListingDisplayType', number(rest.ListingTemplateID)],
      ['ShowOutStock', number(rest.InventoryControl)],
      ['PricingGroupOpt', flag(rest.GroupOptionsForQuantityPricing)],
      ['QuantityDiscountOpt', flag(rest.ApplyQuantityDiscountToOptions)],
      ['LoginLevel', number(rest.LoginRequiredOptionID)],
      ['RedirectTo', rest.LoginRequiredOptionRedirectTo],
      ['AccessGroup', rest.AllowAccessCustomerGroupID === 0 ? '' : number(rest.AllowAccessCustomerGroupID)],
      ['SelfShip', flag(rest.SelfShip)],
      ['TaxCode', rest.TaxCode],
      [
        'eProduct',
        [
          ['eProductPassword', ''],
          ['eProductRandom', '0'],
          ['eProductExpire', '0'],
          ['eProductPath', rest.EProductList[0]?.FilePath ?? ''],
          ['eProductSerial', flag(rest.AssignKey)],
          ['eProductInstructions', rest.SpecialInstructions],
          ['eProductReuseSerial', flag(rest.ReUseKeys)],
        ],
      ],
      ['NonSearchable', flag(rest.NonSearchable)],
      ['InstockMessage', rest.InStockMessage],
      ['OutOfStockMessage', rest.OutOfStockMessage],
      ['BackOrderMessage', rest.BackOrderMessage],
      [
        'Rewards',
        [
          ['RewardPoints', number(rest.RewardPoints)],
          ['RewardDisable', flag(rest.DisableRewards)],
          ['RewardRedeem', number(rest.RedeemPoints)],
        ],
      ],
      ['FileName', rest.CustomFileName],
      ['ReviewAverage', number(rest.ReviewAverage)],
      ['ReviewCount', number(rest.ReviewCount)],
      [
        'Images',
        [
          image(rest.MainImageFile, rest.MainImageCaption),
          image(rest.AdditionalImageFile2, rest.AdditionalImageCaption2),
          image(rest.AdditionalImageFile3, rest.AdditionalImageCaption3),
          image(rest.AdditionalImageFile4, rest.AdditionalImageCaption4),
          ['Thumbnail', rest.ThumbnailFile],
        ],
      ],
      [
        'Options',
        list(
          rest.OptionSetList.map(({ OptionSetID, OptionSetName, OptionList }: Wire) => [
            'Option',
            [
              ['Id', number(OptionSetID)],
              ['OptionType', OptionSetName],
              [
                'Values',
                list(
                  OptionList.map(({ OptionID, OptionName: Name, OptionValue, OptionPartNumber }: Wire) => [
                    'Value',
                    Object.entries({ ID: number(OptionID), Name, OptionPrice: money(OptionValue), OptionPartNumber }),
                  ]),
                ),
              ],
            ],
          ]),
        ),
      ],
    ],
  ]
}

/** Sent with a product by an import alone. */
const stamps = {
  UserID: 'Ada & Bob',
  DateCreated: '2019-01-02T03:04:05',
  LastUpdate: '2021-11-12T13:14:15',
  ReviewAverage: 4.25,
  ReviewCount: 17,
}

/** A body with every field, each with a value of its own. */
function fullProduct(shop: Shop): Wire {
  return fullBody({ server, resource: products, fixture: fixtureOf(products) } as never, shop, nextSeed('odd'))
}

describe('every element, in its order', () => {
  test('of a product with a value in every field is what REST answers', async () => {
    const shop = await openShop(server, fixtureOf(products))
    const body = fullProduct(shop)
    const record = { ...body, ...stamps, SKUInfo: { ...body.SKUInfo, CatalogID: 40 } }
    expect(await importInto(server, shop, [{ service: 'Products', record }])).toMatchObject({ refused: [] })
    const all = await readWithRest(shop, 'limit=200')
    const rest = all.find(({ SKUInfo }) => SKUInfo.CatalogID === 40) as Wire
    expect(rest).toMatchObject(stamps)

    const found = await askFor(shop, { ...everything, productId: rest.SKUInfo.SKU })
    expect(found).toEqual([expected(rest, all)])
    const [product] = found as [Node]
    expect(contentOf(product, 'DateCreated')).toBe('1/2/2019')
    expect(contentOf(product, 'LastUpdate')).toBe('11/12/2021 1:14:15 PM')
    expect(contentOf(product, 'RelatedProducts')).toEqual(
      [2, 3].map((at) => productNode({ SKU: `L-${at}`, Name: `Product L-${at}` })),
    )
  })

  test('of a product of which only SKU and name were given, in SOAP 1.2: an empty one has an end tag', async () => {
    const shop = await server.openStore()
    await shop.add('/Products', { SKUInfo: { SKU: 'Bag <1>', Name: 'Tote & "Bag"' } })
    const all = await readWithRest(shop, 'limit=1')
    const xml = await soapCall(server, shop, 'getProduct', everything, { version: '1.2' })
    expect(nodeOf(readXmlDocument(xml))[1]).toEqual(all.map((rest) => expected(rest, all)))
    expect(xml).toContain(
      '<GetProductDetailsResponse xmlns=""><Product><CatalogID>1</CatalogID><ProductID>Bag &lt;1&gt;</ProductID>' +
        '<ProductName>Tote &amp; "Bag"</ProductName><Categories></Categories><Mfgid></Mfgid>',
    )
    expect(xml).not.toContain('/>')
  })

  test('tells each flag from all others', async () => {
    const shop = await server.openStore()
    const flags = products.fields.entries.filter(([, field]) => field.kind === 'boolean').map(([name]) => name)
    await shop.add('/Products', { SKUInfo: { SKU: 'OnSale', Name: 'OnSale', OnSale: true } })
    for (const name of flags) await shop.add('/Products', { SKUInfo: { SKU: name, Name: name }, [name]: true })
    const all = await readWithRest(shop, 'limit=200')
    expect(all.length).toBeGreaterThan(25)
    expect(await askFor(shop, everything)).toEqual(all.map((rest) => expected(rest, all)))
  })
})

describe('which products', () => {
  let shop: TestStore
  beforeAll(async () => {
    shop = await server.openStore()
    await shop.add('/Products', {
      SKUInfo: { SKU: 'Bag-É1', Name: 'Bag' },
      AdvancedOptionList: [{ AdvancedOptionCode: '7', AdvancedOptionSufix: '-RED' }],
    })
    await shop.add('/Products', { SKUInfo: { SKU: 'bag-é12', Name: 'Bag' }, Hide: true, NotForSale: true })
    await shop.add('/Products', { SKUInfo: { SKU: '100%_', Name: 'Percent' } })
    await server.operate('PUT', `/admin/stores/${shop.store.id}`, { Throttle: { Capacity: 1_000, LeakPerSecond: 1 } })
  })

  test.each([
    [{ batchSize: 100, startNum: 1 }, ['Bag-É1', 'bag-é12', '100%_']],
    [{ batchSize: 2, startNum: 3, productId: '' }, ['100%_']],
    [{ batchSize: 1, startNum: 1, productId: 'bag-É1' }, ['Bag-É1']],
    [{ batchSize: 100, startNum: 1, productId: ' BAG-é12 ' }, ['bag-é12']],
    [{ batchSize: 100, startNum: 1, productId: '100%_' }, ['100%_']],
  ])('%j gives %j', async (parameters, skus) => {
    expect(await skusOf(shop, parameters)).toEqual(skus)
  })

  test.each([
    ['a part of a SKU', { productId: 'Bag' }],
    ['a pattern', { productId: '100_%' }],
    ['the number of a product', { productId: '1' }],
    ['the SKU of an option', { productId: 'Bag-É1-RED' }],
    ['a position behind the only product of a SKU', { startNum: 2, productId: 'Bag-É1' }],
  ])('none is found (46) for %s', async (_, parameters) => {
    const xml = await soapCall(server, shop, 'getProduct', { ...everything, ...parameters })
    expect(xml).toBe(notFound)
  })
})

describe('related products', () => {
  test('are shown by their present SKU and name, in the order of the list; what is not there is left out', async () => {
    const [shop, other] = [await server.openStore(), await server.openStore()]
    for (const SKU of ['A', 'B', 'C']) await shop.add('/Products', { SKUInfo: { SKU, Name: `Name ${SKU}` } })
    // Their numbers are not those of this store's products.
    for (let id = 1; id <= 6; id++) await other.add('/Products', { SKUInfo: { SKU: `O-${id}`, Name: 'Other' } })
    const naming = (CatalogID: number, ids: number[]) => ({
      service: 'Products',
      record: {
        SKUInfo: { CatalogID, SKU: `N-${CatalogID}`, Name: 'Naming' },
        RelatedProductList: ids.map((RelatedProductID) => ({ RelatedProductID })),
      },
    })
    const { refused } = await importInto(server, shop, [naming(4, [3, 6, 0, 1]), naming(5, [0, 6]), naming(7, [1])])
    expect(refused).toEqual([])
    await shop.call('PUT', '/Products/1', { body: { SKUInfo: { SKU: 'A2', Name: 'New & <better>' } } })
    const named = (sku: string, name: string): Node => [
      'Product',
      [
        ['ProductID', sku],
        ['ProductName', name],
      ],
    ]
    const shown = async (parameters: Record<string, number>) =>
      (await askFor(shop, { ...everything, ...parameters })).map((product) => contentOf(product, 'RelatedProducts'))

    const [c, a] = [named('C', 'Name C'), named('A2', 'New & <better>')]
    expect(await shown({})).toEqual(['', '', '', [c, a], '', [a]])
    expect(await shown({ startNum: 4, batchSize: 1 })).toEqual([[c, a]])
    await shop.call('DELETE', '/Products/3')
    expect(await shown({ startNum: 3 })).toEqual([[a], '', [a]])
  })
})

describe('how values are written', () => {
  test('money has two decimals or as many as there are, quantities no more than needed, nothing a comma', async () => {
    const shop = await server.openStore()
    const SKUInfo = { SKU: 'A', Name: 'A', Cost: 1500, Price: 17.5, RetailPrice: 1500, SalePrice: 0.1, Stock: -2.5 }
    await shop.add('/Products', { SKUInfo, PriceLevel1: 3, PriceLevel2: 16.9, MinimumQuantity: 0.25, Weight: 1234.5 })
    const [product] = (await askFor(shop, everything)) as [Node]
    const levels: Node = ['PriceLevel', contentOf(product, 'PriceLevel') as Node[]]
    const written = ['Cost', 'Price', 'RetailPrice', 'SalePrice', 'Stock', 'MinimumOrder', 'Weight']
    const texts = ['1500.00', '17.50', '1500', '0.10', '-2.5', '0.25', '1234.50']
    expect(written.map((name) => contentOf(product, name))).toEqual(texts)
    expect(['Price_1', 'Price_2', 'Price_3'].map((name) => contentOf(levels, name))).toEqual(['17.5', '16.9', '0'])
  })
})
