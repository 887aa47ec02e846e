import type { Caller } from '../../../../engine/caller.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import { type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import { readReturnedLines } from '../../../../shop/resources/orders/stock.ts'
import { numberIn, numberText, type Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'

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
  readonly choices: readonly Phrase[]
  readonly sold: number
  /** What other returns have of it. They name goods: of several lines of the same goods, the first ones returned first. */
  readonly returned: number
  /** What a return may have of it; 0: nothing. */
  readonly returnable: number
}

/** The lines of an order, with what may still be returned of them (docs/decisions/returns.md). */
export async function returnableLines(caller: Caller, orderId: number): Promise<ReturnableLine[]> {
  return (await readReturnedLines(caller, orderId)).map(({ row, returned: gone }) => {
    const sold = exact(Number(row.quantity))
    const { name: title, choices } = goodsWords(String(row.description), caller.store.currency)
    // An item of a return names its line by product or SKU.
    const hasName = row.productId !== null || String(row.sku).trim() !== ''
    return {
      name: `Item.${row.id}`,
      row,
      sku: String(row.sku),
      title,
      choices,
      sold: toNumber(sold),
      returned: toNumber(gone),
      returnable: hasName && sold > gone ? toNumber(sold - gone) : 0,
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
    refuseMore: (now) => {
      const faults = chosen.flatMap((line): Fault[] => {
        const { sold = 0, returned = 0, returnable = 0 } = now.find(({ name }) => name === line.name) ?? {}
        const known = returned > 0 ? `, of which ${returned} are in other returns` : ''
        const problem = `must be at most ${returnable}: this line has ${sold}${known}`
        return exact(quantityOf(line)) > exact(returnable) ? [{ field: `${line.name}.ReturnQuantity`, problem }] : []
      })
      if (faults.length > 0) throw refusedFields(faults)
    },
  }
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
