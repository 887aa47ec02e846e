import { changeRecord } from '../../../../engine/changing/change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures, otherAmount } from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { isAway, readParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { rehearse } from '../../../../shop/resources/orders/rehearse.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import type { Form } from '../../../html/request.ts'
import { requireUnchanged, type Sent } from '../../frame/pages.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { isOfLine, newLineFields } from './form-lines.ts'
import {
  chargeFields,
  goneName,
  goodsChange,
  goodsFields,
  itemFields,
  lookUpNewLines,
  type StoredItem,
} from './goods-form.ts'
import { labelsOf, storedTexts } from './line-fields.ts'
import { chargesAfter, unseenIn } from './order-charges.ts'
import type { OrderRequest } from './special.ts'

/** What saving would do: the order after it, and the stock. */
type Rehearsal = Awaited<ReturnType<typeof rehearse<OrderRecord>>>

type Charges = Awaited<ReturnType<typeof chargesAfter>>

/** Changes the goods of an order, and its shipping cost, taxes and discounts. */
export const goodsPage = (asked: OrderRequest) => rehearsedPage(asked, null)

async function rehearsedPage(
  { caller, id, record, typed, writing, isOutdated }: OrderRequest,
  rehearsal: Rehearsal | null,
  charges: Charges | null = null,
): Promise<HtmlPage> {
  const { currency } = caller.store
  const stored = storedTexts(goodsFields(record), writing)
  const { lines, values } = await lookUpNewLines(caller, record, { typed: typed ?? {}, writing })
  const returned = new Map((await readReturnedLines(caller, id)).map((line) => [line.row.id, line]))
  const amounts = chargeFields(record, await readParcelNumbers(caller, record))
  const shipped = new Set(record.ShipmentList.filter(isAway).map(({ ShipmentID }) => ShipmentID))
  const goneLabels = record.OrderItemList.map((item) => ({
    name: goneName(item),
    label: t('{sku}: the order', { sku: item.ItemID }),
  }))
  return {
    template: '/pages/shop/orders/change-goods',
    title: t('Goods of order {number}', { number: invoiceOf(record) }),
    // Stored lines and amounts that somebody else has changed are shown as they are now.
    values: { ...stored, ...(typed !== null && (isOutdated ? newLinesIn(values) : values)), ...charges?.fields },
    data: {
      stored: record.OrderItemList.map((item) => ({
        id: item.ItemIndexID,
        optionPrice: item.ItemOptionPrice,
        figures: figuresOf(record, rehearsal, item, currency),
        isShipped: shipped.has(item.ItemShipmentID) || (record.ShipmentList.length === 1 && shipped.size === 1),
        restocked: toNumber(returned.get(item.ItemIndexID)?.restocked ?? 0n),
      })),
      lines,
      thumbnailOf: await readThumbnails(caller, record.OrderItemList),
      lookUpAddress: `/admin/orders/${id}/lines/lookup`,
      isTooLong: record.OrderItemList.length > ORDER_ITEMS_MAX,
      linesMax: ORDER_ITEMS_MAX - record.OrderItemList.length,
      amounts,
      charges,
      totals: totalsOf(record, rehearsal, currency),
      stock: rehearsal?.stock ?? null,
      holdsStock: holdsStock(record.OrderStatusID),
      labels: labelsOf([
        ...record.OrderItemList.flatMap(itemFields),
        ...goneLabels,
        ...amounts,
        ...newLineFields(lines, record.OrderItemList.length),
      ]),
    },
  }
}

/** The fields of a form's new lines. */
function newLinesIn(values: Form): Form {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name === 'Lines' || isOfLine(name)))
}

/** A stored line as it is, or as it would be; its amount is null where it would be removed. */
function figuresOf(record: OrderRecord, rehearsal: Rehearsal | null, item: StoredItem, currency: string) {
  const figuresIn = (of: OrderRecord) => orderFigures(of, currency).lines.find(({ id }) => id === item.ItemIndexID)
  const figures = figuresIn(record)
  return rehearsal === null ? figures : { ...figures, amount: figuresIn(rehearsal.result)?.amount ?? null }
}

/** The order's amounts as they are (`before`) and as they would be. */
function totalsOf(record: OrderRecord, rehearsal: Rehearsal | null, currency: string) {
  const rowsOf = (of: OrderRecord) => {
    const { subtotal, shipping, tax, discount } = orderFigures(of, currency)
    return [subtotal, shipping, tax, -discount, otherAmount(of, currency), of.OrderAmount]
  }
  const before = rowsOf(record)
  const after = rehearsal === null ? null : rowsOf(rehearsal.result)
  const rows = [
    { part: 'goods', label: t('Goods') },
    { part: 'shipping', label: t('Shipping') },
    { part: 'tax', label: t('Tax') },
    { part: 'discount', label: t('Discount') },
    { part: 'other', label: t('Other') },
    { part: 'total', label: t('Total') },
  ]
  return rows
    .map((row, index) => ({ ...row, before: before[index] as number, after: after?.[index] ?? null }))
    .filter(({ part, before, after }) => part === 'total' || part === 'goods' || before !== 0 || (after ?? 0) !== 0)
}

/** Reads what the form changes, unless the order has been changed since the form was shown. */
async function readGoods(asked: Sent<OrderRequest>) {
  const advice =
    'The form shows what is stored now, and the lines that you added. Make your other changes again, and save'
  const precondition = requireUnchanged(asked, 'order', advice)
  return { precondition, change: await goodsChange(asked.caller, asked.record, asked) }
}

type Read = Awaited<ReturnType<typeof readGoods>>

/** What saving the form would do, and what is proposed for the order as it would be. */
async function rehearseGoods(asked: Sent<OrderRequest>, { precondition, change }: Read) {
  const { caller, id, record } = asked
  if (change === null) return { rehearsal: { result: record, stock: [] }, charges: null }
  const { patch, productIds, nameOf } = change
  const rehearsal = await rehearse(caller, { orderId: id, productIds }, async (tx) => {
    await lockRecord(tx, orders, id, [])
    await changeRecord(tx, orders, { kind: 'patch', id, patch }, { precondition })
    const changed: OrderRecord = JSON.parse(await getRecord(tx, orders, id))
    return changed
  }).catch(inFormFields(nameOf))
  return { rehearsal, charges: await chargesAfter(caller, record, rehearsal.result, asked) }
}

/** The form with what saving it would do, at what is proposed. */
export async function totalsPage(asked: Sent<OrderRequest>): Promise<HtmlPage> {
  const { rehearsal, charges } = await rehearseGoods(asked, await readGoods(asked))
  const isFilledIn = charges !== null && unseenIn(charges.fields, asked.typed) !== null
  if (isFilledIn) return totalsPage({ ...asked, typed: { ...asked.typed, ...charges.fields } })
  return rehearsedPage(asked, rehearsal, charges)
}

export async function saveGoods(asked: Sent<OrderRequest>): Promise<string | HtmlPage> {
  const { caller, id } = asked
  const read = await readGoods(asked)
  const { precondition, change } = read
  if (change === null) return `/admin/orders/${id}`
  const { charges } = await rehearseGoods(asked, read)
  const failure = charges && unseenIn(charges.fields, asked.typed)
  if (failure) return { ...(await totalsPage(asked)), failure }
  Object.assign(change.patch.columns, charges?.rate)
  const patching = { kind: 'patch', id, patch: change.patch } as const
  await changeRecord(caller, orders, patching, { precondition }).catch(inFormFields(change.nameOf))
  return `/admin/orders/${id}?notice=record-saved`
}
