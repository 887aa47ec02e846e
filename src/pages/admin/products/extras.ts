import { readCategoryPaths } from '../../../resources/categories/tree.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { readProductOrders } from '../../../resources/products/product-orders.ts'
import { textsOf } from '../orders/listing.ts'
import type { Extras } from '../records/extras.ts'
import type { ProductRecord } from './product-service.ts'

const ORDERS_SHOWN = 10
const ORDERS_COUNTED_MAX = 1_000
const PATHS_SHOWN = 20
const LEVELS = Array.from({ length: 10 }, (_, at) => at + 1)

/** The page of a product begins with what it is, and with the parts that have forms of their own. */
export const productExtras: Extras = {
  template: '/pages/admin/products/product',
  read: async (caller, record) => {
    const product = record as unknown as ProductRecord
    const { CategoryList: categories, SKUInfo } = product
    const shown = categories.slice(0, PATHS_SHOWN).map(({ CategoryID }) => CategoryID)
    const [paths, { orders, count }, statuses] = await Promise.all([
      readCategoryPaths(caller, shown),
      readProductOrders(caller, SKUInfo.CatalogID, { shown: ORDERS_SHOWN, countedMax: ORDERS_COUNTED_MAX }),
      listStatuses(caller.db, caller.store.id),
    ])
    return {
      product,
      currency: caller.store.currency,
      levels: LEVELS.map((level) => ({ level, price: Number(record[`PriceLevel${level}`]) })).filter(
        ({ price }) => price !== 0,
      ),
      paths,
      morePaths: categories.length - shown.length,
      orders,
      orderCount: count,
      ordersCountedMax: ORDERS_COUNTED_MAX,
      statusText: textsOf(statuses),
    }
  },
  sections: ['price-levels', 'discounts', 'categories', 'option-sets', 'advanced-options'],
  referrers: ['Order'],
  listLinks: [],
}
