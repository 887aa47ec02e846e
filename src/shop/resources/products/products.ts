import { defineResource, nested } from '../../../engine/definition/define.ts'
import { productKinds } from '../../../engine/definition/event-kinds.ts'
import {
  boolean,
  date,
  decimal,
  type Fields,
  integer,
  LONG_TEXT,
  list,
  money,
  object,
  price,
  reference,
  text,
} from '../../../engine/definition/fields.ts'
import { atLeast, atMost, containing, equalTo, exactly, flag } from '../../../engine/definition/filters.ts'
import type { Link, Referrer, TableLink } from '../../../engine/definition/links.ts'
import type { RelatedSubResource } from '../../../engine/definition/resource.ts'
import { identifier, type Sql, sql } from '../../../foundation/database/sql.ts'
import { fetchFrom } from '../../pictures/fetches.ts'
import { changed, itemNumber, lastChange, lastEditor, position, recordNumber } from '../common-fields.ts'
import optionSets from '../option-sets.json' with { type: 'json' }
import { optionSetList } from '../option-sets.ts'
import explains from './explains.json' with { type: 'json' }
import { productFinders } from './finders.ts'
import { formerProductFile } from './former-file.ts'
import { inCategory } from './in-category.ts'
import { productLinks } from './linked-products.ts'
import { productEffects, productRules } from './rules.ts'
import { plainSku, plainSuffix, skuForms } from './sku.ts'
import { stockMovements } from './stock.ts'
import { stockAdjust } from './stock-adjust.ts'

const skuNote =
  'The code by which orders, files and cartAPI name the product, unique in the store without regard to case. White space around it and characters that nobody sees (Unicode category Cf) are removed, here and wherever it names a product; it is kept in NFC.'

const productLink = sql`s."secureUrl" || '/' || coalesce(nullif(t."fileName", ''), 'product-' || t."id" || '.html')`
const buyButtonLink = sql`s."secureUrl" || '/add_cart?item_id=' || t."id"`

function nameOf(table: string, column: string): Sql {
  return sql`(SELECT o."name" FROM ${identifier(table)} o WHERE o."storeId" = t."storeId" AND o."id" = t.${identifier(column)})`
}

/** What a field for texts of the merchant’s own is. */
function extraField(n: number): string {
  return `Free text for your own use, number ${n} of 13. The templates of the storefront may show it.`
}

/** Another product that the product names; 0: none (linked-products.ts). */
function linkedProduct(which: string) {
  const description = `The CatalogID of ${which}; 0: none. An unknown one is refused, and the item goes when that product is deleted.`
  return integer({ min: 0, label: 'Product', description })
}

/** The fields for each number of a range, in order. */
function numbered(first: number, last: number, fieldsOf: (n: number) => Fields): Fields {
  return Object.assign({}, ...Array.from({ length: last - first + 1 }, (_, index) => fieldsOf(first + index)))
}

/** The products in a list of other records, which keep the item when its product is deleted. It may be in most orders of a store. */
function itemsOf(table: string, list: string, items: Omit<TableLink, 'column'>): Referrer {
  const by = { ...items, column: 'productId' }
  return { table, fields: [`${list}.CatalogID`], by, rule: 'clear', isUntold: true }
}

const levelPrices = Array.from({ length: 10 }, (_, at) => `PriceLevel${at + 1}`)

/** Products (rest-resources §1). Lists: rest-resources §1.4. */
export const products = defineResource({
  service: 'Products',
  typeName: 'Product',
  description: 'A product that the shop sells: what it is, what it costs and how much is in stock.',
  maxRecords: 200,
  alternateKey: 'sku',
  keyForms: skuForms,
  fields: {
    SKUInfo: object(
      'ProductSKU',
      {
        CatalogID: recordNumber(
          'Internal number',
          'The number of the product, by which orders and other records name it.',
        ),
        SKU: text(255, { column: 'sku', required: true, normalise: plainSku, description: skuNote }),
        Name: text(255, {
          column: 'name',
          required: true,
          description: 'The name of the product as shoppers read it. Lines of new orders copy it.',
        }),
        Cost: price({
          column: 'cost',
          needs: 'Cost',
          hint: 'Your own cost per piece, which shoppers never see',
          description:
            'The shop’s own cost per piece, which shoppers never see. Lines of new orders copy it to ItemUnitCost.',
        }),
        Price: price({
          column: 'price',
          description:
            'The ordinary price of one piece without options. New orders use it where neither SalePrice nor a price level applies.',
        }),
        Currency: text(3, {
          sql: sql`s."currency"`,
          description: 'The ISO 4217 code of the store’s currency. All its amounts are in it.',
        }),
        RetailPrice: price({
          column: 'retailPrice',
          hint: 'What the manufacturer recommends; orders never use it',
          description:
            'The price that the manufacturer recommends, to be shown beside that of the shop. Orders never use it.',
        }),
        SalePrice: price({
          column: 'salePrice',
          hint: 'Applies while the product is on sale',
          description:
            'The price of one piece while OnSale is true. 0: there is no such price, and OnSale changes nothing.',
        }),
        OnSale: boolean({
          column: 'onSale',
          description: 'True: new orders take SalePrice, in place of Price and of the price levels.',
        }),
        Stock: decimal({
          column: 'stock',
          description:
            'The pieces in stock, perhaps with a fraction, or below 0. What is sent replaces it, and the difference is written to the ledger. Orders and returns move it; advanced options have stocks of their own.',
        }),
        StockAdjust: stockAdjust('Stock'),
      },
      'The number, SKU, name, prices and stock of the product.',
    ),
    MFGID: text(50, {
      column: 'mfgId',
      label: 'Manufacturer’s part number',
      description: 'The part number that the manufacturer gives the product.',
    }),
    ShortDescription: text(LONG_TEXT, {
      isHtml: true,
      description: 'A summary of the product for lists in the storefront. It may hold HTML.',
    }),
    ManufacturerID: reference(
      'manufacturerId',
      'The manufacturer of the product, one of `/Manufacturers`.',
      'Manufacturer',
    ),
    ManufacturerName: text(50, {
      sql: nameOf('Manufacturer', 'manufacturerId'),
      label: 'Name of the manufacturer',
      description:
        'The name of the manufacturer. To change it, send another ManufacturerID, or change the manufacturer.',
    }),
    DistributorList: list(
      'ProductDistributor',
      {
        DistributorID: integer({
          column: 'distributorId',
          access: 'key',
          min: 1,
          label: 'Distributor',
          description:
            'A distributor that sells the product, by its number in `/Distributors`; an unknown one is refused.',
        }),
        DistributorName: text(50, {
          sql: sql`(SELECT d."company" FROM "Distributor" d WHERE d."storeId" = r."storeId" AND d."id" = r."distributorId")`,
          label: 'Name of the distributor',
          description: 'The CompanyName of the distributor.',
        }),
        DistributorItemCost: price({
          column: 'itemCost',
          needs: 'Cost',
          label: 'Purchase price',
          description: 'The price per piece that the distributor charges. Kept for programs: orders copy Cost instead.',
        }),
        DistributorItemID: text(50, {
          label: 'Distributor’s product number',
          description: 'The distributor’s own number for the product, to order it by.',
        }),
        DistributorStockID: text(50, {
          label: 'Distributor’s warehouse',
          description: 'The distributor’s number for the place where it stocks the product. Kept for programs.',
        }),
      },
      {
        keyFrom: 'caller',
        rows: { table: 'ProductDistributor', parent: 'productId', position: 'position' },
        description: 'The distributors from which the shop buys the product. cartAPI shows only the first.',
      },
    ),
    LastUpdate: lastChange('The time of the last change of the product, including its stock.'),
    UserID: lastEditor('the product'),
    GTIN: text(50, {
      column: 'gtin',
      description: 'The global trade item number (EAN, UPC, ISBN), as on the bar code of the product.',
    }),
    CategoryList: list(
      'ProductCategory',
      {
        CategoryID: integer({
          column: 'categoryId',
          access: 'key',
          min: 1,
          label: 'Category',
          description: 'A category that shows the product, by its number in `/Category`; an unknown one is refused.',
        }),
        CategoryName: text(150, {
          sql: sql`(SELECT c."name" FROM "Category" c WHERE c."storeId" = r."storeId" AND c."id" = r."categoryId")`,
          label: 'Name of the category',
          description: 'The name of the category. To change it, change the category.',
        }),
      },
      {
        keyFrom: 'caller',
        rows: { table: 'ProductCategory', parent: 'productId', position: 'position' },
        description: 'The categories that show the product, in the order in which they were sent.',
      },
    ),
    ExternalIdsList: list(
      'ExternalId',
      {
        ID: itemNumber('Entry', 'The number of the item in the list of external ids.'),
        AdvancedOptionSufix: text(50, {
          label: 'SKU suffix',
          description: 'The AdvancedOptionSufix of the advanced option that is meant. Empty: the product itself.',
        }),
        ExternalId1: text(50, { label: 'Number there', description: 'The identifier in the other system.' }),
        ExternalId2: text(50, {
          label: 'Second number there',
          description: 'A second identifier in the other system, if it needs two, such as a parent and a variant.',
        }),
        ExternalIdType: text(20, {
          label: 'System',
          description: 'The other system, or the kind of identifier, in words of your own, such as `ASIN`.',
        }),
      },
      {
        labels: ['Number in another system', 'Numbers in other systems'],
        description: 'Identifiers of the product, or of its advanced options, in other systems such as marketplaces.',
      },
    ),
    /** The external ids of the product's categories, read from the categories. */
    CategoryExternalIdsList: list(
      'CategoryExternalId',
      {
        ID: integer({ label: 'Entry', description: 'The number of the item in the list of its category.' }),
        CategoryID: integer({
          access: 'ro',
          label: 'Category',
          description: 'The category that the external id belongs to.',
        }),
        ExternalId1: text(LONG_TEXT, {
          label: 'Number there',
          description: 'The identifier of the category in the other system.',
        }),
        ExternalIdType: text(LONG_TEXT, {
          label: 'System',
          description: 'The other system, or the kind of identifier, as the category has it.',
        }),
      },
      {
        labels: ['Number of a category in another system', 'Numbers of the categories in other systems'],
        sql: sql`(SELECT json_agg(json_build_object('ID', e."ID", 'CategoryID', c."id",
              'ExternalId1', coalesce(e."ExternalId1", ''), 'ExternalIdType', coalesce(e."ExternalIdType", ''))
            ORDER BY pc."position", e."ID")
          FROM "ProductCategory" pc JOIN "Category" c ON c."storeId" = pc."storeId" AND c."id" = pc."categoryId"
          CROSS JOIN json_to_recordset(coalesce(c."details" -> 'CategoryExternalIdsList', '[]'))
            AS e("ID" int, "ExternalId1" text, "ExternalIdType" text)
          WHERE pc."storeId" = t."storeId" AND pc."productId" = t."id")`,
        description:
          'Identifiers of the product’s categories in other systems. To change them, change the CategoryExternalIdsList of the category.',
      },
    ),
    NonTaxable: boolean({
      column: 'nonTaxable',
      label: 'Tax exempt',
      description:
        'True: no sales tax is due on the product. For the checkout, which says the taxes of an order; cartAPI shows it with each line.',
    }),
    NotForSale: boolean({
      column: 'notForSale',
      hint: 'Orders of the product are refused',
      description: 'True: a new order with the product is refused (400).',
    }),
    Hide: boolean({
      column: 'hide',
      label: 'Hidden',
      hint: 'The shop does not show it; orders are still accepted',
      description: 'True: the storefront does not show the product. Orders for it are still accepted.',
    }),
    GiftCertificate: boolean({
      column: 'giftCertificate',
      description:
        'True: the product is a gift certificate, which the storefront sells in place of goods. Kept for programs: no certificates are made here.',
    }),
    HomeSpecial: boolean({
      column: 'homeSpecial',
      label: 'Featured on the home page',
      description: 'True: the storefront features the product on its home page.',
    }),
    CategorySpecial: boolean({
      column: 'categorySpecial',
      label: 'Featured in its categories',
      description: 'True: the storefront features the product at the top of its categories.',
    }),
    NonSearchable: boolean({
      column: 'nonSearchable',
      label: 'Left out of the search',
      description: 'True: the search of the storefront leaves the product out. Filters of this interface find it.',
    }),
    GiftWrapItem: boolean({
      label: 'Gift wrapping offered',
      description:
        'True: the storefront offers to wrap the product as a gift. Kept for programs: orders have no charge for it.',
    }),
    ShipCost: price({
      label: 'Shipping cost per piece',
      hint: 'For checkouts that add up shipping piece by piece',
      description:
        'A shipping charge for each piece, for checkouts that add up shipping costs. Orders take the ShipmentCost that the checkout sends.',
    }),
    Weight: decimal({
      description:
        'The weight of one piece, in the unit of the shop: nothing is converted. Lines of new orders copy it to ItemWeight.',
    }),
    Height: decimal({
      description:
        'The height of one packed piece, in the shop’s unit of length. Kept for programs that compute shipping.',
    }),
    Width: decimal({ description: 'The width of one packed piece, in the same unit as Height.' }),
    Depth: decimal({ description: 'The length of one packed piece, in the same unit as Height.' }),
    SelfShip: boolean({
      column: 'selfShip',
      label: 'Ships in a parcel of its own',
      description: 'True: each piece is sent in a parcel of its own. Kept for programs that compute shipping.',
    }),
    FreeShipping: boolean({
      column: 'freeShipping',
      description:
        'True: the checkout is to charge no shipping for the product. Orders take the ShipmentCost that the checkout sends.',
    }),
    RewardPoints: integer({
      label: 'Points earned',
      description:
        'The reward points that a customer earns with one piece. Kept for programs: the platform counts no points.',
    }),
    RedeemPoints: integer({
      label: 'Points redeemable',
      description:
        'The reward points that a customer can redeem for one piece. Kept for programs: the platform counts no points.',
    }),
    DisableRewards: boolean({
      column: 'disableRewards',
      label: 'No reward points',
      description: 'True: the product takes no part in the reward programme of the storefront.',
    }),
    StockAlert: integer({
      column: 'stockAlert',
      label: 'Low stock at',
      hint: 'From this stock down, the product counts as low on stock',
      description:
        'The stock at or below which the administration lists the product as running low. 0: only when nothing is left.',
    }),
    ReorderQuantity: integer({
      hint: 'A note for you: nothing is ordered by itself',
      description:
        'The quantity to buy when the product runs low. A note for the merchant: the platform orders nothing.',
    }),
    InStockMessage: text(150, {
      label: 'Text when in stock',
      description:
        'The text for shoppers while there is enough stock. Lines of new orders copy it to ItemAvailability.',
    }),
    OutOfStockMessage: text(150, {
      label: 'Text when out of stock',
      description: 'The text for shoppers when there is not enough stock, unless BackOrderMessage applies.',
    }),
    BackOrderMessage: text(150, {
      label: 'Text when on back order',
      description:
        'The text for shoppers when there is not enough stock and InventoryControl is 2. Lines of such orders copy it to ItemAvailability.',
    }),
    InventoryControl: integer({
      column: 'inventoryControl',
      min: -1,
      max: 3,
      default: -1,
      label: 'When stock runs out',
      hint: 'Only with “Back order”, orders above the stock are taken',
      description:
        'The handling of new orders when there is not enough stock. With 2 the order is taken, and Stock goes below 0; with any other number it is refused (409). The numbers also tell the storefront what to show:',
      meanings: {
        [-1]: 'the store’s default',
        0: 'nothing in particular',
        1: 'out of stock',
        2: 'back order',
        3: 'waiting list',
      },
    }),
    WarehouseLocation: text(150, {
      label: 'Warehouse',
      description:
        'The place where the product is kept, such as the name of a warehouse. Lines of new orders copy it for packing.',
    }),
    WarehouseBin: text(150, {
      description: 'The bin or shelf in which the product lies. Lines of new orders copy it.',
    }),
    WarehouseAisle: text(150, { description: 'The aisle in which the product lies. Lines of new orders copy it.' }),
    WarehouseCustom: text(150, {
      label: 'Warehouse note',
      description: 'Anything else that helps to find the product in the warehouse. Lines of new orders copy it.',
    }),
    Description: text(LONG_TEXT, {
      isHtml: true,
      description: 'The full text about the product on its page in the storefront, usually HTML.',
    }),
    Keywords: text(LONG_TEXT, {
      hint: 'Separated by commas',
      description: 'Words by which the storefront finds the product, separated by commas.',
    }),
    ...numbered(1, 5, (n) => ({ [`ExtraField${n}`]: text(150, { description: extraField(n) }) })),
    ...numbered(6, 13, (n) => ({ [`ExtraField${n}`]: text(LONG_TEXT, { description: extraField(n) }) })),
    FeatureList: list(
      'Feature',
      {
        FeatureID: itemNumber('Number', 'The number of the feature in the store.'),
        FeatureTitle: text(150, { description: 'The name of the property, such as `Material`.' }),
        FeatureDescription: text(150, { description: 'The text for the property, such as `Cotton`.' }),
      },
      { description: 'Properties of the product that the storefront lists, each with a title and a text.' },
    ),
    PluginList: list(
      'Plugin',
      {},
      { description: 'Always an empty list, kept because programs expect the member. Do not send it.' },
    ),
    SampleEnable: boolean({
      label: 'Sample offered',
      description:
        'True: the storefront offers a sample of the product. The other Sample… members describe it; all are kept for programs.',
    }),
    SampleName: text(255, { description: 'The name of the sample in the storefront.' }),
    SampleSKUPrefix: text(25, { description: 'The prefix that turns the product’s SKU into that of its sample.' }),
    SamplePrice: price({ description: 'The amount that a shopper pays for one sample.' }),
    SampleWeight: decimal({ description: 'The weight of one sample, in the unit of Weight.' }),
    ReviewAverage: decimal({
      access: 'ro',
      label: 'Average rating',
      description:
        'The average of the ratings that customers gave. The platform takes no reviews: it shows imported values.',
    }),
    ReviewCount: integer({
      access: 'ro',
      label: 'Number of reviews',
      description:
        'The number of reviews behind ReviewAverage. The platform takes no reviews: it shows imported values.',
    }),
    MainImageFile: text(255, {
      isImage: true,
      label: 'Main picture',
      description:
        'The first picture of the product: a path below the store’s address, such as `assets/images/lamp.jpg`, or a whole address. Lines of new orders copy it to ItemImage1.',
    }),
    MainImageCaption: text(LONG_TEXT, {
      label: 'Caption of the main picture',
      description: 'The caption and alternative text of MainImageFile.',
    }),
    ThumbnailFile: text(255, {
      isImage: true,
      label: 'Thumbnail',
      description:
        'A small picture for lists: a path below the store’s address, such as `assets/images/lamp.jpg`, or a whole address.',
    }),
    MediaFile: text(255, {
      label: 'Video, sound or document',
      description:
        'A video, sound or document about the product: a path below the store’s address, such as `assets/images/lamp.jpg`, or a whole address.',
    }),
    ...numbered(2, 4, (n) => ({
      [`AdditionalImageFile${n}`]: text(255, {
        isImage: true,
        label: `Picture ${n}`,
        description: `Picture ${n} of the product: a path below the store’s address, or a whole address. Lines of new orders copy it to ItemImage${n}.`,
      }),
      [`AdditionalImageCaption${n}`]: text(LONG_TEXT, {
        label: `Caption of picture ${n}`,
        description: `The caption and alternative text of AdditionalImageFile${n}.`,
      }),
    })),
    ImageGalleryList: list(
      'ImageGallery',
      {
        ImageGalleryID: itemNumber('Number', 'The number of the picture in the store.'),
        ImageGalleryFile: text(LONG_TEXT, {
          isImage: true,
          label: 'Picture',
          description:
            'The picture: a path below the store’s address, such as `assets/images/lamp.jpg`, or a whole address.',
        }),
        FetchFrom: fetchFrom('ImageGalleryFile'),
        ImageGalleryCaption: text(LONG_TEXT, { description: 'The caption and alternative text of the picture.' }),
        ImageGallerySorting: position('the picture in the gallery'),
      },
      {
        labels: ['Further picture', 'Further pictures'],
        nouns: ['image', 'images'],
        description: 'Further pictures of the product, beyond the four that have members of their own.',
      },
    ),
    OptionSetList: optionSetList,
    AdvancedOptionList: list(
      'AdvancedOption',
      {
        AdvancedOptionCode: text(50, {
          column: 'code',
          access: 'key',
          label: 'Option numbers',
          description:
            'The OptionIDs of the combination, such as `4,17`. An order that chooses all of them takes from this stock.',
        }),
        // Appended to the product's SKU, so a leading blank counts: "SHIRT" and " L".
        AdvancedOptionSufix: text(50, {
          column: 'suffix',
          normalise: plainSuffix,
          label: 'SKU suffix',
          description:
            'The suffix that turns the product’s SKU into that of the combination: `-L` makes `SHIRT-L` of `SHIRT`. Leading blanks count. A text that begins with the product’s SKU is taken as the whole SKU.',
        }),
        AdvancedOptionName: text(LONG_TEXT, { description: 'The name of the combination, such as `L, red`.' }),
        AdvancedOptionCost: price({
          needs: 'Cost',
          description: 'The shop’s own cost per piece of the combination. 0: Cost of the product applies.',
        }),
        // Documented as an integer, but products may be sold in fractions.
        AdvancedOptionStock: decimal({
          column: 'stock',
          description:
            'The pieces of the combination in stock. What is sent replaces it, and the difference is written to the ledger.',
        }),
        AdvancedOptionStockAdjust: stockAdjust('AdvancedOptionStock'),
        AdvancedOptionWeight: decimal({
          description: 'The weight of one piece of the combination. 0: Weight of the product applies.',
        }),
        AdvancedOptionPrice: money({
          numberKind: 'money',
          column: 'price',
          label: 'Surcharge',
          description:
            'The amount that the combination adds to the price of the product, in place of the OptionValue of its options. 0: those apply.',
        }),
        AdvancedOptionGTIN: text(50, {
          description: 'The global trade item number (EAN, UPC, ISBN) of the combination.',
        }),
      },
      {
        labels: ['Combination', 'Combinations'],
        keyFrom: 'caller',
        rows: { table: 'AdvancedOption', parent: 'productId', position: 'position' },
        description:
          'Combinations of options with a stock and, if needed, a SKU and a price of their own, such as `L, red`.',
      },
    ),
    RelatedProductList: list(
      'RelatedProduct',
      {
        RelatedIndexID: itemNumber('Number', 'The number of the related product in the list.'),
        RelatedProductID: linkedProduct('the other product'),
        RelatedProductSorting: position('the related product'),
      },
      {
        nouns: ['link to a related product', 'links to related products'],
        description: 'Products that the storefront shows beside this one.',
      },
    ),
    UpSellingItemList: list(
      'UpSellingItem',
      {
        UpSellingIndexID: itemNumber('Number', 'The number of the offered product in the list.'),
        UpSellingItemID: linkedProduct('the offered product'),
        UpSellingItemSorting: position('the offered product'),
      },
      {
        labels: ['Up-sell product', 'Up-sell products'],
        nouns: ['up-sell', 'up-sells'],
        description: 'Products that the storefront offers to somebody who is about to buy this one.',
      },
    ),
    /** Quantity discounts. */
    DiscountList: list(
      'Discount',
      {
        DiscountID: itemNumber('Number', 'The number of the discount in the store.'),
        DiscountPriceLevel: integer({
          hint: '0 for all customers',
          description:
            'The customers who get the discount: 1 to 10 those whose group has this PriceLevel, 0 everybody.',
        }),
        DiscountLowbound: integer({ label: 'Lowest quantity', description: 'The least quantity to which it applies.' }),
        DiscountUpbound: integer({
          label: 'Highest quantity',
          hint: '0 for no limit',
          description: 'The greatest quantity to which it applies; 0: any.',
        }),
        DiscountPrice: decimal({
          numberKind: 'price',
          label: 'Price or percentage',
          hint: 'The price per piece, or what comes off in percent',
          description:
            'The price of one piece or, with DiscountPercentage, the percentage that comes off. It never makes a piece dearer. 0: the discount does not apply.',
        }),
        DiscountPercentage: boolean({
          label: 'In percent',
          description: 'True: DiscountPrice is a percentage. False: it is a price.',
        }),
      },
      {
        labels: ['Quantity discount', 'Quantity discounts'],
        description:
          'Prices by quantity, for new orders. Where several match, one for the customer’s price level comes before one for everybody, then the one with the highest DiscountLowbound.',
      },
    ),
    DoNotUseCategoryOptions: boolean({
      label: 'Without the options of its categories',
      description: 'True: the product has the option sets of its own OptionSetList only, not those of its categories.',
    }),
    DateCreated: date({
      column: 'createdAt',
      access: 'ro',
      label: 'Added on',
      description: 'The time at which the product was added to the store.',
    }),
    ListingTemplateID: integer({
      default: -1,
      label: 'Page template',
      description:
        'The template of the storefront for the product’s page; -1: the default of the shop. Kept for programs.',
    }),
    ListingTemplateName: text(LONG_TEXT, {
      access: 'ro',
      label: 'Name of the page template',
      description:
        'The name of the template that ListingTemplateID names. The platform has no templates: it shows imported values.',
    }),
    LoginRequiredOptionID: integer({
      default: -1,
      label: 'Sign-in required',
      description:
        'Whether visitors must sign in to see the product or its price, as a code of the storefront; -1: the default of the shop. Kept for programs.',
    }),
    LoginRequiredOptionName: text(LONG_TEXT, {
      access: 'ro',
      label: 'Sign-in required, in words',
      description:
        'The name of the choice LoginRequiredOptionID. The platform does not set it: it shows imported values.',
    }),
    LoginRequiredOptionRedirectTo: text(150, {
      label: 'Page for visitors who must sign in',
      description: 'The address to which the storefront sends visitors who must sign in to see the product.',
    }),
    AllowAccessCustomerGroupID: reference(
      'accessGroupId',
      'The customer group that alone may see the product, one of `/CustomerGroups`. The storefront keeps to it; orders are not checked. The group cannot be deleted meanwhile.',
      'Only for customer group',
    ),
    AllowAccessCustomerGroupName: text(150, {
      sql: nameOf('CustomerGroup', 'accessGroupId'),
      label: 'Name of the customer group',
      description: 'The name of the group that AllowAccessCustomerGroupID names.',
    }),
    RMAMaxPeriod: text(LONG_TEXT, {
      label: 'Days for returns',
      description:
        'The number of days after the purchase in which the product may be returned, as text. Kept for programs: returns are not checked against it.',
    }),
    CanonicalUrl: text(LONG_TEXT, {
      label: 'Canonical address',
      description: 'The address under which search engines list the product’s page, if it has several.',
    }),
    TaxCode: text(6, {
      description: 'The code of the product’s tax category at a tax service. Kept for checkouts that compute taxes.',
    }),
    DisplayText: text(50, {
      label: 'Text beside the quantity',
      description: 'A short text that the storefront shows with the quantity, such as `metres`.',
    }),
    MinimumQuantity: decimal({
      hint: '0 for no limit',
      description: 'The least quantity that a line of a new order may have; less is refused (400). 0: no bound.',
    }),
    MaximumQuantity: decimal({
      hint: '0 for no limit',
      description: 'The greatest quantity that a line of a new order may have; more is refused (400). 0: no bound.',
    }),
    AllowOnlyMultiples: boolean({
      label: 'Only multiples of the minimum quantity',
      description: 'True: new orders take only multiples of MinimumQuantity.',
    }),
    AllowFractionalQuantity: boolean({
      label: 'Fractions allowed',
      description: 'True: new orders may have quantities such as 2.5. False: whole pieces only.',
    }),
    QuantityOptions: text(250, {
      label: 'Offered quantities',
      hint: 'Separated by commas, such as 1,6,12',
      description:
        'The quantities that the storefront offers to choose from, such as `1,6,12`. Orders may have others.',
    }),
    GroupOptionsForQuantityPricing: boolean({
      label: 'Options count together for quantity discounts',
      description:
        'True: all lines of the product in an order count together for DiscountList. False: each line counts by itself.',
    }),
    ApplyQuantityDiscountToOptions: boolean({
      label: 'Quantity discounts apply to options',
      description: 'True: a percentage of DiscountList comes off the prices of the chosen options, too.',
    }),
    EnableMakeAnOfferFeature: boolean({
      label: 'Shoppers may propose a price',
      description:
        'True: shoppers may propose a price in the storefront. Kept for programs: orders take no proposed prices.',
    }),
    MinimumAcceptableOffer: text(10, {
      label: 'Lowest accepted price',
      description: 'The lowest proposed price that the storefront accepts, as a text.',
    }),
    ...numbered(1, 10, (n) => ({
      [`PriceLevel${n}`]: price({
        description: `The price of one piece for customers whose group has PriceLevel ${n}, unless SalePrice applies. 0: Price applies.`,
      }),
      [`PriceLevel${n}Hide`]: boolean({
        label: `Price level ${n} hidden`,
        description: `True: the storefront does not show PriceLevel${n} to its customers.`,
      }),
    })),
    BuyButtonLink: text(LONG_TEXT, {
      sql: buyButtonLink,
      label: 'Add-to-cart link',
      description: 'The address that puts one piece into the cart of the storefront, for links on other pages.',
    }),
    ProductLink: text(LONG_TEXT, {
      sql: productLink,
      label: 'Address of the page',
      description:
        'The address of the product’s page: the store’s address and CustomFileName, or `product-` and the CatalogID.',
    }),
    Title: text(150, {
      label: 'Page title',
      description: 'The title of the product’s page, for browsers and search engines.',
    }),
    CustomFileName: text(255, {
      column: 'fileName',
      label: 'File name of the page',
      hint: 'The end of the page’s address, such as desk-lamp.html',
      description:
        'The last part of the address of the product’s page, such as `desk-lamp.html`. Empty: one is made of the CatalogID.',
    }),
    RedirectLink: text(250, {
      label: 'Redirect to',
      description: 'The address to which the storefront sends visitors of the product’s page.',
    }),
    MetaTags: text(LONG_TEXT, {
      description: 'HTML for the head of the product’s page, such as a description for search engines.',
    }),
    SpecialInstructions: text(LONG_TEXT, {
      label: 'Instructions for buyers',
      description: 'Instructions for buyers of a downloadable product, such as how to install it.',
    }),
    AssignKey: boolean({
      label: 'Buyers get a serial number',
      description:
        'True: buyers get a serial number from SerialList. The storefront gives it: the platform assigns none.',
    }),
    ReUseKeys: boolean({
      label: 'Serial numbers may be reused',
      description: 'True: a serial number may be given to several buyers.',
    }),
    SerialList: list(
      'Serial',
      {
        SerialID: itemNumber('Number', 'The number of the item in the list of serial numbers.'),
        SerialUses: integer({
          label: 'Times used',
          description: 'The number of buyers who got the serial number, as counted by the program that hands it out.',
        }),
        SerialCode: text(255, { label: 'Serial number', description: 'The serial number itself, or a licence key.' }),
      },
      {
        labels: ['Serial number', 'Serial numbers'],
        description: 'The serial numbers that buyers of the product get.',
      },
    ),
    EProductList: list(
      'EProduct',
      {
        FileNumber: itemNumber('Number', 'The number of the file among those of the product.'),
        FilePath: text(LONG_TEXT, { label: 'File', description: 'The location of the file: a path or an address.' }),
      },
      {
        labels: ['Downloadable file', 'Downloadable files'],
        keyFrom: 'record',
        nouns: ['downloadable file (EProduct)', 'downloadable files (EProducts)'],
        description: 'The files that buyers download. With one, cartAPI shows the product as `Downloadable`.',
      },
    ),
  },
  filters: {
    sku: exactly('sku', skuForms),
    name: containing('name'),
    gtin: exactly('gtin'),
    mfgid: exactly('mfgId'),
    categoryid: inCategory,
    manufacturerid: equalTo('manufacturerId'),
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
    ...changed,
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
    Images: nested('ImageGalleryList', 'imagegalleryid', { takesPictures: true }),
    Options: nested('OptionSetList', 'optionsetid'),
    Related: nested('RelatedProductList', 'relatedindexid'),
    Serials: nested('SerialList', 'serialid'),
    UpSelling: nested('UpSellingItemList', 'upsellingindexid'),
  },
  rules: {
    events: productKinds,
    check: productRules,
    effects: productEffects,
    isFinalOnceWritten: true,
    referrers: [
      itemsOf('Order', 'OrderItemList', { table: 'OrderItem', record: 'orderId' }),
      itemsOf('Rma', 'RMAItemList', { table: 'RmaItem', record: 'rmaId' }),
      itemsOf('GiftRegistry', 'GiftRegistryItemList', { table: 'GiftRegistryItem', record: 'registryId' }),
      ...productLinks,
    ],
    ledger: stockMovements,
  },
  pages: {
    headings: {
      '': {
        'Name and visibility': 'SKUInfo.Name SKUInfo.SKU Hide NotForSale ManufacturerID',
        Prices: `SKUInfo.Price SKUInfo.OnSale SKUInfo.SalePrice SKUInfo.RetailPrice SKUInfo.Cost
          ${levelPrices.map((name) => `${name} ${name}Hide`).join(' ')} DiscountList`,
        Stock: 'SKUInfo.Stock',
        'Stock keeping':
          'StockAlert ReorderQuantity InventoryControl InStockMessage OutOfStockMessage BackOrderMessage',
        Description: 'ShortDescription Description CategoryList OptionSetList AdvancedOptionList',
      },
      'In the shop': {
        'Where it stands out':
          'HomeSpecial CategorySpecial NonSearchable ReviewAverage ReviewCount FeatureList RelatedProductList UpSellingItemList',
        Quantities: `DisplayText MinimumQuantity MaximumQuantity AllowOnlyMultiples AllowFractionalQuantity
          QuantityOptions GroupOptionsForQuantityPricing ApplyQuantityDiscountToOptions`,
        'Access and layout': `AllowAccessCustomerGroupID ListingTemplateID ListingTemplateName
          LoginRequiredOptionID LoginRequiredOptionName LoginRequiredOptionRedirectTo DoNotUseCategoryOptions`,
      },
      'Search engines': {
        'Page title and address':
          'Title MetaTags Keywords CustomFileName ProductLink BuyButtonLink CanonicalUrl RedirectLink',
      },
      'Feeds and marketplaces': { Codes: 'GTIN MFGID ExternalIdsList CategoryExternalIdsList' },
      'Shipping and warehouse': {
        'Size and shipping': 'Weight Height Width Depth FreeShipping ShipCost SelfShip GiftWrapItem',
        Warehouse: 'WarehouseLocation WarehouseAisle WarehouseBin WarehouseCustom DistributorList',
      },
      'Rarely needed': {
        'Tax and returns': 'NonTaxable TaxCode RMAMaxPeriod',
        'Reward points': 'RewardPoints RedeemPoints DisableRewards',
        'Price proposals': 'EnableMakeAnOfferFeature MinimumAcceptableOffer',
        Samples: 'SampleEnable SampleName SampleSKUPrefix SamplePrice SampleWeight',
        'Downloads and gift certificates':
          'GiftCertificate SpecialInstructions AssignKey ReUseKeys EProductList SerialList',
        'Addresses of pictures': `MainImageFile MainImageCaption AdditionalImageFile2 AdditionalImageCaption2
          AdditionalImageFile3 AdditionalImageCaption3 AdditionalImageFile4 AdditionalImageCaption4
          ImageGalleryList ThumbnailFile MediaFile`,
        // The other twelve, which nothing else names.
        'Extra fields': 'ExtraField1',
      },
    },
    finders: productFinders,
    explains: { ...explains, ...optionSets },
  },
  files: {
    usualColumns: {
      stock: ['SKUInfo.SKU', 'SKUInfo.Stock', 'StockAlert'],
      prices: ['SKUInfo.SKU', 'SKUInfo.Price', 'SKUInfo.SalePrice', 'SKUInfo.OnSale', 'SKUInfo.RetailPrice'],
    },
    formerFile: formerProductFile,
    namedLists: {
      CategoryList: { between: '@', levels: { separator: '/', parent: 'CategoryParent' } },
      DistributorList: {},
    },
    worthALook: {
      prices: ['SKUInfo.Price', 'SKUInfo.SalePrice', 'SKUInfo.RetailPrice', ...levelPrices],
      costs: ['SKUInfo.Cost', 'ShipCost', 'SamplePrice'],
      stocks: ['SKUInfo.Stock'],
    },
  },
})

/** The products that refer to a record, as its sub-resource. */
export function productsBy(link: Link): RelatedSubResource {
  return { kind: 'related', resource: () => products, link }
}

/** A reference that is cleared, and its products changed, when its target is deleted. */
export function clearedInProducts(field: string, by: Link): Referrer {
  return { table: 'Product', fields: [field], by, rule: 'clear' }
}
