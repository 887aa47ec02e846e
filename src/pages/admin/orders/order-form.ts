import { textIn } from '../../../html/forms.ts'

/** Lines that the form begins with, and has at most. */
export const LINES_SHOWN = 3
export const LINES_MAX = 50

type Form = Readonly<Record<string, string | string[]>>

const billing = [
  'BillingFirstName',
  'BillingLastName',
  'BillingCompany',
  'BillingAddress',
  'BillingCity',
  'BillingState',
  'BillingZipCode',
  'BillingCountry',
  'BillingPhoneNumber',
  'BillingEmail',
  'CustomerComments',
] as const

/** The body that `placeOrder` takes, out of the form of a page: what is left empty is not sent. */
export function orderOf(form: Form): Record<string, unknown> {
  const texts = Object.fromEntries(billing.map((name) => [name, textIn(form, name).trim()]))
  return withoutEmpty({
    ...texts,
    CustomerID: numberOf(form, 'CustomerID'),
    SalesTax: numberOf(form, 'SalesTax'),
    OrderDiscountPromotion: numberOf(form, 'OrderDiscountPromotion'),
    BillingOnLinePayment: form.BillingOnLinePayment !== undefined,
    OrderItemList: linesOf(form),
    ShipmentList: shipmentsOf(form),
  })
}

function linesOf(form: Form) {
  const numbers = Array.from({ length: LINES_MAX }, (_, index) => index + 1)
  return numbers
    .filter((number) => textIn(form, `ItemID.${number}`).trim() !== '')
    .map((number) =>
      withoutEmpty({
        ItemID: textIn(form, `ItemID.${number}`).trim(),
        ItemQuantity: numberOf(form, `ItemQuantity.${number}`),
        ItemOptions: textIn(form, `ItemOptions.${number}`).trim(),
      }),
    )
}

/** To the billing address; only how it is sent and what that costs are asked for. */
function shipmentsOf(form: Form) {
  const method = textIn(form, 'ShipmentMethodName').trim()
  const cost = numberOf(form, 'ShipmentCost')
  if (method === '' && cost === undefined) return undefined
  return [withoutEmpty({ ...addressOf(form), ShipmentMethodName: method, ShipmentCost: cost })]
}

function addressOf(form: Form) {
  const of = (name: string) => textIn(form, name).trim()
  return {
    ShipmentFirstName: of('BillingFirstName'),
    ShipmentLastName: of('BillingLastName'),
    ShipmentCompany: of('BillingCompany'),
    ShipmentAddress: of('BillingAddress'),
    ShipmentCity: of('BillingCity'),
    ShipmentState: of('BillingState'),
    ShipmentZipCode: of('BillingZipCode'),
    ShipmentCountry: of('BillingCountry'),
    ShipmentPhone: of('BillingPhoneNumber'),
    ShipmentEmail: of('BillingEmail'),
  }
}

/** What is no number goes on as it is, to be refused by name. */
function numberOf(form: Form, name: string): number | string | undefined {
  const text = textIn(form, name).trim()
  if (text === '') return undefined
  return Number.isFinite(Number(text)) ? Number(text) : text
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
}
