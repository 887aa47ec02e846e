import { mayRead } from '../../../../access/applications/privileges.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { readProductOrders } from '../../../../shop/resources/products/product-orders.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'
import type { Special } from '../../records/special.ts'
import type { ProductRecord } from './product-service.ts'

const ORDERS_SHOWN = 10
const ORDERS_COUNTED_MAX = 1_000
const PATHS_SHOWN = 20
const LEVELS = Array.from({ length: 10 }, (_, at) => at + 1)

/** The page of a product begins with what it is, and with the parts that have forms of their own. */
export const productSpecial: Partial<Special> = {
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
        { slug: 'glance', title: t('At a glance') },
        ...(mayRead(caller.privileges, orders) ? [{ slug: 'orders', title: t('Orders') }] : []),
      ],
      product,
      currency: caller.store.currency,
      levels: LEVELS.map((level) => ({ level, price: Number(record[`PriceLevel${level}`]) })).filter(
        ({ price }) => price !== 0,
      ),
      paths,
      morePaths: CategoryList.length - shown.length,
      orders: found.orders,
      orderCount: found.count,
      ordersCountedMax: ORDERS_COUNTED_MAX,
      statusText: textsOf(statuses),
    }
  },
  sections: ['price-levels', 'discounts', 'categories', 'option-sets', 'advanced-options'],
  referrers: ['Order'],
  isHidden: ({ Hide }) => Hide === true,
  technical: [
    'SKUInfo.CatalogID',
    'UserID',
    'LastUpdate',
    'ExternalIdsList',
    'CategoryExternalIdsList',
    'PluginList',
    'ListingTemplateID',
    'ListingTemplateName',
    'LoginRequiredOptionID',
    'LoginRequiredOptionName',
    'LoginRequiredOptionRedirectTo',
  ],
  selection: { template: '/pages/shop/products/selection', action: '/admin/products/bulk' },
}
