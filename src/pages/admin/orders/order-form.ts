import { numberIn } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { Fault } from '../../../values/failure.ts'
import type { FormLine, LookedUp } from './form-lines.ts'

const orderLabels = {
  CustomerID: 'Customer number',
  BillingEmail: 'E-mail',
  BillingFirstName: 'First name',
  BillingLastName: 'Last name',
  BillingCompany: 'Company',
  BillingAddress: 'Address',
  BillingZipCode: 'Postal code',
  BillingCity: 'City',
  BillingState: 'State',
  BillingCountry: 'Country',
  BillingPhoneNumber: 'Phone',
  ShipmentMethodName: 'Shipping method',
  ShipmentCost: 'Shipping cost',
  SalesTax: 'Tax',
  OrderDiscountPromotion: 'Discount',
  BillingPaymentMethodID: 'Payment method',
  CustomerComments: 'Comments',
}

/** The fields copied to the order unchanged. */
const texts = Object.keys(orderLabels).filter((name) => name.startsWith('Billing') || name === 'CustomerComments')

/**
 * Converts the form to the body for `placeOrder`, without empty fields. Throws (400, naming the form's fields) for
 * products that the store does not have and for required options without a choice.
 */
export function orderOf({ values, lines }: LookedUp): Record<string, unknown> {
  return withoutEmpty({
    ...Object.fromEntries(texts.map((name) => [name, textIn(values, name).trim()])),
    CustomerID: numberIn(values, 'CustomerID'),
    SalesTax: numberIn(values, 'SalesTax'),
    OrderDiscountPromotion: numberIn(values, 'OrderDiscountPromotion'),
    BillingOnLinePayment: values.BillingOnLinePayment !== undefined,
    OrderItemList: itemsOf({ values, lines }),
    ShipmentList: shipmentsOf(values),
  })
}

/** The lines of the form as items of an order, without prices. Throws likewise. */
export function itemsOf({ values, lines }: LookedUp): Record<string, unknown>[] {
  const filled = filledLines(lines)
  const faults = filled.flatMap((line) => faultsOf(line, values))
  if (faults.length > 0) throw refusedFields(faults)
  return filled.map((line) => itemOf(line, values))
}

export function filledLines(lines: readonly FormLine[]): FormLine[] {
  return lines.filter(({ typed }) => typed !== '')
}

function faultsOf({ number, product }: FormLine, values: Form): Fault[] {
  if (product === null) return [{ field: `ItemID.${number}`, problem: 'fits no product of this store' }]
  return product.fields
    .filter(({ name, isRequired }) => isRequired && textIn(values, name) === '' && !Array.isArray(values[name]))
    .map(({ name }) => ({ field: name, problem: 'has to be chosen' }))
}

function itemOf({ number, product }: FormLine, values: Form) {
  return withoutEmpty({
    CatalogID: product?.id,
    ItemID: product?.variantSku,
    ItemQuantity: numberIn(values, `ItemQuantity.${number}`),
    ItemOptions: product?.optionIds.map((id) => `,${id}`).join(''),
  })
}

/** The form's name for a field of the body of `placeOrder`. */
export function formField(field: string, lines: readonly FormLine[]): string {
  const [, list, index, name] = /^(\w+)\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const number = filledLines(lines)[Number(index)]?.number
  if (list === 'OrderItemList' && number !== undefined) {
    return `${name === 'ItemQuantity' ? name : 'ItemID'}.${number}`
  }
  return list === 'ShipmentList' && name !== undefined ? name : field
}

export function formLabels(lines: readonly FormLine[]): Record<string, string> {
  return { ...orderLabels, ...lineLabels(lines, 'Line') }
}

/** `title` is what the form calls a line. */
export function lineLabels(lines: readonly FormLine[], title: string): Record<string, string> {
  const labels = lines.flatMap(({ number, product }) => [
    [`ItemID.${number}`, `${title} ${number}: the product`],
    [`ItemQuantity.${number}`, `${title} ${number}: the quantity`],
    [`ItemUnitPrice.${number}`, `${title} ${number}: the price`],
    ...(product?.fields ?? []).map(({ name, label }) => [name, `${title} ${number}: ${label}`]),
  ])
  return Object.fromEntries(labels)
}

const addressParts = ['FirstName', 'LastName', 'Company', 'Address', 'City', 'State', 'ZipCode', 'Country', 'Email']

/** Ships to the billing address. The form asks only for the method and its cost. */
function shipmentsOf(form: Form) {
  const method = textIn(form, 'ShipmentMethodName').trim()
  const cost = numberIn(form, 'ShipmentCost')
  if (method === '' && cost === null) return undefined
  const billing = (name: string) => textIn(form, `Billing${name}`).trim()
  const address = Object.fromEntries(addressParts.map((name) => [`Shipment${name}`, billing(name)]))
  const shipment = { ...address, ShipmentPhone: billing('PhoneNumber'), ShipmentMethodName: method, ShipmentCost: cost }
  return [withoutEmpty(shipment)]
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
}
