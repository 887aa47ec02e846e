import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { notANumber, numberIn, plainNumber } from '../../../src/html/numbers.ts'
import { rewritten } from '../../../src/pages/admin/orders/order-form.ts'
import { formatOf } from '../../../src/texts/format.ts'

const digits = fc.stringMatching(/^[0-9]{1,11}$/)
const blanks = fc.stringMatching(/^[ \t]{0,3}$/)
const typed = fc.tuple(fc.constantFrom('', '-', '+', '−'), digits, fc.option(fc.stringMatching(/^[0-9]{0,6}$/)))
const written = (sign: string) =>
  typed.map(([minus, whole, part]) => minus + whole + (part === null ? '' : sign + part))

const strange = [
  '0x10',
  '0b1',
  '0o7',
  '1e3',
  '1E3',
  'Infinity',
  '-Infinity',
  'NaN',
  '1,234.50',
  '1.234,50',
  '$12',
  '1_000',
  '1 000',
  '1’000',
  '--1',
  '.',
  ',',
  '-',
  '٣',
]

describe.each([
  { locale: 'en-US', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'en-GB', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'de-CH', sign: '.', other: ',', example: '1234.5, with a point' },
  { locale: 'de-DE', sign: ',', other: '.', example: '1234,5, with a comma' },
  { locale: 'de-AT', sign: ',', other: '.', example: '1234,5, with a comma' },
])('$locale', ({ locale, sign, other, example }) => {
  const writing = formatOf(locale)

  test('a number that people write is read as it is, to four decimals, with blanks around it', () => {
    fc.assert(
      fc.property(written(sign), blanks, blanks, (text, before, after) => {
        const read = numberIn({ Amount: before + text + after }, 'Amount', writing)
        expect(read).toBe(Number(Number(text.replace('−', '-').replace(sign, '.')).toFixed(4)))
      }),
    )
  })

  test.each([...strange, `9${other}99`, `1${other}234`, `1${sign}234${sign}5`])('%j is no number', (text) => {
    expect(plainNumber(text, writing)).toBeNull()
    expect(() => numberIn({ Amount: text }, 'Amount', writing)).toThrowError(
      expect.objectContaining({
        kind: 'bad-request',
        field: 'Amount',
        faults: [{ field: 'Amount', problem: notANumber(writing) }],
      }),
    )
    expect(notANumber(writing)).toBe(`must be a number in digits, such as ${example} before decimals`)
  })

  test('what a form shows of a stored number is read as that number', () => {
    const stored = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }).map((units) => units / 10_000)
    fc.assert(
      fc.property(stored, (number) => {
        expect(plainNumber(writing.typed(number), writing)).toBe(String(number))
      }),
    )
  })

  test('what is read has digits, one sign and one point alone, whatever is typed', () => {
    const any = fc.oneof(
      fc.string(),
      written(sign),
      fc.stringMatching(/^[0-9eExX.,+ -]{0,8}$/),
      fc.double().map(String),
    )
    fc.assert(
      fc.property(any, (text) => {
        const plain = plainNumber(text, writing)
        if (plain !== null) expect(plain).toMatch(/^([+-]?(\d+\.?\d*|\.\d+))?$/)
        else expect(text.trim().replace(sign, '.')).not.toMatch(/^[+-]?\d+$/)
        if (text.includes(other)) expect(plain).toBeNull()
      }),
      { numRuns: 2_000 },
    )
  })
})

test('no text is a number with decimals for readers of both signs', () => {
  const [english, german] = [formatOf('en-US'), formatOf('de-DE')]
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9.,]{1,8}$/), (text) => {
      const [one, other] = [plainNumber(text, english), plainNumber(text, german)]
      if (one !== null && other !== null) expect(text).toMatch(/^\d+$/)
    }),
    { numRuns: 2_000 },
  )
})

test('a draft that was kept in another language has the same numbers, and none that nobody has meant', () => {
  const kept = {
    'ItemID.1': '1.5',
    'ItemQuantity.1': '1,5',
    'ItemQuantity.2': '3',
    SalesTax: '1.234',
    ShipmentCost: 'abc',
    OrderDiscountPromotion: '',
  }
  const [english, german] = [formatOf('en-US'), formatOf('de-DE')]
  expect(rewritten(kept, german, english)).toEqual({ ...kept, 'ItemQuantity.1': '1.5', SalesTax: '' })
  expect(rewritten(kept, german, formatOf('de-AT'))).toEqual(kept)
})
