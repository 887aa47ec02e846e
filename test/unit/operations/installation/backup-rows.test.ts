import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyLine, ROWS_END, RowCounter, SectionReader } from '../../../../src/operations/installation/backup/rows.ts'

const table = (name: string) => ({ name, columns: ['id', 'na"me'] })

async function readAll(content: Buffer, sizes: readonly number[], names: readonly string[]) {
  const reader = new SectionReader(inPieces(content, sizes))
  const counter = new RowCounter(() => {})
  const tables: string[] = []
  for (const name of names) {
    await reader.begin(table(name))
    const chunks = await Array.fromAsync(counter.passing(reader.rows()))
    tables.push(Buffer.concat(chunks).toString())
  }
  await reader.end()
  return { tables, counts: counter.counts }
}

async function* inPieces(content: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < content.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield content.subarray(at, at + size)
    at += size
  }
}

/** Lines as COPY writes them: a backslash is never the only one. */
const line = fc
  .array(fc.constantFrom('a', '\\\\', '.', '\\N', '\t', 'ü', '\\\\.'), { maxLength: 6 })
  .map((parts) => `${parts.join('')}\n`)

test('gives each table its rows, however the content is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(line, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
      async (tables, sizes) => {
        const names = tables.map((_, index) => `Table ${index}`)
        const content = tables.map(
          (rows, index) => `${copyLine(table(names[index] ?? ''))}\n${rows.join('')}${ROWS_END}`,
        )
        const read = await readAll(Buffer.from(content.join('')), sizes, names)
        expect(read).toEqual({ tables: tables.map((rows) => rows.join('')), counts: tables.map((rows) => rows.length) })
      },
    ),
  )
})

test('refuses rows of another table, rows without an end, and what follows the last table', async () => {
  const rows = `${copyLine(table('A'))}\n1\tx\n`
  const read = (content: string, name = 'A') => readAll(Buffer.from(content), [7], [name])
  await expect(read(rows + ROWS_END, 'B')).rejects.toThrow('the rows of B are missing')
  await expect(read(rows)).rejects.toThrow('the end of a table is missing')
  await expect(read(`${rows}${ROWS_END}more`)).rejects.toThrow('something follows the last table')
})
