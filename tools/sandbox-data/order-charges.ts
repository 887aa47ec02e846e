import { groups } from './catalogue.ts'
import { happens, oneOf } from './chance.ts'
import { dollars, shareOf } from './money.ts'
import { linesCents, linesWeight, type OrderLine } from './order-lines.ts'

/** What is added to and taken off the items of an order, in cents; the total is their sum to the cent. */
export interface Charges {
  readonly itemsCents: number
  /** One entry a shipment. */
  readonly shippingCents: readonly number[]
  readonly promotions: readonly Promotion[]
  readonly taxCents: number
  readonly secondTaxCents: number
  readonly totalCents: number
}

export interface Promotion {
  readonly name: string
  /** Absent: the promotion works by itself. */
  readonly coupon?: string
  readonly cents: number
}

/** Where the sandbox collects tax, in hundredths of a percent; Canada has a second one in some provinces. */
const taxRates: Readonly<Record<string, readonly [rate: number, secondRate: number]>> = {
  'US NY': [888, 0],
  'US NJ': [663, 0],
  'US CT': [635, 0],
  'US PA': [600, 0],
  'US MA': [625, 0],
  'CA ON': [1_300, 0],
  'CA BC': [500, 700],
  'CA AB': [500, 0],
  'CA NS': [1_400, 0],
}

export interface ChargedTo {
  readonly country: string
  readonly state: string
  readonly groupId: number
}

/** `parcels`: the lines by shipment. */
export function makeCharges(parcels: readonly (readonly OrderLine[])[], to: ChargedTo): Charges {
  const lines = parcels.flat()
  const itemsCents = linesCents(lines)
  const shippingCents = parcels.map((parcel) => shippingOf(parcel, to.country))
  const promotions = makePromotions(itemsCents)
  const discountCents = promotions.reduce((sum, { cents }) => sum + cents, 0)
  const isExempt = to.groupId === groups.wholesale || to.groupId === groups.schools
  const [rate, secondRate] = (isExempt ? undefined : taxRates[`${to.country} ${to.state}`]) ?? [0, 0]
  const taxedCents = Math.max(0, linesCents(lines.filter(({ product }) => product.isTaxed)) - discountCents)
  const taxCents = shareOf(taxedCents, rate)
  const secondTaxCents = shareOf(taxedCents, secondRate)
  const shippingSum = shippingCents.reduce((sum, cents) => sum + cents, 0)
  return {
    itemsCents,
    shippingCents,
    promotions,
    taxCents,
    secondTaxCents,
    totalCents: itemsCents + shippingSum + taxCents + secondTaxCents - discountCents,
  }
}

/**
 * The wire's amounts of an order. The two discount fields are named the other way round than they sound: coupons are
 * OrderDiscountPromotion, promotions that work by themselves OrderDiscountCoupon (rest-resources §3.2).
 */
export function chargeFields(charges: Charges, firstPromotionId: number) {
  const couponCents = charges.promotions.filter(({ coupon }) => coupon).reduce((sum, { cents }) => sum + cents, 0)
  const automaticCents = charges.promotions.filter(({ coupon }) => !coupon).reduce((sum, { cents }) => sum + cents, 0)
  return {
    PromotionList: charges.promotions.map(({ name, coupon = '', cents }, index) => ({
      PromotionID: firstPromotionId + index,
      PromotionName: name,
      Coupon: coupon,
      DiscountAmount: dollars(cents),
    })),
    OrderDiscountCoupon: dollars(automaticCents),
    OrderDiscountPromotion: dollars(couponCents),
    SalesTax: dollars(charges.taxCents),
    SalesTax2: dollars(charges.secondTaxCents),
    OrderAmount: dollars(charges.totalCents),
  }
}

/** Free from 150 dollars in the country; nothing to send costs nothing. */
function shippingOf(parcel: readonly OrderLine[], country: string): number {
  const weight = linesWeight(parcel)
  if (weight === 0) return 0
  if (country !== 'US') return 1_995 + weight * 11
  return linesCents(parcel) >= 15_000 ? 0 : 595 + weight * 6
}

function makePromotions(itemsCents: number): Promotion[] {
  const promotions: Promotion[] = []
  if (happens(12)) {
    const coupon = oneOf(['WELCOME10', 'SPRING10', 'THANKYOU'])
    promotions.push({ name: '10% off your order', coupon, cents: shareOf(itemsCents, 1_000) })
  }
  if (itemsCents >= 20_000 && happens(40)) promotions.push({ name: '$15 off orders over $200', cents: 1_500 })
  return promotions
}
