import { identifier, type Sql, sql } from '../../database/sql.ts'
import type { Referrer } from '../../engine/changing/referrers.ts'
import { defineResource, nested, type RelatedSubResource } from '../../engine/definition/define.ts'
import { productChanged } from '../../engine/definition/event-kinds.ts'
import {
  boolean,
  date,
  decimal,
  type Fields,
  importOnly,
  integer,
  LONG_TEXT,
  list,
  money,
  object,
  reference,
  text,
} from '../../engine/definition/fields.ts'
import { atLeast, atMost, containing, exactly, flag, since, until } from '../../engine/definition/filters.ts'
import type { Link, TableLink } from '../../engine/definition/links.ts'
import { plainSku, plainSuffix, skuForms } from '../../values/sku.ts'
import { optionSetList } from '../option-sets.ts'
import { formerProductFile } from './former-file.ts'
import { productLinks } from './linked-products.ts'
import { productEffects, productRules } from './rules.ts'
import { stockMovements } from './stock.ts'
import { stockAdjust } from './stock-adjust.ts'

const skuNote =
  'White space around it and characters that nobody sees (Unicode category Cf) are removed, here and wherever it names a product; it is kept in NFC.'

const productLink = sql`s."secureUrl" || '/' || coalesce(nullif(t."fileName", ''), 'product-' || t."id" || '.html')`
const buyButtonLink = sql`s."secureUrl" || '/add_cart?item_id=' || t."id"`

function nameOf(table: string, column: string): Sql {
  return sql`(SELECT o."name" FROM ${identifier(table)} o WHERE o."storeId" = t."storeId" AND o."id" = t.${identifier(column)})`
}

/** The fields for each number of a range, in order. */
function numbered(first: number, last: number, fieldsOf: (n: number) => Fields): Fields {
  return Object.assign({}, ...Array.from({ length: last - first + 1 }, (_, index) => fieldsOf(first + index)))
}

/** The products in a list of other records, which keep the item when its product is deleted. */
function itemsOf(table: string, list: string, items: TableLink): Referrer {
  return { table, fields: [`${list}.CatalogID`], by: items, rule: 'clear' }
}

/** Products (rest-resources §1). Lists: rest-resources §1.4. */
export const products = defineResource({
  service: 'Products',
  typeName: 'Product',
  maxRecords: 200,
  alternateKey: 'sku',
  keyForms: skuForms,
  files: {
    stock: ['SKUInfo.SKU', 'SKUInfo.Stock', 'StockAlert'],
    prices: ['SKUInfo.SKU', 'SKUInfo.Price', 'SKUInfo.SalePrice', 'SKUInfo.OnSale', 'SKUInfo.RetailPrice'],
  },
  formerFile: formerProductFile,
  namedLists: {
    CategoryList: { between: '@', levels: { separator: '/', parent: 'CategoryParent' } },
    DistributorList: {},
  },
  fields: {
    SKUInfo: object('ProductSKU', {
      CatalogID: integer({ column: 'id', access: 'key' }),
      SKU: text(255, { column: 'sku', required: true, normalise: plainSku, description: skuNote }),
      Name: text(255, { column: 'name', required: true }),
      Cost: money({ column: 'cost', needs: 'Cost' }),
      Price: money({ column: 'price' }),
      Currency: text(3, { sql: sql`s."currency"` }),
      RetailPrice: money({ column: 'retailPrice' }),
      SalePrice: money({ column: 'salePrice' }),
      OnSale: boolean({ column: 'onSale' }),
      Stock: decimal({ column: 'stock' }),
      StockAdjust: stockAdjust('Stock'),
    }),
    MFGID: text(50, { column: 'mfgId' }),
    ShortDescription: text(),
    ManufacturerID: reference('manufacturerId'),
    ManufacturerName: text(50, { sql: nameOf('Manufacturer', 'manufacturerId') }),
    DistributorList: list(
      'ProductDistributor',
      {
        DistributorID: integer({ column: 'distributorId', access: 'key', min: 1 }),
        DistributorName: text(50, {
          sql: sql`(SELECT d."company" FROM "Distributor" d WHERE d."storeId" = r."storeId" AND d."id" = r."distributorId")`,
        }),
        DistributorItemCost: money({ column: 'itemCost', needs: 'Cost' }),
        DistributorItemID: text(50),
        DistributorStockID: text(50),
      },
      { keyFrom: 'caller', rows: { table: 'ProductDistributor', parent: 'productId', position: 'position' } },
    ),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    UserID: text(50, { column: 'updatedBy', access: 'ro' }),
    GTIN: text(50, { column: 'gtin' }),
    CategoryList: list(
      'ProductCategory',
      {
        CategoryID: integer({ column: 'categoryId', access: 'key', min: 1 }),
        CategoryName: text(150, {
          sql: sql`(SELECT c."name" FROM "Category" c WHERE c."storeId" = r."storeId" AND c."id" = r."categoryId")`,
        }),
      },
      { keyFrom: 'caller', rows: { table: 'ProductCategory', parent: 'productId', position: 'position' } },
    ),
    ExternalIdsList: list('ExternalId', {
      ID: integer({ access: 'key' }),
      AdvancedOptionSufix: text(50, { label: 'Option suffix' }),
      ExternalId1: text(50),
      ExternalId2: text(50),
      ExternalIdType: text(20),
    }),
    /** The external ids of the product's categories, read from the categories. */
    CategoryExternalIdsList: list(
      'CategoryExternalId',
      {
        ID: integer(),
        CategoryID: integer({ access: 'ro' }),
        ExternalId1: text(),
        ExternalIdType: text(),
      },
      {
        sql: sql`(SELECT json_agg(json_build_object('ID', e."ID", 'CategoryID', c."id",
              'ExternalId1', coalesce(e."ExternalId1", ''), 'ExternalIdType', coalesce(e."ExternalIdType", ''))
            ORDER BY pc."position", e."ID")
          FROM "ProductCategory" pc JOIN "Category" c ON c."storeId" = pc."storeId" AND c."id" = pc."categoryId"
          CROSS JOIN json_to_recordset(coalesce(c."details" -> 'CategoryExternalIdsList', '[]'))
            AS e("ID" int, "ExternalId1" text, "ExternalIdType" text)
          WHERE pc."storeId" = t."storeId" AND pc."productId" = t."id")`,
      },
    ),
    NonTaxable: boolean({ column: 'nonTaxable' }),
    NotForSale: boolean({ column: 'notForSale' }),
    Hide: boolean({ column: 'hide' }),
    GiftCertificate: boolean({ column: 'giftCertificate' }),
    HomeSpecial: boolean({ column: 'homeSpecial' }),
    CategorySpecial: boolean({ column: 'categorySpecial' }),
    NonSearchable: boolean({ column: 'nonSearchable' }),
    GiftWrapItem: boolean(),
    ShipCost: money(),
    Weight: decimal(),
    Height: decimal(),
    Width: decimal(),
    Depth: decimal(),
    SelfShip: boolean({ column: 'selfShip' }),
    FreeShipping: boolean({ column: 'freeShipping' }),
    RewardPoints: integer(),
    RedeemPoints: integer(),
    DisableRewards: boolean({ column: 'disableRewards' }),
    StockAlert: integer({ column: 'stockAlert' }),
    ReorderQuantity: integer(),
    InStockMessage: text(150),
    OutOfStockMessage: text(150),
    BackOrderMessage: text(150),
    InventoryControl: integer({ column: 'inventoryControl', min: -1, max: 3, default: -1 }),
    WarehouseLocation: text(150),
    WarehouseBin: text(150),
    WarehouseAisle: text(150),
    WarehouseCustom: text(150),
    Description: text(),
    Keywords: text(),
    ...numbered(1, 5, (n) => ({ [`ExtraField${n}`]: text(150) })),
    ...numbered(6, 13, (n) => ({ [`ExtraField${n}`]: text() })),
    FeatureList: list('Feature', {
      FeatureID: integer({ access: 'key' }),
      FeatureTitle: text(150),
      FeatureDescription: text(150),
    }),
    PluginList: list('Plugin', {}),
    SampleEnable: boolean(),
    SampleName: text(255),
    SampleSKUPrefix: text(25),
    SamplePrice: money(),
    SampleWeight: decimal(),
    ReviewAverage: decimal({ access: 'ro', description: importOnly }),
    ReviewCount: integer({ access: 'ro', description: importOnly }),
    MainImageFile: text(255, { isImage: true }),
    MainImageCaption: text(),
    ThumbnailFile: text(255, { isImage: true }),
    MediaFile: text(255),
    ...numbered(2, 4, (n) => ({
      [`AdditionalImageFile${n}`]: text(255, { isImage: true }),
      [`AdditionalImageCaption${n}`]: text(),
    })),
    ImageGalleryList: list('ImageGallery', {
      ImageGalleryID: integer({ access: 'key' }),
      ImageGalleryFile: text(LONG_TEXT, { isImage: true }),
      ImageGalleryCaption: text(),
      ImageGallerySorting: integer(),
    }),
    OptionSetList: optionSetList,
    AdvancedOptionList: list(
      'AdvancedOption',
      {
        AdvancedOptionCode: text(50, { column: 'code', access: 'key' }),
        // Appended to the product's SKU, so a leading blank counts: "SHIRT" and " L".
        AdvancedOptionSufix: text(50, { column: 'suffix', normalise: plainSuffix, label: 'Suffix' }),
        AdvancedOptionName: text(),
        AdvancedOptionCost: money({ needs: 'Cost' }),
        // Documented as an integer, but products may be sold in fractions.
        AdvancedOptionStock: decimal({ column: 'stock' }),
        AdvancedOptionStockAdjust: stockAdjust('AdvancedOptionStock'),
        AdvancedOptionWeight: decimal(),
        AdvancedOptionPrice: money({ column: 'price' }),
        AdvancedOptionGTIN: text(50),
      },
      { keyFrom: 'caller', rows: { table: 'AdvancedOption', parent: 'productId', position: 'position' } },
    ),
    RelatedProductList: list('RelatedProduct', {
      RelatedIndexID: integer({ access: 'key' }),
      /** 0: none. */
      RelatedProductID: integer({ min: 0 }),
      RelatedProductSorting: integer(),
    }),
    UpSellingItemList: list('UpSellingItem', {
      UpSellingIndexID: integer({ access: 'key' }),
      /** 0: none. */
      UpSellingItemID: integer({ min: 0 }),
      UpSellingItemSorting: integer(),
    }),
    /** Quantity discounts. */
    DiscountList: list('Discount', {
      DiscountID: integer({ access: 'key' }),
      DiscountPriceLevel: integer(),
      DiscountLowbound: integer(),
      DiscountUpbound: integer(),
      DiscountPrice: decimal(),
      DiscountPercentage: boolean(),
    }),
    DoNotUseCategoryOptions: boolean(),
    DateCreated: date({ column: 'createdAt', access: 'ro' }),
    ListingTemplateID: integer({ default: -1 }),
    ListingTemplateName: text(LONG_TEXT, { access: 'ro', description: importOnly }),
    LoginRequiredOptionID: integer({ default: -1 }),
    LoginRequiredOptionName: text(LONG_TEXT, { access: 'ro', description: importOnly }),
    LoginRequiredOptionRedirectTo: text(150),
    AllowAccessCustomerGroupID: reference('accessGroupId'),
    AllowAccessCustomerGroupName: text(150, { sql: nameOf('CustomerGroup', 'accessGroupId') }),
    RMAMaxPeriod: text(),
    CanonicalUrl: text(),
    TaxCode: text(6),
    DisplayText: text(50),
    MinimumQuantity: decimal(),
    MaximumQuantity: decimal(),
    AllowOnlyMultiples: boolean(),
    AllowFractionalQuantity: boolean(),
    QuantityOptions: text(250),
    GroupOptionsForQuantityPricing: boolean(),
    ApplyQuantityDiscountToOptions: boolean(),
    EnableMakeAnOfferFeature: boolean(),
    MinimumAcceptableOffer: text(10),
    ...numbered(1, 10, (n) => ({ [`PriceLevel${n}`]: money(), [`PriceLevel${n}Hide`]: boolean() })),
    BuyButtonLink: text(LONG_TEXT, { sql: buyButtonLink }),
    ProductLink: text(LONG_TEXT, { sql: productLink }),
    Title: text(150),
    CustomFileName: text(255, { column: 'fileName' }),
    RedirectLink: text(250),
    MetaTags: text(),
    SpecialInstructions: text(),
    AssignKey: boolean(),
    ReUseKeys: boolean(),
    SerialList: list('Serial', {
      SerialID: integer({ access: 'key' }),
      SerialUses: integer(),
      SerialCode: text(255),
    }),
    EProductList: list('EProduct', { FileNumber: integer({ access: 'key' }), FilePath: text() }, { keyFrom: 'record' }),
  },
  groups: {
    'Visibility and tax': 'NonTaxable',
    'Size and shipping': 'ShipCost',
    'Reward points': 'RewardPoints',
    'Stock keeping': 'StockAlert',
    Warehouse: 'WarehouseLocation',
    Description: 'Description',
    'Extra fields': 'ExtraField1',
    Samples: 'SampleEnable',
    Reviews: 'ReviewAverage',
    Images: 'MainImageFile',
    Access: 'DoNotUseCategoryOptions',
    'Returns and search engines': 'RMAMaxPeriod',
    Quantities: 'DisplayText',
    Offers: 'EnableMakeAnOfferFeature',
    'Price levels': 'PriceLevel1',
    Page: 'BuyButtonLink',
    'Serial numbers': 'AssignKey',
  },
  filters: {
    sku: exactly('sku', skuForms),
    name: containing('name'),
    gtin: exactly('gtin'),
    mfgid: exactly('mfgId'),
    costfrom: atLeast('cost'),
    costto: atMost('cost'),
    pricefrom: atLeast('price'),
    priceto: atMost('price'),
    stockfrom: atLeast('stock'),
    stockto: atMost('stock'),
    hide: flag('hide'),
    freeshipping: flag('freeShipping'),
    onsale: flag('onSale'),
    nontax: flag('nonTaxable'),
    notforsale: flag('notForSale'),
    giftcertificate: flag('giftCertificate'),
    homespecial: flag('homeSpecial'),
    categoryspecial: flag('categorySpecial'),
    nonsearchable: flag('nonSearchable'),
    selfship: flag('selfShip'),
    rewarddisable: flag('disableRewards'),
    lastupdatestart: since('updatedAt'),
    lastupdateend: until('updatedAt'),
  },
  subResources: {
    skuinfo: {
      kind: 'projected',
      object: 'SKUInfo',
      filters: { sku: exactly('sku', skuForms), name: containing('name') },
    },
    AdvancedOptions: nested('AdvancedOptionList', 'advancedoptioncode', { methods: ['GET', 'PUT'] }),
    Categories: nested('CategoryList', 'categoryid', { methods: ['GET'] }),
    Discount: nested('DiscountList', 'discountid'),
    Distributors: nested('DistributorList', 'distributorid', { methods: ['GET'] }),
    EProducts: nested('EProductList', 'filenumber'),
    Features: nested('FeatureList', 'featureid'),
    Images: nested('ImageGalleryList', 'imagegalleryid'),
    Options: nested('OptionSetList', 'optionsetid'),
    Related: nested('RelatedProductList', 'relatedindexid'),
    Serials: nested('SerialList', 'serialid'),
    UpSelling: nested('UpSellingItemList', 'upsellingindexid'),
  },
  rules: productRules,
  effects: productEffects,
  isFinalOnceWritten: true,
  referrers: [
    itemsOf('Order', 'OrderItemList', { table: 'OrderItem', record: 'orderId', column: 'productId' }),
    itemsOf('Rma', 'RMAItemList', { table: 'RmaItem', record: 'rmaId', column: 'productId' }),
    itemsOf('GiftRegistry', 'GiftRegistryItemList', {
      table: 'GiftRegistryItem',
      record: 'registryId',
      column: 'productId',
    }),
    ...productLinks,
  ],
  ledger: stockMovements,
})

/** The products that refer to a record, as its sub-resource. */
export function productsBy(link: Link): RelatedSubResource {
  return { kind: 'related', resource: () => products, link }
}

/** A reference that is cleared, and its products changed, when its target is deleted. */
export function clearedInProducts(field: string, by: Link): Referrer {
  return { table: 'Product', fields: [field], by, rule: 'clear', raises: { kind: productChanged, of: products } }
}
