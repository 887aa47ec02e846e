import type { Caller } from '../../../engine/caller.ts'
import { readRows } from '../../../engine/changing/write.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { numberIn, numberText, type Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { exact, toNumber } from '../../../resources/orders/amounts.ts'
import { descriptionLines } from '../../../resources/orders/line-description.ts'
import { orderItemList } from '../../../resources/orders/lists.ts'
import { goodsOf, returnedItems, sumByGoods } from '../../../resources/orders/stock.ts'
import { type Text, t } from '../../../texts/text.ts'
import type { Fault } from '../../../values/failure.ts'

// The form of a new return. The fields of a line are `Item.7.ReturnQuantity` and the like, by its ItemIndexID.

const quantities = ['ReturnQuantity', 'ReceivedQuantity', 'RestockQuantity'] as const
const numbers = ['RMAReasonID', 'RMAMethodID', 'RMAStatusID'] as const
const texts = ['Comments', 'InternalComments'] as const

export interface ReturnableLine {
  /** The names of its fields begin with this and a dot. */
  readonly name: string
  readonly row: Row
  readonly sku: string
  readonly title: string
  readonly choices: readonly string[]
  /** Of these goods, in all lines of the order. */
  readonly sold: number
  /** Of these goods, in other returns. */
  readonly returned: number
  /** What a return may have of them; 0: nothing. */
  readonly returnable: number
}

/** The lines of an order, with what may still be returned of them (docs/decisions/returns.md). */
export async function returnableLines(caller: Caller, orderId: number): Promise<ReturnableLine[]> {
  const rows = await readRows(caller, orderItemList, orderId)
  const sold = sumByGoods(rows, 'quantity')
  const returned = sumByGoods(await returnedItems(caller, orderId), 'returnQuantity')
  return rows.map((row) => {
    const [has, gone] = [sold.get(goodsOf(row)) ?? 0n, returned.get(goodsOf(row)) ?? 0n]
    const [title = '', ...choices] = descriptionLines(String(row.description))
    // An item of a return names its line by product or SKU.
    const hasName = row.productId !== null || String(row.sku).trim() !== ''
    return {
      name: `Item.${row.id}`,
      row,
      sku: String(row.sku),
      title,
      choices,
      sold: toNumber(has),
      returned: toNumber(gone),
      returnable: hasName && has > gone ? toNumber(has - gone) : 0,
    }
  })
}

export interface ReturnBody {
  /** For `createRecord`. */
  readonly body: Readonly<Record<string, unknown>>
  /** The form's name for a field that a refusal names. */
  readonly nameOf: (field: string) => string
  /** Refuses (400) more than other returns left. The order is to be locked, and the lines to be read behind that. */
  readonly refuseMore: (lines: readonly ReturnableLine[]) => void
}

/** What somebody typed, and how they write numbers. */
export interface TypedReturn {
  readonly form: Form
  readonly writing: Writing
}

/** Reads the form: lines without a returned quantity are not part of the return. */
export function returnBody(
  orderId: number,
  lines: readonly ReturnableLine[],
  { form, writing }: TypedReturn,
): ReturnBody {
  const numbersOf = ({ name }: ReturnableLine) =>
    quantities.map((quantity) => numberIn(form, `${name}.${quantity}`, writing) ?? 0)
  const quantityOf = ({ name }: ReturnableLine) => numberIn(form, `${name}.ReturnQuantity`, writing) ?? 0
  const isNamed = (line: ReturnableLine) => numbersOf(line).some((quantity) => quantity !== 0)
  const chosen = lines.filter(isNamed)
  const missing = chosen
    .filter((line) => quantityOf(line) <= 0)
    .map((line) => ({ field: `${line.name}.ReturnQuantity`, problem: 'must be more than 0' }))
  if (missing.length > 0) throw refusedFields(missing)
  if (chosen.length === 0) throw refusedFields([{ field: '', problem: 'Say how many pieces of a line are returned' }])
  const items = chosen.map((line) => ({
    ...(line.row.productId !== null && { CatalogID: line.row.productId }),
    SKU: line.sku,
    ...Object.fromEntries(quantities.map((name, index) => [name, numbersOf(line)[index]])),
  }))
  const sent = [
    ...numbers.map((name) => [name, numberText(form, name, writing)]),
    ...texts.map((name) => [name, textIn(form, name).trim()]),
  ].filter(([, text]) => text !== '')
  return {
    body: { OrderID: orderId, ...Object.fromEntries(sent), RMAItemList: items },
    nameOf: (field) => {
      const [, index, name] = /^RMAItemList\[(\d+)\]\.(\w+)$/.exec(field) ?? []
      const line = chosen[Number(index)]
      const isQuantity = quantities.some((quantity) => quantity === name)
      return line === undefined ? field : `${line.name}.${isQuantity ? name : 'ReturnQuantity'}`
    },
    refuseMore: (now) => refuseMore(quantityOf, chosen, now),
  }
}

function refuseMore(
  quantityOf: (line: ReturnableLine) => number,
  chosen: readonly ReturnableLine[],
  now: readonly ReturnableLine[],
): void {
  const left = new Map(now.map(({ row, returnable }) => [goodsOf(row), exact(returnable)]))
  const faults: Fault[] = []
  for (const line of chosen) {
    const goods = goodsOf(line.row)
    const rest = left.get(goods) ?? 0n
    const wanted = exact(quantityOf(line))
    const { sold = 0, returned = 0 } = now.find(({ row }) => goodsOf(row) === goods) ?? {}
    const known = returned > 0 ? `, of which ${returned} are in other returns` : ''
    const problem = `must be at most ${toNumber(rest)}: the order has ${sold}${known}`
    if (wanted > rest) faults.push({ field: `${line.name}.ReturnQuantity`, problem })
    left.set(goods, rest - wanted)
  }
  if (faults.length > 0) throw refusedFields(faults)
}

export function returnLabels(lines: readonly { readonly name: string; readonly sku: string }[]): Record<string, Text> {
  const ofLines = lines.flatMap(({ name, sku }) => [
    [`${name}.ReturnQuantity`, t('{sku}: the returned quantity', { sku })],
    [`${name}.ReceivedQuantity`, t('{sku}: the received quantity', { sku })],
    [`${name}.RestockQuantity`, t('{sku}: the restocked quantity', { sku })],
  ])
  return { ...fieldLabels, ...Object.fromEntries(ofLines) }
}

const fieldLabels = {
  RMAReasonID: t('Reason'),
  RMAMethodID: t('Compensation'),
  RMAStatusID: t('Status'),
  Comments: t('Comments to the customer'),
  InternalComments: t('Internal comments'),
}
