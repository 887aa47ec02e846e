import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { REFUSALS_MAX, type ReadBody, refusalsOf, settleBody } from '../../../../engine/changing/ignored.ts'
import { emptyPatch } from '../../../../engine/changing/plan-change.ts'
import type { Call, RecordType } from '../../../../engine/definition/endpoints.ts'
import {
  choice,
  type Field,
  type FieldSet,
  fieldSet,
  money,
  object,
  text,
  type ValueField,
} from '../../../../engine/definition/fields.ts'
import { Handling } from '../../../../engine/definition/handling.ts'
import { isAllTaken, notesFor, type Patch, patchSteps } from '../../../../engine/definition/input.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import type { StoreFailure } from '../../../../foundation/values/failure.ts'
import { runInSlices } from '../../../../foundation/values/slices.ts'
import { exact, rounded, toNumber } from '../amounts.ts'
import { roundCharges } from '../figures.ts'
import { orderItemList } from '../lists.ts'
import { membersOf, ORDER_ITEMS_MAX, orderBodyType, wrongIn } from '../order-body.ts'
import { orders } from '../orders.ts'
import { refuseUnknownStatuses, statusCancelled, statusNew } from '../statuses.ts'

// What an application sends to place an order: what the operator's route takes, without what says that it is paid, and with a payment.

/** Members that need `CheckoutPrices`. */
const priced = new Set([
  'OrderDate',
  'OrderStatusID',
  'PromotionList',
  'OrderDiscountCoupon',
  'OrderDiscountPromotion',
  'AffiliateCommission',
  'RewardPoints',
  'ShipmentShippedDate',
  'ItemDateAdded',
  'ItemUnitPrice',
])

const byPayment = 'must not be sent: Payment says what was paid'
const noCards = 'must not be sent: no card data is taken here'
/** Members of the operator's route that are not taken, and why. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ...['BillingOnLinePayment', 'BillingPaymentMethod', 'TransactionList', 'PaymentTokenID'].map(
    (name) => [name, byPayment] as const,
  ),
  ...orderBodyType.fields.entries.flatMap(([name]) => (name.startsWith('Card') ? [[name, noCards] as const] : [])),
])

const ownPrice: ValueField = {
  ...(orderItemList.fields.get('ItemUnitPrice') as ValueField),
  access: 'rw',
  description: 'The price of one piece with its options, in place of the shop’s. Needs the privilege CheckoutPrices.',
}

/** What members are to whoever places an order, where they are another thing to whoever changes it. */
const said: Readonly<Record<string, string>> = {
  CustomerID: 'The customer who orders, one of `/Customers`. Needs the privilege Customers: read. Left out: a guest.',
  OrderStatusID:
    'The status of the order, one of `/OrderStatus` but Cancel; 7 (Not Completed) takes no stock. Needs the privilege CheckoutPrices. Left out: New where the payment covers the total or nothing is to pay, else Unpaid.',
  OrderItemList:
    'The lines: which products, and how many of each. A quantity keeps to the bounds of the product: MinimumQuantity, MaximumQuantity, AllowOnlyMultiples and AllowFractionalQuantity.',
  BillingEmail: 'The e-mail address of the buyer. A guest needs it, or BillingPhoneNumber.',
}

const payment = {
  ...object(
    'Payment',
    {
      Amount: money({
        required: true,
        description:
          'How much was taken or reserved, in the store’s currency: more than 0, and at most the total of the order.',
      }),
      Method: text(255, {
        required: true,
        description: 'How it was paid, such as `PayPal` or `Cash`, as the shop reads it.',
      }),
      Reference: text(255, { description: 'A reference by which the payment service knows the payment.' }),
      Status: choice(['approved', 'authorised'], {
        required: true,
        description: '`approved`: the money was taken. `authorised`: it is reserved, and to be collected later.',
      }),
    },
    'A payment that was taken elsewhere, at the time of the order. Left out: nothing is paid.',
  ),
  isOptional: true,
}

type Payment = RecordOf<typeof payment>

/** What the caller states about its taxes and its customer, which no answer has. */
const stated = ['TaxRate', 'TaxIncluded', 'Locale'].map((name) => [name, orders.storedFields.get(name) as Field])

function taken({ entries }: FieldSet, within?: 'item'): [string, Field][] {
  const own: [string, Field][] = entries
    .filter(([name]) => within === 'item' || !elsewhere.has(name))
    .map(([name, field]) => {
      if (field.kind === 'object') return [name, field]
      const described = { ...field, description: said[name] ?? field.description }
      if (described.kind !== 'list') return [name, described]
      const fields = fieldSet(Object.fromEntries(taken(described.fields, 'item')))
      const typeName = described.typeName.replace('Placed', 'Checkout')
      const bounds = name === 'OrderItemList' && { required: true, itemsMax: ORDER_ITEMS_MAX }
      return [name, { ...described, typeName, fields, ...bounds }]
    })
  return entries.some(([name]) => name === 'ItemQuantity') ? [...own, ['ItemUnitPrice', ownPrice]] : own
}

/** The body of `POST /Checkout`, and of its quote. */
export const checkoutType: RecordType = {
  typeName: 'Checkout',
  nouns: ['order', 'orders'],
  description: `An order as a program places it, without what placing it computes. ${[...priced].join(', ')} need the privilege CheckoutPrices.`,
  fields: fieldSet(Object.fromEntries([...taken(orderBodyType.fields), ...stated, ['Payment', payment]])),
}

/** An order to place, as far as its body alone tells. */
export interface CheckoutBody {
  readonly patch: Patch
  readonly isWrong: boolean
  /** Throws one refusal of everything that is wrong with the body, and of what else was found. */
  readonly refuse: (others: readonly StoreFailure[]) => void
  /** Says in the row whether the payment covers the total. Throws where it is more. */
  readonly settle: (row: Row) => void
}

/** Reads the body of a call. Names that nobody knows are refused whatever the application is: this address has no old clients. */
export async function readCheckout({ caller, records, handling: { refusals } }: Call): Promise<CheckoutBody> {
  const [body] = records
  const handling = new Handling(true)
  for (const refusal of refusals) handling.refuse(refusal)
  const notes = notesFor(handling)
  const rules = { mode: 'import', timeZone: caller.store.timeZone, notes } as const
  const patch = await runInSlices(patchSteps(checkoutType.fields, body, rules))
  const { Payment: paid, ...details } = patch.details
  patch.details = details
  const wrong = [
    ...notes.unknown.flatMap(({ path }) => {
      const why = elsewhere.get(path)
      return why === undefined ? [] : wrongField(path, why, 'unknown-field')
    }),
    ...(allows(caller.privileges, 'CheckoutPrices', 'write')
      ? []
      : membersOf(checkoutType.fields, body)
          .filter(({ name }) => priced.has(name))
          .map(({ path }) => wrongField(path, 'needs the privilege CheckoutPrices: leave it out', 'price-not-allowed'))
          .take(REFUSALS_MAX + 1)),
    ...(await refusedTerms(caller, patch)),
    ...wrongIn(patch),
    ...wrongPayment(paid as Partial<Payment> | undefined, caller),
  ]
  const known = new Set(notes.refusals.map(({ field }) => field))
  const own = wrong.filter(({ field }) => !known.has(field))
  roundCharges(patch, caller.store.currency)
  const amount = notePayment(patch, paid as Partial<Payment> | undefined)
  const left = { ...notes, unknown: notes.unknown.filter(({ path }) => !elsewhere.has(path)) }
  const read: ReadBody = { handling, notes: left, type: checkoutType, body, rules, shownIn: () => undefined }
  return {
    patch,
    isWrong: own.length > 0 || handling.refusals.length > 0 || !isAllTaken(notes),
    refuse: (others) => settleBody(read, null, [...own, ...others]),
    settle: (row) => settlePayment(row, amount, caller),
  }
}

/** Without `Customers: read` every customer is refused alike, so that nobody learns which there are. */
async function refusedTerms(caller: Caller, { columns }: Patch): Promise<StoreFailure[]> {
  const refusals: StoreFailure[] = []
  if (columns.customerId && !allows(caller.privileges, 'Customers', 'read')) {
    refusals.push(wrongField('CustomerID', 'needs the privilege Customers: read', 'forbidden'))
    delete columns.customerId
  }
  const { statusId = 0 } = columns
  if (statusId === statusCancelled) refusals.push(wrongField('OrderStatusID', 'must not be Cancel'))
  else if (statusId) {
    const chosen = [{ statusId: Number(statusId), field: 'OrderStatusID' }]
    refusals.push(...(await refusalsOf(() => refuseUnknownStatuses(caller, chosen))))
  }
  return refusals
}

function wrongPayment(paid: Partial<Payment> | undefined, { store: { currency } }: Caller): StoreFailure[] {
  if (paid === undefined) return []
  const { Amount = 0, Method = '', Status } = paid
  const isExact = rounded(exact(Amount), currency) === exact(Amount)
  return [
    ...(Amount > 0 && isExact
      ? []
      : [wrongField('Payment.Amount', `must be more than 0, in the decimals of ${currency}`, 'out-of-range')]),
    ...(Method !== '' ? [] : [wrongField('Payment.Method', 'is required', 'missing-field')]),
    ...(Status !== undefined
      ? []
      : [wrongField('Payment.Status', 'is required: approved or authorised', 'missing-field')]),
  ]
}

/** Makes the payment the transaction of the order, and its method that of the order. Returns its amount in ten-thousandths. */
function notePayment(patch: Patch, paid: Partial<Payment> | undefined): bigint {
  if (paid === undefined) return 0n
  const { Amount = 0, Method = '', Reference = '', Status } = paid
  const { orderDate } = patch.columns
  const type = Status === 'approved' ? 'Sale' : 'Authorize'
  const columns = { type, amount: Amount, ...(orderDate && { occurredAt: orderDate }) }
  const details = { TransactionMethod: Method, TransactionReference: Reference }
  patch.details.BillingPaymentMethod = Method
  patch.lists.TransactionList = [{ ...emptyPatch, columns, details }]
  return exact(Amount)
}

function settlePayment(row: Row, amount: bigint, { store: { currency } }: Caller): void {
  const total = exact(Number(row.orderAmount))
  if (amount > total) {
    const problem = `must be at most the total of the order, ${toNumber(total)} ${currency}`
    throw wrongField('Payment.Amount', problem, 'out-of-range')
  }
  if (amount > 0n && amount === total) row.paidOnline = true
  if (total === 0n) row.statusId ||= statusNew
}
