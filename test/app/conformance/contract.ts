import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, expect, test } from 'vitest'
import type { Method } from '../../../src/engine/caller.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { ResultItem } from '../../../src/foundation/values/failure.ts'
import { expectNothing } from './answers.ts'
import {
  countIn,
  type Dialect,
  dialectAt,
  dialectsOf,
  inDialect,
  recordsIn,
  refusalIn,
  resultsIn,
  send,
} from './dialects.ts'
import { differences, namesIn, namesOf, shownOf } from './differences.ts'
import { type Identifier, type Operation, status } from './operations.ts'
import { withValue } from './paths.ts'
import { type Entries, type Id, idOf, type Place, placesOf, UNKNOWN } from './places.ts'
import {
  badBodies,
  badIdentifiers,
  notIds,
  otherMethods,
  throttled,
  unacceptableBodies,
  unauthorized,
  unknownIdentifiers,
  type WrongValue,
  wrongValues,
} from './refusals.ts'
import type { Wire } from './samples.ts'
import { openScene, type Scene } from './scene.ts'
import type { Stage } from './stage.ts'
import { terms } from './terms.ts'

/**
 * Every status of every method at every address of a service (contract §2, §4, §5, §7 to §9; rest-resources §0; rest-protocol
 * §4 to §6): a test for each, in v1 and v2, in JSON and XML (`dialectsOf`). What is refused is asked of a store that must be the same afterwards.
 */
export function contract(resource: Resource, stage: () => Stage): void {
  let opened: Scene
  let before: string[]
  const scene = () => opened

  beforeAll(async () => {
    opened = await openScene(stage())
    before = await opened.rows()
  })

  for (const place of placesOf(resource)) {
    statusesOf(place, scene)
    terms(place, scene)
  }

  test('what was refused has changed nothing: no row of the store, and none of the other store that was asked for', async () => {
    expect(await scene().rows()).toEqual(before)
  })
}

function statusesOf(place: Place, scene: () => Scene): void {
  const { address, pathOf, idParam, methods, entries } = place
  const path = () => pathOf(scene().whole)
  const identifiers: Identifier[] = idParam === null ? [] : [{ name: idParam, min: 1, pathWith: pathOf }]
  const dialects = dialectsOf(address)
  const at = (method: Method): Operation => ({ method, address, place, scene, path, identifiers, dialects })
  if (methods.includes('GET')) list(at('GET'))
  if (entries && methods.includes('POST')) create(at('POST'), entries)
  if (entries && methods.includes('PUT')) changeMany(at('PUT'), entries)
  otherMethods(address, methods, scene, path)
  if (entries && entries.methods.length > 0) statusesOfOne(place, entries, scene)
}

function statusesOfOne(place: Place, entries: Entries, scene: () => Scene): void {
  const { pathOf, idParam } = place
  const { param, min, methods } = entries
  const address = `${place.address}/{${param}}`
  let path: Promise<string> | undefined
  const first = () => {
    path ??= pathOfFirst(place, entries, scene())
    return path
  }
  const identifiers: Identifier[] = [
    ...(idParam === null ? [] : [{ name: idParam, min: 1, pathWith: (id: Id) => `${pathOf(id)}/1` }]),
    { name: param, min, pathWith: (id) => `${pathOf(scene().whole)}/${id}` },
  ]
  const dialects = dialectsOf(address)
  const at = (method: Method): Operation => ({ method, address, place, scene, path: first, identifiers, dialects })
  if (methods.includes('GET')) readOne(at('GET'), entries)
  if (methods.includes('PUT')) changeOne(at('PUT'), entries)
  if (methods.includes('DELETE')) remove(at('DELETE'), entries)
  otherMethods(address, methods, scene, () => `${pathOf(scene().whole)}/1`)
}

/** That of the first one that the place lists in the quiet store. */
async function pathOfFirst(place: Place, entries: Entries, scene: Scene): Promise<string> {
  const { quiet, whole } = scene
  const [record] = await place.listed(scene, quiet, whole)
  return `${place.pathOf(whole)}/${encodeURIComponent(idOf(entries, record as Wire))}`
}

/** The text that clients compare to end their paging (rest-protocol §5.1). */
const PAST_THE_END = 'Offset amount exceeds the total number of records'

function list(operation: Operation): void {
  const { place, scene, path, dialects } = operation
  const { type, pathOf, recordParam, idParam } = place
  const isOfRecords = recordParam !== null
  const expected = () => place.listed(scene(), scene().quiet, scene().whole)

  status(operation, 200, `, a list of ${isOfRecords ? 'records' : 'items'}`, async () => {
    const listed = await expected()
    for (const dialect of dialects) {
      const answer = await scene().quiet.call('GET', `${await path()}?limit=100`, inDialect(dialect))
      const records = recordsIn(answer, dialect, type)
      expect(differences(records, listed)).toEqual([])
      for (const record of records) expect(namesIn(record)).toEqual(namesOf(type.fields, record))
    }
  })

  if (isOfRecords) {
    status(operation, 200, ' with countonly, their number alone, which may be 0', async () => {
      const listed = await expected()
      for (const dialect of dialects) {
        // Where the address names the record, the reference has no such parameter; it is taken all the same.
        const options = { ...inDialect(dialect), tolerated: idParam === recordParam }
        const count = async (query: string) =>
          countIn(await scene().quiet.call('GET', (await path()) + query, options), dialect)
        expect(await count('?countonly=1&limit=1')).toBe(listed.length)
        expect(await count(`?${recordParam}=${UNKNOWN}&countonly=1&limit=1&offset=0`)).toBe(0)
        // A list of one record has no number.
        if (idParam === recordParam) continue
        expect(await count('/Count')).toBe(listed.length)
        expect(await count(`/Count?${recordParam}=${UNKNOWN}`)).toBe(0)
      }
    })
  }

  const pastTheEnd = async (dialect: Dialect, take: (answer: LightMyRequestResponse) => void) => {
    for (const offset of [(await expected()).length + 1, 2_147_483_647, 2_147_483_648, '99999999999999999999']) {
      // The reference has numbers of 32 bits.
      const options = { ...inDialect(dialect), tolerated: Number(offset) > 2_147_483_647 }
      take(await scene().quiet.call('GET', `${await path()}?offset=${offset}`, options))
    }
  }

  status(operation, 400, ' for an offset past the end of v1, in the words that clients know', async () => {
    for (const dialect of dialects.filter(({ version }) => version === 'v1')) {
      await pastTheEnd(dialect, (answer) => {
        const { Value, Message } = refusalIn(answer, dialect, 400)
        expect({ Value, Message }).toEqual({ Value: 'offset', Message: PAST_THE_END })
      })
    }
  })

  status(operation, 400, ' that names a parameter that cannot be read', async () => {
    const numbers = ['limit', 'offset', ...(isOfRecords ? ['countonly', 'cursor'] : [])]
    const wrong = ['abc', '1.5', '1e2', "1' OR 1=1", '%00', '%zz']
    const queries = [
      ...numbers.flatMap((name) => wrong.map((value) => [name, `${name}=${value}`])),
      ...numbers.slice(2).map((name) => [name, `${name}=99999999999999999999`]),
      ['$select', '$select=Nothing'],
      ['$orderby', '$orderby=Nothing'],
      ['cursor', 'cursor=1&offset=2'],
      ...(isOfRecords ? notIds.map((id) => [recordParam, `${recordParam}=${encodeURIComponent(id)}`]) : []),
    ]
    for (const [index, [name, query]] of queries.entries()) {
      const dialect = dialectAt(index)
      const answer = await scene().quiet.call('GET', `${await path()}?${query}`, inDialect(dialect))
      expect({ query, Value: refusalIn(answer, dialect, 400).Value }).toEqual({ query, Value: name })
    }
  })

  badIdentifiers(operation)
  unauthorized(operation)

  status(operation, 404, ' with an empty body for an offset past the end of v2', async () => {
    for (const dialect of dialects.filter(({ version }) => version === 'v2')) await pastTheEnd(dialect, expectNothing)
  })

  const unknown = idParam === null ? 'where nothing matches' : `for an unknown ${idParam}, and where there is nothing`
  status(operation, 404, ` with an empty body ${unknown}`, async () => {
    const { quiet, bare, foreign } = scene()
    const empty = isOfRecords ? ['', '&offset=5&limit=3'].map((rest) => `?${recordParam}=${UNKNOWN}${rest}`) : []
    const unknowns = idParam === null ? [] : [UNKNOWN, 2_147_483_647, foreign].map(pathOf)
    const paths = [
      ...(await Promise.all(empty.map(async (query) => (await path()) + query))),
      ...(place.canBeEmpty ? [pathOf(bare)] : []),
      ...unknowns,
      ...(isOfRecords ? unknowns.map((each) => `${each}?countonly=1`) : []),
    ]
    for (const dialect of dialects) {
      for (const each of paths) expectNothing(await quiet.call('GET', each, inDialect(dialect)))
    }
  })

  throttled(operation)
}

function readOne(operation: Operation, entries: Entries): void {
  const { place, scene, path, dialects } = operation

  status(operation, 200, ', an array with exactly one record', async () => {
    for (const dialect of dialects) {
      const records = recordsIn(await scene().quiet.call('GET', await path(), inDialect(dialect)), dialect, place.type)
      expect(records).toHaveLength(1)
      for (const record of records) {
        expect(await path()).toBe(`${place.address}/${idOf(entries, record)}`)
        expect(namesIn(record)).toEqual(namesOf(place.type.fields, record))
      }
    }
  })

  status(operation, 400, ' that names $select with a property that there is not', async () => {
    for (const dialect of dialects) {
      const answer = await scene().quiet.call('GET', `${await path()}?$select=Nothing`, inDialect(dialect))
      expect(refusalIn(answer, dialect, 400).Value).toBe('$select')
    }
  })

  badIdentifiers(operation)
  unauthorized(operation)
  unknownIdentifiers(operation)
  throttled(operation)
}

function create(operation: Operation, entries: Entries): void {
  const { place, scene, path, dialects } = operation
  const { type, pathOf } = place
  const { required, resultKey, read } = entries
  const body = () => entries.fresh(scene())
  const [wrong] = wrongValues(type) as [WrongValue, ...WrongValue[]]
  const wrongBody = () => withValue(body(), wrong.path, wrong.value)

  async function expectCreated(item: ResultItem | undefined, sent: Wire): Promise<void> {
    const { Value = '' } = item ?? {}
    expect(item).toEqual({ Key: resultKey, Value, Status: '201', Message: 'Created successfully' })
    expect(differences(await read(scene(), Value), shownOf(type.fields, sent))).toEqual([])
  }

  status(operation, 201, ', exactly one result item, with the new identifier', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const sent = body()
      const answer = await send(home.call, dialect, 'POST', pathOf(busy), sent, type)
      const [item, ...others] = resultsIn(answer, dialect, 201)
      expect(others).toEqual([])
      await expectCreated(item, sent)
    }
  })

  status(operation, 201, ' for a list of records, a result item for each, in order', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const sent = [body(), body()]
      const items = resultsIn(await send(home.call, dialect, 'POST', pathOf(busy), sent, type), dialect, 201)
      expect(items).toHaveLength(2)
      for (const [index, each] of sent.entries()) await expectCreated(items[index], each)
    }
  })

  status(operation, 206, ' when some of a list fail, each with its own status; the others are created', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [first, second] = [body(), body()]
      const answer = await send(home.call, dialect, 'POST', pathOf(busy), [first, wrongBody(), second], type)
      const items = resultsIn(answer, dialect, 206)
      expect(items).toHaveLength(3)
      await expectCreated(items[0], first)
      expect(items[1]).toMatchObject({ Key: 'Error', Value: wrong.path, Status: '400' })
      await expectCreated(items[2], second)
    }
  })

  status(operation, 400, ' when all of a list fail, with an item for each', async () => {
    for (const dialect of dialects) {
      const sent = [wrongBody(), wrongBody()]
      const answer = await send(scene().quiet.call, dialect, 'POST', await path(), sent, type)
      const item = { Key: 'Error', Value: wrong.path, Status: '400' }
      expect(resultsIn(answer, dialect, 400)).toMatchObject([item, item])
    }
  })

  for (const name of required) {
    status(operation, 400, ` that names ${name} when it is missing, null, empty or blank`, async () => {
      for (const [index, value] of [undefined, '', '  ', '\t\n', null].entries()) {
        // In XML what is null or missing is an element that is not there.
        const dialect = value == null ? { version: 'v2' as const, format: 'json' as const } : dialectAt(index)
        const answer = await send(
          scene().quiet.call,
          dialect,
          'POST',
          await path(),
          withValue(body(), name, value),
          type,
        )
        expect({ value, named: refusalIn(answer, dialect, 400).Value }).toEqual({ value, named: name })
      }
    })
  }

  badBodies(operation, body, true)
  badIdentifiers(operation, body)
  unauthorized(operation)
  unknownIdentifiers(operation, body)
  unacceptableBodies(operation, body)
  throttled(operation)
}

function changeMany(operation: Operation, entries: Entries): void {
  const { place, scene, path, dialects } = operation
  const { type, pathOf } = place
  const { key, two, read } = entries
  const body = () => entries.changes(scene())
  const named = (id: Id, sent: Wire) => withValue(sent, key, id)
  const [wrong] = wrongValues(type) as [WrongValue, ...WrongValue[]]

  status(operation, 200, ', a result item for each record of a list, in order', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [first, second] = await two(scene())
      const [ofFirst, ofSecond] = [body(), body()]
      const sent = [named(second, ofSecond), named(first, ofFirst)]
      const answer = await send(home.call, dialect, 'PUT', pathOf(busy), sent, type)
      expect(resultsIn(answer, dialect, 200)).toEqual([updated(entries, second), updated(entries, first)])
      expect(differences(await read(scene(), first), shownOf(type.fields, ofFirst))).toEqual([])
      expect(differences(await read(scene(), second), shownOf(type.fields, ofSecond))).toEqual([])
    }
  })

  status(operation, 200, ' for a single record, as for a list of one', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [id] = await two(scene())
      const sent = body()
      const answer = await send(home.call, dialect, 'PUT', pathOf(busy), named(id, sent), type)
      expect(resultsIn(answer, dialect, 200)).toEqual([updated(entries, id)])
      expect(differences(await read(scene(), id), shownOf(type.fields, sent))).toEqual([])
    }
  })

  status(operation, 206, ' when some records fail, each with its own status; the others are changed', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [first, second] = await two(scene())
      const [before, ofSecond] = [await read(scene(), first), body()]
      const wrongBody = named(first, withValue({}, wrong.path, wrong.value))
      const sent = [named(UNKNOWN, {}), wrongBody, {}, named(second, ofSecond)]
      const answer = await send(home.call, dialect, 'PUT', pathOf(busy), sent, type)
      expect(resultsIn(answer, dialect, 206)).toMatchObject([
        { Key: 'Error', Value: String(UNKNOWN), Status: '404' },
        { Key: 'Error', Value: wrong.path, Status: '400' },
        { Key: 'Error', Value: key, Status: '400' },
        updated(entries, second),
      ])
      expect(differences(await read(scene(), first), before)).toEqual([])
      expect(differences(await read(scene(), second), shownOf(type.fields, ofSecond))).toEqual([])
    }
  })

  status(operation, 400, ' when no record says which one it is, with an item for each', async () => {
    for (const dialect of dialects) {
      const answer = await send(scene().quiet.call, dialect, 'PUT', await path(), [{}, {}], type)
      const item = { Key: 'Error', Value: key, Status: '400' }
      expect(resultsIn(answer, dialect, 400)).toMatchObject([item, item])
    }
  })

  badBodies(operation, () => named(UNKNOWN, {}), true)
  badIdentifiers(operation, () => named(1, {}))
  unauthorized(operation)

  status(operation, 404, ' with an empty body when all records are unknown', async () => {
    const { quiet, foreign } = scene()
    for (const dialect of dialects) {
      const sent = [UNKNOWN, 2_000_000_000, foreign].map((id) => named(id, {}))
      expectNothing(await send(quiet.call, dialect, 'PUT', await path(), sent, type))
    }
  })

  unknownIdentifiers(operation, () => named(1, {}))
  unacceptableBodies(operation, () => named(1, {}))
  throttled(operation)
}

function changeOne(operation: Operation, entries: Entries): void {
  const { place, scene, dialects } = operation
  const { type, pathOf } = place
  const { key, two, read } = entries
  const body = () => entries.changes(scene())

  status(operation, 200, ', exactly one result item; the identifier in the address wins', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [id, other] = await two(scene())
      const before = await read(scene(), other)
      const sent = body()
      const path = `${pathOf(busy)}/${encodeURIComponent(id)}`
      const answer = await send(home.call, dialect, 'PUT', path, withValue(sent, key, other), type)
      expect(resultsIn(answer, dialect, 200)).toEqual([updated(entries, id)])
      expect(differences(await read(scene(), id), shownOf(type.fields, sent))).toEqual([])
      expect(differences(await read(scene(), other), before)).toEqual([])
    }
  })

  status(operation, 200, ' for a list of one record', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [id] = await two(scene())
      const sent = body()
      const path = `${pathOf(busy)}/${encodeURIComponent(id)}`
      const answer = await send(home.call, dialect, 'PUT', path, [sent], type, { tolerated: true })
      expect(resultsIn(answer, dialect, 200)).toEqual([updated(entries, id)])
      expect(differences(await read(scene(), id), shownOf(type.fields, sent))).toEqual([])
    }
  })

  const nothing = () => ({})
  badBodies(operation, nothing, false)
  badIdentifiers(operation, nothing)
  unauthorized(operation)
  unknownIdentifiers(operation, nothing)
  unacceptableBodies(operation, nothing)
  throttled(operation)
}

function updated({ resultKey }: Entries, id: Id): ResultItem {
  return { Key: resultKey, Value: String(id), Status: '200', Message: 'updated successfully' }
}

function remove(operation: Operation, { resultKey, two }: Entries): void {
  const { place, scene, dialects } = operation

  status(operation, 200, ', exactly one result item; that record is gone, and no other', async () => {
    const { home, busy } = scene()
    for (const dialect of dialects) {
      const [path = '', other = ''] = (await two(scene())).map((id) => `${place.pathOf(busy)}/${id}`)
      const answer = await home.call('DELETE', path, inDialect(dialect))
      const [Value = ''] = path.split('/').slice(-1)
      expect(resultsIn(answer, dialect, 200)).toEqual([
        { Key: resultKey, Value, Status: '200', Message: 'Deleted successfully' },
      ])
      expectNothing(await home.call('GET', path, inDialect(dialect)))
      expect((await home.call('GET', other, inDialect(dialect))).statusCode).toBe(200)
    }
  })

  badIdentifiers(operation)
  unauthorized(operation)
  unknownIdentifiers(operation)
  throttled(operation)
}
