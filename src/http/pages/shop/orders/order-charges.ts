import type { Caller } from '../../../../engine/caller.ts'
import { keep } from '../../../../engine/changing/merge.ts'
import type { Patch } from '../../../../engine/definition/input.ts'
import type { StoreFailure } from '../../../../foundation/values/failure.ts'
import { readTyped } from '../../../../foundation/values/typed-number.ts'
import { exact, rounded, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { readWholeBuyer } from '../../../../shop/resources/orders/buyer.ts'
import { folded } from '../../../../shop/resources/orders/charge-tables.ts'
import { partsAfter } from '../../../../shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import {
  chargedLines,
  methodsFor,
  type Proposal,
  propose,
  readStatedTaxes,
} from '../../../../shop/resources/orders/proposals.ts'
import type { Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { TypedForm } from './line-fields.ts'

// What the store's tables propose, as values of a form: each stands in its field until somebody types another one there. Beside it, a
// hidden field of the name with this prefix says what was proposed last.

const PROPOSED = 'Proposed.'
/** Which rule the form's tax was said to follow. */
const RULE = `${PROPOSED}Rule`

/** The marks of proposals. */
export const proposedNames = ['ShipmentMethodName', 'ShipmentCost', 'SalesTax', 'Rule'].map((name) => PROPOSED + name)

/** Whether a person typed something else than was proposed. */
const isOwn = (values: Form, name: string) => textIn(values, name).trim() !== textIn(values, PROPOSED + name).trim()

const numberOf = (text: string, writing: Writing) => Number(readTyped(text, writing, 'sum').text) || 0

export type FormCharges = ReturnType<typeof chargesFor>

/** What the form of a new order has for shipping and tax, and where it comes from. */
export function chargesFor(values: Form, writing: Writing, proposal: Proposal, currency: string) {
  const { methods, country, hasRules } = proposal
  const named = (name: string) => methods.find((method) => folded(method.name) === folded(name))
  const first = (named(textIn(values, `${PROPOSED}ShipmentMethodName`)) ?? methods[0])?.name ?? ''
  const chosen = textIn(values, 'ShipmentMethodName.choice')
  const method = chosen || (isOwn(values, 'ShipmentMethodName') ? textIn(values, 'ShipmentMethodName').trim() : first)
  const price = named(method)?.price
  const cost = price === undefined ? '' : writing.typed(toNumber(price))
  const charged = chosen === '' && isOwn(values, 'ShipmentCost') ? textIn(values, 'ShipmentCost').trim() : cost
  const tax = proposal.taxWith(rounded(exact(numberOf(charged, writing)), currency))
  const due = tax === null || tax.isIncluded ? 0n : tax.amount
  const taxText = due === 0n ? '' : writing.typed(toNumber(due))
  const salesTax = isOwn(values, 'SalesTax') ? textIn(values, 'SalesTax').trim() : taxText
  // A store without a table has nothing to look at.
  const ruleText =
    tax === null ? (hasRules ? country || '?' : '') : `${country} ${tax.rate} ${tax.isIncluded ? 'included' : 'added'}`
  return {
    fields: {
      ShipmentMethodName: method,
      ShipmentCost: charged,
      SalesTax: salesTax,
      [`${PROPOSED}ShipmentMethodName`]: first,
      [`${PROPOSED}ShipmentCost`]: cost,
      [`${PROPOSED}SalesTax`]: taxText,
      [RULE]: ruleText,
    },
    ...said(proposal, tax),
    method: methods.find(({ name }) => name === method)?.name ?? null,
    /** Whether the order has the proposed tax. */
    isTaken: tax !== null && exact(numberOf(salesTax, writing)) === due,
    salesTax: numberOf(salesTax, writing),
    cost: numberOf(charged, writing),
  }
}

type Tax = ReturnType<Proposal['taxWith']>

/** For people: amounts as numbers. */
function said({ methods, country, isExempt }: Proposal, tax: Tax) {
  return {
    country,
    isExempt,
    tax: tax && { ...tax, base: toNumber(tax.base), amount: toNumber(tax.amount) },
    methods: methods.map(({ name, price }) => ({ name, price: toNumber(price) })),
  }
}

/** Charges a new order, which is rehearsed, what the form has. */
export function chargeForm({ salesTax, cost }: FormCharges, { columns, lists }: Patch): void {
  columns.salesTax = salesTax
  const [shipment = keep(0), ...others] = lists.ShipmentList ?? []
  lists.ShipmentList = [{ ...shipment, columns: { ...shipment.columns, cost } }, ...others]
}

/** States the rate of a new order whose form has the proposed tax. Throws (400) where the form does not show what is proposed now. */
export function settleCharges(values: Form, { fields, tax, isTaken }: FormCharges, patch: Patch): void {
  const unseen = unseenIn(fields, values)
  if (unseen !== null) throw unseen
  if (isTaken && tax !== null) Object.assign(patch.columns, { taxRate: tax.rate, taxIncluded: tax.isIncluded })
}

/** Why a form is refused (400) that does not show what is proposed now; null: it does. */
export function unseenIn(fields: Readonly<Record<string, string>>, values: Form): StoreFailure | null {
  const shown = Object.keys(fields).filter((name) => name === RULE || !name.startsWith(PROPOSED))
  const others = shown.filter((name) => fields[name] !== textIn(values, name).trim())
  const names = new Set(others.map((name) => (name === RULE ? 'SalesTax' : name)))
  const problem = 'is proposed anew: look whether it is right'
  return names.size === 0 ? null : refusedFields([...names].map((field) => ({ field, problem })))
}

/**
 * Charges a changed order what is proposed for its goods as they would be, where its tax and its shipping cost are as they were
 * proposed before and nobody typed others. Returns the fields of the form with what they have now, and where it comes from.
 */
export async function chargeChanged(
  caller: Caller,
  { record, kept, patch }: { record: OrderRecord; kept: OrderRecord['OrderItemList']; patch: Patch },
  { typed, writing }: TypedForm,
) {
  const { currency } = caller.store
  const [shipment, another] = record.ShipmentList
  const going = shipment?.ShipmentCountry
    ? { country: shipment.ShipmentCountry, state: shipment.ShipmentState }
    : { country: record.BillingCountry, state: record.BillingState }
  const isExempt = (await readWholeBuyer(caller, record.CustomerID))?.isNonTaxable === true
  const stated = (await readStatedTaxes(caller, [record])).get(record.OrderID)
  const lines = await chargedLines(caller, itemsAfter(patch, kept))
  const { discount } = partsAfter(record, patch, kept, currency)
  const proposal = await propose(caller, { ...going, isExempt, lines, discount })
  const fields: Record<string, string> = {}
  /** Puts a proposal in the place of what the form shows unchanged. Returns whether the form has it now. */
  const fill = (name: string, before: number, proposed: number): boolean => {
    const text = textIn(typed, name).trim()
    const marked = textIn(typed, PROPOSED + name).trim()
    const isUntouched =
      typed[name] === undefined || text === writing.typed(before) || (marked !== '' && text === marked)
    fields[PROPOSED + name] = writing.typed(proposed)
    if (isUntouched) fields[name] = writing.typed(proposed)
    return isUntouched
  }
  const priceOf = (methods: Proposal['methods']) =>
    methods.find(({ name }) => folded(name) === folded(shipment?.ShipmentMethodName ?? ''))?.price
  const [before, after] = [
    priceOf(methodsFor(proposal.rates, await chargedLines(caller, record.OrderItemList), proposal.country)),
    priceOf(proposal.methods),
  ]
  const isProposed =
    before !== undefined && shipment && another === undefined && exact(shipment.ShipmentCost) === before
  if (isProposed && after !== undefined && after !== before) {
    const { ShipmentID: key, ShipmentCost } = shipment
    if (fill(`Shipment.${key}.ShipmentCost`, ShipmentCost, toNumber(after)))
      patch.lists.ShipmentList = [{ ...keep(key), columns: { cost: toNumber(after) } }]
  }
  const tax = proposal.taxWith(partsAfter(record, patch, kept, currency).shipping)
  if (stated !== undefined && tax !== null) {
    const due = tax.isIncluded ? 0 : toNumber(tax.amount)
    const isTaken = fill('SalesTax', record.SalesTax, due)
    if (isTaken) patch.columns.salesTax = due
    const rate = isTaken || Number(patch.columns.salesTax ?? record.SalesTax) === due ? tax.rate : null
    Object.assign(patch.columns, { taxRate: rate, taxIncluded: rate !== null && tax.isIncluded })
  }
  return { fields, ...said(proposal, tax) }
}

/** The goods of an order after a change, of which the first lines are `kept` ones. */
function itemsAfter({ lists }: Patch, kept: OrderRecord['OrderItemList']) {
  return (lists.OrderItemList ?? []).map(({ columns }, at) => {
    const stored = kept[at]
    return {
      CatalogID: Number(columns.productId ?? stored?.CatalogID ?? 0),
      ItemQuantity: Number(columns.quantity ?? stored?.ItemQuantity ?? 0),
      ItemUnitPrice: Number(columns.unitPrice ?? stored?.ItemUnitPrice ?? 0),
      ItemOptionPrice: Number(columns.optionPrice ?? stored?.ItemOptionPrice ?? 0),
      ItemWeight: Number(columns.weight ?? stored?.ItemWeight ?? 0),
    }
  })
}
