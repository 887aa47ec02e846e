import type { Caller } from '../../../../engine/caller.ts'
import { refusalsOf } from '../../../../engine/changing/ignored.ts'
import type { RecordType } from '../../../../engine/definition/endpoints.ts'
import {
  boolean,
  decimal,
  fieldSet,
  list,
  money,
  object,
  price,
  reference,
  text,
} from '../../../../engine/definition/fields.ts'
import type { Patch } from '../../../../engine/definition/input.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import type { StoreFailure } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../amounts.ts'
import type { OrderLine } from '../order-lines.ts'
import { linesOf, newFigures, type Terms } from '../place-order.ts'
import { proposeNew } from '../proposals.ts'
import { noteStocks, seesStock, takesBackOrders, wrongStocks } from '../stock.ts'

const quotedLine = list(
  'QuotedItem',
  {
    CatalogID: reference('productId', 'The product.'),
    ItemID: text(150, { description: 'The SKU, with that of the chosen options.' }),
    ItemDescription: text(undefined, {
      description: 'The name of the product, and the chosen options with their prices.',
    }),
    ItemQuantity: decimal({ description: 'How many were asked for.' }),
    ItemUnitPrice: price({ description: 'The price of one piece, without options.' }),
    ItemOptionPrice: price({ description: 'What the chosen options add to it.' }),
    ItemAmount: money({ description: 'What all pieces cost.' }),
    InStock: boolean({ description: 'Whether there are as many, besides those of the lines before.' }),
    CanBePlaced: boolean({ description: 'Whether it can be sold: it is in stock, or may be ordered without stock.' }),
    ItemAvailability: text(undefined, { description: 'What the shop says of its stock, such as when it comes back.' }),
    ItemUnitStock: decimal({
      isOptional: true,
      description: 'How many there are. Only for applications with the privilege Products: read.',
    }),
  },
  { description: 'The lines, in the order in which they were sent.' },
)

const members = {
  OrderItemList: quotedLine,
  ItemTotal: money({ description: 'What the lines cost.' }),
  ShippingTotal: money({ description: 'The shipping costs that were sent.' }),
  TaxTotal: money({ description: 'The taxes that were sent.' }),
  DiscountTotal: money({ description: 'The discounts that were sent.' }),
  OrderAmount: money({ description: 'The total of the order.' }),
  TaxProposal: {
    ...object(
      'TaxProposal',
      {
        TaxRate: decimal({ description: 'The rate in per cent; 0 for a customer who pays no taxes.' }),
        TaxIncluded: boolean({ description: 'True: prices have the tax in them, and nothing is added.' }),
        TaxAmount: money({
          description:
            'What to send as SalesTax; where TaxIncluded is true, what the goods and ShippingTotal contain, of which nothing is sent.',
        }),
      },
      'The tax that the store’s table has for where the goods go, on the taxable goods less their share of the discounts and on the shipping costs that were sent. Left out where the table has no rule. The sums of the quote do not have it.',
    ),
    isOptional: true,
  },
  ShippingMethods: list(
    'ProposedShipping',
    {
      ShipmentMethodName: text(150, { description: 'The name of the method, to be sent with a shipment.' }),
      ShipmentCost: money({ description: 'What it costs for these goods, to be sent with a shipment.' }),
    },
    {
      description:
        'The ways of shipping that the store’s table has for the goods and where they go, the cheapest first.',
    },
  ),
  Currency: text(3, { description: 'The currency of all amounts, by its ISO 4217 code.' }),
  CanBePlaced: boolean({ description: 'Whether all lines can be sold now.' }),
}

export const quoteType: RecordType = {
  typeName: 'Quote',
  description: 'What an order would cost if it was placed now. Nothing is reserved.',
  fields: fieldSet(members),
}

type Line = RecordOf<typeof quotedLine>

type QuoteTerms = Required<Pick<Terms, 'isShopFront' | 'settle'>>

/**
 * Works out what the order would cost, and locks and stores nothing. Refuses what placing it
 * would refuse, except goods that are out of stock, which it names.
 */
export async function quote(caller: Caller, patch: Patch, { isShopFront, settle }: QuoteTerms) {
  const { currency } = caller.store
  const { buyer, lines } = await linesOf(caller, patch, { isShopFront, isQuote: true })
  noteStocks(lines, true)
  const figures = newFigures(patch, lines, currency)
  const { methods, taxWith } = await proposeNew(caller, patch, buyer, lines)
  const tax = taxWith(figures.shipping)
  const OrderAmount = toNumber(figures.total)
  settle({ orderAmount: OrderAmount })
  const items = lines.map((line) => quoted(line, seesStock(caller)))
  return {
    OrderItemList: items,
    ItemTotal: toNumber(figures.goods),
    ShippingTotal: toNumber(figures.shipping),
    TaxTotal: toNumber(figures.tax),
    DiscountTotal: toNumber(figures.discount),
    OrderAmount,
    TaxProposal: tax ? { TaxRate: tax.rate, TaxIncluded: tax.isIncluded, TaxAmount: toNumber(tax.amount) } : undefined,
    ShippingMethods: methods.map(({ name, price }) => ({ ShipmentMethodName: name, ShipmentCost: toNumber(price) })),
    Currency: currency,
    CanBePlaced: items.every(({ CanBePlaced }) => CanBePlaced),
  } satisfies Record<keyof typeof members, unknown>
}

/** Everything for which placing the order would be refused because of its buyer, its goods or its total. */
export async function wrongGoods(caller: Caller, patch: Patch, { isShopFront, settle }: QuoteTerms) {
  const refused: StoreFailure[] = []
  const others = await refusalsOf(async () => {
    const { lines } = await linesOf(caller, patch, { isShopFront, isQuote: true, refused })
    refused.push(...wrongStocks(caller, lines))
    if (refused.length === 0) settle({ orderAmount: toNumber(newFigures(patch, lines, caller.store.currency).total) })
  })
  return [...refused, ...others]
}

function isInStock({ quantity, patch: { columns } }: OrderLine): boolean {
  return exact(Number(columns.unitStock)) >= exact(quantity)
}

function quoted(line: OrderLine, isStockTold: boolean): Line {
  const { product, quantity, amount, patch } = line
  const { columns, details } = patch
  return {
    CatalogID: product.id,
    ItemID: String(columns.sku),
    ItemDescription: String(columns.description),
    ItemQuantity: quantity,
    ItemUnitPrice: Number(columns.unitPrice),
    ItemOptionPrice: Number(columns.optionPrice),
    ItemAmount: toNumber(amount),
    InStock: isInStock(line),
    CanBePlaced: isInStock(line) || takesBackOrders(product),
    ItemAvailability: String(details.ItemAvailability),
    ...(isStockTold && { ItemUnitStock: Math.max(Number(columns.unitStock), 0) }),
  }
}
