import { expect, test } from 'vitest'
import { computeFigures } from '../../../tools/realistic/figures.ts'
import { generatedFigures, generatedSource, generateRetail, smallYear } from '../../../tools/realistic/generate.ts'

const source = generatedSource(smallYear)

test.each([{ ...smallYear, invoices: 100, products: 60, customers: 40 }, smallYear])(
  'a generated file of $invoices invoices has the same bytes at every run, and all oddities of the real one',
  (size) => {
    const text = [...generateRetail(size)].join('')
    expect([...generateRetail(size)].join('')).toBe(text)
    const rows = text.split('\n')
    const has = (pattern: RegExp) => rows.some((row) => pattern.test(row))
    expect({
      return: has(/^C\d+,[^,]+,.*,-\d+,/),
      badDebt: has(/^A\d+,B,Adjust bad debt,1,[^,]+,-\d+\.\d+,,/),
      stockCorrection: has(/^\d+,[^,]+,[^,]*,-\d+,[^,]+,0\.0,,/),
      guestOrder: has(/^\d+,[^,]+,.*,\d+,[^,]+,[1-9][^,]*,,/),
      blankDescription: has(/^\d+,[^,]+,,/),
      trailingBlank: has(/^\d+,[^,]+,[^,]* ,/),
      quotesAndCommas: has(/""HOME SWEET HOME"" SIGN, METAL"/),
      nonAscii: has(/ROSÉ/),
      tenthOfPenny: has(/,0\.001,/),
      lowerCaseSku: has(/^\d+,\d{5}[a-z],/),
      upperCaseSku: has(/^\d+,\d{5}[A-Z],/),
      notGoods: has(/^\d+,(POST|DOT|BANK CHARGES),/),
      unspecified: has(/,Unspecified$/),
      doubled: rows.some((row, index) => row !== '' && row === rows[index + 1]),
    }).not.toContainEqual(false)
    const orders = [...generatedFigures(size).orders.values()]
    expect(Math.max(...orders.map(({ items }) => items))).toBeGreaterThanOrEqual(500)
    expect(orders.some(({ items }) => items === 1)).toBe(true)
    expect(orders.some(({ amountPence, customerId }) => amountPence === 0 && customerId !== 0)).toBe(true)
  },
)

test('the figures computed from the generated text are those that the generator knows', async () => {
  const computed = await computeFigures(source)
  const returns = new Map([...computed.returns].map(([invoice, record]) => [invoice, { ...record, orderId: 0 }]))
  expect({ ...computed, returns }).toEqual(generatedFigures(smallYear))
})
