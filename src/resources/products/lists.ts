import { sql } from '../../database/sql.ts'
import { boolean, decimal, integer, list, text } from '../../engine/fields.ts'

// The lists of a product (rest-resources §1.4).

export const distributorList = list(
  'ProductDistributor',
  {
    DistributorID: integer({ column: 'distributorId', access: 'key', min: 1 }),
    DistributorName: text(50, {
      sql: sql`(SELECT d."company" FROM "Distributor" d WHERE d."storeId" = r."storeId" AND d."id" = r."distributorId")`,
    }),
    DistributorItemCost: decimal({ column: 'itemCost' }),
    DistributorItemID: text(50),
    DistributorStockID: text(50),
  },
  {
    key: 'DistributorID',
    keyFrom: 'caller',
    rows: { table: 'ProductDistributor', parent: 'productId', position: 'position' },
  },
)

export const categoryList = list(
  'ProductCategory',
  {
    CategoryID: integer({ column: 'categoryId', access: 'key', min: 1 }),
    CategoryName: text(150, {
      sql: sql`(SELECT c."name" FROM "Category" c WHERE c."storeId" = r."storeId" AND c."id" = r."categoryId")`,
    }),
  },
  {
    key: 'CategoryID',
    keyFrom: 'caller',
    rows: { table: 'ProductCategory', parent: 'productId', position: 'position' },
  },
)

export const externalIdsList = list(
  'ExternalId',
  {
    ID: integer({ access: 'key' }),
    AdvancedOptionSufix: text(50),
    ExternalId1: text(50),
    ExternalId2: text(50),
    ExternalIdType: text(20),
  },
  { key: 'ID' },
)

/** The external ids of the product's categories, read from the categories. */
export const categoryExternalIdsList = list(
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
)

export const featureList = list(
  'Feature',
  {
    FeatureID: integer({ access: 'key' }),
    FeatureTitle: text(150),
    FeatureDescription: text(150),
  },
  { key: 'FeatureID' },
)

export const imageGalleryList = list(
  'ImageGallery',
  {
    ImageGalleryID: integer({ access: 'key' }),
    ImageGalleryFile: text(),
    ImageGalleryCaption: text(),
    ImageGallerySorting: integer(),
  },
  { key: 'ImageGalleryID' },
)

export const advancedOptionList = list(
  'AdvancedOption',
  {
    AdvancedOptionCode: text(50, { column: 'code', access: 'key' }),
    // Appended to the product's SKU, so a leading blank counts: "SHIRT" and " L".
    AdvancedOptionSufix: text(50, { column: 'suffix', trim: 'end' }),
    AdvancedOptionName: text(),
    AdvancedOptionCost: decimal(),
    // Documented as an integer, but products may be sold in fractions.
    AdvancedOptionStock: decimal({ column: 'stock' }),
    AdvancedOptionWeight: decimal(),
    AdvancedOptionPrice: decimal({ column: 'price' }),
    AdvancedOptionGTIN: text(50),
  },
  {
    key: 'AdvancedOptionCode',
    keyFrom: 'caller',
    rows: { table: 'AdvancedOption', parent: 'productId', position: 'position' },
  },
)

export const relatedProductList = list(
  'RelatedProduct',
  {
    RelatedIndexID: integer({ access: 'key' }),
    /** 0: none. */
    RelatedProductID: integer({ min: 0 }),
    RelatedProductSorting: integer(),
  },
  { key: 'RelatedIndexID' },
)

export const upSellingItemList = list(
  'UpSellingItem',
  {
    UpSellingIndexID: integer({ access: 'key' }),
    /** 0: none. */
    UpSellingItemID: integer({ min: 0 }),
    UpSellingItemSorting: integer(),
  },
  { key: 'UpSellingIndexID' },
)

/** Quantity discounts. */
export const discountList = list(
  'Discount',
  {
    DiscountID: integer({ access: 'key' }),
    DiscountPriceLevel: integer(),
    DiscountLowbound: integer(),
    DiscountUpbound: integer(),
    DiscountPrice: decimal(),
    DiscountPercentage: boolean(),
  },
  { key: 'DiscountID' },
)

export const serialList = list(
  'Serial',
  {
    SerialID: integer({ access: 'key' }),
    SerialUses: integer(),
    SerialCode: text(255),
  },
  { key: 'SerialID' },
)

export const eProductList = list(
  'EProduct',
  {
    FileNumber: integer({ access: 'key' }),
    FilePath: text(),
  },
  { key: 'FileNumber', keyFrom: 'record' },
)
