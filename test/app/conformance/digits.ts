import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FieldSet, ValueField } from '../../../src/engine/definition/fields.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { LongNumber, roundNumbers } from '../../../src/foundation/values/long-number.ts'
import { importInto } from '../engine/transfer/fixture.ts'
import { expectRefusal } from './answers.ts'
import { differences, isWire, shownOf } from './differences.ts'
import { isFreeText, isValue, isWritable, merged, plainValuesOf } from './paths.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import { inTurn, isReference, longestText, type Wire } from './samples.ts'
import { openShop, type Shop, type Stage } from './stage.ts'

const LENGTH_MAX = 65
/** That of the fixture's orders. */
const RETURNED_SKU = /^R-\d$/

/** A JSON number of up to 65 digits, most of which JavaScript would round. */
const digit = fc.constantFrom(...'0123456789')
const numbers = fc
  .tuple(
    fc.integer({ min: 1, max: LENGTH_MAX }),
    fc.string({ unit: digit, minLength: LENGTH_MAX, maxLength: LENGTH_MAX }),
  )
  .map(([length, all]) => `9${all}`.slice(0, length))

/** Numbers that a caller sends keep their digits where a text is meant, and are rounded where a number is (rest-resources §0.2). */
export function digits(resource: Resource, stage: () => Stage): void {
  const { service, fields } = resource

  describe('a number with more digits than JavaScript keeps', () => {
    let shop: Shop
    let id: number
    let seed: number

    beforeAll(async () => {
      const { server, fixture } = stage()
      shop = await openShop(server, fixture)
      id = await newRecord(stage(), shop, fixture.minimal(nextSeed('odd')))
      seed = nextSeed('odd')
    })

    /** A body with every field, whose texts are numbers in JSON. */
    const bodies = fc.infiniteStream(numbers).map((drawn) => {
      const seen = new Set<string>()
      const draw = (length: number) => String(drawn.next().value).slice(0, Math.min(length, LENGTH_MAX))
      // Of two items with one key the first counts. Short texts have few numbers, which may come again.
      const next = (length: number) => {
        const all = Array.from({ length: 5 }, () => draw(length))
        const number = all.find((each) => !seen.has(each)) ?? draw(length)
        seen.add(number)
        return number
      }
      return () => withNumbers(fields, fullBody(stage(), shop, seed), next)
    })

    test('is the text of those digits in every member, by PUT and by import', async () => {
      await fc.assert(
        fc.asyncProperty(bodies, async (draw) => {
          const body = draw()
          const expected = shownOf(fields, asTexts(body) as Wire)

          await change(stage(), shop, id, body, { tolerated: true })
          const record = await readRecord(stage(), shop, id)
          expect(differences(record, expected)).toEqual([])

          if (service === 'Webhooks') return
          const { server, fixture } = stage()
          const twin = await openShop(server, fixture)
          const line = { service, record: merged(record, importable(fields, body)) }
          expect(await importInto(server, twin, [line])).toMatchObject({ refused: [] })
          expect(differences(await readRecord(stage(), twin, id), expected)).toEqual([])
        }),
        { numRuns: 3 },
      )
    })

    test('is refused for a text where digits behind the point would be lost', async () => {
      const texts = plainValuesOf(fields).filter(({ field }) => field.kind === 'text')
      for (const [index, { path, body }] of texts.entries()) {
        for (const lost of inTurn(['9007199254740993.5', '90000000000000000001e0', '1e400', '1e-400'], index)) {
          expectRefusal(await shop.call('PUT', `/${service}/${id}`, { body: body(new LongNumber(lost)) }), 400, path)
        }
      }
    })

    test('is rounded for a number, and refused out of its range alone', async () => {
      const wanted = plainValuesOf(fields).filter(({ field }) => field.kind === 'integer' || field.kind === 'decimal')
      for (const [index, { path, field, body }] of wanted.entries()) {
        const { min = 0 } = field.bounds
        const inside = Math.max(1, min)
        if (!isReference(field)) {
          const given = new LongNumber(`${inside}.${'0'.repeat(20)}1`)
          await change(stage(), shop, id, body(given), { tolerated: true })
          const record = await readRecord(stage(), shop, id)
          if (field.access !== 'wo') expect(differences(record, body(inside))).toEqual([])
        }
        for (const beyond of inTurn(['100000000000000000000001', '1e400', '-1e400'], index)) {
          expectRefusal(await shop.call('PUT', `/${service}/${id}`, { body: body(new LongNumber(beyond)) }), 400, path)
        }
      }
    })

    test('is no object and no list', async () => {
      for (const [name, field] of fields.entries) {
        if (isValue(field) || !isWritable(field)) continue
        const body = { [name]: new LongNumber('90000000000000000001') }
        expectRefusal(await shop.call('PUT', `/${service}/${id}`, { body }), 400, name)
      }
      expectRefusal(await shop.call('PUT', `/${service}/${id}`, { body: '[90000000000000000001]' }), 400, '')
    })
  })
}

/** Without what no import takes. */
function importable(fields: FieldSet, body: Wire): Wire {
  const members = Object.entries(body).filter(([name]) => {
    const field = fields.get(name)
    return field?.kind === 'object' || field?.access !== 'wo'
  })
  return Object.fromEntries(members)
}

/** The body with a JSON number for every text that may be any. */
function withNumbers(fields: FieldSet, body: Wire, next: (length: number) => string): Wire {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const field = fields.get(name)
      if (field?.kind === 'object') return [name, withNumbers(field.fields, value as Wire, next)]
      if (field?.kind === 'list') {
        return [name, (value as Wire[]).map((item) => withNumbers(field.fields, item, next))]
      }
      return [name, field && takesDigits(field, name, value) ? new LongNumber(next(longestText(field))) : value]
    }),
  )
}

/** Among the texts, an e-mail address, a webhook's address and the SKU of a line of an order may not be any. */
function takesDigits(field: ValueField, name: string, value: unknown): boolean {
  if (!isFreeText(field) || typeof value !== 'string' || field.bounds.format !== undefined) return false
  return field.schema.safeParse('12').success && !(name === 'SKU' && RETURNED_SKU.test(value))
}

function asTexts(value: unknown): unknown {
  if (value instanceof LongNumber) return String(value)
  if (Array.isArray(value)) return value.map(asTexts)
  return isWire(value)
    ? Object.fromEntries(Object.entries(value).map(([name, of]) => [name, asTexts(of)]))
    : roundNumbers(value)
}
