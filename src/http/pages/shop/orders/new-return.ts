import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord, inChange } from '../../../../engine/changing/change.ts'
import { type PlannedChange, planChange } from '../../../../engine/changing/plan-change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { rehearse, type StockEffect } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { numberIn, numberText } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import { addOnce } from '../../frame/once.ts'
import { ifUnchanged, type Sent, tagOf } from '../../frame/pages.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { labelsOf, namesIn, type TypedForm } from './line-fields.ts'
import { shownOf } from './refundable.ts'
import { quantityFields, returnLabels, returnsOf, returnWords } from './returns.ts'
import type { OrderRequest } from './special.ts'

/** Adds a return of an order. */
export const newReturnPage = (asked: OrderRequest) => rehearsedPage(asked, null)

async function rehearsedPage(asked: OrderRequest, stock: readonly StockEffect[] | null): Promise<HtmlPage> {
  const { caller, id, record: order, text, typed, isOutdated } = asked
  const lines = await returnableLines(caller, id)
  const goods = lines.map(({ row }) => row)
  const values = typed ?? { RMAReasonID: '0', RMAMethodID: '0', RMAStatusID: '1' }
  const { choices } = await returnWords(caller, values)
  return {
    template: '/pages/shop/orders/new-return',
    title: t('Return of order {number}', { number: invoiceOf(order) }),
    values,
    data: {
      order,
      lines,
      thumbnailOf: await readThumbnails(caller, goods),
      isTooLong: lines.length > ORDER_ITEMS_MAX,
      returned: await returnsOf(caller, id),
      etag: tagOf(await shownOf(caller, id, text), { typed, isOutdated }),
      stock,
      holdsStock: holdsStock(order.OrderStatusID),
      choices,
      labels: { ...returnLabels, ...labelsOf(lines.flatMap(quantityFields)) },
    },
  }
}

type ReturnableLine = Awaited<ReturnType<typeof returnableLines>>[number]

/** The lines of an order, with what may still be returned of them (docs/decisions/returns.md). */
async function returnableLines(caller: Caller, orderId: number) {
  return (await readReturnedLines(caller, orderId)).map(({ row, returned }) => {
    const sold = exact(Number(row.quantity))
    const { name: title, choices } = goodsWords(String(row.description), caller.store.currency)
    // An item of a return names its line by product or SKU.
    const hasName = row.productId !== null || String(row.sku).trim() !== ''
    return {
      /** The names of its fields begin with this and a dot. */
      name: `Item.${row.id}`,
      row,
      sku: String(row.sku),
      title,
      choices,
      sold: toNumber(sold),
      /** What other returns have of it. */
      returned: toNumber(returned),
      /** What a return may have of it; 0: nothing. */
      returnable: hasName && sold > returned ? toNumber(sold - returned) : 0,
    }
  })
}

const quantityNames = ['ReturnQuantity', 'ReceivedQuantity', 'RestockQuantity'] as const
const numbers = ['RMAReasonID', 'RMAMethodID', 'RMAStatusID'] as const
const texts = ['Comments', 'InternalComments'] as const

/** Reads the form: lines without a returned quantity are not part of the return. */
function newReturnOf(orderId: number, lines: readonly ReturnableLine[], { typed, writing }: TypedForm) {
  const quantityIn = ({ name }: ReturnableLine, quantity: string) =>
    numberIn(typed, `${name}.${quantity}`, writing) ?? 0
  const read = lines.map((line) => ({ line, quantities: quantityNames.map((name) => quantityIn(line, name)) }))
  const chosen = read.filter(({ quantities }) => quantities.some((quantity) => quantity !== 0))
  const faults = chosen.flatMap(({ line: { name, sold, returned, returnable }, quantities: [asked = 0] }): Fault[] => {
    if (asked > 0 && exact(asked) <= exact(returnable)) return []
    const known = returned > 0 ? `, of which ${returned} are in other returns` : ''
    const problem = asked <= 0 ? 'must be more than 0' : `must be at most ${returnable}: this line has ${sold}${known}`
    return [{ field: `${name}.ReturnQuantity`, problem }]
  })
  if (faults.length > 0) throw refusedFields(faults)
  if (chosen.length === 0) throw refusedFields([{ field: '', problem: 'Say how many pieces of a line are returned' }])
  const items = chosen.map(({ line: { row, sku }, quantities }) => ({
    ...(row.productId !== null && { CatalogID: row.productId }),
    SKU: sku,
    ...Object.fromEntries(quantityNames.map((name, index) => [name, quantities[index]])),
  }))
  const sent = [
    ...numbers.map((name) => [name, numberText(typed, name, writing)]),
    ...texts.map((name) => [name, textIn(typed, name).trim()]),
  ].filter(([, text]) => text !== '')
  return {
    body: { OrderID: orderId, ...Object.fromEntries(sent), RMAItemList: items },
    /** The form's name for a field that a refusal names. */
    nameOf: namesIn(chosen.flatMap(({ line }, at) => quantityFields(line, at))),
  }
}

/** Reads what the form adds. What other returns leave is as the form showed it, which is looked at again under the order's lock. */
async function readNew(asked: Sent<OrderRequest>) {
  const { caller, id, text, typed } = asked
  const advice = 'The form shows what can be returned now. Check your quantities, and send it again'
  const unchanged = ifUnchanged(typed, 'order', advice)
  // Behind the lines, so that they are those of the form.
  const lines = await returnableLines(caller, id)
  unchanged(await shownOf(caller, id, text))
  const { body, nameOf } = newReturnOf(id, lines, asked)
  const add = async (tx: Caller, planned?: PlannedChange) => {
    await lockRecord(tx, orders, id, [])
    unchanged(await shownOf(tx, id, await getRecord(tx, orders, id)))
    return changeRecord(tx, rma, { kind: 'create', body }, { planned })
  }
  return { lines, body, nameOf, add }
}

/** The form with what adding the return would do to the stock. */
export async function stockOfNew(asked: Sent<OrderRequest>): Promise<HtmlPage> {
  const { caller, id: orderId } = asked
  const { lines, nameOf, add } = await readNew(asked)
  const productIds = lines.flatMap(({ row }) => (row.productId === null ? [] : [Number(row.productId)]))
  const { stock } = await rehearse(caller, { orderId, productIds }, add).catch(inFormFields(nameOf))
  return rehearsedPage(asked, stock)
}

export async function addReturn(asked: Sent<OrderRequest>): Promise<string> {
  const { caller, id, typed } = asked
  await addOnce(caller, typed, {
    scope: `return of order ${id}`,
    resultKey: 'RMAID',
    add: async (remember) => {
      const { body, nameOf, add } = await readNew(asked)
      const work = async () => {
        // Reserves the id outside of the transaction.
        const planned = await planChange(caller, rma, { kind: 'create', body })
        return inChange(caller, (tx) => add(tx, planned), remember)
      }
      return work().catch(inFormFields(nameOf))
    },
    messages: {
      isDone: 'This form has added a return already. If you want to add this one too, press the button again',
      isPending: 'This return is being added. It appears with the order in a moment',
    },
  })
  return `/admin/orders/${id}?notice=return-added`
}
