import { countRecords } from '../../engine/read.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { element, rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { cartOrders, readOrdersQuery } from './orders-query.ts'

/** How many orders match what getOrder would be asked; none is 0, not an error (soap-cartapi 4.6). */
export const getOrderCount: Operation = async ({ caller, parameters }) => {
  const query = readOrdersQuery(caller, parameters, await readStatusTexts(caller))
  const count = await countRecords(caller, cartOrders, query)
  return rootElement('OrdersCountResponse', element('Quantity', String(count)))
}
