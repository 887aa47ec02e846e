import type { Caller } from '../../../../engine/caller.ts'
import { planChange } from '../../../../engine/changing/plan-change.ts'
import type { Patch } from '../../../../engine/definition/input.ts'
import { t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { exact, ORDER_AMOUNT_MAX, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import {
  discountField,
  orderFigures,
  otherAmount,
  partsAfter,
  roundCharges,
} from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { makeLines } from '../../../../shop/resources/orders/order-lines.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { isAway, type ParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { noteStocks, type ReturnedLine, readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import { numberIn } from '../../../html/numbers.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import {
  type FormLine,
  filledLines,
  itemsOf,
  type LookedUp,
  lookUpLines,
  newLineFields,
  readPriceLevel,
} from './form-lines.ts'
import { changedMembers, changedText, type LineField, namesIn, type TypedForm } from './line-fields.ts'

// The form of an order's goods. The fields of a new line have the names that they have in the form of a new order.

export type StoredItem = OrderRecord['OrderItemList'][number]

const fieldName = ({ ItemIndexID }: StoredItem, name: string) => `Line.${ItemIndexID}.${name}`
/** The tick that removes a line. */
export const goneName = (item: StoredItem) => fieldName(item, 'gone')

/** The quantity and the price of a stored line that has this place in the body. */
export function itemFields(item: StoredItem, at: number): [quantity: LineField, price: LineField] {
  const { ItemID: sku, ItemQuantity, ItemUnitPrice } = item
  const field = (name: string) => ({ name: fieldName(item, name), path: `OrderItemList[${at}].${name}` })
  return [
    { ...field('ItemQuantity'), label: t('{sku}: the quantity', { sku }), stored: ItemQuantity },
    { ...field('ItemUnitPrice'), label: t('{sku}: the unit price', { sku }), kind: 'price', stored: ItemUnitPrice },
  ]
}

/** The shipping costs of an order, as it has its shipments. `numbers`: those of the parcels. */
function costFields({ ShipmentList }: OrderRecord, numbers: ParcelNumbers): LineField[] {
  return ShipmentList.map(({ ShipmentID, ShipmentCost }, at) => ({
    name: `Shipment.${ShipmentID}.ShipmentCost`,
    path: `ShipmentList[${at}].ShipmentCost`,
    label:
      ShipmentList.length === 1
        ? t('Shipping cost')
        : t('Shipping cost of parcel {number}', { number: numbers.get(ShipmentID) ?? 0 }),
    kind: 'sum',
    stored: ShipmentCost,
  }))
}

const amountLabels = {
  SalesTax: t('Tax'),
  SalesTax2: t('Second tax'),
  SalesTax3: t('Third tax'),
  OrderDiscountCoupon: t('Discount by coupons'),
  OrderDiscountPromotion: t('Discount'),
}

function amountFields(record: OrderRecord): LineField[] {
  const names = Object.keys(amountLabels) as (keyof typeof amountLabels)[]
  return names.map((name) => ({ name, path: name, label: amountLabels[name], kind: 'sum', stored: record[name] }))
}

/** What the form has of the order beside its lines: costs by the numbers of the parcels, and of the amounts those that most orders have or that are set. */
export function chargeFields(record: OrderRecord, numbers: ParcelNumbers): LineField[] {
  const numberOf = (at: number) => numbers.get(record.ShipmentList[at]?.ShipmentID ?? 0) ?? 0
  const costs = costFields(record, numbers).map((field, at) => ({ field, number: numberOf(at) }))
  const isAlways = (name: string) => name === 'SalesTax' || name === 'OrderDiscountPromotion'
  return [
    ...costs.sort((one, other) => one.number - other.number).map(({ field }) => field),
    ...amountFields(record).filter(({ name, stored }) => isAlways(name) || stored !== 0),
  ]
}

/** Finds the products of the form's new lines, at the prices of the order's customer. */
export function lookUpNewLines(caller: Caller, record: OrderRecord, form: TypedForm): Promise<LookedUp> {
  return lookUpLines(caller, form, { customerId: record.CustomerID, linesShown: 1 })
}

/** Finds the form's name for a field that a refusal names. */
type NameOf = (field: string) => string

/**
 * Reads what the form changes in the order: lines, amounts, and the total that follows from them. Null: nothing. New lines
 * are made as at the checkout. Throws (400, naming the form's fields) what cannot be.
 */
export async function goodsChange(caller: Caller, record: OrderRecord, form: TypedForm) {
  const lookedUp = await lookUpNewLines(caller, record, form)
  const kept = record.OrderItemList.filter((item) => form.typed[goneName(item)] === undefined)
  const added = filledLines(lookedUp.lines)
  const returned = await readReturnedLines(caller, record.OrderID)
  const nameIn = namesIn([
    ...kept.flatMap(itemFields),
    ...costFields(record, new Map()),
    ...newLineFields(added, kept.length),
  ])
  // The rule about what returns put back names all lines.
  const nameOf = (field: string) =>
    field === 'OrderItemList' ? (takenBackField(record, form, returned) ?? '') : nameIn(field)
  const items = [
    ...kept.map((item, at) => ({ ItemIndexID: item.ItemIndexID, ...changedMembers(itemFields(item, at), form) })),
    ...itemsOf(lookedUp).map((item, index) => ({ ...item, ...priceOf(form, added[index]), ...placeOf(record) })),
  ]
  refuseCount(items.length)
  const shipments = record.ShipmentList.map(({ ShipmentID }, at) => ({
    ShipmentID,
    ...changedMembers(costFields(record, new Map()).slice(at, at + 1), form),
  }))
  const hasChange = (item: object) => Object.keys(item).length > 1
  const body = {
    ...changedMembers(amountFields(record), form),
    ...(shipments.some(hasChange) && { ShipmentList: shipments }),
    OrderItemList: items,
  }
  const isSame = !hasChange(body) && items.length === record.OrderItemList.length && added.length === 0
  if (isSame && !items.some(hasChange)) return null

  const patch = await readChange(caller, record, body).catch(inFormFields(nameOf))
  const sent = patch.lists.OrderItemList as Patch[]
  refuseWrong(form, { sent, kept, record, nameOf })
  const fresh = sent.slice(kept.length)
  const lines = await makeNewLines(caller, record, fresh, added)
  sent.splice(kept.length, fresh.length, ...lines)
  refusePrices(sent, kept, nameOf)
  const { currency } = caller.store
  roundCharges(patch, currency)
  patch.columns.orderAmount = amountAfter(record, patch, kept, currency)
  // The products whose stock may move.
  const productIds = [
    ...record.OrderItemList.map(({ CatalogID }) => CatalogID),
    ...lines.map(({ columns }) => Number(columns.productId ?? 0)),
  ]
  return { patch, productIds: productIds.filter((id) => id > 0), nameOf }
}

/** Reads the body of what differs from the stored values: nothing in it is what the page showed of them. */
async function readChange(caller: Caller, { OrderID: id }: OrderRecord, body: object): Promise<Patch> {
  const { patch, refusal } = await planChange(caller, orders, { kind: 'update', id, body })
  if (refusal !== null) throw refusal
  return patch as Patch
}

/** The price that was typed for a new line. */
function priceOf({ typed, writing }: TypedForm, line: FormLine | undefined) {
  const price = numberIn(typed, `ItemUnitPrice.${line?.number}`, writing, 'price')
  return price === null ? {} : { ItemUnitPrice: price }
}

/** New lines join the first of several shipments that has not been shipped. */
function placeOf({ ShipmentList: shipments }: OrderRecord) {
  const place = shipments.length > 1 ? shipments.find((shipment) => !isAway(shipment)) : undefined
  return place === undefined ? {} : { ItemShipmentID: place.ShipmentID }
}

function refuseCount(count: number): void {
  if (count > 0 && count <= ORDER_ITEMS_MAX) return
  const problem =
    count === 0
      ? 'An order has at least one line. To give up all of it, cancel the order'
      : `An order has at most ${ORDER_ITEMS_MAX} lines; this one would have ${count}`
  throw refusedFields([{ field: '', problem }])
}

interface Sent {
  readonly sent: readonly Patch[]
  readonly kept: readonly StoredItem[]
  readonly record: OrderRecord
  readonly nameOf: NameOf
}

/** Refuses quantities of 0 and less, and amounts below 0, among those that are changed. */
function refuseWrong({ typed, writing }: TypedForm, { sent, kept, record, nameOf }: Sent): void {
  const faults = sent.flatMap(({ columns: { quantity } }, index): Fault[] => {
    const isStored = index < kept.length
    if (quantity === undefined ? isStored : Number(quantity) > 0) return []
    const problem = isStored ? 'must be more than 0. Remove the line instead' : 'must be more than 0'
    return [{ field: nameOf(`OrderItemList[${index}].ItemQuantity`), problem }]
  })
  for (const { name } of chargeFields(record, new Map())) {
    if ((numberIn(typed, name, writing, 'money') ?? 0) < 0) faults.push({ field: name, problem: 'must not be below 0' })
  }
  if (faults.length > 0) throw refusedFields(faults)
}

/** Refuses prices that are below 0 with the options, among those that are changed. */
function refusePrices(sent: readonly Patch[], kept: readonly StoredItem[], nameOf: NameOf): void {
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
  fresh: readonly Patch[],
  added: readonly FormLine[],
): Promise<Patch[]> {
  if (fresh.length === 0) return []
  const typed = fresh.map(({ columns }) => columns.unitPrice)
  const priceLevel = await readPriceLevel(caller, record.CustomerID)
  const lines = await makeLines(caller, fresh, { priceLevel }).catch(inFormFields(namesIn(newLineFields(added, 0))))
  noteStocks(lines, holdsStock(record.OrderStatusID))
  return lines.map(({ patch }, index) => {
    const unitPrice = typed[index]
    return unitPrice === undefined ? patch : { ...patch, columns: { ...patch.columns, unitPrice } }
  })
}

/** The field of the first line whose goods would be fewer than returns put back. */
function takenBackField(
  { OrderItemList }: OrderRecord,
  form: TypedForm,
  returned: readonly ReturnedLine[],
): string | undefined {
  const isGone = (item: StoredItem) => form.typed[goneName(item)] !== undefined
  const quantityOf = (item: StoredItem) =>
    isGone(item) ? 0 : Number(changedText(itemFields(item, 0)[0], form) ?? item.ItemQuantity)
  const known = OrderItemList.flatMap((item) => {
    const found = returned.find(({ row, restockedGoods }) => row.id === item.ItemIndexID && restockedGoods > 0n)
    return found === undefined ? [] : [{ item, goods: found.goods, quantity: found.restockedGoods }]
  })
  const left = new Map<string, bigint>()
  for (const { item, goods } of known) left.set(goods, (left.get(goods) ?? 0n) + exact(quantityOf(item)))
  const short = known.find(
    ({ item, goods, quantity }) => quantityOf(item) < item.ItemQuantity && (left.get(goods) ?? 0n) < quantity,
  )?.item
  return short && (isGone(short) ? goneName(short) : itemFields(short, 0)[0].name)
}

/**
 * What the order amounts to after the change. A total that is not the sum of the order's parts, such as one with a gift
 * certificate, keeps the difference (docs/decisions/orders.md). Throws (400) what no total can be.
 */
function amountAfter(record: OrderRecord, patch: Patch, kept: readonly StoredItem[], currency: string): number {
  const { sum: after, discount } = partsAfter(record, patch, kept, currency)
  // What an import brought may stay as far below 0.
  if (after < 0n && after < exact(orderFigures(record, currency).sum) && discount > 0n) {
    const [rest, discounts] = [after + discount, discount].map((all) => `${toNumber(all)} ${currency}`)
    const problem = `must be lowered: goods, shipping and taxes come to ${rest}, and the discounts to ${discounts}`
    const { discountPromotion = record.OrderDiscountPromotion } = patch.columns
    throw refusedFields([{ field: discountField({ discountPromotion }), problem }])
  }
  const total = (after > 0n ? after : 0n) + exact(otherAmount(record, currency))
  if (total > ORDER_AMOUNT_MAX) {
    const problem = `The order would amount to more than ${toNumber(ORDER_AMOUNT_MAX)}`
    throw refusedFields([{ field: '', problem }])
  }
  return total > 0n ? toNumber(total) : 0
}

/** The fields of the form for what is stored. */
export function goodsFields(record: OrderRecord): LineField[] {
  return [...record.OrderItemList.flatMap(itemFields), ...costFields(record, new Map()), ...amountFields(record)]
}
