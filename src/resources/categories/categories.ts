import { defineResource, nested } from '../../engine/definition/define.ts'
import { categoryKinds } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, LONG_TEXT, list, reference, text } from '../../engine/definition/fields.ts'
import { containing, since, until } from '../../engine/definition/filters.ts'
import { optionSetList } from '../option-sets.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'
import { categoryEffects, categoryRules } from './rules.ts'

const inCategory = { table: 'ProductCategory', record: 'productId', column: 'categoryId' }

/** Categories (rest-resources §4). The public interface calls the collection Categories, the contract Category. */
export const categories = defineResource({
  service: 'Category',
  aliases: ['Categories'],
  typeName: 'Category',
  description: 'A category of the shop’s products. Categories lie in one another, and a product may be in several.',
  maxRecords: 500,
  fields: {
    CategoryID: integer({
      column: 'id',
      access: 'key',
      description: 'The number of the category, by which products and other categories name it.',
    }),
    CategoryName: text(150, {
      column: 'name',
      required: true,
      description: 'The name of the category as shoppers read it.',
    }),
    Link: text(255, {
      description:
        'The address of a page that stands for the category in the storefront, in place of a list of products.',
    }),
    CategoryDescription: text(LONG_TEXT, {
      isHtml: true,
      description: 'Text about the category for its page in the storefront, usually HTML.',
    }),
    CategoryIcon: text(100, {
      isImage: true,
      description: 'A small picture of the category: a path below the store’s address, or a whole address.',
    }),
    CategoryMain: boolean({ description: 'True: the storefront shows the category in its main navigation.' }),
    CategoryParent: reference(
      'parentId',
      'The category in which this one lies, one of `/Category`; 0: it is at the top level. A category cannot lie in itself, nor in one below it.',
    ),
    Sorting: integer({
      description:
        'The place of the category among those with the same parent: the storefront shows lower numbers first.',
    }),
    Hide: boolean({ description: 'True: the storefront does not show the category. Its products stay as they are.' }),
    UserID: text(50, {
      column: 'updatedBy',
      access: 'ro',
      description:
        'The last editor of the category: the name of an application, `API` for cartAPI, or the e-mail address of a person.',
    }),
    LastUpdate: date({
      column: 'updatedAt',
      access: 'ro',
      description: 'The time of the last change of the category. Changes to its products do not count.',
    }),
    CategoryMenuGroup: integer({
      description:
        'The menu of the storefront that lists the category, as a code of the storefront. Kept for programs.',
    }),
    HomeSpecialCategory: boolean({ description: 'True: the storefront features the category on its home page.' }),
    FilterCategory: boolean({
      description: 'True: shoppers may narrow the products of the category by their properties.',
    }),
    TemplateCategoryPage: integer({
      description: 'The template for the category’s page, as a code of the storefront. Kept for programs.',
    }),
    DefaultProductsSorting: integer({
      description:
        'The order in which the storefront lists the products of the category, as a code of the storefront. Kept for programs.',
    }),
    SubcategoryColumnsCategorySpecials: integer({
      description:
        'The number of columns for subcategories on the category’s page; 0: not set, so that the storefront chooses.',
    }),
    ProductColumnsCategorySpecials: integer({
      description:
        'The number of columns for products with CategorySpecial on the category’s page; 0: not set, so that the storefront chooses.',
    }),
    ProductColumnsCategoryGeneralItems: integer({
      description:
        'The number of columns for products without CategorySpecial on the category’s page; 0: not set, so that the storefront chooses.',
    }),
    ItemsPerPageCategorySpecialItems: integer({
      description: 'The number of products with CategorySpecial per page of the category in the storefront.',
    }),
    ItemsPerPageCategoryGeneralItems: integer({
      description: 'The number of products without CategorySpecial per page of the category in the storefront.',
    }),
    DisplayTypeCategorySpecialItems: integer({
      description:
        'The layout of featured products on the category’s page, as a code of the storefront. Kept for programs.',
    }),
    DisplayTypeCategoryGeneralProducts: integer({
      description:
        'The layout of products that are not featured on the category’s page, as a code of the storefront. Kept for programs.',
    }),
    AllowAccess: text(250, {
      default: '0',
      description:
        'The CustomerGroupIDs that may see the category, separated by commas; `0`: everybody. The storefront keeps to it.',
    }),
    OnFailRedirectTo: text(150, {
      description: 'The address to which the storefront sends visitors without access (AllowAccess).',
    }),
    HideLeftBar: boolean({ description: 'True: the category’s page in the storefront has no bar on the left.' }),
    HideRightBar: boolean({ description: 'True: the category’s page in the storefront has no bar on the right.' }),
    HideTopMenu: boolean({ description: 'True: the category’s page in the storefront has no menu at its top.' }),
    SmartCategories: integer({
      description:
        'A code of the storefront for categories that it fills by a search. Kept for programs: here a product belongs to the categories in its CategoryList.',
    }),
    SmartCategoriesSearchKeyword: text(255, { description: 'The words of the search that fills a smart category.' }),
    SmartCategoriesLinkTarget: text(50, {
      description: 'The window in which links of a smart category open, such as `_blank`.',
    }),
    TemplateProductPage: integer({
      description:
        'The template for the pages of the category’s products, as a code of the storefront. Kept for programs.',
    }),
    ProductColumnsRelatedProducts: integer({
      description:
        'The number of columns for the products of RelatedProductList on the pages of the category’s products; 0: not set, so that the storefront chooses.',
    }),
    ProductColumnsUpsellProducts: integer({
      description:
        'The number of columns for the products of UpSellingItemList on the pages of the category’s products; 0: not set, so that the storefront chooses.',
    }),
    DisplayTypeRelatedItems: integer({
      description:
        'The layout of related products on the pages of the category’s products, as a code of the storefront. Kept for programs.',
    }),
    DisplayTypeUpsellItems: integer({
      description:
        'The layout of UpSellingItemList on the pages of the category’s products, as a code of the storefront. Kept for programs.',
    }),
    OptionSetList: optionSetList,
    Title: text(LONG_TEXT, { description: 'The title of the category’s page, for browsers and search engines.' }),
    CustomFileName: text(255, {
      description: 'The last part of the address of the category’s page in the storefront.',
    }),
    MetaTags: text(LONG_TEXT, {
      description: 'HTML for the head of the category’s page, such as a description for search engines.',
    }),
    CategoryHeader: text(LONG_TEXT, {
      isHtml: true,
      description: 'HTML at the beginning of the category’s page in the storefront.',
    }),
    CategoryFooter: text(LONG_TEXT, {
      isHtml: true,
      description: 'HTML at the end of the category’s page in the storefront.',
    }),
    AdditionalKeywords: text(LONG_TEXT, {
      description: 'Further words by which the search of the storefront finds the category, separated by commas.',
    }),
    CategoryExternalIdsList: list(
      'CategoryExternalId',
      {
        ID: integer({ access: 'key', description: 'The number of the item in the list of external ids.' }),
        // The category itself; a caller's value is ignored.
        CategoryID: integer({ access: 'ro', description: 'The category itself.' }),
        ExternalId1: text(LONG_TEXT, {
          description: 'The identifier of the category in the other system, as you send it.',
        }),
        ExternalIdType: text(LONG_TEXT, {
          description: 'The other system, or the kind of identifier, in words of your own.',
        }),
      },
      {
        description:
          'Identifiers of the category in other systems, such as marketplaces. Products of the category show them as well.',
      },
    ),
  },
  groups: {
    Layout: 'CategoryMenuGroup',
    'Smart category': 'SmartCategories',
    'Product pages': 'TemplateProductPage',
    Page: 'Title',
  },
  filters: { category: containing('name'), lastupdatestart: since('updatedAt'), lastupdateend: until('updatedAt') },
  subResources: {
    Options: nested('OptionSetList', 'optionsetid'),
    Products: productsBy(inCategory),
  },
  events: categoryKinds,
  isFinalOnceWritten: true,
  rules: categoryRules,
  effects: categoryEffects,
  referrers: [
    { table: 'Category', fields: ['CategoryParent'], by: { column: 'parentId' }, rule: 'refuse' },
    clearedInProducts('CategoryList.CategoryID', inCategory),
  ],
})
