import type { FastifyInstance } from 'fastify'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { recordPages, storePages } from '../../frame/pages.ts'
import { compareStatus, leadToFile, leadToSlips, listAgain } from './bulk.ts'
import { addressPage, copiedPage, saveAddresses } from './change-addresses.ts'
import { goodsPage, saveGoods, totalsPage } from './change-goods.ts'
import { productSuggestions } from './find-products.ts'
import { sendLines } from './lines-file.ts'
import { firstPage, place, sentPage, throwAway } from './new-order.ts'
import { addReturn, newReturnPage, stockOfNew } from './new-return.ts'
import { mailForms, messagePage, type OrderMailServices } from './order-mails.ts'
import { changeStatus, orderPage, saveNotes } from './order-page.ts'
import { returnPage, saveReturn, stockOfReturn } from './receive-return.ts'
import { paymentPage, recordPayment } from './record-payment.ts'
import { recordRefund, refundPage, workedOutPage } from './refund.ts'
import { ship, shippingPage } from './shipping.ts'
import { creditNotePage, invoicePage, packingSlipPage, slipNeeds, slipsPage } from './slips.ts'
import { makeVoid, voidPage } from './void-transaction.ts'

const home = '/admin/orders'
const one = `${home}/:id`

/** A form that has added something already is for the order with that. */
const changedOrAdded = [412, 409]

/** Adds the pages of the store's orders beside those of its records: one order, several at once, slips, and placing an order manually. */
export function orderPages(app: FastifyInstance, services: OrderMailServices): void {
  oneOrder(app, services)
  returnsOfOne(app, services)
  severalOrders(app, services)
  newOrder(app, services)
}

function oneOrder(app: FastifyInstance, services: OrderMailServices): void {
  const { page } = recordPages(adminPages(app, ['Orders', 'read']), services, orders)
  const { form, pair, again } = recordPages(adminPages(app, ['Orders', 'write']), services, orders)
  page(one, orderPage)
  form(`${one}/status`, orderPage, changeStatus)
  form(`${one}/notes`, orderPage, saveNotes)
  pair(`${one}/shipments/:shipmentId`, shippingPage, ship)
  pair(`${one}/lines`, goodsPage, saveGoods)
  // Looks up the new lines of the form, or adds one.
  again(`${one}/lines/lookup`, goodsPage)
  form(`${one}/lines/totals`, goodsPage, totalsPage)
  pair(`${one}/addresses`, addressPage, saveAddresses)
  const withCustomers = adminPages(app, ['Orders', 'write'], ['Customers', 'read'])
  const toCustomers = recordPages(withCustomers, services, orders)
  const { sendMessage, sendAgain } = mailForms(services)
  toCustomers.again(`${one}/addresses/copy`, copiedPage)
  toCustomers.pair(`${one}/mails/new`, messagePage, sendMessage)
  toCustomers.form(`${one}/mails/:mailId/again`, orderPage, sendAgain)
  pair(`${one}/payments`, paymentPage, recordPayment, changedOrAdded)
  pair(`${one}/payments/:transactionId/void`, voidPage, makeVoid)
  pair(`${one}/refund`, refundPage, recordRefund, changedOrAdded)
  form(`${one}/refund/amount`, refundPage, workedOutPage)
  page(`${one}/packing-slip`, packingSlipPage)
  const invoices = adminPages(app, ['Orders', 'read'], ...slipNeeds.invoice)
  const documents = recordPages(invoices, services, orders)
  documents.page(`${one}/invoice`, invoicePage)
  documents.page(`${one}/credit-notes/:transactionId`, creditNotePage)
}

function returnsOfOne(app: FastifyInstance, services: CallerServices): void {
  const pages = adminPages(app, ['Orders', 'read'], ['RMA', 'write'])
  const ofOrder = recordPages(pages, services, orders)
  ofOrder.pair(`${one}/returns/new`, newReturnPage, addReturn, changedOrAdded)
  ofOrder.form(`${one}/returns/new/stock`, newReturnPage, stockOfNew, changedOrAdded)
  const ofReturn = recordPages(pages, services, rma, 'rmaId')
  ofReturn.pair(`${one}/returns/:rmaId`, returnPage, saveReturn, changedOrAdded)
  ofReturn.form(`${one}/returns/:rmaId/stock`, returnPage, stockOfReturn, changedOrAdded)
}

function severalOrders(app: FastifyInstance, services: CallerServices): void {
  const reading = storePages(adminPages(app, ['Orders', 'read']), services)
  storePages(adminPages(app, ['Orders', 'write']), services).form(`${home}/bulk/status`, listAgain, compareStatus)
  reading.form(`${home}/bulk/slips`, listAgain, leadToSlips)
  reading.form(`${home}/bulk/file`, listAgain, leadToFile)
  reading.page(`${home}/slips`, slipsPage)
  reading.get(`${home}/lines.csv`, sendLines)
}

function newOrder(app: FastifyInstance, services: CallerServices): void {
  // Whoever places an order says for whom, or takes over the address of a customer.
  const { page, again, form } = storePages(adminPages(app, ['Orders', 'write'], ['Customers', 'read']), services)
  page(`${home}/new`, firstPage)
  again(`${home}/new`, sentPage)
  form(home, sentPage, place)
  form(`${home}/drafts/:id/delete`, firstPage, throwAway)
  // Also for the goods of an order, which somebody may change who reads no customers.
  storePages(adminPages(app, ['Orders', 'write']), services).get(`${home}/products`, productSuggestions)
}
