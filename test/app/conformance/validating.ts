import { beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { expectRefusal } from './answers.ts'
import { differences } from './differences.ts'
import { isValue, membersOf, merged, plainValuesOf, valuesOf } from './paths.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import { boundsOf, inTurn, isReference, longestText, type Wire } from './samples.ts'
import type { Stage } from './stage.ts'

/** What a caller may not send: 400 that names the field by its path, and nothing is changed (rest-protocol §5.2). */
export function validating(resource: Resource, stage: () => Stage): void {
  const { service, fields } = resource
  const values = valuesOf(fields)

  describe('a value that its field cannot have is refused by its path', () => {
    let id: number
    let record: Wire

    beforeAll(async () => {
      const { home, fixture } = stage()
      id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      await change(stage(), home, id, fullBody(stage(), home, nextSeed('odd')))
      record = await readRecord(stage(), home, id)
    })

    async function expectRefused(path: string, body: unknown): Promise<void> {
      const { home } = stage()
      const answer = await home.call('PUT', `/${service}/${id}`, { body })
      expect({ path, status: answer.statusCode, items: answer.json() }).toEqual({
        path,
        status: 400,
        items: [{ Key: 'Error', Value: path, Status: '400', Message: expect.stringContaining(path) }],
      })
    }

    async function expectUnchanged(): Promise<void> {
      expect(differences(await readRecord(stage(), stage().home, id), record)).toEqual([])
    }

    test('a text one character too long', async () => {
      for (const { path, field, body } of values) {
        if (field.kind === 'text') await expectRefused(path, body('x'.repeat(longestText(field) + 1)))
      }
      await expectUnchanged()
    })

    test.each<readonly [what: string, kinds: readonly string[], wrongs: readonly unknown[]]>([
      ['U+0000 and half of a surrogate pair', ['text'], ['\0', '\ud800', '\udc00!']],
      ['an object or a list for a text', ['text'], [{}, ['a']]],
      [
        'for a number what is none, or has too many digits',
        ['integer', 'decimal'],
        ['abc', '1,5', '0x10', '1e999', 'NaN', '--1', true, {}, [1], 1e15],
      ],
      ['for a boolean what is neither true nor false', ['boolean'], ['maybe', 'yes', 2, -1, {}, []]],
      ['for a date what is none', ['date'], ['yesterday', '02/30/2026', '2026-13-01', 20260101, {}]],
    ])('%s', async (_what, kinds, wrongs) => {
      for (const kind of kinds) {
        for (const [index, { path, body }] of values.filter(({ field }) => field.kind === kind).entries()) {
          for (const wrong of inTurn(wrongs, index)) await expectRefused(path, body(wrong))
        }
      }
      await expectUnchanged()
    })

    test('a whole number out of its bounds, or with a fraction', async () => {
      for (const { path, field, body } of values) {
        if (field.kind !== 'integer') continue
        const { min, max } = boundsOf(field)
        for (const wrong of [min - 1, max + 1, String(max + 1), 1.5]) await expectRefused(path, body(wrong))
      }
      await expectUnchanged()
    })

    test('for a list or an object something else', async () => {
      for (const { path, field, body } of membersOf(fields)) {
        if (isValue(field)) continue
        const wrongs = field.kind === 'list' ? ['x', {}, 5, [5], [[]], ['x']] : ['x', 5, [], [{}]]
        for (const wrong of wrongs) {
          const { home } = stage()
          const answer = await home.call('PUT', `/${service}/${id}`, { body: body(wrong) })
          const item = field.kind === 'list' && Array.isArray(wrong) ? `${path}[0]` : path
          expectRefusal(answer, 400, item)
        }
      }
      await expectUnchanged()
    })

    test('a reference to a record that does not exist, or is another store’s', async () => {
      const { home, full, fullIds } = stage()
      const foreign = [fullIds.at(-1) as number, ...Object.values(full.references).flat()]
      for (const { path, field, body: alone } of values) {
        if (!isReference(field)) continue
        const [name = '', member] = path.split(/\[\d+\]\./)
        for (const wrong of [2_000_000_000, ...foreign]) {
          const body = member === undefined ? alone(wrong) : { [name]: [{ [member]: wrong }] }
          const answer = await home.call('PUT', `/${service}/${id}`, { body })
          expectRefusal(
            answer,
            400,
            expect.stringMatching(new RegExp(`^${name}(\\[0\\])?${member ? `.${member}` : ''}$`)),
          )
        }
      }
      await expectUnchanged()
    })
  })

  test('a number is kept to four decimals; a text takes numbers and booleans', async () => {
    const { home, fixture } = stage()
    const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
    const decimals = plainValuesOf(fields).filter(({ field }) => field.kind === 'decimal')
    const texts = plainValuesOf(fields).filter(({ field }) => {
      const { kind, access, bounds } = field
      return (
        kind === 'text' &&
        access === 'rw' &&
        bounds.format === undefined &&
        !field.isOptional &&
        longestText(field) >= 4
      )
    })

    for (const [members, given, kept] of [
      [decimals, 1.23456, 1.2346],
      [texts, 12.5, '12.5'],
      [texts, true, 'true'],
    ] as const) {
      await change(stage(), home, id, merged(...members.map(({ body }) => body(given))), { tolerated: true })
      const expected = merged(...members.map(({ body }) => body(kept)))
      expect(differences(await readRecord(stage(), home, id), expected)).toEqual([])
    }
  })
}
