import { allows } from '../../../../access/applications/privileges.ts'
import type { Privileges } from '../../../../engine/caller.ts'
import { empty, type Sql, sql } from '../../../../foundation/database/sql.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import type { CsvColumn } from '../../records/csv-form.ts'
import type { Unit } from './period.ts'

// What a report can be by, and what its columns are. A statement (report.ts) makes groups of orders `t` by a key.

const column = (name: string, label: Text): CsvColumn => ({ name, label })
const money = (name: string, label: Text): CsvColumn => ({ name, label, isMoney: true })

/** Of every kind of group, by the names that sums of orders have for programs (rest-resources §3.11). */
const common = {
  orders: column('Orders', t('Orders')),
  items: column('ItemQuantity', t('Items')),
  goods: money('ItemTotal', t('Goods')),
  discount: money('DiscountTotal', t('Discount')),
  shipping: money('ShippingTotal', t('Shipping')),
  tax: money('TaxTotal', t('Tax')),
  other: money('OtherAmount', t('Other')),
  total: money('OrderAmount', t('Total')),
  paid: money('PaidAmount', t('Paid')),
  refunded: money('RefundedAmount', t('Refunded')),
  net: money('NetAmount', t('Net')),
} as const

export const figures = {
  ...common,
  taxed: money('TaxedAmount', t('Taxed, without tax')),
  untaxed: money('UntaxedAmount', t('Without any tax')),
  tax1: money('SalesTax', t('First tax')),
  tax2: money('SalesTax2', t('Second tax')),
  tax3: money('SalesTax3', t('Third tax')),
  refundedTax: money('RefundTaxAmount', t('Tax of refunds')),
} as const

export type FigureName = keyof typeof figures
export type Figures = Readonly<Partial<Record<FigureName, number>>>

/** Those that a kind has unless it says otherwise. */
export const ofOrders = Object.keys(common) as (keyof typeof common)[]

export interface Kind {
  /** On the page, such as `By day`. */
  readonly text: Text
  /** What stands before the figures of a row. */
  readonly heads: readonly CsvColumn[]
  readonly figures: readonly FigureName[]
  /** By which figure the rows are drawn, and but for those of a time sorted. */
  readonly by: FigureName
  readonly unit?: Unit
  readonly needs?: 'Customers'
  /** The key of an order's group, and what it needs behind "Order" t. Absent: times, which are in the place of the key, and products. */
  readonly key?: (privileges: Privileges) => { readonly key: Sql; readonly from: Sql }
}

/** Of where the goods go, or else the bill. Whoever may not read customers is told of the goods alone. */
const place = (members: readonly ['Country'] | readonly ['Country', 'State'], privileges: Privileges) => {
  const of = (document: Sql, prefix: string) =>
    members.map((member) => sql`upper(btrim(coalesce(${document} ->> ${`${prefix}${member}`}::text, '')))`)
  const [country, state = sql`''`] = of(sql`h."details"`, 'Shipment')
  const [billed, billedState = sql`''`] = of(sql`t."details"`, 'Billing')
  const bill = allows(privileges, 'Customers', 'read')
  return {
    key: bill
      ? sql`CASE WHEN h."country" <> '' THEN h."country" || E'\\t' || h."state" ELSE ${billed} || E'\\t' || ${billedState} END`
      : sql`coalesce(h."country" || E'\\t' || h."state", E'\\t')`,
    from: sql`LEFT JOIN LATERAL (SELECT ${country} AS "country", ${state} AS "state" FROM "OrderShipment" h
      WHERE h."storeId" = t."storeId" AND h."orderId" = t."id" ORDER BY h."id" LIMIT 1) h ON true`,
  }
}

const kindsByName = {
  day: { text: t('Day'), heads: [column('Day', t('Day'))], figures: ofOrders, by: 'total', unit: 'day' },
  week: { text: t('Week'), heads: [column('Week', t('Week from'))], figures: ofOrders, by: 'total', unit: 'week' },
  month: { text: t('Month'), heads: [column('Month', t('Month'))], figures: ofOrders, by: 'total', unit: 'month' },
  product: {
    text: t('Product'),
    heads: [column('ItemID', t('SKU')), column('ItemDescription', t('Product'))],
    figures: ['orders', 'items', 'goods'],
    by: 'goods',
  },
  customer: {
    text: t('Customer'),
    heads: [
      column('BillingEmail', t('E-mail')),
      column('BillingName', t('Customer')),
      column('CustomerID', t('Number')),
    ],
    figures: ofOrders,
    by: 'total',
    needs: 'Customers',
    // Guests are known by their e-mail address, else by a telephone number that is no extension. Others have nothing in common.
    key: () => ({
      key: sql`coalesce(t."customerId"::text, nullif(lower(btrim(t."billingEmail")), ''),
        'phone ' || substring("digitsOf"(t."details" ->> 'BillingPhoneNumber') FROM '^.{7,}$'), 'order ' || t."id")`,
      from: empty,
    }),
  },
  country: {
    text: t('Country'),
    heads: [column('ShipmentCountry', t('Country'))],
    figures: ofOrders,
    by: 'total',
    key: (privileges) => place(['Country'], privileges),
  },
  tax: {
    text: t('Tax'),
    heads: [column('ShipmentCountry', t('Country')), column('ShipmentState', t('State'))],
    figures: ['orders', 'taxed', 'untaxed', 'tax1', 'tax2', 'tax3', 'tax', 'refundedTax', 'total'],
    by: 'tax',
    key: (privileges) => place(['Country', 'State'], privileges),
  },
  rate: {
    text: t('Country and tax rate'),
    heads: [
      column('ShipmentCountry', t('Country')),
      column('TaxRate', t('Rate in %')),
      column('TaxIncluded', t('In the price')),
    ],
    figures: ['orders', 'taxed', 'untaxed', 'tax', 'refundedTax', 'total'],
    by: 'tax',
    key: (privileges) => {
      const { key, from } = place(['Country'], privileges)
      const rate = sql`trim_scale(t."taxRate") || E'\\t' || CASE WHEN t."taxIncluded" THEN 'yes' ELSE 'no' END`
      return { key: sql`(${key}) || coalesce(${rate}, E'\\t')`, from }
    },
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kindsByName
export const kinds: Readonly<Record<KindName, Kind>> = kindsByName

export function isKind(name: string): name is KindName {
  return Object.hasOwn(kinds, name)
}
