import { fieldsAmong } from '../../engine/fields.ts'
import { compileReader, type WireRecord, type WireValue } from '../../engine/reader.ts'
import { products } from '../../resources/products/products.ts'
import type { ProductName } from '../../resources/products/products-by-id.ts'
import { element } from '../elements.ts'
import { day, fixed, flag, itemsOf, moment, plain, text } from './format.ts'

type Value = WireValue | undefined

/** What REST shows of a product and cartAPI does not: without it the database has nearly a third less to do. */
const unread = [
  'ExternalIdsList',
  'CategoryExternalIdsList',
  'FeatureList',
  'ImageGalleryList',
  'AdvancedOptionList',
  'UpSellingItemList',
  'DiscountList',
  'AllowAccessCustomerGroupName',
  'BuyButtonLink',
  'ProductLink',
  'SerialList',
]

/** Reads what `writeProduct` shows. */
export const productReader = compileReader(fieldsAmong(products.fields, (name) => !unread.includes(name)))

/** A product as getProduct shows it (soap-cartapi 4.10). `related` has the names of the products that it names and that are there. */
export function writeProduct(product: WireRecord, related: ReadonlyMap<number, ProductName>): string {
  const sku = product.SKUInfo as WireRecord
  const [distributor] = itemsOf(product.DistributorList)
  return element(
    'Product',
    plain('CatalogID', sku.CatalogID) +
      text('ProductID', sku.SKU) +
      text('ProductName', sku.Name) +
      element('Categories', itemsOf(product.CategoryList).map(writeCategory).join('')) +
      text('Mfgid', product.MFGID) +
      text('Manufacturer', product.ManufacturerName) +
      text('Distributor', distributor?.DistributorName ?? '') +
      fixed('Cost', sku.Cost) +
      fixed('Price', sku.Price) +
      plain('RetailPrice', sku.RetailPrice) +
      fixed('SalePrice', sku.SalePrice) +
      flag('OnSale', sku.OnSale) +
      plain('Stock', sku.Stock) +
      plain('StockAlert', product.StockAlert) +
      fixed('Weight', product.Weight) +
      fixed('Width', product.Width) +
      fixed('Height', product.Height) +
      fixed('Depth', product.Depth) +
      plain('MinimumOrder', product.MinimumQuantity) +
      plain('MaximumOrder', product.MaximumQuantity) +
      day('DateCreated', product.DateCreated) +
      text('Description', product.ShortDescription) +
      text('ExtendedDescription', product.Description) +
      text('Keywords', product.Keywords) +
      element('RelatedProducts', writeRelated(itemsOf(product.RelatedProductList), related)) +
      fixed('ShipCost', product.ShipCost) +
      text('Title', product.Title) +
      text('MetaTags', product.MetaTags) +
      text('DisplayText', product.DisplayText) +
      flag('HomeSpecial', product.HomeSpecial) +
      flag('CategorySpecial', product.CategorySpecial) +
      flag('Hide', product.Hide) +
      flag('FreeShipping', product.FreeShipping) +
      flag('NonTax', product.NonTaxable) +
      flag('NotForsale', product.NotForSale) +
      flag('GiftCertificate', product.GiftCertificate) +
      text('UserId', product.UserID) +
      moment('LastUpdate', product.LastUpdate) +
      writeExtraFields(product) +
      text('WarehouseLocation', product.WarehouseLocation) +
      text('WarehouseBin', product.WarehouseBin) +
      text('WarehouseAisle', product.WarehouseAisle) +
      text('WarehouseCustom', product.WarehouseCustom) +
      flag('UseCatoptions', product.DoNotUseCategoryOptions) +
      text('QuantityOptions', product.QuantityOptions) +
      writePriceLevels(product, sku) +
      flag('MinOrder', product.AllowOnlyMultiples) +
      plain('ListingDisplayType', product.ListingTemplateID) +
      plain('ShowOutStock', product.InventoryControl) +
      flag('PricingGroupOpt', product.GroupOptionsForQuantityPricing) +
      flag('QuantityDiscountOpt', product.ApplyQuantityDiscountToOptions) +
      plain('LoginLevel', product.LoginRequiredOptionID) +
      text('RedirectTo', product.LoginRequiredOptionRedirectTo) +
      text('AccessGroup', product.AllowAccessCustomerGroupID || '') +
      flag('SelfShip', product.SelfShip) +
      text('TaxCode', product.TaxCode) +
      writeEProduct(product) +
      flag('NonSearchable', product.NonSearchable) +
      text('InstockMessage', product.InStockMessage) +
      text('OutOfStockMessage', product.OutOfStockMessage) +
      text('BackOrderMessage', product.BackOrderMessage) +
      writeRewards(product) +
      text('FileName', product.CustomFileName) +
      plain('ReviewAverage', product.ReviewAverage) +
      plain('ReviewCount', product.ReviewCount) +
      writeImages(product) +
      element('Options', itemsOf(product.OptionSetList).map(writeOptionSet).join('')),
  )
}

/** The products that a product names, by CatalogID. */
export function relatedIdsOf(product: WireRecord): number[] {
  return itemsOf(product.RelatedProductList)
    .map(relatedIdOf)
    .filter((id) => id > 0)
}

function relatedIdOf({ RelatedProductID }: WireRecord): number {
  return Number(RelatedProductID)
}

function writeCategory({ CategoryID, CategoryName }: WireRecord): string {
  return element('Category', plain('CategoryID', CategoryID) + text('CategoryName', CategoryName))
}

function writeRelated(items: readonly WireRecord[], related: ReadonlyMap<number, ProductName>): string {
  const found = items.map((item) => related.get(relatedIdOf(item))).filter((name) => name !== undefined)
  return found.map(({ sku, name }) => element('Product', text('ProductID', sku) + text('ProductName', name))).join('')
}

const extraFields = Array.from({ length: 13 }, (_, index) => `ExtraField${index + 1}`)

function writeExtraFields(product: WireRecord): string {
  let written = ''
  for (const name of extraFields) written += text(name, product[name])
  return element('ExtraFields', written)
}

/** The first level is the price that everyone pays. */
const priceLevels = Array.from({ length: 9 }, (_, index) => [`Price_${index + 2}`, `PriceLevel${index + 2}`] as const)

function writePriceLevels(product: WireRecord, sku: WireRecord): string {
  let written = plain('Price_1', sku.Price)
  for (const [name, member] of priceLevels) written += plain(name, product[member])
  return element('PriceLevel', written)
}

/** Password, random names and expiry of files are nothing that a product here has. */
function writeEProduct(product: WireRecord): string {
  const [file] = itemsOf(product.EProductList)
  return element(
    'eProduct',
    text('eProductPassword', '') +
      flag('eProductRandom', false) +
      plain('eProductExpire', 0) +
      text('eProductPath', file?.FilePath ?? '') +
      flag('eProductSerial', product.AssignKey) +
      text('eProductInstructions', product.SpecialInstructions) +
      flag('eProductReuseSerial', product.ReUseKeys),
  )
}

function writeRewards(product: WireRecord): string {
  return element(
    'Rewards',
    plain('RewardPoints', product.RewardPoints) +
      flag('RewardDisable', product.DisableRewards) +
      plain('RewardRedeem', product.RedeemPoints),
  )
}

/** Always four, whether or not there are pictures. */
function writeImages(product: WireRecord): string {
  return element(
    'Images',
    writeImage(product.MainImageFile, product.MainImageCaption) +
      writeImage(product.AdditionalImageFile2, product.AdditionalImageCaption2) +
      writeImage(product.AdditionalImageFile3, product.AdditionalImageCaption3) +
      writeImage(product.AdditionalImageFile4, product.AdditionalImageCaption4) +
      text('Thumbnail', product.ThumbnailFile),
  )
}

function writeImage(file: Value, caption: Value): string {
  return element('Image', text('Url', file) + text('Caption', caption))
}

function writeOptionSet({ OptionSetID, OptionSetName, OptionList }: WireRecord): string {
  const values = itemsOf(OptionList).map(writeOption).join('')
  return element('Option', plain('Id', OptionSetID) + text('OptionType', OptionSetName) + element('Values', values))
}

function writeOption({ OptionID, OptionName, OptionValue, OptionPartNumber }: WireRecord): string {
  return element(
    'Value',
    plain('ID', OptionID) +
      text('Name', OptionName) +
      fixed('OptionPrice', OptionValue) +
      text('OptionPartNumber', OptionPartNumber),
  )
}
