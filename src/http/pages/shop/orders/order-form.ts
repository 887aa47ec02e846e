import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { type PlannedChange, planChange } from '../../../../engine/changing/plan-change.ts'
import { patchSteps } from '../../../../engine/definition/input.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { type Fault, StoreFailure } from '../../../../foundation/values/failure.ts'
import { runInSlices } from '../../../../foundation/values/slices.ts'
import { type NumberKind, readTyped, type TypedNumber } from '../../../../foundation/values/typed-number.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { amountOf, exact, percentOf, sum, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { billingNames, customerNames, shippingNames, shippingToBuyer } from '../../../../shop/resources/orders/buyer.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { labelsOf as valueLabels } from '../../records/edit-page.ts'
import { pickList, pickValues } from '../../records/services.ts'
import {
  type FormLine,
  faultsOfLine,
  filledLines,
  isOfLine,
  itemsOf,
  type LookedUp,
  newLineFields,
  withoutEmpty,
} from './form-lines.ts'
import { labelsOf, namesIn } from './line-fields.ts'
import { hasAddressesOfBuyer, shipsToBilling } from './order-buyer.ts'
import { proposedNames } from './order-charges.ts'
import { billingValues, orderService } from './special.ts'

const orderLabels = {
  CustomerID: t('Customer'),
  ...valueLabels({ values: billingValues }),
  ShipmentFirstName: t('Ship to: first name'),
  ShipmentLastName: t('Ship to: last name'),
  ShipmentCompany: t('Ship to: company'),
  ShipmentAddress: t('Ship to: street'),
  ShipmentAddress2: t('Ship to: address line 2'),
  ShipmentZipCode: t('Ship to: postal code'),
  ShipmentCity: t('Ship to: city'),
  ShipmentState: t('Ship to: state'),
  ShipmentCountry: t('Ship to: country'),
  ShipmentPhone: t('Ship to: phone'),
  ...valueLabels({ values: pickValues(pickList(orderService, 'ShipmentList'), 'ShipmentMethodName', 'ShipmentCost') }),
  ...valueLabels({ values: pickValues(orderService, 'SalesTax', 'CustomerComments', 'InternalComments') }),
  OrderDiscountPromotion: t('Discount'),
  DiscountReason: t('Reason for the discount'),
  BillingPaymentMethodID: t('Payment method'),
  Locale: t('Language'),
}

const ticks = ['BillingOnLinePayment', 'ShipToBilling', 'NewCustomer']

/** Whether a field is one of the order, or of its lines, and not of the page alone. */
export function isOfOrder(name: string): boolean {
  return (
    Object.hasOwn(orderLabels, name) ||
    ticks.includes(name) ||
    name === 'AddressOf' ||
    proposedNames.includes(name) ||
    name === 'Lines' ||
    isOfLine(name)
  )
}

/** Whether somebody has typed or chosen anything yet. Countries are there from the start. */
export function isEmptyForm(form: Form): boolean {
  const isMeant = (name: string) => Object.hasOwn(orderLabels, name) && !name.endsWith('Country')
  const typed = Object.entries(form).filter(([name]) => isMeant(name) || name.startsWith('ItemID.'))
  return typed.every(([, value]) => [value].flat().every((text) => text.trim() === ''))
}

/**
 * Converts the form to the body for `placeOrder`, without empty fields: those of a customer's address are left out only where the form
 * does not show it. Throws (400, naming the form's fields) for products that the store does not have and for required options without a
 * choice.
 */
export function orderOf(lookedUp: LookedUp): Record<string, unknown> {
  const faults = faultsOfOrder(lookedUp)
  if (faults.length > 0) throw refusedFields(faults)
  const { values, writing } = lookedUp
  const text = (name: string) => textIn(values, name).trim()
  const billing = Object.fromEntries(billingNames.map((name) => [name, text(name)]))
  const reason = text('DiscountReason')
  const body = withoutEmpty({
    ...billing,
    BillingPaymentMethodID: text('BillingPaymentMethodID'),
    CustomerComments: text('CustomerComments'),
    InternalComments: text('InternalComments'),
    CustomerID: numberIn(values, 'CustomerID', writing),
    SalesTax: numberIn(values, 'SalesTax', writing, 'sum'),
    OrderDiscountPromotion: discountIn(lookedUp),
    BillingOnLinePayment: values.BillingOnLinePayment !== undefined,
    PromotionList: reason && [{ PromotionName: reason, DiscountAmount: discountIn(lookedUp) }],
    OrderItemList: itemsOf(lookedUp),
    ShipmentList: shipmentsOf(lookedUp),
  })
  return hasAddressesOfBuyer(values) ? { ...billing, ...body } : body
}

const amountNames = ['ShipmentCost', 'SalesTax']

/** What number with decimals people type into the field; undefined: none. */
function kindOf(name: string): NumberKind | undefined {
  if (amountNames.includes(name.replace('Proposed.', ''))) return 'sum'
  return name.startsWith('ItemQuantity.') ? 'number' : undefined
}

/**
 * The fields of a form that was kept while its reader wrote numbers in another way: with the numbers as they write them now. What was
 * no number then and would be one now is left out, because nobody has meant that.
 */
export function rewritten(form: Form, former: Pick<Writing, 'decimalSign'>, writing: Writing): Form {
  if (former.decimalSign === writing.decimalSign) return form
  const numbers = Object.keys(form).filter((name) => kindOf(name) !== undefined)
  const inWriting = (text: string, kind: NumberKind = 'number') => {
    const plain = readTyped(text, { ...writing, ...former }, kind).text
    if (plain !== null) return writing.typed(plain)
    return readTyped(text, writing, kind).text === null ? text : ''
  }
  const texts = numbers.map((name) => [name, inWriting(textIn(form, name), kindOf(name))])
  const { typed, isPercent } = readDiscount(textIn(form, DISCOUNT), writing)
  const discount = inWriting(typed, isPercent ? 'number' : 'sum')
  const isKept = isPercent && discount !== ''
  return { ...form, ...Object.fromEntries(texts), [DISCOUNT]: isKept ? `${discount}%` : discount }
}

/** Everything that is wrong with the form as far as it says so itself. */
export function faultsOfOrder({ values, lines, writing }: LookedUp): Fault[] {
  const filled = filledLines(lines)
  const numbers = ['CustomerID', ...filled.map(({ number }) => `ItemQuantity.${number}`), ...amountNames]
  const wrong = numbers.map((field) => ({ field, ...readTyped(textIn(values, field), writing, kindOf(field)) }))
  const hasReason = textIn(values, 'DiscountReason').trim() !== ''
  const discount = readDiscount(textIn(values, DISCOUNT), writing)
  const isWithout = hasReason && discount.problem === '' && Number(discount.text) <= 0
  return [
    ...(filled.length > 0
      ? filled.flatMap((line) => faultsOfLine(line, values))
      : [{ field: `ItemID.${lines[0]?.number ?? 1}`, problem: 'has to be chosen' }]),
    ...[...wrong, { field: DISCOUNT, ...discount }].filter(({ problem }) => problem !== ''),
    ...(isWithout ? [{ field: DISCOUNT, problem: 'must be above 0, because a reason for it is given' }] : []),
  ]
}

const ofCustomer = new Map(Object.entries(customerNames).map(([ours, theirs]) => [theirs, ours]))

/** The form's name for a field of the body of `placeOrder`, or of a customer that is added with the order. */
export function formField(field: string, lines: readonly FormLine[]): string {
  const [, list, name] = /^(PromotionList|ShipmentList)\[\d+\]\.(\w+)$/.exec(field) ?? []
  if (list === undefined) return ofCustomer.get(field) ?? namesIn(newLineFields(filledLines(lines), null))(field)
  return list === 'PromotionList' ? 'DiscountReason' : (name ?? field)
}

/**
 * Reads the customer that the form adds with the order; null: none. Without a password: the customer asks for one. Throws (400, naming
 * the form's fields) what is wrong with them.
 */
export async function newCustomerOf(caller: Caller, values: Form): Promise<PlannedChange | null> {
  if (values.NewCustomer === undefined || textIn(values, 'CustomerID').trim() !== '') return null
  if (!allows(caller.privileges, 'Customers', 'write')) {
    throw new StoreFailure('forbidden', 'Your role in this store may not add customers')
  }
  const text = (name: string) => textIn(values, name).trim()
  const shipping = shipsToBilling(values) ? [] : shippingNames
  const fields = [...billingNames, ...shipping].map((name) => [customerNames[name] ?? name, text(name)])
  const rules = { mode: 'import', timeZone: caller.store.timeZone } as const
  const patch = await runInSlices(patchSteps(customers.fields, withoutEmpty(Object.fromEntries(fields)), rules))
  return planChange(caller, customers, { kind: 'patch', id: null, patch })
}

export function formLabels(lines: readonly FormLine[]): Record<string, Text> {
  return { ...orderLabels, ...labelsOf(newLineFields(lines, null)) }
}

/** Without fields for it, the order ships to its billing address. */
function shipmentsOf({ values: form, writing }: LookedUp) {
  const method = textIn(form, 'ShipmentMethodName').trim()
  const cost = numberIn(form, 'ShipmentCost', writing, 'sum')
  const isToBilling = shipsToBilling(form)
  if (isToBilling && method === '' && cost === null) return undefined
  const billing = Object.fromEntries(billingNames.map((name) => [name, textIn(form, name).trim()]))
  const own = Object.fromEntries(shippingNames.map((name) => [name, textIn(form, name).trim()]))
  const address = isToBilling ? shippingToBuyer(billing) : { ...own, ShipmentEmail: billing.BillingEmail }
  return [withoutEmpty({ ...address, ShipmentMethodName: method, ShipmentCost: cost })]
}

/** The field of the discount, which is typed as an amount, or as a percentage of the goods. The order has the amount. */
const DISCOUNT = 'OrderDiscountPromotion'
const NO_DISCOUNT = 'must be an amount, such as 12, or a percentage, such as 10%'

/** Reads the number of a discount, and whether it is a percentage. `typed`: what of it is that number. */
function readDiscount(given: string, writing: Writing): TypedNumber & { isPercent: boolean; typed: string } {
  const [, percent] = /^(.*?)\s*%\s*$/s.exec(given) ?? []
  const isPercent = percent !== undefined
  const typed = percent ?? given
  const read = readTyped(typed, writing, isPercent ? 'number' : 'sum')
  return { ...(read.text === '' && isPercent ? { text: null, problem: NO_DISCOUNT } : read), isPercent, typed }
}

/** Returns the amount of the form's discount; null: none. Throws (400, naming the field) for what is neither amount nor percentage. */
function discountIn({ values, lines, writing, currency }: LookedUp): number | null {
  const { text: plain, problem, isPercent } = readDiscount(textIn(values, DISCOUNT), writing)
  if (plain === null || problem !== '') throw refusedFields([{ field: DISCOUNT, problem }])
  if (plain === '') return null
  if (!isPercent) return Number(plain)
  const goods = lines.map(({ number, product }) => {
    const quantity = numberIn(values, `ItemQuantity.${number}`, writing)
    return amountOf(exact(product?.price ?? 0), exact(quantity ?? 1), currency)
  })
  return toNumber(percentOf(sum(goods), exact(Number(plain)), currency))
}
