import { defineResource, nested } from '../../engine/definition/define.ts'
import { categoryKinds } from '../../engine/definition/event-kinds.ts'
import { boolean, date, integer, list, reference, text } from '../../engine/definition/fields.ts'
import { containing } from '../../engine/definition/filters.ts'
import { optionSetList } from '../option-sets.ts'
import { clearedInProducts, productsBy } from '../products/products.ts'
import { categoryEffects, categoryRules } from './rules.ts'

const inCategory = { table: 'ProductCategory', record: 'productId', column: 'categoryId' }

/** Categories (rest-resources §4). The public interface calls the collection Categories, the contract Category. */
export const categories = defineResource({
  service: 'Category',
  aliases: ['Categories'],
  typeName: 'Category',
  maxRecords: 500,
  fields: {
    CategoryID: integer({ column: 'id', access: 'key' }),
    CategoryName: text(150, { column: 'name', required: true }),
    Link: text(255),
    CategoryDescription: text(),
    CategoryIcon: text(100, { isImage: true }),
    CategoryMain: boolean(),
    CategoryParent: reference('parentId'),
    Sorting: integer(),
    Hide: boolean(),
    UserID: text(50, { column: 'updatedBy', access: 'ro' }),
    LastUpdate: date({ column: 'updatedAt', access: 'ro' }),
    CategoryMenuGroup: integer(),
    HomeSpecialCategory: boolean(),
    FilterCategory: boolean(),
    TemplateCategoryPage: integer(),
    DefaultProductsSorting: integer(),
    SubcategoryColumnsCategorySpecials: integer(),
    ProductColumnsCategorySpecials: integer(),
    ProductColumnsCategoryGeneralItems: integer(),
    ItemsPerPageCategorySpecialItems: integer(),
    ItemsPerPageCategoryGeneralItems: integer(),
    DisplayTypeCategorySpecialItems: integer(),
    DisplayTypeCategoryGeneralProducts: integer(),
    AllowAccess: text(250, { default: '0' }),
    OnFailRedirectTo: text(150),
    HideLeftBar: boolean(),
    HideRightBar: boolean(),
    HideTopMenu: boolean(),
    SmartCategories: integer(),
    SmartCategoriesSearchKeyword: text(255),
    SmartCategoriesLinkTarget: text(50),
    TemplateProductPage: integer(),
    ProductColumnsRelatedProducts: integer(),
    ProductColumnsUpsellProducts: integer(),
    DisplayTypeRelatedItems: integer(),
    DisplayTypeUpsellItems: integer(),
    OptionSetList: optionSetList,
    Title: text(),
    CustomFileName: text(255),
    MetaTags: text(),
    CategoryHeader: text(),
    CategoryFooter: text(),
    AdditionalKeywords: text(),
    CategoryExternalIdsList: list('CategoryExternalId', {
      ID: integer({ access: 'key' }),
      // The category itself; a caller's value is ignored.
      CategoryID: integer({ access: 'ro' }),
      ExternalId1: text(),
      ExternalIdType: text(),
    }),
  },
  groups: {
    Layout: 'CategoryMenuGroup',
    'Smart category': 'SmartCategories',
    'Product pages': 'TemplateProductPage',
    Page: 'Title',
  },
  filters: { category: containing('name') },
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
