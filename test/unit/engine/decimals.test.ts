import { describe, expect, test } from 'vitest'
import { type FieldSet, fieldSet, type ValueField } from '../../../src/engine/definition/fields.ts'
import { Handling } from '../../../src/engine/definition/handling.ts'
import { notesFor, readPatch } from '../../../src/engine/definition/input.ts'
import { resources } from '../../../src/shop/registry.ts'

// What becomes of decimals that are not kept, for each decimal field of each definition that a request may give.

function decimalsIn({ leaves }: FieldSet): { name: string; field: ValueField }[] {
  return leaves.flatMap(({ path, field }) => {
    if (field.kind === 'list') return decimalsIn(field.fields)
    return field.kind === 'decimal' && ['rw', 'new'].includes(field.access) ? [{ name: path.at(-1) ?? '', field }] : []
  })
}

const all = resources.flatMap(({ typeName, fields }) =>
  decimalsIn(fields).map((one) => ({ ...one, of: `${typeName}: ${one.name}` })),
)

function read(name: string, field: ValueField, given: unknown, isStrict: boolean) {
  const notes = notesFor(new Handling(isStrict))
  const patch = readPatch(fieldSet({ [name]: field }), { [name]: given }, { mode: 'update', timeZone: 'UTC', notes })
  const [value] = Object.values({ ...patch.columns, ...patch.details })
  return { value, refused: notes.refusals.map(({ message }) => message), vanished: notes.vanished }
}

test('there are decimals, and each amount says of what it is', () => {
  expect(all.length).toBeGreaterThan(40)
  expect(all.filter(({ field }) => field.isMoney && field.numberKind === 'number')).toEqual([])
})

describe.each(all)('$of', ({ name, field }) => {
  const lost = [`${name} must have at most 4 decimals`]

  test('a strict request loses none', () => {
    for (const given of [0.00001, '0.00001', 1.23456, '12.00005']) {
      expect(read(name, field, given, true).refused).toEqual(lost)
    }
    expect(read(name, field, 0.1 + 0.2, true)).toEqual({ value: 0.3, refused: [], vanished: [] })
    expect(read(name, field, 0.1 + 0.2 - 0.3, true)).toEqual({ value: 0, refused: [], vanished: [] })
    expect(read(name, field, 1234567.1 + 0.2, true).refused).toEqual([])
  })

  test('a lenient one rounds, and notes of what nothing is left', () => {
    expect(read(name, field, 1.23456, false)).toEqual({ value: 1.2346, refused: [], vanished: [] })
    expect(read(name, field, 0.00001, false)).toEqual({ value: 0, refused: [], vanished: [name] })
    expect(read(name, field, 0, false)).toEqual({ value: 0, refused: [], vanished: [] })
  })
})
