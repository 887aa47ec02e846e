import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatOf } from '../../../../src/foundation/texts/format.ts'
import { localeTags } from '../../../../src/foundation/texts/language.ts'
import { decimalsOf } from '../../../../src/foundation/values/currency.ts'
import { type NumberKind, readTyped } from '../../../../src/foundation/values/typed-number.ts'
import { numberIn } from '../../../../src/http/html/numbers.ts'
import { rewritten } from '../../../../src/http/pages/shop/orders/order-form.ts'

const writingOf = (locale: string, currencyCode = 'EUR') => ({ ...formatOf(locale), currencyCode })
const kinds: readonly NumberKind[] = ['number', 'money', 'price', 'sum']
const currencies = ['USD', 'EUR', 'CHF', 'JPY', 'KWD', 'HUF', 'XAF', 'CLF']

const digits = fc.stringMatching(/^[0-9]{1,11}$/)
const blanks = fc.stringMatching(/^[ \t]{0,3}$/)
const typed = fc.tuple(fc.constantFrom('', '-', '+', '−'), digits, fc.option(fc.stringMatching(/^[0-9]{0,4}$/)))
const written = (sign: string) =>
  typed.map(([minus, whole, part]) => minus + whole + (part === null ? '' : sign + part))

/** What is no number, and what of it is named. */
const strange: readonly (readonly [string, string])[] = [
  ['0x10', 'x'],
  ['1e3', 'e'],
  ['-Infinity', 'Infinity'],
  ['$12', '$'],
  ['12 Euro', 'Euro'],
  ['1_000', '_'],
  ['10 00', ' '],
  ['1’00', '’'],
  ['--1', '-'],
  ['-', '-'],
  ['٣', '٣'],
]

describe.each([
  { locale: 'en-US', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'en-GB', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'de-CH', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'de-DE', sign: ',', other: '.', example: '1234,5, with a comma' },
  { locale: 'de-AT', sign: ',', other: '.', example: '1234,5, with a comma' },
])('$locale', ({ locale, sign, other, example }) => {
  const writing = writingOf(locale)

  test('a number that people write is read as it is, with blanks around it', () => {
    fc.assert(
      fc.property(written(sign), blanks, blanks, (text, before, after) => {
        const read = numberIn({ Amount: before + text + after }, 'Amount', writing)
        expect(read).toBe(Number(text.replace('−', '-').replace(sign, '.')))
      }),
    )
  })

  const ofLocale = [`9${other}99`, `1${sign}234${other}5`, `1${other}23${other}456`].map(
    (text) => [text, other] as const,
  )
  test.each([...strange, ...ofLocale])('%j is no number: %j is named', (text, stray) => {
    const problem = `must be a number in digits, such as ${example} before decimals: it has "${stray}"`
    expect(readTyped(text, writing)).toEqual({ text: null, problem })
    expect(() => numberIn({ Amount: text }, 'Amount', writing)).toThrowError(
      expect.objectContaining({ status: 400, field: 'Amount', faults: [{ field: 'Amount', problem }] }),
    )
  })

  test('thousands with one reading are read, and those with two are refused with both', () => {
    const two = `can be read as 1${sign}299 and as 1299. Write it like one of them`
    expect(readTyped(`1${other}299`, writing)).toEqual({ text: null, problem: two })
    expect(readTyped(`1${other}299`, writing, 'price').problem).toBe(two)
    expect(readTyped(`1${other}299`, writing, 'sum').problem).toBe(two)
    expect(readTyped(`1${other}299`, writingOf(locale, 'JPY'), 'sum')).toEqual({ text: '1299', problem: '' })
    for (const group of [other, '’', "'", ' ', '\u00a0', '\u202f']) {
      expect(readTyped(`−1${group}299${sign}90`, writing).text).toBe('-1299.90')
      expect(readTyped(`1${group}299${group}000`, writing).text).toBe('1299000')
    }
  })

  test('only the currency of the store may stand beside money, at either end', () => {
    const shown = locale === 'de-CH' ? 'EUR' : '€'
    for (const text of [`${shown}12${sign}5`, `12${sign}5 ${shown}`, `EUR 12${sign}5`, `12${sign}5\u00a0EUR`]) {
      expect(readTyped(text, writing, 'sum')).toEqual({ text: '12.5', problem: '' })
      expect(readTyped(text, writing).text).toBeNull()
      expect(readTyped(text, writingOf(locale, 'USD'), 'sum').problem).toMatch(/it has "(€|EUR)"$/)
    }
    expect(readTyped('1EUR2', writing, 'sum').text).toBeNull()
  })

  test('what is read has digits, one sign and one point alone, whatever is typed', () => {
    const any = fc.oneof(
      fc.string(),
      written(sign),
      fc.stringMatching(/^[0-9eExX.,+€ -]{0,9}$/),
      fc.double().map(String),
    )
    fc.assert(
      fc.property(any, fc.constantFrom(...kinds), (text, kind) => {
        const { text: plain, problem } = readTyped(text, writing, kind)
        if (plain !== null) expect(plain).toMatch(/^([+-]?(\d+\.?\d*|\.\d+))?$/)
        else expect(problem).not.toBe('')
      }),
      { numRuns: 2_000 },
    )
  })
})

test('whatever a page shows of a number or an amount is read as that, or refused as having two readings', () => {
  const units = fc.integer({ min: -2_000_000_000, max: 2_000_000_000 })
  fc.assert(
    fc.property(
      units,
      fc.constantFrom(1, 10, 1_000, 10_000),
      fc.constantFrom(...localeTags),
      fc.constantFrom(...currencies),
      (tenThousandths, scale, locale, currency) => {
        const writing = writingOf(locale, currency)
        const amount = 0 + Number((tenThousandths / scale).toFixed(decimalsOf(currency)))
        const fine = tenThousandths / 10_000
        const shown = [
          [writing.number(fine), 'number', fine],
          [writing.unitPrice(fine, currency), 'money', fine],
          [writing.money(amount, currency), 'sum', amount],
          [writing.typed(amount), 'sum', amount],
        ] as const
        expect(readTyped(writing.typed(fine), writing)).toEqual({ text: String(fine), problem: '' })
        for (const [text, kind, value] of shown) {
          const read = readTyped(text, writing, kind)
          if (read.text === null) expect([text, read.problem]).toEqual([text, expect.stringMatching(/^can be read as/)])
          else expect([text, Number(read.text), read.problem]).toEqual([text, value, ''])
        }
      },
    ),
    { numRuns: 3_000 },
  )
})

test('no text is read as one number by some readers and as another by others', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9.,]{1,9}$/), fc.constantFrom(...kinds), (text, kind) => {
      const read = localeTags.map((locale) => readTyped(text, writingOf(locale), kind))
      const numbers = new Set(read.flatMap((one) => (one.text === null || one.problem !== '' ? [] : Number(one.text))))
      expect([text, [...numbers]]).toEqual([text, expect.toSatisfy((all: number[]) => all.length <= 1)])
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['sum', '5.005', 'USD', 'must have at most 2 decimals in USD'],
  ['sum', '5.50', 'JPY', 'must have no decimals in JPY'],
  ['sum', '5.00', 'JPY', ''],
  ['sum', '0.106', 'KWD', ''],
  ['sum', '0.1061', 'KWD', 'must have at most 3 decimals in KWD'],
  ['sum', '-5', 'USD', ''],
  ['price', '0.0125', 'USD', ''],
  ['price', '0.00001', 'USD', 'must have at most 4 decimals'],
  ['price', '-0.01', 'USD', 'must not be below 0'],
  ['money', '-0.01', 'USD', ''],
  ['money', '0.00001', 'USD', 'must have at most 4 decimals'],
  ['number', '0.00001', '', 'must have at most 4 decimals'],
  ['number', '99999999999.9999', '', ''],
] as const)('a %s of %s in %s: %j', (kind, text, currency, problem) => {
  expect(readTyped(text, writingOf('en-US', currency), kind)).toEqual({ text, problem })
})

test('a draft that was kept in another language has the same numbers, and none that nobody has meant', () => {
  const kept = {
    'ItemID.1': '1.5',
    'ItemQuantity.1': '1,5',
    'ItemQuantity.2': '3',
    'ItemQuantity.3': '1.234',
    SalesTax: '1.234,5 €',
    ShipmentCost: 'abc',
    OrderDiscountPromotion: '',
  }
  const [english, german] = [writingOf('en-US'), writingOf('de-DE')]
  const rewrittenNumbers = { 'ItemQuantity.1': '1.5', 'ItemQuantity.3': '', SalesTax: '1234.5' }
  expect(rewritten(kept, german, english)).toEqual({ ...kept, ...rewrittenNumbers })
  expect(rewritten(kept, german, writingOf('de-AT'))).toEqual(kept)
})
