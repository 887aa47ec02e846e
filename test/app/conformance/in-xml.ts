import { describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { TestStore } from '../../support/store.ts'
import { idPath } from './answers.ts'
import { resultsIn } from './dialects.ts'
import { differences, namesIn, shownOf } from './differences.ts'
import { isFreeText, listsOf, plainValuesOf, withValue } from './paths.ts'
import { change, fullBody, newRecord, newWholeRecord, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import type { Stage } from './stage.ts'
import { recordsOf, toXml } from './xml.ts'

/** Bodies in XML, and every character in them (contract §1, rest-protocol §7). */
export function inXml(resource: Resource, stage: () => Stage): void {
  const { service, fields, methods } = resource
  const accept = 'application/xml'
  const contentType = 'application/xml'

  async function sendXml(shop: TestStore, method: 'POST' | 'PUT', path: string, body: Wire | Wire[] | string) {
    const text = typeof body === 'string' ? body : toXml(body, resource)
    return shop.call(method, path, { body: text, contentType })
  }

  if (!methods.includes('PUT')) return

  describe('in XML', () => {
    if (methods.includes('POST')) {
      test('POST makes the same record as the same body in JSON', async () => {
        const { home } = stage()
        const body = fullBody(stage(), home, nextSeed('odd'), Number.POSITIVE_INFINITY)

        const answer = await home.call('POST', `/${service}`, { body: toXml(body, resource), contentType, accept })

        const [created] = resultsIn(answer, { version: 'v1', format: 'xml' }, 201)
        expect(differences(await readRecord(stage(), home, String(created?.Value)), shownOf(fields, body))).toEqual([])
      })
    }

    test('a record with texts at their full length is the same as in JSON', async () => {
      const { home } = stage()
      const { id } = await newWholeRecord(stage())
      await change(stage(), home, id, fullBody(stage(), home, nextSeed('odd'), Number.POSITIVE_INFINITY))
      const record = await readRecord(stage(), home, id)

      const { body } = await home.call('GET', `/${service}/${id}`, { accept })

      const [inXml] = recordsOf(body, resource)
      expect(differences(inXml, record)).toEqual([])
      expect(namesIn(inXml)).toEqual(namesIn(record))
    })

    test('PUT changes every field as the same body in JSON does', async () => {
      const { home } = stage()
      const { id } = await newWholeRecord(stage())
      const [body, listed] = [fullBody(stage(), home, nextSeed('even')), fullBody(stage(), home, nextSeed('odd'))]
      expect((await sendXml(home, 'PUT', `/${service}/${id}`, body)).statusCode).toBe(200)
      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])

      if (!resource.changesMany) return
      const ofMany = await sendXml(home, 'PUT', `/${service}`, [withValue(listed, idPath(resource), id)])
      expect(ofMany.statusCode, ofMany.body).toBe(200)
      expect(differences(await readRecord(stage(), home, id), shownOf(fields, listed))).toEqual([])
    })

    test('PUT changes nothing but what is sent; an element that says xsi:nil is not sent', async () => {
      const { home } = stage()
      const { id, record } = await newWholeRecord(stage())
      const other = fullBody(stage(), home, nextSeed('even'))
      const name = fields.entries.find(([each, field]) => field.kind === 'text' && other[each] !== undefined)?.[0] ?? ''
      const nils = fields.entries
        .filter(([each]) => each !== name)
        .map(([each]) => `<${each} xsi:nil="true" />`)
        .join('')
      const one = toXml({ [name]: other[name] }, resource)
      const body = one
        .replace(
          `<${resource.typeName}>`,
          `<${resource.typeName} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${nils}`,
        )
        .replace(/<\/?\w+/g, (tag) => (tag.endsWith(resource.typeName) ? tag : tag.toUpperCase()))

      const answer = await home.call('PUT', `/${service}/${id}`, { body, contentType, tolerated: true })

      expect(answer.statusCode, answer.body).toBe(200)
      expect(differences(await readRecord(stage(), home, id), { ...record, [name]: other[name] })).toEqual([])
    })

    test('an empty element empties a text and a list', async () => {
      const { home, fixture } = stage()
      const { id } = await newWholeRecord(stage())
      const texts = plainValuesOf(fields).filter(({ path, field }) => isFreeText(field) && !path.includes('.'))
      const emptied = texts.flatMap(({ path, field }) =>
        fixture.required.includes(path) || field.access === 'wo' ? [] : [path],
      )
      const names = [...emptied, ...listsOf(fields).map(({ name }) => name)]
      const body = `<${resource.typeName}>${names.map((name) => `<${name}/>`).join('')}</${resource.typeName}>`

      const answer = await sendXml(home, 'PUT', `/${service}/${id}`, body)

      expect(answer.statusCode, answer.body).toBe(200)
      const record = await readRecord(stage(), home, id)
      for (const name of emptied) expect({ name, value: record[name] }).toEqual({ name, value: '' })
      for (const { name } of listsOf(fields)) expect({ name, value: record[name] }).toEqual({ name, value: [] })
    })

    test('texts keep their blanks, tabs and line ends, by XML and by JSON', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const text = '  a\tb\nc  '
      const texts = plainValuesOf(fields).filter(({ field }) => isFreeText(field) && field.access === 'rw')
      const first = texts.find(({ path }) => !fixture.required.includes(path)) ?? texts[0]
      if (first === undefined) throw new Error(`${service} has no text`)

      for (const send of [
        () => change(stage(), home, id, first.body(text)),
        () => sendXml(home, 'PUT', `/${service}/${id}`, first.body(text)),
      ]) {
        await change(stage(), home, id, first.body('x'))
        await send()
        expect(differences(await readRecord(stage(), home, id), first.body(text))).toEqual([])
      }
      const { body } = await home.call('GET', `/${service}/${id}`, { accept })
      expect(differences(recordsOf(body, resource)[0], first.body(text))).toEqual([])
    })
  })
}
