import type { RecordOf } from '../../src/engine/definition/record-of.ts'
import type { rma } from '../../src/shop/resources/rma/rma.ts'
import { type ReturnFigures, type ReturnTotals, returnTotals } from './figures.ts'

export type WireReturn = RecordOf<typeof rma>

/** By invoice number: what the records say, the credit worked out anew from pieces and the prices in the comments. */
export function figuresOfReturns(records: readonly WireReturn[]): Map<string, ReturnFigures> {
  return new Map(
    records.map((record) => {
      const { OrderID, RmaDate, RMAItemList } = record
      const { invoice, customerId, pricesMilli } = readComments(record)
      const milli = RMAItemList.reduce((sum, item, index) => sum + item.ReturnQuantity * (pricesMilli[index] ?? NaN), 0)
      const pieces = RMAItemList.reduce((sum, { ReturnQuantity }) => sum + ReturnQuantity, 0)
      // No return of the file is of less than nothing.
      const creditPence = Math.floor((milli + 5) / 10)
      const figures = { date: RmaDate, customerId, orderId: OrderID, items: RMAItemList.length, pieces, creditPence }
      return [invoice, figures] as const
    }),
  )
}

export function totalsOfReturns(records: readonly WireReturn[]): ReturnTotals {
  const pieces = new Map<string, number>()
  for (const { SKU, ReturnQuantity } of records.flatMap(({ RMAItemList }) => RMAItemList)) {
    const sku = SKU.toLowerCase()
    pieces.set(sku, (pieces.get(sku) ?? 0) + ReturnQuantity)
  }
  return returnTotals(figuresOfReturns(records).values(), pieces)
}

/** What the comments themselves call the credit, in pence. */
export function creditedPence({ InternalComments }: WireReturn): number {
  return Number(lineOf(InternalComments, 'Credited').replace('.', ''))
}

function readComments({ InternalComments: text }: WireReturn) {
  const customer = lineOf(text, 'Customer')
  return {
    invoice: lineOf(text, 'Invoice'),
    customerId: customer === 'guest' ? 0 : Number(customer),
    pricesMilli: lineOf(text, 'Unit prices')
      .split(', ')
      .map((price) => Math.round(Number(price) * 1000)),
  }
}

function lineOf(text: string, name: string): string {
  const [, value] = new RegExp(`^${name}: (.*)$`, 'm').exec(text) ?? []
  if (value === undefined) throw new Error(`No ${name} in ${JSON.stringify(text)}`)
  return value
}
