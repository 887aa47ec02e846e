import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exact, rounded, sum } from '../../../../../src/shop/resources/orders/amounts.ts'
import { methodsFor, taxOn } from '../../../../../src/shop/resources/orders/proposals.ts'

/** With their smallest sums, in ten-thousandths. */
const currency = fc.constantFrom(['EUR', 100n], ['KWD', 10n], ['JPY', 10_000n], ['CLF', 1n] as const)
const tenThousandths = fc.bigInt({ min: 0n, max: 10n ** 15n })
const line = fc.record({
  amount: tenThousandths,
  weight: tenThousandths,
  isTaxable: fc.boolean(),
  hasFreeShipping: fc.boolean(),
})
const charged = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 4 }),
  discount: tenThousandths,
  shipping: tenThousandths,
  rate: fc.integer({ min: 0, max: 1_000_000 }).map((units) => units / 10_000),
})

test('a tax is the rate of its base to the nearest smallest sum, never below 0, and an included one is in its base', () => {
  fc.assert(
    fc.property(charged, currency, ({ lines, discount, shipping, rate: percent }, [code, unit]) => {
      const sums = lines.map((each) => ({ ...each, amount: rounded(each.amount, code) }))
      const parts = { lines: sums, discount: rounded(discount, code), shipping: rounded(shipping, code) }
      const taxable = sum(sums.filter(({ isTaxable }) => isTaxable).map(({ amount }) => amount))
      const rate = exact(percent)
      for (const isIncluded of [false, true]) {
        const { base, amount, ...same } = taxOn({ rate: percent, isIncluded }, parts, code)
        expect(same).toEqual({ rate: percent, isIncluded })
        expect(base >= 0n && base <= taxable + parts.shipping && base % unit === 0n && amount % unit === 0n).toBe(true)
        if (taxable === sum(sums.map((each) => each.amount)) && taxable > parts.discount)
          expect(base).toBe(taxable - parts.discount + parts.shipping)
        if (sums.every(({ isTaxable }) => !isTaxable)) expect(base).toBe(0n)
        expect(amount >= 0n && amount <= base).toBe(true)
        // Twice the distance to the exact tax, in the unit of both denominators.
        const whole = exact(100) + (isIncluded ? rate : 0n)
        const off = 2n * (amount * whole - base * rate)
        expect((off < 0n ? -off : off) <= unit * whole).toBe(true)
        expect(taxOn({ rate: percent, isIncluded }, parts, code)).toEqual({ base, amount, ...same })
      }
    }),
  )
})

test('each method has the price of the highest row that the goods reach, of the country before everywhere', () => {
  const row = (method: string, country: string, basis: 'weight' | 'amount', from: number, price: number) => {
    return { method, country, basis, from, price }
  }
  const rates = [
    row('Parcel', 'DE', 'weight', 0, 4.9),
    row('parcel', 'DE', 'weight', 5, 8.9),
    row('Parcel', '', 'weight', 0, 19),
    row('Courier', '', 'amount', 0, 12),
    row('Courier', '', 'amount', 100, 0),
    row('Freight', 'DE', 'weight', 30, 60),
  ]
  const goods = (amount: number, weight: number, hasFreeShipping = false) => [
    { amount: exact(amount), weight: exact(weight), isTaxable: true, hasFreeShipping },
  ]
  const priced = (lines: ReturnType<typeof goods>, country: string) =>
    methodsFor(rates, lines, country).map(({ name, price }) => `${name} ${Number(price) / 10_000}`)
  expect(priced(goods(20, 4.9999), 'DE')).toEqual(['Parcel 4.9', 'Courier 12'])
  expect(priced(goods(100, 5), 'DE')).toEqual(['Courier 0', 'parcel 8.9'])
  expect(priced(goods(100, 30), 'DE')).toEqual(['Courier 0', 'parcel 8.9', 'Freight 60'])
  expect(priced(goods(20, 30), 'AT')).toEqual(['Courier 12', 'Parcel 19'])
  expect(priced(goods(20, 30), '')).toEqual(['Courier 12', 'Parcel 19'])
  expect(priced([...goods(20, 4), ...goods(20, 9, true)], 'DE')).toEqual(['Parcel 4.9', 'Courier 12'])
  expect(priced(goods(20, 9, true), 'DE')).toEqual(['Courier 0', 'Parcel 0'])
})
