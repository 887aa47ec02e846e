import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord, inChange } from '../../../../engine/changing/change.ts'
import type { Remember } from '../../../../engine/changing/idempotency.ts'
import { type PlannedChange, planChange } from '../../../../engine/changing/plan-change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import type { Scalar } from '../../../../engine/definition/fields.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { rehearse } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { returnedItems } from '../../../../shop/resources/orders/stock.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { writingOf } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { addOnce } from '../../frame/once.ts'
import { ifUnchanged, tagOf } from '../../frame/unchanged.ts'
import { type ReturnableLine, type ReturnBody, returnableLines, returnBody, returnLabels } from './return-form.ts'
import { returnsOf, returnWords, type ShownReturn } from './returns.ts'

/** The form of a new return of an order. */
export async function newReturnPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false, stock = null }: ShownReturn = {},
): Promise<HtmlPage> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const order: OrderRecord = JSON.parse(await getRecord(caller, orders, id))
  const lines = await returnableLines(caller, id)
  const values = typed ?? { RMAReasonID: '0', RMAMethodID: '0', RMAStatusID: '1' }
  const { choices } = await returnWords(caller, values)
  return {
    template: '/pages/shop/orders/new-return',
    title: t('Return of order {number}', { number: invoiceOf(order) }),
    values,
    data: {
      id,
      lines,
      isTooLong: lines.length > ORDER_ITEMS_MAX,
      returned: await returnsOf(caller, id),
      etag: tagOf(await shownOf(caller, id), typed, isOutdated),
      // A new key each time the form is shown.
      oneTimeKey: randomUUID(),
      stock,
      holdsStock: holdsStock(order.OrderStatusID),
      choices,
      labels: returnLabels(lines),
    },
  }
}

/** What the form of a new return is about: the order, and what its returns have. */
async function shownOf(caller: Caller, orderId: number): Promise<string> {
  return (await getRecord(caller, orders, orderId)) + JSON.stringify(await returnedItems(caller, orderId))
}

const adviceForNew = 'The form shows what can be returned now. Check your quantities, and send it again'

/** Adds the return, after it was found under the order's lock that other returns leave so much. */
async function addReturn(
  tx: Caller,
  orderId: number,
  form: Form,
  { body, refuseMore }: ReturnBody,
  planned?: PlannedChange,
): Promise<Scalar> {
  await lockRecord(tx, orders, orderId, [])
  ifUnchanged(form, 'order', adviceForNew)(await shownOf(tx, orderId))
  refuseMore(await returnableLines(tx, orderId))
  return changeRecord(tx, rma, { kind: 'create', body }, { planned })
}

async function readNew(request: FastifyRequest, services: CallerServices) {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  await getRecord(caller, orders, id)
  const lines = await returnableLines(caller, id)
  return { id, caller, form, lines, read: returnBody(id, lines, { form, writing: writingOf(request) }) }
}

/** The form with what adding the return would do to the stock. */
export async function stockOfNew(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const { id, caller, form, lines, read } = await readNew(request, services)
  const productIds = productsOf(lines)
  const { stock } = await rehearse(caller, { orderId: id, productIds }, (tx) => addReturn(tx, id, form, read)).catch(
    inFormFields(read.nameOf),
  )
  return newReturnPage(request, services, { typed: form, stock })
}

function productsOf(lines: readonly ReturnableLine[]): number[] {
  return lines.flatMap(({ row }) => (row.productId === null ? [] : [Number(row.productId)]))
}

export async function addNew(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id, caller, form, read } = await readNew(request, services)
  const addIn = async (remember: Remember<Scalar> | undefined) => {
    // Reserves the id outside of the transaction.
    const planned = await planChange(caller, rma, { kind: 'create', body: read.body })
    return inChange(caller, (tx) => addReturn(tx, id, form, read, planned), remember)
  }
  await addOnce(caller, form, {
    scope: `return of order ${id}`,
    resultKey: 'RMAID',
    add: addIn,
    idOf: Number,
    messages: {
      isDone: 'This form has added a return already. If you want to add this one too, press the button again',
      isPending: 'This return is being added. It appears with the order in a moment',
    },
  }).catch(inFormFields(read.nameOf))
  return `/admin/orders/${id}?notice=return-added`
}
