import { mayRead } from '../../../../access/applications/privileges.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { readProductOrders } from '../../../../shop/resources/products/product-orders.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import type { RecordRequest } from '../../frame/request.ts'
import { type Chip, listStatusNames, textsOf } from '../../records/order-words.ts'
import { pickList, serviceOf } from '../../records/services.ts'
import { offeredChoices } from './filter-choices.ts'

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
