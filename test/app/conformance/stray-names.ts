import { beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { expectRefusal, idPath } from './answers.ts'
import { dialects, send } from './dialects.ts'
import { listsOf, valuesOf, withValue } from './paths.ts'
import { change, newRecord, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import type { Stage } from './stage.ts'

/** An update that names no known field is refused, and told which one it may mean (rest-resources §0.8). */
export function strayNames(resource: Resource, stage: () => Stage): void {
  const { service, fields } = resource
  const refused = (name: string) => ({
    Value: name,
    Status: '400',
    Message: expect.stringContaining(`"${name}" is not a field of`),
  })

  describe('an update without a known field', () => {
    let id: number
    let record: Wire

    beforeAll(async () => {
      const { home, fixture } = stage()
      id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      record = await readRecord(stage(), home, id)
    })

    test('is refused in JSON and XML, at every depth, and changes nothing', async () => {
      const { home } = stage()
      const [object] = fields.entries.flatMap(([name, field]) => (field.kind === 'object' ? [name] : []))
      const bodies: [Wire, string][] = [
        [{ Nonsense: 1 }, 'Nonsense'],
        [{ Nonsense: { A: [1] }, Other: 2 }, 'Nonsense'],
        [{ __proto: 1 }, '__proto'],
        ...(object === undefined ? [] : [[{ [object]: { Nonsense: 1 } }, `${object}.Nonsense`] as [Wire, string]]),
        ...listsOf(fields).map(({ name }) => [{ [name]: [{ Nonsense: 1 }] }, `${name}[0].Nonsense`] as [Wire, string]),
      ]
      for (const [body, name] of bodies) {
        const answer = await home.call('PUT', `/${service}/${id}`, { body })
        expectRefusal(answer, 400, name)
        expect(answer.json()).toMatchObject([refused(name)])
      }
      for (const dialect of dialects) {
        const answer = await send(home.call, dialect, 'PUT', `/${service}/${id}`, { Nonsense: 1 }, resource)
        expect(answer.statusCode).toBe(400)
      }
      expect(await readRecord(stage(), home, id)).toEqual(record)
    })

    test('names the field that every misspelt one is near to', async () => {
      const { home } = stage()
      for (const { path } of valuesOf(fields)) {
        const name = path.split('.').at(-1) ?? ''
        const answer = await home.call('PUT', `/${service}/${id}`, { body: { [`${name}x`]: 1 } })
        // A number at the end may be that of the field beside it.
        const meant = new RegExp(`Did you mean (.*\\.)?${name.replace(/\d+$/, '\\d*')}\\w?\\?$`)
        expect(answer.json()).toEqual([
          { Key: 'Error', Value: `${name}x`, Status: '400', Message: expect.stringMatching(meant) },
        ])
      }
    })

    test('is allowed when it is empty, or has one known member beside others', async () => {
      const { home } = stage()
      await change(stage(), home, id, {})
      for (const [name, field] of fields.entries) {
        const value = field.kind === 'list' ? [] : field.kind === 'object' ? {} : null
        const isKnown = field.kind !== 'object'
        const answer = await home.call('PUT', `/${service}/${id}`, {
          body: { Nonsense: 1, [name]: value },
          tolerated: true,
        })
        expect({ name, status: answer.statusCode }).toEqual({ name, status: isKnown ? 200 : 400 })
      }
    })

    if (resource.changesMany) {
      test('is refused by itself in a list; an identifier counts as a field', async () => {
        const { home } = stage()
        const body = [{ Nonsense: 1 }, withValue({}, idPath(resource), id), {}]

        const answer = await home.call('PUT', `/${service}`, { body, tolerated: true })

        expect(answer.statusCode).toBe(206)
        expect(answer.json()).toMatchObject([refused('Nonsense'), { Status: '200' }, { Status: '400' }])
      })
    }
  })
}
