import type { NumberKind } from '../../../../foundation/values/typed-number.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import { numberText, type Writing } from '../../../html/numbers.ts'
import { type Form, textIn } from '../../../html/request.ts'

export type StoredItem = OrderRecord['OrderItemList'][number]
export type Shipment = OrderRecord['ShipmentList'][number]

// The fields of a stored line are `Line.7.ItemQuantity` and the like, by its ItemIndexID.

export const lineField = ({ ItemIndexID }: StoredItem, name: string) => `Line.${ItemIndexID}.${name}`
export const costField = ({ ShipmentID }: Shipment) => `Shipment.${ShipmentID}.ShipmentCost`
export const isGone = (form: Form, item: StoredItem) => form[lineField(item, 'gone')] !== undefined

/** What somebody typed into the form of an order's goods, and how they write numbers. */
export interface TypedGoods {
  readonly form: Form
  readonly writing: Writing
}

/** The text of a field that differs from what is stored. Null: it does not. An emptied one is 0. */
export function changed({ form, writing }: TypedGoods, name: string, stored: number, kind: NumberKind): string | null {
  // A program may have stored more decimals than a person writes.
  if (form[name] === undefined || textIn(form, name).trim() === writing.typed(stored)) return null
  const text = numberText(form, name, writing, kind) || '0'
  return text === String(stored) ? null : text
}
