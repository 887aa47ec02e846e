import type { Caller } from '../../../engine/caller.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOf, storeId } from '../../../foundation/database/sql.ts'
import { decimalsOf } from '../../../foundation/values/currency.ts'
import { readLineProducts } from '../products/products-by-id.ts'
import { exact, shareOf, sum } from './amounts.ts'
import { type Buyer, findBuyer } from './buyer.ts'
import { folded, readTable, type ShippingRate, type TaxRule } from './charge-tables.ts'
import { discountOf, orderFigures } from './figures.ts'
import type { OrderLine } from './order-lines.ts'
import type { OrderRecord } from './orders.ts'

// What the store's tables propose for an order, in ten-thousandths. Nothing of it is charged unless somebody takes it.

/** Goods of an order, as far as taxes and shipping depend on them. */
export interface ChargedLine {
  readonly amount: bigint
  /** Of all pieces. */
  readonly weight: bigint
  readonly isTaxable: boolean
  readonly hasFreeShipping: boolean
}

interface Charged {
  /** As orders have them: a code of two letters, and a name. */
  readonly country: string
  readonly state: string
  readonly isExempt: boolean
  readonly lines: readonly ChargedLine[]
  readonly discount: bigint
}

export type Proposal = Awaited<ReturnType<typeof propose>>

/** Works out what is proposed for an order. Orders with the same goods and address get the same, whatever they are charged. */
async function propose(caller: Caller, { isExempt, lines, discount, ...going }: Charged) {
  const [rules, rates] = [await readTable(caller, 'taxes'), await readTable(caller, 'shipping')]
  const country = going.country.trim().toUpperCase()
  const own = rules.filter((rule) => rule.country === country)
  const rule = own.find(({ state }) => folded(state) === folded(going.state)) ?? own.find(({ state }) => state === '')
  return {
    country,
    isExempt,
    /** Whether the store has a table of taxes at all. */
    hasRules: rules.length > 0,
    /** Ways of shipping, the cheapest first. */
    methods: methodsFor(rates, lines, country),
    /** The tax with this shipping cost; null: there is no rule for where the goods go. */
    taxWith: (shipping: bigint) => {
      if (rule === undefined) return null
      const stated = isExempt ? { rate: 0, isIncluded: false } : rule
      return taxOn(stated, { lines, discount, shipping }, caller.store.currency)
    },
  }
}

/**
 * The tax on the taxable goods less their share of the discounts, and on shipping. Shipping has the rate of the goods that it brings,
 * and none where these have none. `base`: what the rate is of, with the tax where prices include it. `amount`: what is to be added, or
 * what the base contains; never below 0, nor above the base.
 */
export function taxOn(
  { rate, isIncluded }: Pick<TaxRule, 'rate' | 'isIncluded'>,
  { lines, discount, shipping }: Pick<Charged, 'lines' | 'discount'> & { readonly shipping: bigint },
  currency: string,
) {
  const taxable = lines.filter(({ isTaxable }) => isTaxable)
  const [goods, taxed] = [lines, taxable].map((all) => sum(all.map(({ amount }) => amount))) as [bigint, bigint]
  const off = goods > 0n ? shareOf(discount, taxed, goods, currency) : 0n
  const base = taxable.length > 0 ? (taxed > off ? taxed - off : 0n) + shipping : 0n
  const amount = shareOf(base, exact(rate), exact(100) + (isIncluded ? exact(rate) : 0n), currency)
  return { rate, isIncluded, base, amount }
}

/** The price of each method with one for the goods: of the country's own rows, else of those for everywhere, the highest that they reach. */
export function methodsFor(rates: readonly ShippingRate[], lines: readonly ChargedLine[], country: string) {
  const paying = lines.filter(({ hasFreeShipping }) => !hasFreeShipping)
  const reached = { weight: sum(paying.map(({ weight }) => weight)), amount: sum(lines.map(({ amount }) => amount)) }
  const methods = [...Map.groupBy(rates, ({ method }) => folded(method)).values()].flatMap((rows) => {
    const own = rows.filter((row) => country !== '' && row.country === country)
    const among = own.length > 0 ? own : rows.filter((row) => row.country === '')
    const row = among.findLast(({ from, basis }) => exact(from) <= reached[basis])
    return row ? [{ name: row.method, price: paying.length > 0 ? exact(row.price) : 0n }] : []
  })
  return methods.sort((one, other) => Number(one.price - other.price) || (one.name < other.name ? -1 : 1))
}

const weightOf = (each: number, pieces: number) => (exact(each) * exact(pieces)) / exact(1)

/** What is proposed for a new order with these lines. */
export function proposeNew(caller: Caller, patch: Patch, { billing, isExempt }: Buyer, lines: readonly OrderLine[]) {
  const [shipment] = patch.lists.ShipmentList ?? []
  const going = (name: string) => {
    const shipped = String(shipment?.details[`Shipment${name}`] ?? '')
    return shipped || String(patch.details[`Billing${name}`] ?? billing[`Billing${name}`] ?? '')
  }
  return propose(caller, {
    country: going('Country'),
    state: going('State'),
    isExempt,
    discount: discountOf(patch.columns, caller.store.currency),
    lines: lines.map(({ product, quantity, amount, patch: { columns } }) => ({
      amount,
      weight: weightOf(Number(columns.weight), quantity),
      isTaxable: !product.nonTaxable,
      hasFreeShipping: product.freeShipping,
    })),
  })
}

/** What is proposed for an order as it is. */
export async function proposeStored(caller: Caller, record: OrderRecord) {
  const { BillingCountry, BillingState, CustomerID, ShipmentList } = record
  const { ShipmentCountry: country, ShipmentState: state } = ShipmentList[0] ?? {}
  const isExempt = (await findBuyer(caller, CustomerID))?.isExempt === true
  const going = country ? { country, state: state ?? '' } : { country: BillingCountry, state: BillingState }
  return propose(caller, { ...going, isExempt, ...(await chargedIn(caller, record)) })
}

/** Products say now what of an order is exempt, as they do in cartAPI; what is gone is not. */
async function chargedIn(caller: Caller, record: OrderRecord) {
  const ids = record.OrderItemList.map(({ CatalogID }) => CatalogID)
  const products = await readLineProducts(caller, ids)
  const { lines, discount } = orderFigures(record, caller.store.currency)
  return {
    lines: lines.map(({ productId, quantity, amount }, at) => ({
      amount: exact(amount),
      weight: weightOf(record.OrderItemList[at]?.ItemWeight ?? 0, quantity),
      isTaxable: products.get(productId)?.nonTaxable !== true,
      hasFreeShipping: products.get(productId)?.freeShipping === true,
    })),
    discount: exact(discount),
  }
}

/** By OrderID the taxes of orders whose rate was stated, and what the orders contain of those that prices include. */
export async function readStatedTaxes({ db, store }: Caller, ids: readonly number[]) {
  const digits = decimalsOf(store.currency)
  const stated = await rowsInTurn<{ id: number; rate: number; isIncluded: boolean; amount: number }>({ db, store })`
    SELECT "id", "taxRate"::float8 AS "rate", "taxIncluded" AS "isIncluded",
      coalesce("containedTax"("storeId", "id", ${digits}::int), 0)::float8 AS "amount"
    FROM "Order" WHERE "storeId" = ${storeId(store)} AND "taxRate" IS NOT NULL AND "id" = ${anyOf(ids)}`
  return new Map(stated.map(({ id, ...tax }) => [id, tax]))
}
