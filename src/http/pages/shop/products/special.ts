import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readCategoryPaths, readTree } from '../../../../shop/resources/categories/tree.ts'
import { manufacturers } from '../../../../shop/resources/manufacturers/manufacturers.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { readProductOrders } from '../../../../shop/resources/products/product-orders.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import type { RecordRequest } from '../../frame/pages.ts'
import { type Chip, listStatusNames, textsOf } from '../../records/order-words.ts'
import { pickList, serviceOf } from '../../records/services.ts'
import type { Words } from '../../records/special.ts'
import { allIn } from '../categories/routes.ts'

const ORDERS_SHOWN = 10
const ORDERS_COUNTED_MAX = 1_000
const PATHS_SHOWN = 20

export type ProductRecord = RecordOf<typeof products>
/** A request to a page of one product. */
export type ProductRequest = RecordRequest<ProductRecord>

/** None left, with combinations too, or no more than StockAlert; null: enough. */
function markOfStock({ SKUInfo: { Stock }, StockAlert, AdvancedOptionList }: ProductRecord): Chip | null {
  const left = AdvancedOptionList.reduce((sum, { AdvancedOptionStock }) => sum + AdvancedOptionStock, Stock)
  if (left <= 0) return { tone: 'bad', text: t('sold out') }
  return AdvancedOptionList.length === 0 && Stock <= StockAlert ? { tone: 'warn', text: t('low') } : null
}

/** Of a shop with more, a filter takes a number, or what is found while somebody types. */
const OFFERED_MAX = 500

/** The categories as a tree, and the manufacturers by name, for the filters of products. */
async function offeredChoices(caller: Caller): Promise<Words['choices']> {
  const { db, store, privileges } = caller
  const page = { where: { storeId: store.id }, orderBy: { id: 'asc' }, take: OFFERED_MAX + 1 } as const
  const [tree, found] = await Promise.all([
    mayRead(privileges, categories) ? readTree(caller, null, OFFERED_MAX) : null,
    mayRead(privileges, manufacturers) ? db.manufacturer.findMany({ ...page, select: { id: true, name: true } }) : [],
  ])
  const all = allIn(tree?.nodes ?? [])
  const isWhole = tree !== null && !tree.isCut && !all.some(({ hasMore }) => hasMore)
  const makers = found.toSorted((one, other) => one.name.localeCompare(other.name))
  return {
    // Each below its parent, further to the right.
    ...(isWhole && {
      'CategoryList.CategoryID': all.map(({ id, name, depth }) => [String(id), `${'\u2003'.repeat(depth)}${name}`]),
    }),
    ...(makers.length > 0 &&
      makers.length <= OFFERED_MAX && { ManufacturerID: makers.map(({ id, name }) => [String(id), name]) }),
  }
}

/** The page of a product begins with what it is, and with the parts that have forms of their own. */
export const productService = serviceOf(products, {
  template: '/pages/shop/products/product',
  partsTemplate: '/pages/shop/products/product-parts',
  read: async (caller, record) => {
    const product = record as unknown as ProductRecord
    const { CategoryList, SKUInfo } = product
    const shown = CategoryList.slice(0, PATHS_SHOWN).map(({ CategoryID }) => CategoryID)
    const [paths, found, statuses] = await Promise.all([
      readCategoryPaths(caller, mayRead(caller.privileges, categories) ? shown : []),
      mayRead(caller.privileges, orders)
        ? readProductOrders(caller, SKUInfo.CatalogID, { shown: ORDERS_SHOWN, countedMax: ORDERS_COUNTED_MAX })
        : { orders: [], count: 0 },
      listStatusNames(caller.db, caller.store.id),
    ])
    return {
      parts: [
        { slug: 'prices', title: t('Prices') },
        { slug: 'stock', title: t('Stock') },
        { slug: 'description', title: t('Description') },
        ...(mayRead(caller.privileges, categories) ? [{ slug: 'categories', title: t('Categories') }] : []),
        { slug: 'options', title: t('Options') },
        ...(mayRead(caller.privileges, orders) ? [{ slug: 'orders', title: t('Orders') }] : []),
      ],
      heading: SKUInfo.Name,
      currency: caller.store.currency,
      paths,
      morePaths: CategoryList.length - shown.length,
      orders: found.orders,
      orderCount: found.count,
      ordersCountedMax: ORDERS_COUNTED_MAX,
      statusText: textsOf(statuses),
    }
  },
  sections: [
    ...['name-and-visibility', 'prices', 'discounts', 'stock', 'stock-keeping', 'description'],
    ...['categories', 'option-sets', 'advanced-options'],
  ],
  forms: { prices: 'prices', discounts: 'prices', stock: 'stock', categories: 'categories', 'option-sets': 'options' },
  referrers: ['Order'],
  isHidden: ({ Hide }) => Hide === true,
  columns: ['SKUInfo.Name', 'SKUInfo.SKU', 'SKUInfo.Price', 'SKUInfo.Stock'],
  markOf: (name, record) => (name === 'SKUInfo.Stock' ? markOfStock(record as unknown as ProductRecord) : null),
  asks: ['SKUInfo.Name', 'SKUInfo.SKU', 'SKUInfo.Price', 'SKUInfo.Stock', 'CategoryList', 'Description'],
  technical: [
    'SKUInfo.CatalogID',
    'SKUInfo.Currency',
    'ManufacturerName',
    'AllowAccessCustomerGroupName',
    'UserID',
    'LastUpdate',
    'DateCreated',
  ],
  inSight: ['find', 'categoryid', 'manufacturerid', 'hide'],
  wordsOf: async (caller) => ({ choices: await offeredChoices(caller) }),
  selection: { template: '/pages/shop/products/selection', action: '/admin/products/bulk', isAskedOnPage: true },
})

export const advancedOptions = pickList(productService, 'AdvancedOptionList')
export const discounts = pickList(productService, 'DiscountList')
