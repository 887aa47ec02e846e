import { expect, test } from 'vitest'
import { disarm, rearm } from '../../../src/csv/cells.ts'
import { rowsOf } from '../../../src/csv/rows.ts'
import { textOf } from '../../../src/csv/text.ts'

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
  ['carriage returns alone', Buffer.from(text.replaceAll('\r\n', '\r'))],
])('a file in %s is read alike, wherever it is cut on its way', async (_encoding, bytes) => {
  for (const length of [1, 2, 3, 7, 1_000]) expect(await rowsIn(bytes, length)).toEqual(rows)
})

test('what is not UTF-8 is named by its line, wherever the file is cut', async () => {
  const bytes = Buffer.from('name,price\r\nLamp,1\r\nL\u00e4mp,2\r\n', 'latin1')
  for (const length of [1, 5, 1_000]) await expect(rowsIn(bytes, length)).rejects.toThrow(/^Line 3 has characters/)
})

test.each(['=SUM(A1)', "'=SUM(A1)", "''-1", '-1', '@x', 'plain', "'s Hertogenbosch", ''])(
  'the cell %s comes back from a file as it was, and is no formula there',
  (cell) => {
    expect(rearm(disarm(cell))).toBe(cell)
    expect(disarm(cell)).not.toMatch(/^[=+\-@\t\r]/)
  },
)
