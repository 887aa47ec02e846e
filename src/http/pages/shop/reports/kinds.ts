import { allows } from '../../../../access/applications/privileges.ts'
import type { Privileges } from '../../../../engine/caller.ts'
import { empty, type Sql, sql } from '../../../../foundation/database/sql.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import type { CsvColumn } from '../../records/csv-form.ts'
import type { Unit } from './period.ts'

// What a report can be by, and what its columns are. A statement (report.ts) makes groups of orders `t` by a key.

export interface FigureColumn extends CsvColumn {
  readonly kind: 'count' | 'money'
  /** Whether a column of zeros may be left out of a page. */
  readonly isRare?: true
}

const figure = (name: string, label: Text, kind: FigureColumn['kind'], isRare?: true): FigureColumn => ({
  name,
  label,
  kind,
  ...(kind === 'money' && { isMoney: true }),
  ...(isRare && { isRare }),
})

/** By the names that sums of orders have for programs (rest-resources §3.11). */
export const figures = {
  orders: figure('Orders', t('Orders'), 'count'),
  items: figure('ItemQuantity', t('Items'), 'count'),
  goods: figure('ItemTotal', t('Goods'), 'money'),
  discount: figure('DiscountTotal', t('Discount'), 'money'),
  shipping: figure('ShippingTotal', t('Shipping'), 'money'),
  tax: figure('TaxTotal', t('Tax'), 'money'),
  other: figure('OtherAmount', t('Other'), 'money', true),
  total: figure('OrderAmount', t('Total'), 'money'),
  paid: figure('PaidAmount', t('Paid'), 'money'),
  refunded: figure('RefundedAmount', t('Refunded'), 'money'),
  net: figure('NetAmount', t('Net'), 'money'),
  taxed: figure('TaxedAmount', t('Taxed, without tax'), 'money'),
  untaxed: figure('UntaxedAmount', t('Without any tax'), 'money'),
  tax1: figure('SalesTax', t('First tax'), 'money'),
  tax2: figure('SalesTax2', t('Second tax'), 'money', true),
  tax3: figure('SalesTax3', t('Third tax'), 'money', true),
} as const

export type FigureName = keyof typeof figures
export type Figures = Readonly<Partial<Record<FigureName, number>>>

const ofOrders = [
  'orders',
  'items',
  'goods',
  'discount',
  'shipping',
  'tax',
  'other',
  'total',
  'paid',
  'refunded',
  'net',
] as const

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

const head = (name: string, label: Text): CsvColumn => ({ name, label })

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
  day: { text: t('Day'), heads: [head('Day', t('Day'))], figures: ofOrders, by: 'total', unit: 'day' },
  week: { text: t('Week'), heads: [head('Week', t('Week from'))], figures: ofOrders, by: 'total', unit: 'week' },
  month: { text: t('Month'), heads: [head('Month', t('Month'))], figures: ofOrders, by: 'total', unit: 'month' },
  product: {
    text: t('Product'),
    heads: [head('ItemID', t('SKU')), head('ItemDescription', t('Product'))],
    figures: ['orders', 'items', 'goods'],
    by: 'goods',
  },
  customer: {
    text: t('Customer'),
    heads: [head('BillingEmail', t('E-mail')), head('BillingName', t('Customer')), head('CustomerID', t('Number'))],
    figures: ofOrders,
    by: 'total',
    needs: 'Customers',
    key: () => ({ key: sql`coalesce(t."customerId"::text, lower(btrim(t."billingEmail")))`, from: empty }),
  },
  country: {
    text: t('Country'),
    heads: [head('ShipmentCountry', t('Country'))],
    figures: ofOrders,
    by: 'total',
    key: (privileges) => place(['Country'], privileges),
  },
  tax: {
    text: t('Tax'),
    heads: [head('ShipmentCountry', t('Country')), head('ShipmentState', t('State'))],
    figures: ['orders', 'taxed', 'untaxed', 'tax1', 'tax2', 'tax3', 'tax', 'total'],
    by: 'tax',
    key: (privileges) => place(['Country', 'State'], privileges),
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kindsByName
export const kinds: Readonly<Record<KindName, Kind>> = kindsByName

export function isKind(name: string): name is KindName {
  return Object.hasOwn(kinds, name)
}
