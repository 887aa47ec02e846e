import { expect, test } from 'vitest'
import { type Patch, readPatch } from '../../../src/engine/definition/input.ts'
import type { StoreFailure } from '../../../src/foundation/values/failure.ts'
import { orders } from '../../../src/shop/resources/orders/orders.ts'

function read(lines: number): { patch: Patch | null; refusals: StoreFailure[] } {
  const refusals: StoreFailure[] = []
  const body = { OrderItemList: Array.from({ length: lines }, () => ({ ItemQuantity: 'x' })) }
  const rules = { mode: 'update', timeZone: 'UTC', door: { shownAs: undefined, refusals } } as const
  try {
    return { patch: readPatch(orders.fields, body, rules), refusals }
  } catch {
    return { patch: null, refusals }
  }
}

test('a hundred refusals of a record wait for the stored one, and one more ends its reading', () => {
  const most = read(100)
  expect(most.patch).not.toBeNull()
  expect(most.refusals).toHaveLength(100)

  const more = read(10_000)
  expect(more.patch).toBeNull()
  expect(more.refusals).toHaveLength(101)
})
