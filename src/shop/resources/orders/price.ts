import type { RecordOf } from '../../../engine/definition/record-of.ts'
import type { products } from '../products/products.ts'
import { exact, reduced } from './amounts.ts'
import type { SoldProduct } from './sold-products.ts'

interface Purchase {
  /** The price level of the customer's group, 1 to 10; 0: none. */
  readonly priceLevel: number
  /** Determines the quantity discount. */
  readonly quantity: number
  /** What the chosen options add to the unit price. */
  readonly optionPrice: number
  readonly currency: string
}

/** A row of DiscountList as stored: default values are omitted. */
type QuantityDiscount = Partial<RecordOf<typeof products>['DiscountList'][number]>

/** The fields of a product that determine its price. */
type Priced = Pick<SoldProduct, 'price' | 'salePrice' | 'onSale' | 'details'>

/**
 * Returns the price per unit in ten-thousandths (rest-resources §3.9): the sale price if the product is on sale, else
 * the group's price level, else the list price; then the quantity discount, which never raises the price. A percentage
 * also applies to options if the product says so. A sale price, level or discount of 0 is not set.
 */
export function priceOf(product: Priced, { priceLevel, quantity, optionPrice, currency }: Purchase) {
  const price = exact(basePrice(product, priceLevel))
  const options = exact(optionPrice)
  const ordinary = { unitPrice: price, optionPrice: options }
  const discount = discountFor(product, priceLevel, quantity)
  if (discount === undefined) return ordinary
  const { DiscountPrice = 0, DiscountPercentage = false } = discount
  if (!DiscountPercentage) {
    const unitPrice = exact(DiscountPrice)
    return unitPrice < price ? { ...ordinary, unitPrice } : ordinary
  }
  const percent = exact(Math.min(DiscountPrice, 100))
  const isForOptions = product.details.ApplyQuantityDiscountToOptions === true
  const less = (amount: bigint) => reduced(amount, percent, currency)
  return { unitPrice: less(price), optionPrice: isForOptions ? less(options) : options }
}

function basePrice({ price, salePrice, onSale, details }: Priced, priceLevel: number): number {
  if (onSale && salePrice > 0) return salePrice
  const level = Number(details[`PriceLevel${priceLevel}`] ?? 0)
  return level > 0 ? level : price
}

/** Returns the row for the quantity: one for the group's level before one for all, then the highest lower bound. */
function discountFor({ details }: Priced, priceLevel: number, quantity: number): QuantityDiscount | undefined {
  const rows = (details.DiscountList ?? []) as unknown as QuantityDiscount[]
  return rows
    .filter(({ DiscountPriceLevel = 0, DiscountLowbound = 0, DiscountUpbound = 0, DiscountPrice = 0 }) => {
      const isForBuyer = DiscountPriceLevel === 0 || DiscountPriceLevel === priceLevel
      const isInBounds = quantity >= DiscountLowbound && (DiscountUpbound === 0 || quantity <= DiscountUpbound)
      return isForBuyer && isInBounds && DiscountPrice > 0
    })
    .toSorted((one, other) => {
      const byLevel = (other.DiscountPriceLevel ?? 0) - (one.DiscountPriceLevel ?? 0)
      return byLevel || (other.DiscountLowbound ?? 0) - (one.DiscountLowbound ?? 0)
    })[0]
}
