import type { Caller } from '../../../../engine/caller.ts'
import { planChange } from '../../../../engine/changing/plan-change.ts'
import type { Patch } from '../../../../engine/definition/input.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { roundCharges } from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { makeLines } from '../../../../shop/resources/orders/order-lines.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { isAway, type ParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { noteStocks, type ReturnedLine, readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import type { Form } from '../../../html/request.ts'
import { type LookedUp, lookUpLines, readPriceLevel } from './form-lines.ts'
import {
  changed,
  costField,
  isGone,
  lineField,
  type Shipment,
  type StoredItem,
  type TypedGoods,
} from './goods-record.ts'
import { takenBackField } from './goods-returned.ts'
import { amountAfter } from './goods-total.ts'
import { filledLines, itemsOf } from './order-form.ts'

// The form of an order's goods. The fields of a new line have the names that they have in the form of a new order.

/** What a line's fields change. */
const lineFields = ['ItemQuantity', 'ItemUnitPrice'] as const
/** The amounts of the order that the form may have. */
const amountFields = ['SalesTax', 'SalesTax2', 'SalesTax3', 'OrderDiscountCoupon', 'OrderDiscountPromotion'] as const

/** The fields of the form for what is stored. */
export function goodsTyped(record: OrderRecord, { typed }: Writing): Record<string, string> {
  const ofLines = record.OrderItemList.flatMap((item) =>
    lineFields.map((name) => [lineField(item, name), typed(item[name])]),
  )
  const costs = record.ShipmentList.map((shipment) => [costField(shipment), typed(shipment.ShipmentCost)])
  const amounts = amountFields.map((name) => [name, typed(record[name])])
  return Object.fromEntries([...ofLines, ...costs, ...amounts])
}

const amountLabels = {
  SalesTax: t('Tax'),
  SalesTax2: t('Second tax'),
  SalesTax3: t('Third tax'),
  OrderDiscountCoupon: t('Discount by coupons'),
  OrderDiscountPromotion: t('Discount'),
}

/**
 * The fields of the order's amounts, with their labels. Those that few orders have are shown where they are set. `numbers`: those of
 * the parcels, by shipment.
 */
export function amountFieldsOf(record: OrderRecord, numbers: ParcelNumbers): { name: string; label: Text }[] {
  const numberOf = ({ ShipmentID }: Shipment) => numbers.get(ShipmentID) ?? 0
  const byNumber = record.ShipmentList.toSorted((one, other) => numberOf(one) - numberOf(other))
  const costs = byNumber.map((shipment) => ({
    name: costField(shipment),
    label:
      record.ShipmentList.length === 1
        ? t('Shipping cost')
        : t('Shipping cost of parcel {number}', { number: numberOf(shipment) }),
  }))
  const isAlways = (name: string) => name === 'SalesTax' || name === 'OrderDiscountPromotion'
  const amounts = amountFields.filter((name) => isAlways(name) || record[name] !== 0)
  return [...costs, ...amounts.map((name) => ({ name, label: amountLabels[name] }))]
}

export function goodsLabels(record: OrderRecord, numbers: ParcelNumbers): Record<string, Text> {
  const ofLines = record.OrderItemList.flatMap((item) => [
    [lineField(item, 'ItemQuantity'), t('{sku}: the quantity', { sku: item.ItemID })],
    [lineField(item, 'ItemUnitPrice'), t('{sku}: the unit price', { sku: item.ItemID })],
    [lineField(item, 'gone'), t('{sku}: the order', { sku: item.ItemID })],
  ])
  const amounts = amountFieldsOf(record, numbers).map(({ name, label }) => [name, label])
  return Object.fromEntries([...ofLines, ...amounts])
}

/** Finds the products of the form's new lines, at the prices of the order's customer. */
export function lookUpNewLines(caller: Caller, record: OrderRecord, { form, writing }: TypedGoods): Promise<LookedUp> {
  return lookUpLines(caller, { form: withCustomer(record, form), writing }, 1)
}

function withCustomer({ CustomerID }: OrderRecord, form: Form): Form {
  return { ...form, CustomerID: String(CustomerID) }
}

export interface GoodsChange {
  /** For `changeRecord`. */
  readonly patch: Patch
  /** The products whose stock may move. */
  readonly productIds: readonly number[]
  /** The form's name for a field that a refusal names. */
  readonly nameOf: (field: string) => string
}

/**
 * Reads what the form changes in the order: lines, amounts, and the total that follows from them. Null: nothing. New lines
 * are made as at the checkout. Throws (400, naming the form's fields) what cannot be.
 */
export async function goodsChange(caller: Caller, record: OrderRecord, typed: TypedGoods): Promise<GoodsChange | null> {
  const { form } = typed
  const lookedUp = await lookUpNewLines(caller, record, typed)
  const kept = record.OrderItemList.filter((item) => !isGone(form, item))
  const added = filledLines(lookedUp.lines)
  const returned = await readReturnedLines(caller, record.OrderID)
  const nameOf = (field: string) => formNameOf(field, { kept, added, record, typed, returned })
  const items = [
    ...kept.map((item) => ({ ItemIndexID: item.ItemIndexID, ...changedIn(typed, item) })),
    ...itemsOf(lookedUp).map((item, index) => ({ ...item, ...priceOf(typed, added[index]), ...placeOf(record) })),
  ]
  refuseCount(items.length)
  const costs = record.ShipmentList.map((shipment) => changed(typed, costField(shipment), shipment.ShipmentCost, 'sum'))
  const amounts = amountFields.flatMap((name) => {
    const text = changed(typed, name, record[name], 'sum')
    return text === null ? [] : [[name, text]]
  })
  const body = {
    ...Object.fromEntries(amounts),
    ...(costs.some((cost) => cost !== null) && { ShipmentList: record.ShipmentList.map(shipmentWith(costs)) }),
    OrderItemList: items,
  }
  const isSame =
    Object.keys(body).length === 1 &&
    added.length === 0 &&
    kept.length === record.OrderItemList.length &&
    items.every((item) => Object.keys(item).length === 1)
  if (isSame) return null

  const patch = await readChange(caller, record, body).catch(inFormFields(nameOf))
  const sent = patch.lists.OrderItemList as Patch[]
  refuseWrong(typed, { sent, kept, record, nameOf })
  const fresh = sent.slice(kept.length)
  const lines = await makeNewLines(caller, record, form, { fresh, added })
  sent.splice(kept.length, fresh.length, ...lines)
  refusePrices(sent, kept, nameOf)
  const { currency } = caller.store
  roundCharges(patch, currency)
  patch.columns.orderAmount = amountAfter(record, patch, kept, currency)
  const productIds = [...record.OrderItemList.map(({ CatalogID }) => CatalogID), ...lines.map(productOf)]
  return { patch, productIds: productIds.filter((id) => id > 0), nameOf }
}

/** Reads the body of what differs from the stored values: nothing in it is what the page showed of them. */
async function readChange(caller: Caller, { OrderID: id }: OrderRecord, body: object): Promise<Patch> {
  const { patch, refusal } = await planChange(caller, orders, { kind: 'update', id, body })
  if (refusal !== null) throw refusal
  return patch as Patch
}

function changedIn(typed: TypedGoods, item: StoredItem): Record<string, string> {
  const texts = lineFields.flatMap((name) => {
    const text = changed(typed, lineField(item, name), item[name], name === 'ItemQuantity' ? 'number' : 'price')
    return text === null ? [] : [[name, text]]
  })
  return Object.fromEntries(texts)
}

/** The price that was typed for a new line. */
function priceOf({ form, writing }: TypedGoods, line: LookedUp['lines'][number] | undefined) {
  const price = numberIn(form, `ItemUnitPrice.${line?.number}`, writing, 'price')
  return price === null ? {} : { ItemUnitPrice: price }
}

/** New lines join the first of several shipments that has not been shipped. */
function placeOf({ ShipmentList: shipments }: OrderRecord) {
  const place = shipments.length > 1 ? shipments.find((shipment) => !isAway(shipment)) : undefined
  return place === undefined ? {} : { ItemShipmentID: place.ShipmentID }
}

const shipmentWith =
  (costs: readonly (string | null)[]) =>
  ({ ShipmentID }: Shipment, index: number) => ({
    ShipmentID,
    ...(costs[index] !== null && { ShipmentCost: costs[index] }),
  })

function refuseCount(count: number): void {
  if (count > 0 && count <= ORDER_ITEMS_MAX) return
  const problem =
    count === 0
      ? 'An order has at least one line. To give up all of it, cancel the order'
      : `An order has at most ${ORDER_ITEMS_MAX} lines; this one would have ${count}`
  throw refusedFields([{ field: '', problem }])
}

/** Refuses quantities of 0 and less, and amounts below 0, among those that are changed. */
function refuseWrong(
  { form, writing }: TypedGoods,
  { sent, kept, record, nameOf }: Pick<Named, 'kept' | 'record'> & Pick<GoodsChange, 'nameOf'> & { sent: Patch[] },
): void {
  const faults = sent.flatMap(({ columns: { quantity } }, index): Fault[] => {
    const isStored = index < kept.length
    if (quantity === undefined ? isStored : Number(quantity) > 0) return []
    const problem = isStored ? 'must be more than 0. Remove the line instead' : 'must be more than 0'
    return [{ field: nameOf(`OrderItemList[${index}].ItemQuantity`), problem }]
  })
  for (const { name } of amountFieldsOf(record, new Map())) {
    if ((numberIn(form, name, writing, 'money') ?? 0) < 0) faults.push({ field: name, problem: 'must not be below 0' })
  }
  if (faults.length > 0) throw refusedFields(faults)
}

/** Refuses prices that are below 0 with the options, among those that are changed. */
function refusePrices(sent: readonly Patch[], kept: readonly StoredItem[], nameOf: GoodsChange['nameOf']): void {
  const faults = sent.flatMap(({ columns: { unitPrice, optionPrice } }, index): Fault[] => {
    const options = Number(optionPrice ?? kept[index]?.ItemOptionPrice ?? 0)
    if (unitPrice === undefined || Number(unitPrice) + options >= 0) return []
    const problem = 'must not be below 0 with the options'
    return [{ field: nameOf(`OrderItemList[${index}].ItemUnitPrice`), problem }]
  })
  if (faults.length > 0) throw refusedFields(faults)
}

/** Makes new lines as at the checkout, with the prices that were typed instead. */
async function makeNewLines(
  caller: Caller,
  record: OrderRecord,
  form: Form,
  { fresh, added }: { fresh: readonly Patch[]; added: LookedUp['lines'] },
): Promise<Patch[]> {
  if (fresh.length === 0) return []
  const typed = fresh.map(({ columns }) => columns.unitPrice)
  const priceLevel = await readPriceLevel(caller, withCustomer(record, form))
  const lines = await makeLines(caller, fresh, priceLevel).catch(
    inFormFields((field) => newLineField(field, added, 0) ?? field),
  )
  noteStocks(lines, holdsStock(record.OrderStatusID))
  return lines.map(({ patch }, index) => {
    const unitPrice = typed[index]
    return unitPrice === undefined ? patch : { ...patch, columns: { ...patch.columns, unitPrice } }
  })
}

function productOf({ columns }: Patch): number {
  return Number(columns.productId ?? 0)
}

interface Named {
  readonly kept: readonly StoredItem[]
  readonly added: LookedUp['lines']
  readonly record: OrderRecord
  readonly typed: TypedGoods
  readonly returned: readonly ReturnedLine[]
}

function formNameOf(field: string, { kept, added, record, typed, returned }: Named): string {
  // The rule about what returns put back names all lines.
  if (field === 'OrderItemList') return takenBackField(record, typed, returned) ?? ''
  const [, list, index, name] = /^(\w+)\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const at = Number(index)
  const shipment = record.ShipmentList[at]
  if (list === 'ShipmentList' && shipment !== undefined) return costField(shipment)
  const item = kept[at]
  if (list === 'OrderItemList' && item !== undefined) return lineField(item, name ?? '')
  return newLineField(field, added, kept.length) ?? field
}

function newLineField(field: string, added: LookedUp['lines'], before: number): string | null {
  const [, index, name] = /^OrderItemList\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const line = added[Number(index) - before]
  if (line === undefined) return null
  return `${name === 'ItemQuantity' || name === 'ItemUnitPrice' ? name : 'ItemID'}.${line.number}`
}
