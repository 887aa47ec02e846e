import { readPage } from '../../engine/read.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { readLineProducts } from '../../resources/products/products-by-id.ts'
import type { Operation } from '../operation.ts'
import { lineProductIds, orderElements, orderReader } from '../records/order.ts'
import { ResultError } from '../result.ts'
import { cartOrders, readOrdersQuery } from './orders.ts'
import { readBatch, writePage } from './page.ts'

/** A page of the orders that match, by OrderID. Refuses (49) an empty page. */
export const getOrder: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const statuses = await readStatusTexts(caller)
  const query = readOrdersQuery(caller, parameters, statuses)
  const source = { reader: orderReader, filters: cartOrders.filters }
  const page = await readPage(caller, cartOrders, source, { query, ...batch })
  if (page.length === 0) throw new ResultError('orderNotFound', 'No order matches, or startNum is behind the last')
  const products = await readLineProducts(caller, page.flatMap(lineProductIds))
  const context = { statuses, products, timeZone: caller.store.timeZone }
  return writePage('GetOrdersResponse', page, (order) => orderElements.write(order, context))
}
