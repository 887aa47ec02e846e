import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Abridging, Composed, inFull, type Region, templateOf } from '../../../src/engine/definition/composed.ts'

/** A record whose members have either their default or a value of their own; the last one is a list of records alike. */
interface Written {
  readonly values: readonly (string | null)[]
  readonly items: readonly Written[]
}

const defaults = ['{"Name":', '""', ',"Note":', '""', ',"Stock":', '0', ',"A member with a long name":', '"none"', '}']
const regions: Region[] = [0, 1, 2].map(() => ({ text: defaults.join(''), base: 0 }))
const template = templateOf(regions)

function write(out: Composed, { values, items }: Written, depth: number): void {
  const { text } = regions[depth] as Region
  let position = 0
  for (const [place, part] of defaults.entries()) {
    const end = position + part.length
    const value = place % 2 === 1 ? (values[(place - 1) / 2] ?? null) : null
    if (value !== null) {
      out.copyTo(position)
      out.write(JSON.stringify(value))
      out.skipTo(end)
    }
    position = end
  }
  out.copyTo(text.length - 1)
  for (const item of items) writeAt(out, item, depth + 1)
}

const writeAt = (out: Composed, written: Written, depth: number) =>
  out.writeOver(regions[depth] as Region, (into, row: Written) => write(into, row, depth), written, null)

const records = (depth: number): fc.Arbitrary<Written> =>
  fc.record({
    values: fc.array(fc.option(fc.string({ unit: 'binary' })), { minLength: 4, maxLength: 4 }),
    items: depth === 2 ? fc.constant([]) : fc.array(records(depth + 1), { maxLength: 3 }),
  })

test('an abridged text is the whole one, with the bytes that it says', () => {
  fc.assert(
    fc.property(records(0), (written) => {
      const whole = new Composed()
      writeAt(whole, written, 0)
      const short = new Abridging()
      writeAt(short, written, 0)
      const { text, bytes } = short.abridged()
      expect(inFull(text, template.text)).toBe(whole.text)
      expect(bytes).toBe(Buffer.byteLength(whole.text))
    }),
  )
})

test('a record of defaults is one slice', () => {
  const short = new Abridging()
  writeAt(short, { values: [], items: [] }, 0)
  expect(short.abridged()).toEqual({ text: expect.stringMatching(/^.{6}\}?$/), bytes: defaults.join('').length })
})

test('templates of another text have another number', () => {
  const other = templateOf([{ text: '{"Name":" "}', base: 0 }])
  expect(other.id).toMatch(/^-?\d+$/)
  expect(other.id).not.toBe(template.id)
  expect(() => templateOf([{ text: '{"Name":"ä"}', base: 0 }])).toThrow('ASCII')
})
