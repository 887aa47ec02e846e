import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeAsOne, type Member } from '../../../src/engine/changing/change-sets.ts'
import { planChanges } from '../../../src/engine/changing/plan-change.ts'
import { resourceNamed } from '../../../src/registry.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'

let server: TestServer
let shop: TestStore

beforeAll(async () => {
  server = await openServer()
  shop = await server.openStore()
})
afterAll(() => server?.close())

/** A set whose last change is left out by the steps of a change. */
class Short extends Map<number, Member> {
  override *[Symbol.iterator](): MapIterator<[number, Member]> {
    yield* [...this.entries()].slice(0, -1)
  }
}

test('a whole set of which one change does not end is not made', async () => {
  const { caller } = shop
  const resource = resourceNamed('Manufacturers')
  const names = ['One', 'Two']
  const body = names.map((ManufacturerName) => ({ ManufacturerName }))
  const added = (await shop.call('POST', '/Manufacturers', { body })).json()
  const ids: number[] = added.map(({ Value }: { Value: string }) => Number(Value))
  const requested = ids.map((id) => ({ kind: 'update', id, body: { ManufacturerName: `New ${id}` } }) as const)
  const members = (await planChanges(caller, resource, requested)).map((planned, place): [number, Member] => [
    place,
    { caller, planned } as Member,
  ])
  let remembered = 0
  const make = (set: Map<number, Member>) => changeAsOne(resource, set, async () => void remembered++)
  const stored = async () =>
    (await shop.call('GET', '/Manufacturers')).json().map((one: { ManufacturerName: string }) => one.ManufacturerName)
  const short = new Short()
  for (const [place, member] of members) short.set(place, member)
  await expect(make(short)).rejects.toThrow('1 changes of a whole set did not end')
  expect([await stored(), remembered]).toEqual([names, 0])
  await make(new Map(members))
  expect([await stored(), remembered]).toEqual([ids.map((id) => `New ${id}`), 1])
})
