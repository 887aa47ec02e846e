import { beforeAll, describe, expect, test } from 'vitest'
import type { FieldSet, ListField } from '../../../src/engine/definition/fields.ts'
import type { RelatedSubResource, Resource, SubResource } from '../../../src/engine/definition/resource.ts'
import { projectionOf } from '../../../src/engine/reading/read.ts'
import { resources } from '../../../src/shop/registry.ts'
import { exportOf, linesOf } from '../engine/transfer/fixture.ts'
import { idIn, idsIn } from './answers.ts'
import { dialects, inDialect, recordsIn } from './dialects.ts'
import { differences, namesIn, namesOf, shownOf } from './differences.ts'
import { shownBelow } from './places.ts'
import { change, fullBody, newRecord, newWholeRecord, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { belonging } from './scene.ts'
import { fixtureOf, openShop, type Shop, type Stage } from './stage.ts'
import type { Type } from './xml.ts'

/** A record with every field set is one and the same wherever it is shown: each member, in the same order. */
export function sameRecord(resource: Resource, stage: () => Stage): void {
  const { service, names, idParam } = resource

  describe(`the same ${resource.typeName}`, () => {
    let shop: Shop
    let body: Wire
    let id: number
    /** The record before it in the list. */
    let previous: number
    let record: Wire

    beforeAll(async () => {
      const { server, fixture } = stage()
      shop = await openShop(server, fixture)
      previous = await newRecord(stage(), shop, fixture.minimal(nextSeed('odd')))
      body = fullBody(stage(), shop, nextSeed('odd'))
      id = await newRecord(stage(), shop, body)
      await newRecord(stage(), shop, fixture.minimal(nextSeed('odd')))
      record = await readRecord(stage(), shop, id)
    })

    /** The path answers this alone, in v1 and v2, in JSON and XML. */
    async function expectAt(path: string, expected: unknown, type: Type = resource): Promise<void> {
      for (const dialect of dialects) {
        const answer = await shop.call('GET', path, inDialect(dialect))
        expectSame(recordsIn(answer, dialect, type), expected, `${path} in ${dialect.version}, ${dialect.format}`)
      }
    }

    if (resource.methods.includes('PUT')) {
      test('as it was written, by its id', async () => {
        expect(idIn({ resource }, record)).toBe(id)
        expect(differences(record, shownOf(resource.fields, body))).toEqual([])
        expect(namesIn(record)).toEqual(namesOf(resource.fields, record))
        await expectAt(`/${service}/${id}`, [record])
      })
    }

    test(`in a list: by ?${idParam}=, by limit and offset, and by a cursor`, async () => {
      const ids = idsIn({ resource }, await shop.call('GET', `/${service}?limit=500`))
      const place = ids.indexOf(id)
      expect(ids[place - 1]).toBe(previous)

      await expectAt(`/${service}?${idParam}=${id}`, [record])
      await expectAt(`/${service}?${idParam.toUpperCase()}=${id}`, [record])
      await expectAt(`/${service}?limit=1&offset=${place + 1}`, [record])
      await expectAt(`/${service}?limit=1&cursor=${previous}`, [record])
      const page = await shop.call('GET', `/${service}?limit=3&offset=${place}`)
      expectSame(page.json()[1], record, 'the second of a page')
    })

    test('behind the Link to the next page', async () => {
      const { server } = stage()
      const ids = idsIn({ resource }, await shop.call('GET', `/${service}?limit=500`))
      const before = await shop.call('GET', `/${service}?limit=1&offset=${ids.indexOf(id)}`)
      const [, url = ''] = /^<([^>]+)>; rel="next"$/.exec(String(before.headers.link)) ?? []

      const { pathname, search } = new URL(url)
      const next = await server.app.inject({ url: pathname + search, headers: shop.credentials })

      expectSame(next.json(), [record], url)
    })

    test('in v1 and v2, by every name of the service, under every prefix, however it is spelt', async () => {
      const { server } = stage()
      const prefixes = server.services.config.restPrefixes
      expect(prefixes.length).toBeGreaterThan(1)
      const segments = names.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])
      const urls = [...prefixes, ...prefixes.map((prefix) => prefix.toUpperCase())].flatMap((prefix) =>
        ['v1', 'v2', 'V2'].flatMap((version) => segments.map((name) => `${prefix}/${version}/${name}/${id}`)),
      )
      urls.push(...['/', '/?', '?$top=1'].map((end) => urls[0] + end))
      for (const url of urls) {
        const answer = await server.app.inject({ url, headers: shop.credentials })
        expectSame({ url, records: answer.json() }, { url, records: [record] }, url)
      }
    })

    test.runIf(isExported(resource))('in an export', async () => {
      const lines = linesOf(await exportOf(stage().server, shop)).filter((line) => line.service === service)
      const found = lines.filter((line) => idIn({ resource }, line.record as Wire) === id)
      expect(found).toHaveLength(1)
      expectSame(shownIn(resource.fields, found[0]?.record as Wire), record, 'the exported record')
    })

    for (const [name, sub] of Object.entries(resource.subResources)) {
      if (sub.kind === 'related') continue

      test(`what is below it, under /${name}`, async () => {
        const isNested = sub.kind === 'nested'
        const field = isNested ? (resource.fields.get(sub.list) as ListField) : projectionOf(resource, sub).type
        const expected = isNested ? record[sub.list] : [shownBelow(resource, name, sub, record)]
        expect(expected).not.toEqual([])
        for (const path of names.flatMap((each) => [
          `/${each}/${id}/${name}`,
          `/${each.toLowerCase()}/${id}/${name}/`,
        ])) {
          await expectAt(path, expected, field)
        }
        await expectAt(`/${service}/${id}/${name.toUpperCase()}`, expected, field)
        if (!isNested) await expectAt(`/${service}/${name}?${idParam}=${id}`, expected, field)
      })
    }

    for (const { owner, name } of ownersOf(resource)) {
      test(`below another service, under /${owner.service}/{${owner.idParam}}/${name}`, async () => {
        const { server } = stage()
        const ground = { server, resource: owner, fixture: fixtureOf(owner) }
        const ownerId = await newRecord(ground, shop, ground.fixture.minimal(nextSeed('odd')))
        const { id: ownedId } = await newWholeRecord({ ...stage(), home: shop })
        await change(stage(), shop, ownedId, belonging(owner, name, ownerId))
        const owned = await readRecord(stage(), shop, ownedId)

        await expectAt(`/${owner.service}/${ownerId}/${name}`, [owned])
      })
    }
  })
}

function expectSame(actual: unknown, expected: unknown, where: string): void {
  expect({ where, differences: differences(actual, expected) }).toEqual({ where, differences: [] })
  expect(namesIn(actual)).toEqual(namesIn(expected))
}

/** What answers have of an exported record. */
function shownIn(fields: FieldSet, record: Wire): Wire {
  const members = Object.entries(record).filter(([name]) => fields.shown.get(name) !== undefined)
  return Object.fromEntries(
    members.map(([name, value]) => {
      const field = fields.get(name)
      if (field?.kind === 'object') return [name, shownIn(field.fields, value as Wire)]
      if (field?.kind === 'list') return [name, (value as Wire[]).map((item) => shownIn(field.fields, item))]
      return [name, value]
    }),
  )
}

function isExported({ service }: Resource): boolean {
  return resources.some((resource) => resource.service === service)
}

/** The services that have a sub-resource of this one's records. */
function ownersOf(resource: Resource): { owner: Resource; name: string }[] {
  const isOfThese = (sub: SubResource): sub is RelatedSubResource =>
    sub.kind === 'related' && sub.resource().service === resource.service
  return resources.flatMap((owner: Resource) =>
    Object.entries(owner.subResources).flatMap(([name, sub]) => (isOfThese(sub) ? [{ owner, name }] : [])),
  )
}
