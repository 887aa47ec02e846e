import type { WireRecord } from '../../../engine/definition/reader.ts'
import { ownBytes, type Representation } from '../../../engine/reading/representations.ts'
import { products } from '../../../shop/resources/products/products.ts'
import type { ProductName } from '../../../shop/resources/products/products-by-id.ts'
import { computed, each, empty, group, itemsOf, member, readerOf, valuesOf } from './elements.ts'

const { text, fixed, plain, flag, day, moment } = valuesOf()
const option = valuesOf('Option')
const optionSet = valuesOf('OptionSet')

/** Names with the numbers `from` to `to` in place of `#`. */
const numbered = (names: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => names.replaceAll('#', String(from + index)))

/** Always four, whether or not the product has pictures. */
const images = [
  text('Url=MainImageFile', 'Caption=MainImageCaption'),
  ...[2, 3, 4].map((number) => text(`Url=AdditionalImageFile${number}`, `Caption=AdditionalImageCaption${number}`)),
].map((image) => group('Image', image))

/** The first level is the price that everyone pays, with all its decimals. */
const firstLevel = plain('Price_1=Price')

const relatedElements = group('Product', text('ProductID=sku', 'ProductName=name'))

/** The text of the related products with these ids. */
type WriteRelated = (ids: readonly number[]) => string

/** A product as getProduct shows it (soap-cartapi §4.10). */
const productElements = group<WriteRelated>(
  'Product',
  member('SKUInfo', plain('CatalogID'), text('ProductID=SKU', 'ProductName=Name')),
  group('Categories', each('CategoryList', 'Category', plain('CategoryID'), text('CategoryName'))),
  text('Mfgid=MFGID'),
  computed('Manufacturer', ['ManufacturerName'], (product) => product.ManufacturerName ?? ''),
  computed('Distributor', ['DistributorList'], (product) => itemsOf(product.DistributorList)[0]?.DistributorName ?? ''),
  member('SKUInfo', fixed('Cost', 'Price'), plain('RetailPrice'), fixed('SalePrice'), flag('OnSale'), plain('Stock')),
  plain('StockAlert'),
  fixed('Weight', 'Width', 'Height', 'Depth'),
  plain('MinimumOrder=MinimumQuantity', 'MaximumOrder=MaximumQuantity'),
  day('DateCreated'),
  text('Description=ShortDescription', 'ExtendedDescription=Description', 'Keywords'),
  group('RelatedProducts', {
    fields: ['RelatedProductList'],
    write: (product, writeRelated) => writeRelated(relatedIdsOf(product)),
  }),
  fixed('ShipCost'),
  text('Title', 'MetaTags', 'DisplayText'),
  flag('HomeSpecial', 'CategorySpecial', 'Hide', 'FreeShipping', 'NonTax=NonTaxable', 'NotForsale=NotForSale'),
  flag('GiftCertificate'),
  text('UserId=UserID'),
  moment('LastUpdate'),
  group('ExtraFields', text(...numbered('ExtraField#', 1, 13))),
  text('WarehouseLocation', 'WarehouseBin', 'WarehouseAisle', 'WarehouseCustom'),
  flag('UseCatoptions=DoNotUseCategoryOptions'),
  text('QuantityOptions'),
  group('PriceLevel', member('SKUInfo', firstLevel), plain(...numbered('Price_#=PriceLevel#', 2, 10))),
  flag('MinOrder=AllowOnlyMultiples'),
  plain('ListingDisplayType=ListingTemplateID', 'ShowOutStock=InventoryControl'),
  flag('PricingGroupOpt=GroupOptionsForQuantityPricing', 'QuantityDiscountOpt=ApplyQuantityDiscountToOptions'),
  plain('LoginLevel=LoginRequiredOptionID'),
  text('RedirectTo=LoginRequiredOptionRedirectTo'),
  computed('AccessGroup', ['AllowAccessCustomerGroupID'], (product) => product.AllowAccessCustomerGroupID || ''),
  flag('SelfShip'),
  text('TaxCode'),
  // Products here have no password, random name or expiry for their files.
  group(
    'eProduct',
    empty('eProductPassword'),
    computed('eProductRandom', [], () => 0),
    computed('eProductExpire', [], () => 0),
    computed('eProductPath', ['EProductList'], (product) => itemsOf(product.EProductList)[0]?.FilePath ?? ''),
    flag('eProductSerial=AssignKey'),
    text('eProductInstructions=SpecialInstructions'),
    flag('eProductReuseSerial=ReUseKeys'),
  ),
  flag('NonSearchable'),
  text('InstockMessage=InStockMessage', 'OutOfStockMessage', 'BackOrderMessage'),
  group('Rewards', plain('RewardPoints'), flag('RewardDisable=DisableRewards'), plain('RewardRedeem=RedeemPoints')),
  text('FileName=CustomFileName'),
  plain('ReviewAverage', 'ReviewCount'),
  group('Images', ...images, text('Thumbnail=ThumbnailFile')),
  group(
    'Options',
    each(
      'OptionSetList',
      'Option',
      optionSet.plain('Id=ID'),
      optionSet.text('OptionType=Name'),
      group(
        'Values',
        each(
          'OptionList',
          'Value',
          option.plain('ID'),
          option.text('Name'),
          option.fixed('OptionPrice=Value'),
          option.text('OptionPartNumber=PartNumber'),
        ),
      ),
    ),
  ),
)

const reader = readerOf(products.fields, productElements.fields)

/** A product's text around its related products, whose names change without it. */
interface ProductText {
  readonly before: Buffer
  readonly relatedIds: readonly number[]
  readonly after: Buffer
}

export const productTexts: Representation<ProductText> = {
  name: 'Products cartAPI',
  select: reader.select,
  make: (row) => {
    let relatedIds: readonly number[] = []
    const text = productElements.write(reader.record(row), (ids) => {
      relatedIds = ids
      return RELATED_MARK
    })
    const [before = '', after = ''] = text.split(RELATED_MARK)
    return { before: ownBytes(before), relatedIds, after: ownBytes(after) }
  },
  bytesOf: ({ before, relatedIds, after }) => before.length + relatedIds.length * 8 + after.length,
}

/** No stored text has it. */
const RELATED_MARK = '\0'

/** A product with the names of its related products, by CatalogID. Those without a name are left out. */
export function writeProduct({ before, relatedIds, after }: ProductText, names: ReadonlyMap<number, ProductName>) {
  const known = relatedIds.map((id) => names.get(id)).filter((name) => name !== undefined)
  return [before, known.map((name) => relatedElements.write({ ...name }, undefined)).join(''), after]
}

function relatedIdsOf({ RelatedProductList }: WireRecord): number[] {
  return itemsOf(RelatedProductList)
    .map(({ RelatedProductID }) => Number(RelatedProductID))
    .filter((id) => id > 0)
}
