import { readPage } from '../../engine/read.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { readLineProducts } from '../../resources/products/products-by-id.ts'
import type { Operation } from '../operation.ts'
import { productsOf, writeOrder } from '../records/order.ts'
import { ResultError } from '../result-errors.ts'
import { readBatch, writePage } from './batch.ts'
import { cartOrders, readOrdersQuery } from './orders-query.ts'

/** A page of the orders that were asked for, by OrderID. Refuses (49) a page on which there is none. */
export const getOrder: Operation = async ({ caller, parameters }) => {
  const { limit, offset } = readBatch(parameters)
  const statuses = await readStatusTexts(caller)
  const query = readOrdersQuery(caller, parameters, statuses)
  const page = await readPage(caller, cartOrders, cartOrders, { query, limit, offset })
  if (page.length === 0) throw new ResultError('orderNotFound', 'No order matches, or startNum is behind the last')
  const products = await readLineProducts(caller, page.flatMap(productsOf))
  const context = { statuses, products, timeZone: caller.store.timeZone }
  return writePage('GetOrdersResponse', page, (order) => writeOrder(order, context))
}
