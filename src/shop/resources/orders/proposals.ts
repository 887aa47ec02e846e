import type { Caller } from '../../../engine/caller.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOf, storeId } from '../../../foundation/database/sql.ts'
import { readLineProducts } from '../products/products-by-id.ts'
import { exact, shareOf, sum } from './amounts.ts'
import type { BuyerTerms } from './buyer.ts'
import { folded, readShippingRates, readTaxRules, type ShippingRate, type TaxRule } from './charge-tables.ts'
import { discountOf, lineAmount, orderFigures } from './figures.ts'
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

interface Going {
  /** As the order has them: a code of two letters, and a name. */
  readonly country: string
  readonly state: string
}

interface Charged extends Going {
  readonly lines: readonly ChargedLine[]
  readonly discount: bigint
  readonly isExempt: boolean
}

export interface ProposedTax {
  /** In per cent; 0 for whoever pays no taxes. */
  readonly rate: number
  readonly isIncluded: boolean
  /** Of what the rate is: with the tax where prices include it. */
  readonly base: bigint
  /** What is to be added, or what the base contains. */
  readonly amount: bigint
}

export interface ProposedShipping {
  readonly name: string
  readonly price: bigint
}

export type Proposal = Awaited<ReturnType<typeof propose>>

/** Works out what is proposed for an order. Two orders with the same goods and address get the same, whatever they are charged. */
export async function propose(caller: Pick<Caller, 'db' | 'store'>, charged: Charged) {
  const rules = await readTaxRules(caller)
  const country = charged.country.trim().toUpperCase()
  const rule = ruleFor(rules, { ...charged, country })
  const rates = await readShippingRates(caller)
  const stated = rule && charged.isExempt ? { Rate: 0, IsIncluded: false } : rule
  return {
    country,
    isExempt: charged.isExempt,
    /** Whether the store has a table of taxes at all. */
    hasRules: rules.length > 0,
    /** Ways of shipping, the cheapest first. */
    methods: methodsFor(rates, charged.lines, country),
    rates,
    /** The tax with this shipping cost; null: there is no rule for where the goods go. */
    taxWith: (shipping: bigint): ProposedTax | null => {
      return stated === null ? null : taxOn(stated, { ...charged, shipping }, caller.store.currency)
    },
  }
}

/** The rule of the state, else that of the country. */
function ruleFor(rules: readonly TaxRule[], { country, state }: Going): TaxRule | null {
  const own = rules.filter(({ Country }) => Country === country)
  const of = (name: string) => own.find(({ State }) => folded(State) === name)
  return of(folded(state)) ?? of('') ?? null
}

/**
 * The tax on the taxable goods less their share of the discounts, and on shipping. Shipping has the rate of the goods that it brings,
 * and none where these have none. Never below 0, and an included tax never above what it is in.
 */
export function taxOn(
  { Rate, IsIncluded }: Pick<TaxRule, 'Rate' | 'IsIncluded'>,
  { lines, discount, shipping }: Pick<Charged, 'lines' | 'discount'> & { readonly shipping: bigint },
  currency: string,
): ProposedTax {
  const taxable = lines.filter(({ isTaxable }) => isTaxable)
  const [goods, taxed] = [sum(lines.map(({ amount }) => amount)), sum(taxable.map(({ amount }) => amount))]
  const off = goods > 0n ? shareOf(discount, taxed, goods, currency) : 0n
  const less = taxed > off ? taxed - off : 0n
  const base = taxable.length > 0 ? less + shipping : 0n
  const [rate, hundred] = [exact(Rate), exact(100)]
  const amount = shareOf(base, rate, IsIncluded ? hundred + rate : hundred, currency)
  return { rate: Rate, isIncluded: IsIncluded, base, amount }
}

/** The price of each method with one for the goods: of the country's own rows, else of those for everywhere, the highest that they reach. */
export function methodsFor(
  rates: readonly ShippingRate[],
  lines: readonly ChargedLine[],
  country: string,
): ProposedShipping[] {
  const paying = lines.filter(({ hasFreeShipping }) => !hasFreeShipping)
  const reached = { weight: sum(paying.map(({ weight }) => weight)), amount: sum(lines.map(({ amount }) => amount)) }
  const byMethod = Map.groupBy(rates, ({ Method }) => folded(Method))
  const methods = [...byMethod.values()].flatMap((rows) => {
    const own = rows.filter(({ Country }) => country !== '' && Country === country)
    const among = own.length > 0 ? own : rows.filter(({ Country }) => Country === '')
    const row = among.findLast(({ From, Basis }) => exact(From) <= reached[Basis])
    return row ? [{ name: row.Method, price: paying.length > 0 ? exact(row.Price) : 0n }] : []
  })
  return methods.sort((one, other) => Number(one.price - other.price) || (one.name < other.name ? -1 : 1))
}

/** The same for a new order with these lines. */
export function proposeFor(
  caller: Caller,
  patch: Patch,
  { billing, isExempt }: BuyerTerms,
  lines: readonly OrderLine[],
) {
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

function weightOf(each: number, quantity: number): bigint {
  return (exact(each) * exact(quantity)) / exact(1)
}

type Item = Pick<
  OrderRecord['OrderItemList'][number],
  'CatalogID' | 'ItemQuantity' | 'ItemUnitPrice' | 'ItemOptionPrice' | 'ItemWeight'
>

/** The lines of an order that was placed. Its products say now what is exempt, as they do in cartAPI; one that is gone is not. */
export async function chargedLines(caller: Caller, items: readonly Item[]): Promise<ChargedLine[]> {
  const ids = items.map(({ CatalogID }) => CatalogID)
  const products = await readLineProducts(caller, ids)
  return items.map(({ CatalogID, ItemWeight, ItemQuantity: quantity, ItemUnitPrice: unitPrice, ItemOptionPrice }) => ({
    amount: lineAmount({ unitPrice, optionPrice: ItemOptionPrice, quantity }, caller.store.currency),
    weight: weightOf(ItemWeight, quantity),
    isTaxable: products.get(CatalogID)?.nonTaxable !== true,
    hasFreeShipping: products.get(CatalogID)?.freeShipping === true,
  }))
}

/** The rates of the taxes of orders by OrderID, and what the orders contain of a tax that is included in prices. Omits what nobody has stated. */
export async function readStatedTaxes(caller: Caller, all: readonly OrderRecord[]): Promise<Map<number, ProposedTax>> {
  const stated = await rowsInTurn<{ id: number; Rate: number; IsIncluded: boolean }>(caller)`
    SELECT "id", "taxRate"::float8 AS "Rate", "taxIncluded" AS "IsIncluded" FROM "Order"
    WHERE "storeId" = ${storeId(caller.store)} AND "taxRate" IS NOT NULL AND "id" = ${anyOf(all.map(({ OrderID }) => OrderID))}`
  const found = new Map(stated.map((row) => [row.id, row]))
  const taxes = new Map<number, ProposedTax>()
  for (const record of all) {
    const rule = found.get(record.OrderID)
    if (rule === undefined) continue
    const { shipping, discount } = orderFigures(record, caller.store.currency)
    const charged = {
      lines: await chargedLines(caller, record.OrderItemList),
      discount: exact(discount),
      shipping: exact(shipping),
    }
    taxes.set(record.OrderID, taxOn(rule, charged, caller.store.currency))
  }
  return taxes
}
