import type { View } from '../../src/operations/sandbox/pictures.ts'
import { lastDay, localDate } from './calendar.ts'
import { brandNames, categoryIds, distributorCount, giftCertificatesCategory } from './catalogue.ts'
import { between, digits, happens, oneOf, someOf } from './chance.ts'
import { dollars, shareOf, shopPrice } from './money.ts'
import {
  countOptionIds,
  makeOptionSets,
  makeVariants,
  type OptionIds,
  type OptionSet,
  optionSetRecord,
  type Variant,
  variantRecord,
} from './options.ts'
import { pictureFor } from './pictures.ts'
import { collections, type Department, departments, type Noun, type Shelf, slug } from './shelves.ts'

const productCount = 600
const giftCertificateDollars = [25, 50, 100, 200]

/** What orders need to know of a product, beside its wire record. */
export interface Product {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly costCents: number
  readonly priceCents: number
  /** 0: not on sale. */
  readonly saleCents: number
  /** By price level, from 1; 0: the ordinary price. */
  readonly levelCents: readonly number[]
  readonly discounts: readonly QuantityDiscount[]
  /** Tenths of a pound. */
  readonly weight: number
  readonly isTaxed: boolean
  readonly isOffered: boolean
  readonly stock: number
  readonly createdAt: string
  readonly fileName: string
  readonly optionSets: readonly OptionSet[]
  readonly variants: readonly Variant[]
  readonly record: Record<string, unknown>
}

export interface QuantityDiscount {
  readonly from: number
  readonly until: number
  readonly percent: number
}

export function makeProducts(): Product[] {
  const ids = countOptionIds()
  const shelved = departments.flatMap((department) => department.shelves.map((shelf) => ({ department, shelf })))
  const goodsCount = productCount - giftCertificateDollars.length
  const products = Array.from({ length: goodsCount }, (_, index) => {
    const place = shelved[index % shelved.length]
    if (!place) throw new Error('The sandbox has shelves')
    return makeProduct(index + 1, Math.floor(index / shelved.length), place.department, place.shelf, ids)
  })
  giftCertificateDollars.forEach((value, index) => {
    products.push(makeGiftCertificate(goodsCount + index + 1, value))
  })
  return products.map((product) => withNeighbours(product, products))
}

/** `round`: how many products the shelf has already. Up to 36 of them, style and noun together are unlike all others. */
function makeProduct(id: number, round: number, department: Department, shelf: Shelf, ids: OptionIds): Product {
  const noun = pick(shelf.nouns, round)
  const style = pick(shelf.styles, round + Math.floor(round / shelf.nouns.length))
  const brand = oneOf(department.brands)
  const name = `${oneOf(collections)} ${style} ${noun.name}`
  const sku = `${department.code}-${slug(brand).slice(0, 3).toUpperCase()}-${String(id).padStart(4, '0')}`
  const optionSets = shelf.options ? makeOptionSets(shelf.options, ids) : []
  const variants = shelf.options === 'clothing' ? makeVariants(sku, optionSets) : []
  const prices = makePrices(noun)
  const offer = makeOffer()
  const discounts = happens(12) ? quantityDiscounts : []
  const stock = variants.length > 0 ? sum(variants.map((variant) => variant.stock)) : makeStock()
  const createdDay = between(-300, 600)
  const fileName = `${slug(name)}-p-${id}.html`
  const picture = (view?: View) => pictureFor(style, noun.name, view)
  const record = {
    SKUInfo: {
      CatalogID: id,
      SKU: sku,
      Name: name,
      Cost: dollars(prices.costCents),
      Price: dollars(prices.priceCents),
      RetailPrice: dollars(prices.retailCents),
      SalePrice: dollars(prices.saleCents),
      OnSale: prices.saleCents > 0,
      Stock: stock,
    },
    MFGID: `${slug(brand).slice(0, 2).toUpperCase()}${digits(5)}`,
    ShortDescription: `${name} ${shelf.purpose}.`,
    ManufacturerID: brandNames().indexOf(brand) + 1,
    DistributorList: makeDistributorList(prices.costCents, sku),
    LastUpdate: localDate(between(Math.max(createdDay, 0), lastDay), between(480, 1020), between(0, 59)),
    UserID: 'sandbox',
    GTIN: gtin13(id),
    CategoryList: makeCategoryList(shelf.name),
    ...offer,
    ShipCost: noun.weight >= 100 ? 12.5 : 0,
    Weight: noun.weight / 10,
    ...makeSize(noun),
    RewardPoints: Math.floor(prices.priceCents / 1_000),
    RedeemPoints: prices.priceCents < 5_000 ? Math.floor(prices.priceCents / 50) : 0,
    StockAlert: 5,
    ReorderQuantity: oneOf([10, 20, 25, 50]),
    InStockMessage: 'Ships within two working days.',
    OutOfStockMessage: 'Sold out for now.',
    BackOrderMessage: 'More are on their way: order now, we ship when they arrive.',
    InventoryControl: oneOf([-1, -1, -1, 1, 2, 3]),
    WarehouseLocation: oneOf(['Main', 'Main', 'Annex']),
    WarehouseBin: `${oneOf(['A', 'B', 'C', 'D'])}${between(1, 40)}`,
    WarehouseAisle: String(between(1, 18)),
    Description: makeDescription(name, shelf, noun, brand),
    Keywords: [shelf.name, style, noun.name, brand].join(', ').toLowerCase(),
    FeatureList: makeFeatures(id, style, brand),
    MainImageFile: picture(),
    MainImageCaption: name,
    ThumbnailFile: picture('thumb'),
    ...(happens(30) ? { AdditionalImageFile2: picture('side'), AdditionalImageCaption2: 'From the side' } : {}),
    ImageGalleryList: makeGallery(id, picture),
    OptionSetList: optionSets.map(optionSetRecord),
    AdvancedOptionList: variants.map(variantRecord),
    DiscountList: discounts.map((discount, index) => discountRecord(discount, id, index)),
    DateCreated: localDate(createdDay, between(480, 1020), between(0, 59)),
    ...(happens(5) ? { MinimumQuantity: 2, AllowOnlyMultiples: true } : {}),
    ...levelPrices(prices.levelCents),
    Title: name,
    CustomFileName: fileName,
    MetaTags: `<meta name="description" content="${name.replaceAll('"', '&quot;')}">`,
  }
  return {
    id,
    sku,
    name,
    ...prices,
    discounts,
    weight: noun.weight,
    isTaxed: true,
    isOffered: !offer.NotForSale && !offer.Hide,
    stock,
    createdAt: record.DateCreated,
    fileName,
    optionSets,
    variants,
    record,
  }
}

/** Nothing is stored of them, but what has no stock cannot be ordered. */
const GIFTS = 1_000

function makeGiftCertificate(id: number, value: number): Product {
  const sku = `GIFT-${value}`
  const name = `Gift Certificate $${value}`
  const fileName = `${slug(name)}-p-${id}.html`
  const record = {
    SKUInfo: { CatalogID: id, SKU: sku, Name: name, Cost: 0, Price: value, RetailPrice: value, Stock: GIFTS },
    ShortDescription: 'Sent by e-mail within the hour.',
    LastUpdate: localDate(between(0, lastDay), 600),
    UserID: 'sandbox',
    CategoryList: [{ CategoryID: categoryIds().get(giftCertificatesCategory) ?? 0 }],
    NonTaxable: true,
    GiftCertificate: true,
    FreeShipping: true,
    DisableRewards: true,
    Description: '<p>Does not expire. Can be used in several orders.</p>',
    MainImageFile: pictureFor('', name),
    ThumbnailFile: pictureFor('', name, 'thumb'),
    DateCreated: localDate(-300, 600),
    Title: name,
    CustomFileName: fileName,
  }
  const prices = { costCents: 0, priceCents: value * 100, saleCents: 0, levelCents: [0, 0, 0] }
  const plain = {
    discounts: [],
    weight: 0,
    isTaxed: false,
    isOffered: true,
    stock: GIFTS,
    optionSets: [],
    variants: [],
  }
  return { id, sku, name, ...prices, ...plain, createdAt: record.DateCreated, fileName, record }
}

function makePrices(noun: Noun) {
  const priceCents = shopPrice(between(noun.priceFrom * 100, noun.priceTo * 100))
  const costCents = shareOf(priceCents, between(4_000, 6_200))
  const isOnSale = happens(12)
  return {
    priceCents,
    costCents,
    retailCents: happens(60) ? shopPrice(shareOf(priceCents, between(10_500, 13_000))) : 0,
    saleCents: isOnSale ? shopPrice(shareOf(priceCents, between(7_000, 9_000))) : 0,
    levelCents: [9_500, 7_000, 8_000].map((basisPoints) => (happens(80) ? shareOf(priceCents, basisPoints) : 0)),
  }
}

function makeOffer() {
  return {
    NotForSale: happens(2),
    Hide: happens(3),
    HomeSpecial: happens(4),
    CategorySpecial: happens(6),
    NonSearchable: happens(2),
    GiftWrapItem: happens(30),
    SelfShip: happens(3),
    FreeShipping: happens(8),
  }
}

function makeStock(): number {
  if (happens(5)) return 0
  return happens(15) ? between(1, 9) : between(10, 400)
}

function makeSize({ weight }: Noun) {
  const side = 3 + Math.floor(weight / 8)
  return { Height: side + between(0, 4), Width: side + between(0, 6), Depth: side + between(0, 3) }
}

/** One source, or two of which the second is dearer. */
function makeDistributorList(costCents: number, sku: string) {
  const ids = Array.from({ length: distributorCount }, (_, index) => index + 1)
  return someOf(ids, happens(25) ? 2 : 1).map((id, index) => ({
    DistributorID: id,
    DistributorItemCost: dollars(index === 0 ? costCents : shareOf(costCents, 10_400)),
    DistributorItemID: `${sku}-D${id}`,
    DistributorStockID: `ST${digits(6)}`,
  }))
}

/** The product's shelf, and for some the whole department too. */
function makeCategoryList(shelfName: string) {
  const ids = categoryIds()
  const department = departments.find(({ shelves }) => shelves.some(({ name }) => name === shelfName))
  const names = happens(20) && department ? [shelfName, department.name] : [shelfName]
  return names.map((name) => ({ CategoryID: ids.get(name) ?? 0 }))
}

function makeDescription(name: string, shelf: Shelf, noun: Noun, brand: string): string {
  const care = oneOf(['Wipe clean with a damp cloth.', 'Hand wash in warm water.', 'Needs no care but a dry place.'])
  const origin = oneOf([
    'Made in small batches',
    'Made to order',
    'Made from what others throw away',
    'Made the long way',
  ])
  return (
    `<p>The <b>${name.replaceAll('&', '&amp;')}</b>: ${shelf.purpose}. ${origin} by ${brand.replaceAll('&', '&amp;')}.</p>\n` +
    `<ul><li>${care}</li><li>Weighs ${noun.weight / 10} lb</li><li>Two years of warranty</li></ul>`
  )
}

function makeFeatures(id: number, style: string, brand: string) {
  const features = [
    { FeatureTitle: 'Material', FeatureDescription: style },
    { FeatureTitle: 'Maker', FeatureDescription: brand },
    { FeatureTitle: 'Warranty', FeatureDescription: '2 years' },
  ]
  return features.slice(0, between(0, 3)).map((feature, index) => ({ FeatureID: nestedId(id, index), ...feature }))
}

function makeGallery(id: number, picture: (view: View) => string) {
  const views = ['front', 'back', 'detail', 'in-use'] as const
  return views.slice(0, happens(60) ? between(1, 4) : 0).map((view, index) => ({
    ImageGalleryID: nestedId(id, index),
    ImageGalleryFile: picture(view),
    ImageGalleryCaption: view,
    ImageGallerySorting: index + 1,
  }))
}

const quantityDiscounts: readonly QuantityDiscount[] = [
  { from: 5, until: 9, percent: 5 },
  { from: 10, until: 24, percent: 10 },
  { from: 25, until: 9_999, percent: 15 },
]

function discountRecord({ from, until, percent }: QuantityDiscount, productId: number, index: number) {
  return {
    DiscountID: nestedId(productId, index),
    DiscountLowbound: from,
    DiscountUpbound: until,
    DiscountPrice: percent,
    DiscountPercentage: true,
  }
}

function levelPrices(levelCents: readonly number[]) {
  return Object.fromEntries(levelCents.map((cents, index) => [`PriceLevel${index + 1}`, dollars(cents)]))
}

/** Related: of the same shelf (every 18th product is). Up-selling: the next dearer of these. */
function withNeighbours(product: Product, products: readonly Product[]): Product {
  const sameShelf = products.filter(({ id, weight }) => id !== product.id && weight > 0 && id % 18 === product.id % 18)
  if (product.weight === 0) return product
  const related = happens(50) ? someOf(sameShelf, between(1, 4)) : []
  const dearer = sameShelf
    .filter(({ priceCents }) => priceCents > product.priceCents)
    .sort((a, b) => a.priceCents - b.priceCents || a.id - b.id)
  const upSelling = happens(20) ? dearer.slice(0, 2) : []
  const record = {
    ...product.record,
    RelatedProductList: related.map(({ id }, index) => ({
      RelatedIndexID: nestedId(product.id, index),
      RelatedProductID: id,
      RelatedProductSorting: index + 1,
    })),
    UpSellingItemList: upSelling.map(({ id }, index) => ({
      UpSellingIndexID: nestedId(product.id, index),
      UpSellingItemID: id,
      UpSellingItemSorting: index + 1,
    })),
  }
  return { ...product, record }
}

/** Ids of nested rows are unique in the store for each kind: no product has ten of one. */
function nestedId(productId: number, index: number): number {
  return productId * 10 + index
}

/** EAN-13 of the range 200 to 299, which is free for use inside a shop. */
function gtin13(id: number): string {
  const body = `200${String(id).padStart(9, '0')}`
  const weighted = sum([...body].map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 3)))
  return `${body}${(10 - (weighted % 10)) % 10}`
}

function pick<T>(choices: readonly T[], index: number): T {
  const chosen = choices[index % choices.length]
  if (chosen === undefined) throw new Error('Nothing to pick from')
  return chosen
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
