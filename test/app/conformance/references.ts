import { describe, expect, test } from 'vitest'
import type { Referrer } from '../../../src/engine/definition/links.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { resources } from '../../../src/shop/registry.ts'
import { expectNothing, expectRefusal, idsIn } from './answers.ts'
import { differences } from './differences.ts'
import { fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { fixtureOf, openShop, type Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** What becomes of a record, and of those that it refers to, when these are deleted: the rule of each relation. */
export function references(resource: Resource, stage: () => Stage): void {
  const { service, table, fields, filters } = resource
  const { follows = {}, bound = [] } = fixtureOf(resource)

  for (const owner of resources) {
    for (const referrer of owner.referrers.filter((each) => each.table === table)) {
      describe(`${owner.service} named in ${referrer.fields.join(', ')}`, () => {
        if (referrer.rule === 'refuse') refused(owner, referrer)
        else cleared(owner, referrer)
      })
    }
  }

  function refused(owner: Resource, referrer: Referrer): void {
    test('are not deleted: 400 that says what refers to them, and nothing is changed', async () => {
      const { server } = stage()
      const { shop, id, record, targets } = await referring(referrer)
      server.clock.ms += HOUR_MS

      for (const target of targets) {
        const answer = await shop.call('DELETE', `/${owner.service}/${target}`)
        expectRefusal(answer, 400, owner.resultKey)
        expect(answer.json()[0].Message).toContain(`${referrer.fields.join(', ')} of ${table} ${id}`)
        expect((await shop.call('GET', `/${owner.service}/${target}`)).statusCode).toBe(200)
      }

      expect(differences(await readRecord(stage(), shop, id), record)).toEqual([])
    })

    test('are deleted when nothing refers to them any more', async () => {
      const { shop, id, targets } = await referring(referrer)

      expect((await shop.call('DELETE', `/${service}/${id}`)).statusCode).toBe(200)

      for (const target of targets) {
        expect((await shop.call('DELETE', `/${owner.service}/${target}`)).statusCode).toBe(200)
      }
    })
  }

  function cleared(owner: Resource, referrer: Referrer): void {
    test('are deleted: the record loses the reference, and nothing else', async () => {
      const { shop, id, record, targets } = await referring(referrer)

      for (const target of targets) {
        expect((await shop.call('DELETE', `/${owner.service}/${target}`)).statusCode).toBe(200)
        expectNothing(await shop.call('GET', `/${owner.service}/${target}`))
      }

      const expected = referrer.fields.reduce<Wire>((each, path) => without(each, path.split('.'), targets), record)
      expect(differences(await readRecord(stage(), shop, id), { ...expected, ...following(referrer) })).toEqual([])
    })

    if (filters.lastupdatestart === undefined && fields.get('LastUpdate') === undefined) return

    test('are deleted: the record, and no other, is among those that changed since', async () => {
      const { server, fixture } = stage()
      const { shop, id, targets } = await referring(referrer)
      const other = await newRecord(stage(), shop, fixture.minimal(nextSeed('odd')))
      const { LastUpdate: before } = await readRecord(stage(), shop, other)
      server.clock.ms += HOUR_MS
      const since = new Date(server.clock.ms).toISOString().slice(0, 19)

      expect((await shop.call('DELETE', `/${owner.service}/${targets[0]}`)).statusCode).toBe(200)

      if (fields.get('LastUpdate') !== undefined) {
        expect(await readRecord(stage(), shop, id)).toMatchObject({ LastUpdate: since })
        expect(await readRecord(stage(), shop, other)).toMatchObject({ LastUpdate: before })
      }
      if (filters.lastupdatestart === undefined) return
      expect(idsIn(stage(), await shop.call('GET', `/${service}?lastupdatestart=${since}`))).toEqual([id])
    })
  }

  /** A record of a store of its own, with every field set, and the ids that it names. */
  async function referring({ fields: paths }: Referrer) {
    const { server, fixture } = stage()
    const shop = await openShop(server, fixture, 0, 'UTC')
    const id = await newRecord(stage(), shop, fullBody(stage(), shop, nextSeed('odd')))
    const record = await readRecord(stage(), shop, id)
    const named = paths.flatMap((path) => valuesAt(record, path.split('.')))
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths)
      expect({ path, named: valuesAt(record, path.split('.')).some(Boolean) }).toMatchObject({ named: true })
    return { shop, id, record, targets: [...new Set(named)].filter((each) => each !== 0) }
  }

  /** The record after those that it names at this path are gone: references at 0, items gone that are nothing without them. */
  function without(record: Wire, [name = '', ...rest]: readonly string[], gone: readonly unknown[]): Wire {
    if (rest.length === 0) return gone.includes(record[name]) ? { ...record, [name]: 0 } : record
    const items = record[name] as Wire[]
    const [member = ''] = rest
    const kept = bound.includes(name) ? items.filter((item) => !gone.includes(item[member])) : items
    return { ...record, [name]: kept.map((item) => without(item, rest, gone)) }
  }

  /** What else of the record may change with its references. */
  function following({ fields: paths }: Referrer): Wire {
    const names = paths.flatMap((path) => follows[path.split('.')[0] as string] ?? [])
    return Object.fromEntries(
      ['LastUpdate', 'UserID', ...names].filter((name) => fields.get(name)).map((name) => [name, expect.anything()]),
    )
  }
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]))
  if (name === undefined) return [value]
  return valuesAt((value as Wire)[name], rest)
}
