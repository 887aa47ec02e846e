import type { Caller } from '../../../../engine/caller.ts'
import { DECIMAL_MAX } from '../../../../engine/definition/fields.ts'
import { type Text, type TextValue, t } from '../../../../foundation/texts/text.ts'
import { decimalsOf } from '../../../../foundation/values/currency.ts'
import { STORED_DECIMALS } from '../../../../foundation/values/typed-number.ts'
import { type Difference, idsText } from '../../../../shop/csv/lines/records.ts'
import type { Intended, Json } from '../../../../shop/csv/undo/chosen.ts'
import { readCategoryPaths } from '../../../../shop/resources/categories/tree.ts'
import type { ChangeWords } from '../csv/change-words.ts'
import type { ProductRecord } from './special.ts'

// What is done with many products at once: to their prices, whether the shop shows them, their categories and their stock.

export type ProductChange = PriceChange | VisibilityChange | CategoryChange | StockChange

export const priceHows = {
  'raise-percent': t('Raise by percent'),
  'lower-percent': t('Lower by percent'),
  'raise-amount': t('Raise by an amount'),
  'lower-amount': t('Lower by an amount'),
  set: t('Set to an amount'),
  'below-price': t('Set to percent below the price'),
} as const
/** Steps to which a price is rounded, as an amount. `unit`: the smallest of the currency; `.99`: to the nearest price that ends so. */
export const roundings = ['unit', '0.05', '0.1', '1', '.99'] as const

export interface PriceChange {
  readonly kind: 'price'
  readonly field: 'Price' | 'SalePrice'
  /** `below-price`: the sale price is so many percent below the price. */
  readonly how: keyof typeof priceHows
  readonly value: number
  readonly rounding: (typeof roundings)[number]
  /** Whether the products are on sale afterwards; null: as before. */
  readonly onSale: boolean | null
}

export interface VisibilityChange {
  readonly kind: 'visibility'
  readonly hide: boolean
}

export interface CategoryChange {
  readonly kind: 'category'
  readonly how: 'add' | 'remove'
  readonly categoryId: number
  /** As it was called when somebody chose it. */
  readonly name: string
}

export interface StockChange {
  readonly kind: 'stock'
  readonly how: 'set' | 'add'
  /** To be added: below 0 to take off. */
  readonly quantity: number
}

/** What a change does with a product. */
export function intendedFor(change: ProductChange, currency: string): (record: Json) => Intended {
  const intentOf = {
    price: (product: ProductRecord) => pricing(product, change as PriceChange, currency),
    visibility: (product: ProductRecord) => hiding(product, change as VisibilityChange),
    category: (product: ProductRecord) => placing(product, change as CategoryChange),
    stock: (product: ProductRecord) => stocking(product, change as StockChange),
  }[change.kind]
  return (record) => {
    const product = record as unknown as ProductRecord
    const { Name, SKU } = product.SKUInfo
    return { name: `${Name} (${SKU})`, body: {}, changes: [], ...intentOf(product) }
  }
}

type Intent = Partial<Pick<Intended, 'body' | 'changes' | 'problems'>>

function pricing({ SKUInfo }: ProductRecord, change: PriceChange, currency: string): Intent {
  const { field, onSale } = change
  const stored = SKUInfo[field]
  // A product without a sale price gets none by a difference.
  const isNone = field === 'SalePrice' && stored === 0 && change.how !== 'set' && change.how !== 'below-price'
  if (isNone) return {}
  const from = change.how === 'below-price' ? SKUInfo.Price : stored
  const price = newPrice(from, change, decimalsOf(currency))
  const column = `SKUInfo.${field}`
  const isLost = price === 0 && newPrice(from, { ...change, rounding: 'unit' }, STORED_DECIMALS) > 0
  if (isLost) return { problems: [[column, String(price), 'would be 0 by rounding']] }
  if (price < 0) return { problems: [[column, String(price), 'would be below 0']] }
  if (price > DECIMAL_MAX) return { problems: [[column, String(price), `would be above ${DECIMAL_MAX}`]] }
  const changes: Difference[] = []
  const body: Record<string, unknown> = {}
  if (price !== stored) {
    body[field] = price
    const isNoOffer = field === 'SalePrice' && price > 0 && price >= SKUInfo.Price
    const difference = [column, String(stored), String(price)] as const
    changes.push(isNoOffer ? [...difference, 'The sale price is not below the price'] : difference)
  }
  if (onSale !== null && onSale !== SKUInfo.OnSale) {
    body.OnSale = onSale
    changes.push(['SKUInfo.OnSale', String(SKUInfo.OnSale), String(onSale)])
  }
  return changes.length === 0 ? {} : { body: { SKUInfo: body }, changes }
}

/** Amounts are stored with four decimals. */
const UNIT = 10_000n
const PERCENT = 100n * UNIT

/** The price in exact decimals, rounded half up. */
export function newPrice(
  from: number,
  { how, value, rounding }: Pick<PriceChange, 'how' | 'value' | 'rounding'>,
  digits: number,
): number {
  const [stored, given] = [from, value].map((each) => BigInt(Math.round(each * Number(UNIT)))) as [bigint, bigint]
  const times = (percent: bigint) => ({ amount: stored * percent, of: PERCENT })
  const { amount, of } = {
    'raise-percent': () => times(PERCENT + given),
    'lower-percent': () => times(PERCENT - given),
    'below-price': () => times(PERCENT - given),
    'raise-amount': () => ({ amount: stored + given, of: 1n }),
    'lower-amount': () => ({ amount: stored - given, of: 1n }),
    set: () => ({ amount: given, of: 1n }),
  }[how]()
  const ending = rounding === '.99' ? UNIT / 100n : 0n
  const step =
    rounding === 'unit' ? 10n ** BigInt(4 - digits) : rounding === '.99' ? UNIT : BigInt(Number(rounding) * 10_000)
  const steps = floor(2n * (amount + ending * of) + step * of, 2n * step * of)
  // Nothing ends in .99 below 0.99.
  const rounded = steps * step - ending
  return Number(ending > 0n && amount > 0n && rounded < 0n ? UNIT - ending : rounded) / Number(UNIT)
}

function floor(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient
}

function hiding({ Hide }: ProductRecord, { hide }: VisibilityChange): Intent {
  return Hide === hide ? {} : { body: { Hide: hide }, changes: [['Hide', String(Hide), String(hide)]] }
}

function placing({ CategoryList }: ProductRecord, { how, categoryId }: CategoryChange): Intent {
  const isIn = CategoryList.some(({ CategoryID }) => CategoryID === categoryId)
  if (isIn === (how === 'add')) return {}
  const others = CategoryList.filter(({ CategoryID }) => CategoryID !== categoryId)
  const after = how === 'add' ? [...others, { CategoryID: categoryId }] : others
  const ids = (list: readonly { readonly CategoryID: number }[]) => list.map(({ CategoryID }) => CategoryID)
  return {
    body: { CategoryList: ids(after).map((CategoryID) => ({ CategoryID })) },
    changes: [['CategoryList', idsText(ids(CategoryList)), idsText(ids(after))]],
  }
}

function stocking({ SKUInfo: { Stock }, AdvancedOptionList }: ProductRecord, { how, quantity }: StockChange): Intent {
  const stock = how === 'set' ? quantity : Number((Stock + quantity).toFixed(4))
  if (stock === Stock) return {}
  if (Math.abs(stock) > DECIMAL_MAX) {
    return { problems: [['SKUInfo.Stock', String(stock), `would be outside of ${-DECIMAL_MAX} to ${DECIMAL_MAX}`]] }
  }
  const difference = ['SKUInfo.Stock', String(Stock), String(stock)] as const
  const hasOwn = AdvancedOptionList.length > 0
  return {
    body: { SKUInfo: how === 'set' ? { Stock: quantity } : { StockAdjust: quantity } },
    changes: [hasOwn ? [...difference, 'Its options have stocks of their own, which stay as they are'] : difference],
  }
}

/** What a change of many products is called, and how it is worked out. */
export async function productWords(caller: Caller, change: ProductChange): Promise<ChangeWords> {
  const { currency } = caller.store
  switch (change.kind) {
    case 'price':
      return { title: priceTitle(change, currency), notes: priceNotes(change, currency) }
    case 'visibility':
      return { title: change.hide ? t('Hide in the shop') : t('Show in the shop'), notes: [] }
    case 'category': {
      const [path] = await readCategoryPaths(caller, [change.categoryId])
      const name = path?.steps.map((step) => step.name).join(' / ') ?? change.name
      return {
        title:
          change.how === 'add'
            ? t('Add to the category {name}', { name })
            : t('Take out of the category {name}', { name }),
        notes: [],
      }
    }
    case 'stock': {
      const quantity: TextValue = ({ format }) => format.number(Math.abs(change.quantity))
      const title =
        change.how === 'set'
          ? t('Set the stock to {quantity}', { quantity: ({ format }) => format.number(change.quantity) })
          : change.quantity > 0
            ? t('Add {quantity} to the stock', { quantity })
            : t('Take {quantity} off the stock', { quantity })
      const note = t('It is added to the stock as it is at that moment, whatever is sold meanwhile.')
      return { title, notes: change.how === 'add' ? [note] : [] }
    }
  }
}

function priceTitle({ field, how, value }: PriceChange, currency: string): Text {
  const percent: TextValue = ({ format }) => format.number(value)
  const amount: TextValue = ({ format }) => format.unitPrice(value, currency)
  const price = field === 'Price' ? t('the price') : t('the sale price')
  const titles: Record<PriceChange['how'], Text> = {
    'raise-percent': t('Raise {price} by {percent} %', { price, percent }),
    'lower-percent': t('Lower {price} by {percent} %', { price, percent }),
    'raise-amount': t('Raise {price} by {amount}', { price, amount }),
    'lower-amount': t('Lower {price} by {amount}', { price, amount }),
    set: t('Set {price} to {amount}', { price, amount }),
    'below-price': t('Set the sale price to {percent} % below the price', { percent }),
  }
  return titles[how]
}

function priceNotes({ field, how, rounding, onSale }: PriceChange, currency: string): Text[] {
  const step = rounding === 'unit' ? 10 ** -decimalsOf(currency) : Number(rounding)
  const rounded =
    rounding === '.99'
      ? t('Each price is rounded to the nearest one that ends in {ending}.', { ending })
      : t('Each price is rounded to {amount}, halves upwards.', {
          amount: ({ format }) => format.unitPrice(step, currency),
        })
  const isOfStored = field === 'SalePrice' && how !== 'set' && how !== 'below-price'
  return [
    rounded,
    ...(isOfStored ? [t('A product without a sale price stays as it is.')] : []),
    ...(onSale === null
      ? []
      : [onSale ? t('The products are on sale afterwards.') : t('The products are not on sale afterwards.')]),
  ]
}

/** What a price ends in that is rounded to `.99`, as people write it: `.99` or `,99`. */
const ending: TextValue = ({ format }) => `${format.decimalSign}99`
