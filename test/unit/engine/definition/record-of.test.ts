import { expectTypeOf, test } from 'vitest'
import { defineResource } from '../../../../src/engine/definition/define.ts'
import {
  boolean,
  date,
  decimal,
  integer,
  list,
  needing,
  object,
  text,
} from '../../../../src/engine/definition/fields.ts'
import type { RecordOf } from '../../../../src/engine/definition/record-of.ts'

const things = defineResource({
  service: 'Things',
  typeName: 'Thing',
  description: 'A thing.',
  maxRecords: 1,
  fields: {
    ThingID: integer({ column: 'id', access: 'key' }),
    MadeAt: date({ column: 'madeAt', nullable: true }),
    ...needing('Cost', { Cost: decimal({ column: 'cost' }) }),
    Size: object('Size', { Width: decimal(), IsExact: boolean() }),
    Note: text(10, { isOptional: true }),
    Adjust: decimal({ access: 'sent' }),
    PartList: list('Part', { PartID: integer({ access: 'key' }), Secret: text(10, { access: 'kept' }) }),
    KeptList: list('Kept', { Text: text() }, { access: 'kept' }),
  },
})

test('the type of a record has what answers have: no member that is only sent or kept, and one that may be missing', () => {
  expectTypeOf<RecordOf<typeof things>>().branded.toEqualTypeOf<{
    readonly ThingID: number
    readonly MadeAt: string
    readonly Cost: number
    readonly Size: { readonly Width: number; readonly IsExact: boolean }
    readonly Note?: string
    readonly PartList: readonly { readonly PartID: number }[]
  }>()
})
