import type { Caller } from '../../../engine/caller.ts'
import { type Field, type FieldSet, fieldSet, type ValueField } from '../../../engine/definition/fields.ts'
import { isRecord, type Patch, patchSteps } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { runInSlices } from '../../../foundation/values/slices.ts'
import { roundCharges } from './figures.ts'
import { shipmentList } from './lists.ts'
import { orders } from './orders.ts'
import { statusNotCompleted } from './statuses.ts'

/** Items of a new order. */
export const ORDER_ITEMS_MAX = 500

/** Fields that placing an order computes, besides those that callers can never write. */
const computed = new Set([
  'InvoiceNumberPrefix',
  'InvoiceNumber',
  'OrderAmount',
  'ShipmentOrderStatus',
  'ShipmentNumber',
  'ItemDescription',
  'ItemUnitPrice',
  'ItemWeight',
  'ItemOptionPrice',
  'ItemUnitCost',
])

/** Fields that clients of the API cannot write, and only the checkout knows. */
const fromCheckout = new Set([
  'ContinueURL',
  'BillingPaymentMethod',
  'QuestionTitle',
  'QuestionType',
  'QuestionCheckoutStep',
  'QuestionSorting',
  'QuestionDiscountGroup',
])

/** Whether a field is computed when the order is placed, and must not be sent. */
function isComputed(name: string, field: Field): boolean {
  if (field.kind === 'object' || field.kind === 'list') return false
  return computed.has(name) || (['key', 'ro', 'derived'].includes(field.access) && !fromCheckout.has(name))
}

/** The fields that the body may have, for the API description. */
export const orderBodyType = {
  typeName: 'PlacedOrder',
  description: 'An order as a checkout sends it, without what placing it computes.',
  fields: sendable(orders.fields.shown),
}

function sendable({ entries }: FieldSet): FieldSet {
  const fields = entries
    .filter(([name, field]) => !isComputed(name, field))
    .map(([name, field]) => {
      if (field.kind === 'object') return [name, field]
      if (field.kind !== 'list') return [name, { ...field, access: field.access === 'ro' ? 'rw' : field.access }]
      return [name, { ...field, typeName: `Placed${field.typeName}`, fields: sendable(field.fields) }]
    })
  return fieldSet(Object.fromEntries(fields))
}

/** What counts toward the order's amount. */
const orderAmounts = ['OrderDiscountCoupon', 'OrderDiscountPromotion', 'SalesTax', 'SalesTax2', 'SalesTax3']
const shipmentAmounts = ['ShipmentCost', 'ShipmentWeight']

/**
 * Reads the body of `POST /admin/stores/{id}/orders`, with the wire names of Order. Refuses (400, with the field's
 * path) computed and unknown fields, and values out of bounds. Accepts what only the checkout knows, and rounds charges.
 */
export async function readOrderBody(caller: Caller, body: unknown): Promise<Patch> {
  refuseNames(body)
  const patch = await runInSlices(patchSteps(orders.fields, body, { mode: 'import', timeZone: caller.store.timeZone }))
  const [wrong] = wrongIn(patch)
  if (wrong) throw wrong
  const { statusId = statusNotCompleted } = patch.columns
  if (statusId !== statusNotCompleted) {
    const allowed = `${statusNotCompleted} (Not Completed), or left out: New or Unpaid is set then`
    throw wrongField('OrderStatusID', `may be ${allowed}`)
  }
  roundCharges(patch, caller.store.currency)
  return patch
}

interface BodyMember {
  /** Empty: the fields have no such name. */
  readonly name: string
  readonly field: Field | undefined
  readonly path: string
  /** Of the item that it is in; empty: in none. */
  readonly within: string
}

/** The members of a body that have a value, and those of the items of its lists. */
export function* membersOf(fields: FieldSet, body: unknown, within = ''): Generator<BodyMember, undefined> {
  if (!isRecord(body)) return
  for (const [given, member] of Object.entries(body)) {
    if (member === null || member === undefined) continue
    const name = fields.byLowerName.get(given.toLowerCase()) ?? ''
    const field = fields.get(name)
    const path = `${within}${name || given.slice(0, 50)}`
    yield { name, field, path, within }
    if (field?.kind !== 'list' || !Array.isArray(member)) continue
    for (const [index, item] of member.entries()) yield* membersOf(field.fields, item, `${path}[${index}].`)
  }
}

function refuseNames(body: unknown): void {
  for (const { name, field, path, within } of membersOf(orders.fields.shown, body)) {
    if (field === undefined) {
      const logMessage = `${within || 'The order: '}a field that cannot be sent`
      throw new StoreFailure('unknown-field', `${path} is not a field that can be sent`, { field: path, logMessage })
    }
    if (isComputed(name, field)) {
      throw wrongField(path, 'is computed when the order is placed, and must not be sent', 'read-only-field')
    }
  }
}

/** Why the items and the amounts of a new order are refused. */
export function wrongIn(patch: Patch): StoreFailure[] {
  const { OrderItemList: items = [], ShipmentList: shipments = [] } = patch.lists
  return [
    ...wrongItems(items),
    ...negativeIn(patch, orders.fields, orderAmounts, ''),
    ...shipments.flatMap((each, at) => negativeIn(each, shipmentList.fields, shipmentAmounts, `ShipmentList[${at}].`)),
  ]
}

function wrongItems(items: readonly Patch[]): StoreFailure[] {
  if (items.length === 0 || items.length > ORDER_ITEMS_MAX) {
    const code = items.length === 0 ? 'missing-field' : 'too-many-items'
    return [wrongField('OrderItemList', `must have 1 to ${ORDER_ITEMS_MAX} items; it has ${items.length}`, code)]
  }
  return items.flatMap(({ columns }, index) => {
    const path = `OrderItemList[${index}]`
    const isNamed = Boolean(columns.productId || columns.sku)
    const isCounted = columns.quantity !== undefined
    return [
      ...(isNamed ? [] : [wrongField(`${path}.CatalogID`, 'is required, or ItemID', 'missing-field')]),
      ...(isCounted ? [] : [wrongField(`${path}.ItemQuantity`, 'is required', 'missing-field')]),
      ...(isCounted && Number(columns.quantity) <= 0
        ? [wrongField(`${path}.ItemQuantity`, 'must be more than 0', 'out-of-range')]
        : []),
    ]
  })
}

function negativeIn({ columns }: Patch, fields: FieldSet, names: readonly string[], path: string): StoreFailure[] {
  return names
    .filter((name) => Number(columns[(fields.get(name) as ValueField).column ?? ''] ?? 0) < 0)
    .map((name) => wrongField(path + name, 'must not be negative', 'out-of-range'))
}
