import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberIn, plainNumber } from '../../../src/html/numbers.ts'

const digits = fc.stringMatching(/^[0-9]{1,11}$/)
const blanks = fc.stringMatching(/^[ \t]{0,3}$/)
const typed = fc.tuple(fc.constantFrom('', '-', '+', '−'), digits, fc.option(fc.stringMatching(/^[0-9]{0,6}$/)))
const written = typed.map(([sign, whole, part]) => sign + whole + (part === null ? '' : `.${part}`))

test('a number that people write is read as it is, to four decimals, with blanks around it', () => {
  fc.assert(
    fc.property(written, blanks, blanks, (text, before, after) => {
      const read = numberIn({ Amount: before + text + after }, 'Amount')
      expect(read).toBe(Number(Number(text.replace('−', '-')).toFixed(4)))
    }),
  )
})

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
  '1,5',
  '$12',
  '1_000',
  '1 000',
  '--1',
  '.',
  '-',
  '٣',
]

test.each(strange)('%j is no number that people write', (text) => {
  expect(plainNumber(text)).toBeNull()
  expect(() => numberIn({ Amount: text }, 'Amount')).toThrowError(
    expect.objectContaining({
      kind: 'bad-request',
      field: 'Amount',
      faults: [expect.objectContaining({ field: 'Amount' })],
    }),
  )
})

test('what is read has digits, one sign and one point alone, whatever is typed', () => {
  const any = fc.oneof(fc.string(), written, fc.stringMatching(/^[0-9eExX.,+ -]{0,8}$/), fc.double().map(String))
  fc.assert(
    fc.property(any, (text) => {
      const plain = plainNumber(text)
      if (plain !== null) expect(plain).toMatch(/^([+-]?(\d+\.?\d*|\.\d+))?$/)
      else expect(text.trim()).not.toMatch(/^[+-]?\d+(\.\d+)?$/)
    }),
    { numRuns: 2_000 },
  )
})
