import { mayRead } from '../../../../access/applications/privileges.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { readProductOrders } from '../../../../shop/resources/products/product-orders.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import type { RecordRequest } from '../../frame/request.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'
import { pickList, serviceOf } from '../../records/services.ts'
import { offeredChoices } from './filter-choices.ts'

const ORDERS_SHOWN = 10
const ORDERS_COUNTED_MAX = 1_000
const PATHS_SHOWN = 20
const LEVELS = Array.from({ length: 10 }, (_, at) => at + 1)

export type ProductRecord = RecordOf<typeof products>
/** A request to a page of one product. */
export type ProductRequest = RecordRequest<ProductRecord>

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
  inSight: ['find', 'categoryid', 'manufacturerid', 'hide'],
  offered: offeredChoices,
  selection: { template: '/pages/shop/products/selection', action: '/admin/products/bulk', isAskedOnPage: true },
})

export const advancedOptions = pickList(productService, 'AdvancedOptionList')
export const discounts = pickList(productService, 'DiscountList')
