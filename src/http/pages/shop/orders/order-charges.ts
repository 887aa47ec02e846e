import type { Caller } from '../../../../engine/caller.ts'
import type { StoreFailure } from '../../../../foundation/values/failure.ts'
import { readTyped } from '../../../../foundation/values/typed-number.ts'
import { exact, rounded, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { folded } from '../../../../shop/resources/orders/charge-tables.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import { type Proposal, proposeStored, readStatedTaxes } from '../../../../shop/resources/orders/proposals.ts'
import type { Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { TypedForm } from './line-fields.ts'

// What the store's tables propose, as values of a form: each stands in its field until somebody types another one there. Beside it, a
// hidden field of the name with this prefix says what was proposed last.

const PROPOSED = 'Proposed.'
/** Which rule the form's tax was said to follow. */
const RULE = `${PROPOSED}Rule`
/** What no field has: somebody typed another value. */
const BY_HAND = '-'

export const proposedNames = ['ShipmentMethodName', 'ShipmentCost', 'SalesTax', 'Rule'].map((name) => PROPOSED + name)

/** Of amounts, nothing is 0. */
const typedIn = (values: Form, name: string) => textIn(values, name).trim().replace(/^0$/, '')

export type FormCharges = ReturnType<typeof chargesFor>

/** What a form has for shipping and tax, and where it comes from. */
export function chargesFor(
  values: Form,
  writing: Writing,
  { methods, country, isExempt, hasRules, taxWith }: Proposal,
) {
  /** What is proposed, or what a person typed in its place. */
  const taken = (name: string, proposed: string) => {
    const typed = typedIn(values, name)
    return typed === typedIn(values, PROPOSED + name) ? proposed : typed
  }
  const numberOf = (text: string) => Number(readTyped(text, writing, 'sum').text) || 0
  const amountText = (amount: bigint) => (amount === 0n ? '' : writing.typed(toNumber(amount)))
  const named = (name: string) => methods.find((method) => folded(method.name) === folded(name))
  const first = (named(textIn(values, `${PROPOSED}ShipmentMethodName`)) ?? methods[0])?.name ?? ''
  const chosen = textIn(values, 'ShipmentMethodName.choice')
  const method = chosen || taken('ShipmentMethodName', first)
  const price = amountText(named(method)?.price ?? 0n)
  const cost = chosen ? price : taken('ShipmentCost', price)
  const tax = taxWith(rounded(exact(numberOf(cost)), writing.currencyCode ?? ''))
  const due = tax === null || tax.isIncluded ? 0n : tax.amount
  const salesTax = taken('SalesTax', amountText(due))
  // A store without a table has nothing to look at.
  const unruled = hasRules ? country || '?' : ''
  return {
    fields: {
      ShipmentMethodName: method,
      ShipmentCost: cost,
      SalesTax: salesTax,
      [`${PROPOSED}ShipmentMethodName`]: first,
      [`${PROPOSED}ShipmentCost`]: price,
      [`${PROPOSED}SalesTax`]: amountText(due),
      [RULE]: tax === null ? unruled : `${country} ${tax.rate} ${tax.isIncluded ? 'included' : 'added'}`,
    },
    charged: { cost: numberOf(cost), salesTax: numberOf(salesTax) },
    /** The columns of an order that has the proposed tax; null: it has another. */
    rate: tax && exact(numberOf(salesTax)) === due ? { taxRate: tax.rate, taxIncluded: tax.isIncluded } : null,
    country,
    isExempt,
    tax: tax && { ...tax, base: toNumber(tax.base), amount: toNumber(tax.amount) },
    methods: methods.map(({ name, price }) => ({ name, price: toNumber(price), isTaken: name === method })),
  }
}

/** Why a form is refused (400) that does not show what is proposed now; null: it does. */
export function unseenIn(fields: Readonly<Record<string, string>>, values: Form): StoreFailure | null {
  const others = Object.keys(fields).filter((name) => fields[name] !== typedIn(values, name))
  const names = others.flatMap((name) => (name === RULE ? 'SalesTax' : name.startsWith(PROPOSED) ? [] : name))
  const problem = 'is proposed anew: look whether it is right'
  return names.length === 0 ? null : refusedFields([...new Set(names)].map((field) => ({ field, problem })))
}

/** What the form of an order's goods has for tax and shipping once it is `changed`: what is proposed, where the order has what was proposed before. */
export async function chargesAfter(
  caller: Caller,
  record: OrderRecord,
  changed: OrderRecord,
  { typed, writing }: TypedForm,
) {
  const [shipment, another] = record.ShipmentList
  const { ShipmentID, ShipmentCost = 0, ShipmentMethodName = '' } = (another === undefined && shipment) || {}
  const costName = `Shipment.${ShipmentID}.ShipmentCost`
  const stated = (await readStatedTaxes(caller, [record.OrderID])).has(record.OrderID)
  const { methods } = await proposeStored(caller, record)
  const isPriced = methods.some(({ name, price }) => name === ShipmentMethodName && price === exact(ShipmentCost))
  const marked = (name: string, before: number, isProposed: boolean) => {
    return typed[PROPOSED + name] ?? (isProposed ? writing.typed(before) : BY_HAND)
  }
  const values = {
    SalesTax: typed.SalesTax ?? writing.typed(record.SalesTax),
    [`${PROPOSED}SalesTax`]: marked('SalesTax', record.SalesTax, stated && 'SalesTax' in typed),
    ShipmentCost: typed[costName] ?? writing.typed(orderFigures(changed, caller.store.currency).shipping),
    [`${PROPOSED}ShipmentCost`]: marked('ShipmentCost', ShipmentCost, isPriced),
    ShipmentMethodName,
    [`${PROPOSED}ShipmentMethodName`]: BY_HAND,
  }
  const { fields, rate, ...said } = chargesFor(values, writing, await proposeStored(caller, changed))
  const { SalesTax, ShipmentCost: cost } = fields
  const pick = (isProposed: boolean, name: 'SalesTax' | 'ShipmentCost') =>
    isProposed ? { [PROPOSED + name]: fields[`${PROPOSED}${name}`] } : {}
  return {
    ...said,
    /** What its columns say of the rate. */
    rate: stated ? (rate ?? { taxRate: null, taxIncluded: false }) : {},
    fields: {
      ...('SalesTax' in typed && { SalesTax }),
      ...(costName in typed && { [costName]: cost }),
      ...pick(stated, 'SalesTax'),
      ...pick(isPriced, 'ShipmentCost'),
    },
  }
}
