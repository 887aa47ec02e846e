import { expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import { differences } from './differences.ts'
import { merged, valuesOf } from './paths.ts'
import { fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import { isReference, type Wire } from './samples.ts'
import { fixtureOf, openShop, type Stage } from './stage.ts'

/** What becomes of a record when those are deleted that it refers to. */
export function references(resource: Resource, stage: () => Stage): void {
  const { fields } = resource
  const { prepare, follows = {} } = fixtureOf(resource)
  if (prepare === undefined) return

  test('loses its references to records that are deleted, and nothing else', async () => {
    const { server, fixture } = stage()
    const shop = await openShop(server, fixture)
    const id = await newRecord(stage(), shop, fullBody(stage(), shop, nextSeed('odd')))
    const record = await readRecord(stage(), shop, id)

    for (const [service, ids] of Object.entries(shop.references)) {
      for (const each of ids) expect((await shop.call('DELETE', `/${service}/${each}`)).statusCode).toBe(200)
    }

    expect(differences(await readRecord(stage(), shop, id), withoutReferences(record))).toEqual([])
  })

  /** References at 0, items that are nothing but a reference gone. */
  function withoutReferences(record: Wire): Wire {
    const bodies = valuesOf(fields).flatMap(({ path, field, body }) => {
      if (!isReference(field)) return []
      const [name = '', member] = path.split(/\[\d+\]\./)
      const unknown = (follows[name] ?? []).map((each) => ({ [each]: expect.anything() }))
      if (member === undefined) return [body(0), ...unknown]
      const items = record[name] as Wire[]
      return [{ [name]: field.access === 'key' ? [] : items.map((item) => ({ ...item, [member]: 0 })) }, ...unknown]
    })
    return merged(record, ...bodies)
  }
}
