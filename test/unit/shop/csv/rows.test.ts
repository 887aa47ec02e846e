import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { disarm, rearm } from '../../../../src/shop/csv/lines/cells.ts'
import { rowsOf } from '../../../../src/shop/csv/lines/rows.ts'
import { textOf } from '../../../../src/shop/csv/lines/text.ts'

async function* inPieces(bytes: Buffer, length: number) {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
}

async function rowsIn(bytes: Buffer, length: number) {
  const rows = []
  for await (const { line, cells } of rowsOf(textOf(inPieces(bytes, length)))) rows.push([line, ...cells])
  return rows
}

const text = '\uFEFFname;price\r\n\r\n"Lämp; ""one""\r\ntwo";2\r\n;\r\n€;3'
const rows = [
  [1, 'name', 'price'],
  [3, 'Lämp; "one"\ntwo', '2'],
  [6, '€', '3'],
]

test.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 without its mark', Buffer.from(text.slice(1))],
  ['UTF-16, little end first', Buffer.from(text, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(text, 'utf16le').swap16()],
  ['line feeds alone', Buffer.from(text.replaceAll('\r\n', '\n'))],
  ['UTF-8 with the end mark of DOS', Buffer.from(`${text}\x1A`)],
  ['UTF-8 with a last line that ends, and end marks', Buffer.from(`${text}\r\n\x1A\x1A\x1A`)],
  ['carriage returns alone and an end mark', Buffer.from(`${text.replaceAll('\r\n', '\r')}\r\x1A`)],
  ['carriage returns alone', Buffer.from(text.replaceAll('\r\n', '\r'))],
])('a file in %s is read alike, wherever it is cut on its way', async (_encoding, bytes) => {
  for (const length of [1, 2, 3, 7, 1_000]) expect(await rowsIn(bytes, length)).toEqual(rows)
})

test('what is not UTF-8 is named by its line, wherever the file is cut', async () => {
  const bytes = Buffer.from('name,price\r\nLamp,1\r\nL\u00e4mp,2\r\n', 'latin1')
  for (const length of [1, 5, 1_000]) await expect(rowsIn(bytes, length)).rejects.toThrow(/^Line 3 has characters/)
})

test('an end mark of DOS inside a file is text, wherever the file is cut', async () => {
  const bytes = Buffer.from('a,b\r\n\x1A1,\r\x1A\n\x1A\x1A,2')
  for (const length of [1, 2, 3, 1_000]) {
    expect(await rowsIn(bytes, length)).toEqual([
      [1, 'a', 'b'],
      [2, '\x1A1', ''],
      [3, '\x1A'],
      [4, '\x1A\x1A', '2'],
    ])
  }
})

test.each([
  ['UTF-16, little end first', Buffer.from('name,price\r\nLamp,1\r\n', 'utf16le'), 1],
  ['UTF-16, big end first', Buffer.from('name,price\r\nLamp,1\r\n', 'utf16le').swap16(), 1],
  ['UTF-16, behind an empty line', Buffer.from(`\n${Buffer.from('name', 'utf16le').toString('latin1')}\n`), 2],
])('%s, without its mark is not UTF-8', async (_encoding, bytes, line) => {
  const refusal = `Line ${line} has characters that are not UTF-8.`
  for (const length of [1, 2, 5, 1_000]) await expect(rowsIn(bytes, length)).rejects.toThrow(refusal)
})

describe('the separator', () => {
  test.each([
    [';', 'sep=;\r\nname,price;other\r\n1,2;3\r\n'],
    [';', '\n"sep=;"\r\nname,price;other\r\n\n1,2;3\r\n'],
    ['\t', 'SEP=\t\nname,price\tother\n1,2\t3\n'],
    [',', 'sep=,\nname;price,other\n1;2,3\n'],
  ])('%j is that of a first line that names it', async (separator, text) => {
    for (const length of [1, 4, 1_000]) {
      const found = []
      for await (const row of rowsOf(textOf(inPieces(Buffer.from(text), length)))) found.push(row)
      expect(found.map(({ cells }) => cells.length)).toEqual([2, 2])
      expect(found.map((row) => row.separator)).toEqual([separator, separator])
      const lines = text.split(/\r?\n/)
      expect(found.map(({ line }) => line)).toEqual([
        lines.findIndex((each) => each.startsWith('name')) + 1,
        lines.findIndex((each) => each.startsWith('1')) + 1,
      ])
    }
  })

  test.each(['sep=|\nname|price\n1|2\n', 'name|price\n1|2\n', 'sep=:\nname:price\n'])(
    'of %j is refused with those that are taken',
    async (text) => {
      await expect(rowsIn(Buffer.from(text), 3)).rejects.toThrow('Separate them by commas, semicolons or tabs.')
    },
  )

  test('a bar beside others is text', async () => {
    expect(await rowsIn(Buffer.from('name|a|b,price\n1|2,3\n'), 4)).toEqual([
      [1, 'name|a|b', 'price'],
      [2, '1|2', '3'],
    ])
  })
})

test('any text comes back from a file as it was, and is no formula there', () => {
  const signs = fc.constantFrom(...'=+-@＝＋－＠\t\r\n\'"\u00a0 a1'.split(''))
  const texts = fc.oneof(fc.string({ unit: signs }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(texts, (text) => {
      expect(rearm(disarm(text))).toBe(text)
      expect(disarm(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
    }),
  )
})
