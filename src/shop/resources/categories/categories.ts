import { defineResource, nested } from '../../../engine/definition/define.ts'
import { categoryKinds } from '../../../engine/definition/event-kinds.ts'
import { boolean, integer, LONG_TEXT, list, reference, text } from '../../../engine/definition/fields.ts'
import { containing } from '../../../engine/definition/filters.ts'
import { fetchFrom } from '../../pictures/fetches.ts'
import { changed, imagePath, itemNumber, lastChange, lastEditor, position, recordNumber } from '../common-fields.ts'
import optionSets from '../option-sets.json' with { type: 'json' }
import { optionSetList } from '../option-sets.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'
import explains from './explains.json' with { type: 'json' }
import { categoryEffects, categoryRules } from './rules.ts'

const inCategory = { table: 'ProductCategory', record: 'productId', column: 'categoryId' }

/** A number that means something to the storefront alone. */
function storefrontCode(label: string, what: string) {
  return integer({ label, description: `${what}, as a code of the storefront. Kept for programs.` })
}

/** How many columns the storefront has for something. */
function columns(of: string, what: string) {
  const description = `The number of columns for ${what}; 0: not set, so that the storefront chooses.`
  return integer({ label: `Columns of ${of}`, description })
}

/** Categories (rest-resources §4). The public interface calls the collection Categories, the contract Category. */
export const categories = defineResource({
  service: 'Category',
  aliases: ['Categories'],
  typeName: 'Category',
  description: 'A category of the shop’s products. Categories lie in one another, and a product may be in several.',
  maxRecords: 500,
  pictureIn: 'CategoryIcon',
  fields: {
    CategoryID: recordNumber(
      'Category number',
      'The number of the category, by which products and other categories name it.',
    ),
    CategoryName: text(150, {
      column: 'name',
      required: true,
      description: 'The name of the category as shoppers read it.',
    }),
    Link: text(255, {
      label: 'Link to another page',
      description:
        'The address of a page that stands for the category in the storefront, in place of a list of products.',
    }),
    CategoryDescription: text(LONG_TEXT, {
      isHtml: true,
      description: 'Text about the category for its page in the storefront, usually HTML.',
    }),
    CategoryIcon: imagePath(100, 'A small picture of the category'),
    FetchFrom: fetchFrom('CategoryIcon', 100),
    CategoryMain: boolean({
      label: 'In the main navigation',
      description: 'True: the storefront shows the category in its main navigation.',
    }),
    CategoryParent: reference(
      'parentId',
      'The category in which this one lies, one of `/Category`; 0: it is at the top level. A category cannot lie in itself, nor in one below it.',
      'Parent category',
    ),
    Sorting: position('the category among those with the same parent', 'Lower numbers come first'),
    Hide: boolean({
      label: 'Hidden',
      hint: 'The shop does not show it; its products stay as they are',
      description: 'True: the storefront does not show the category. Its products stay as they are.',
    }),
    UserID: lastEditor('the category'),
    LastUpdate: lastChange('The time of the last change of the category. Changes to its products do not count.'),
    CategoryMenuGroup: storefrontCode('Menu', 'The menu of the storefront that lists the category'),
    HomeSpecialCategory: boolean({
      label: 'Featured on the home page',
      description: 'True: the storefront features the category on its home page.',
    }),
    FilterCategory: boolean({
      label: 'Shoppers can filter its products',
      description: 'True: shoppers may narrow the products of the category by their properties.',
    }),
    TemplateCategoryPage: storefrontCode('Page template', 'The template for the category’s page'),
    DefaultProductsSorting: storefrontCode(
      'Sorting of the products',
      'The order in which the storefront lists the products of the category',
    ),
    SubcategoryColumnsCategorySpecials: columns('subcategories', 'subcategories on the category’s page'),
    ProductColumnsCategorySpecials: columns(
      'featured products',
      'products with CategorySpecial on the category’s page',
    ),
    ProductColumnsCategoryGeneralItems: columns(
      'other products',
      'products without CategorySpecial on the category’s page',
    ),
    ItemsPerPageCategorySpecialItems: integer({
      label: 'Featured products per page',
      description: 'The number of products with CategorySpecial per page of the category in the storefront.',
    }),
    ItemsPerPageCategoryGeneralItems: integer({
      label: 'Other products per page',
      description: 'The number of products without CategorySpecial per page of the category in the storefront.',
    }),
    DisplayTypeCategorySpecialItems: storefrontCode(
      'Layout of featured products',
      'The layout of featured products on the category’s page',
    ),
    DisplayTypeCategoryGeneralProducts: storefrontCode(
      'Layout of other products',
      'The layout of products that are not featured on the category’s page',
    ),
    AllowAccess: text(250, {
      default: '0',
      label: 'Customer groups with access',
      hint: 'Group numbers, separated by commas; 0 for everybody',
      description:
        'The CustomerGroupIDs that may see the category, separated by commas; `0`: everybody. The storefront keeps to it.',
    }),
    OnFailRedirectTo: text(150, {
      label: 'Page for visitors without access',
      description: 'The address to which the storefront sends visitors without access (AllowAccess).',
    }),
    HideLeftBar: boolean({
      label: 'Left bar hidden',
      description: 'True: the category’s page in the storefront has no bar on the left.',
    }),
    HideRightBar: boolean({
      label: 'Right bar hidden',
      description: 'True: the category’s page in the storefront has no bar on the right.',
    }),
    HideTopMenu: boolean({
      label: 'Top menu hidden',
      description: 'True: the category’s page in the storefront has no menu at its top.',
    }),
    SmartCategories: integer({
      label: 'Kind of smart category',
      description:
        'A code of the storefront for categories that it fills by a search. Kept for programs: here a product belongs to the categories in its CategoryList.',
    }),
    SmartCategoriesSearchKeyword: text(255, {
      label: 'Search words',
      description: 'The words of the search that fills a smart category.',
    }),
    SmartCategoriesLinkTarget: text(50, {
      label: 'Window for its links',
      description: 'The window in which links of a smart category open, such as `_blank`.',
    }),
    TemplateProductPage: storefrontCode(
      'Template of product pages',
      'The template for the pages of the category’s products',
    ),
    ProductColumnsRelatedProducts: columns(
      'related products',
      'the products of RelatedProductList on the pages of the category’s products',
    ),
    ProductColumnsUpsellProducts: columns(
      'up-sell products',
      'the products of UpSellingItemList on the pages of the category’s products',
    ),
    DisplayTypeRelatedItems: storefrontCode(
      'Layout of related products',
      'The layout of related products on the pages of the category’s products',
    ),
    DisplayTypeUpsellItems: storefrontCode(
      'Layout of up-sell products',
      'The layout of UpSellingItemList on the pages of the category’s products',
    ),
    OptionSetList: optionSetList,
    Title: text(LONG_TEXT, {
      label: 'Page title',
      description: 'The title of the category’s page, for browsers and search engines.',
    }),
    CustomFileName: text(255, {
      label: 'File name of the page',
      hint: 'The end of the page’s address, such as lamps.html',
      description: 'The last part of the address of the category’s page in the storefront.',
    }),
    MetaTags: text(LONG_TEXT, {
      description: 'HTML for the head of the category’s page, such as a description for search engines.',
    }),
    CategoryHeader: text(LONG_TEXT, {
      isHtml: true,
      label: 'Text at the top',
      description: 'HTML at the beginning of the category’s page in the storefront.',
    }),
    CategoryFooter: text(LONG_TEXT, {
      isHtml: true,
      label: 'Text at the bottom',
      description: 'HTML at the end of the category’s page in the storefront.',
    }),
    AdditionalKeywords: text(LONG_TEXT, {
      label: 'Keywords',
      hint: 'Separated by commas',
      description: 'Further words by which the search of the storefront finds the category, separated by commas.',
    }),
    CategoryExternalIdsList: list(
      'CategoryExternalId',
      {
        ID: itemNumber('Entry', 'The number of the item in the list of external ids.'),
        // The category itself; a caller's value is ignored.
        CategoryID: integer({ access: 'ro', label: 'Category', description: 'The category itself.' }),
        ExternalId1: text(LONG_TEXT, {
          label: 'Number there',
          description: 'The identifier of the category in the other system, as you send it.',
        }),
        ExternalIdType: text(LONG_TEXT, {
          label: 'System',
          description: 'The other system, or the kind of identifier, in words of your own.',
        }),
      },
      {
        labels: ['Number in another system', 'Numbers in other systems'],
        description:
          'Identifiers of the category in other systems, such as marketplaces. Products of the category show them as well.',
      },
    ),
  },
  filters: { category: containing('name'), ...changed },
  subResources: { Options: nested('OptionSetList', 'optionsetid'), Products: productsBy(inCategory) },
  rules: {
    events: categoryKinds,
    isFinalOnceWritten: true,
    check: categoryRules,
    effects: categoryEffects,
    referrers: [
      { table: 'Category', fields: ['CategoryParent'], by: { column: 'parentId' }, rule: 'refuse' },
      clearedInProducts('CategoryList.CategoryID', inCategory),
    ],
  },
  pages: {
    groups: {
      'Name and position': 'CategoryID',
      Layout: 'CategoryMenuGroup',
      'Smart category': 'SmartCategories',
      'Product pages': 'TemplateProductPage',
      'Category page': 'Title',
    },
    explains: { ...explains, ...optionSets },
  },
})
