import { countRecords } from '../../engine/read.ts'
import { readStatusTexts } from '../../resources/order-statuses/status-texts.ts'
import type { Operation } from '../operation.ts'
import { writeResult } from '../result.ts'
import { cartOrders, readOrdersQuery } from './orders.ts'

/** Counts the orders that getOrder would give for the same parameters; none is 0, not an error (soap-cartapi §4.6). */
export const getOrderCount: Operation = async ({ caller, parameters }) => {
  const query = readOrdersQuery(caller, parameters, await readStatusTexts(caller))
  return writeResult('OrdersCountResponse', { Quantity: await countRecords(caller, cartOrders, query) })
}
