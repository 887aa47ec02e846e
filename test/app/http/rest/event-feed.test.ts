import { beforeEach, describe, expect, test } from 'vitest'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { deliverySweep } from '../../../../src/shop/webhooks/dispatch/retention.ts'
import { sampleOf } from '../../../../src/shop/webhooks/samples.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { refusalOf } from './fixture.ts'
import { delivery, kindsInWords, newWebhook, numberedEvent } from './webhooks-fixture.ts'

// GET /Events: what happened in a store, to be read in order by whoever comes late.

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

interface Shown {
  Sequence: number
  EventType: number
}

async function sequences(query: string, call = shop.call): Promise<number[]> {
  const answer = await call('GET', `/Events${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Shown[]>().map(({ Sequence }) => Sequence)
}

/** So many, of the kinds in turn. */
async function addEvents(count: number): Promise<void> {
  const bodies = JSON.stringify(eventKinds.map((kind) => sampleOf(kind).body))
  await server.database.db.$executeRaw`
    INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
    SELECT ${shop.store.id}, n, 1 + (n - 1) % 7, n, ${bodies}::json ->> ((n - 1) % 7), ${server.services.now()}
    FROM generate_series(1, ${count}::int) n`
  const { id: storeId } = shop.store
  await server.database.db.eventFeed.create({ data: { storeId, lastSequence: count } })
}

test('shows what happened, with the record as it was left', async () => {
  const createdAt = new Date('2026-03-10T16:00:00.999Z')
  for (const { type } of eventKinds) {
    await numberedEvent(server, shop, { sequence: type, eventType: type, recordId: 1, createdAt })
  }
  const { messageId } = await server.database.db.event.findFirstOrThrow({
    where: { storeId: shop.store.id, sequence: 1 },
  })

  const answer = await shop.call('GET', '/Events')

  expect(answer.statusCode).toBe(200)
  expect(answer.json().map(({ EventName }: { EventName: string }) => EventName)).toEqual(
    eventKinds.map(({ name }) => name),
  )
  const [order, , customer, product] = answer.json()
  expect(answer.body).toContain(
    `[{"Sequence":1,"Id":"evt_${messageId.replaceAll('-', '')}","EventType":1,"EventName":"Order New","RecordID":1,"DateCreated":"2026-03-10T12:00:00","Record":{"InvoiceNumberPrefix":"AB-",`,
  )
  expect(order.Record.OrderID).toBe(1)
  expect(customer.Record.CustomerID).toBe(1)
  expect(product.Record.SKUInfo.CatalogID).toBe(1)
})

test('in XML has each record under its own name, in v2 too', async () => {
  for (const eventType of [1, 3, 4]) await numberedEvent(server, shop, { sequence: eventType, eventType })

  const { body } = await shop.call('GET', '/Events', { accept: 'application/xml', version: 'v2' })

  expect(body).toMatch(/<ArrayOfFeedEvent [^>]*><FeedEvent><Sequence>1<\/Sequence><Id>evt_/)
  expect(body).toContain('<Record><Order><InvoiceNumberPrefix>AB-</InvoiceNumberPrefix>')
  expect(body).toContain('<OrderItemList><OrderItem><CatalogID>1</CatalogID>')
  expect(body).toContain('<Record><Customer><CustomerID>1</CustomerID>')
  expect(body).toContain('<Record><Product><SKUInfo><CatalogID>1</CatalogID>')
  const chosen = await shop.call('GET', '/Events?limit=1&$select=Record', { accept: 'application/xml' })
  expect(chosen.body).toMatch(/<FeedEvent><Record><Order>.*<\/Order><\/Record><\/FeedEvent>/)
  const empty = await shop.call('GET', '/Events?after=4', { accept: 'application/xml' })
  expect(empty.body).toMatch(/<ArrayOfFeedEvent [^>]* \/>$|<ArrayOfFeedEvent [^>]*><\/ArrayOfFeedEvent>$/)
})

describe('a loop', () => {
  test('reads every event once, in order, and ends at an empty list', async () => {
    await addEvents(23)
    const read: number[] = []
    let page: number[]
    do {
      page = await sequences(`?limit=5&after=${read.at(-1) ?? 0}`)
      read.push(...page)
    } while (page.length > 0)

    expect(read).toEqual(Array.from({ length: 23 }, (_, index) => index + 1))
  })

  test('finds nothing in a store where nothing happened, and nothing that has no number yet', async () => {
    expect(await sequences('')).toEqual([])
    await shop.call('POST', '/Customers', { body: { Email: 'a@shop.example', Password: 'secret words' } })
    expect(await server.database.db.event.count({ where: { storeId: shop.store.id, sequence: null } })).toBe(1)
    expect(await sequences('')).toEqual([])
  })

  test('is refused from a place where the feed has never been: the store was reset, or a backup restored', async () => {
    await addEvents(3)
    expect(await sequences('?after=3')).toEqual([])
    const answer = await shop.call('GET', '/Events?after=4')
    expect(refusalOf(answer)).toEqual({
      statusCode: 410,
      field: 'after',
      status: '410',
      message:
        'The newest event is 3, so the feed began anew: the store was reset, or a backup was restored. Compare the records themselves, and read on with after=3',
    })
    expect((await shop.call('GET', '/Events?after=9007199254740991')).statusCode).toBe(410)
  })

  test('reads nothing of another store', async () => {
    await addEvents(3)
    const other = await server.openStore()
    expect(await sequences('', other.call)).toEqual([])
  })

  test('gets 100 events a page, as many as it asks for, and 500 at most', async () => {
    await addEvents(502)
    for (const [query, count] of [
      ['', 100],
      ['?limit=0', 100],
      ['?limit=-1', 100],
      ['?limit=7', 7],
      ['?limit=500', 500],
      ['?limit=501', 500],
      ['?limit=2147483647', 500],
      ['?limit=2147483648', 500],
      ['?limit=99999999999999999999', 500],
    ] as const) {
      const { statusCode, body } = await server.app.inject({
        url: `/StoreWebAPI/v1/Events${query}`,
        headers: shop.credentials,
      })
      expect([query, statusCode, JSON.parse(body).length]).toEqual([query, 200, count])
    }
  })

  test('gets 10 MB of records a page, and one event however large it is', async () => {
    const sizes = [4, 4, 1, 4, 11, 1, 1]
    for (const [index, megabytes] of sizes.entries()) {
      const body = `{"Text":"${'x'.repeat(megabytes * 1024 * 1024 - 11)}"}`
      await numberedEvent(server, shop, { sequence: index + 1, body })
    }
    const page = async (after: number) => {
      const url = `/StoreWebAPI/v1/Events?after=${after}&$select=Sequence`
      const answer = await server.app.inject({ url, headers: shop.credentials })
      return answer.json<Shown[]>().map(({ Sequence }) => Sequence)
    }

    expect(await page(0)).toEqual([1, 2, 3])
    expect(await page(3)).toEqual([4])
    expect(await page(4)).toEqual([5])
    expect(await page(5)).toEqual([6, 7])
  })
})

test('of one kind alone, where it is asked for', async () => {
  await addEvents(21)
  expect(await sequences('?eventtype=3')).toEqual([3, 10, 17])
  expect(await sequences('?EVENTTYPE=3&after=3&limit=1')).toEqual([10])
})

describe('an application', () => {
  test('reads the kinds of the services that it may read, and no others', async () => {
    for (const [index, eventType] of [1, 3, 4, 2, 7, 3].entries()) {
      await numberedEvent(server, shop, { sequence: index + 1, eventType })
    }
    const reads = async (services: readonly string[], query = '') => {
      const granted = Object.fromEntries(services.map((service) => [service, ['read'] as const]))
      const { call } = await shop.as({ privileges: { Webhooks: ['read'], ...granted } })
      return sequences(query, call)
    }

    expect(await reads(['Orders'])).toEqual([1, 4])
    expect(await reads(['Customers'])).toEqual([2, 6])
    expect(await reads(['Products'])).toEqual([3, 5])
    expect(await reads(['Orders', 'Products'])).toEqual([1, 3, 4, 5])
    expect(await reads(['Customers'], '?after=2&limit=1')).toEqual([6])
    expect(await reads(['Orders', 'Customers'], '?eventtype=3')).toEqual([2, 6])
  })

  test('needs the privilege to read Webhooks, and records of one kind at least: 401 that names the service', async () => {
    for (const [privileges, query, field, access] of [
      [{ Webhooks: ['write'], Orders: ['read'] }, '', 'Webhooks', 'read'],
      [{ Orders: ['read'] }, '', 'Webhooks', 'read'],
      [{ Webhooks: ['read'], OrderStatuses: ['read'] }, '', 'Orders', 'read'],
      [{ Webhooks: ['read'], Orders: ['write'] }, '', 'Orders', 'read'],
      [{ Webhooks: ['read'], Orders: ['read'] }, '?eventtype=5', 'Products', 'read'],
    ] as const) {
      const { call } = await shop.as({ privileges })
      const answer = await call('GET', `/Events${query}`)
      expect(refusalOf(answer)).toEqual({
        statusCode: 401,
        field,
        status: '401',
        message: `The application lacks the ${access} privilege for ${field}`,
      })
    }
  })
})

describe('where events were deleted because of their age', () => {
  /** As the sweep does, up to a number. */
  async function cut(sequence: number): Promise<void> {
    await server.database.db.$executeRaw`
      WITH "deleted" AS (
        DELETE FROM "Event" WHERE "storeId" = ${shop.store.id} AND "sequence" <= ${sequence} RETURNING "eventType", "sequence"
      )
      INSERT INTO "EventCut" ("storeId", "eventType", "deletedThrough")
      SELECT ${shop.store.id}, "eventType", max("sequence") FROM "deleted" GROUP BY "eventType"
      ON CONFLICT ("storeId", "eventType") DO UPDATE SET "deletedThrough" = EXCLUDED."deletedThrough"`
  }

  beforeEach(async () => {
    await addEvents(20)
    await cut(12)
  })

  test('who comes too late is told so, and where to go on', async () => {
    for (const after of [1, 11]) {
      const answer = await shop.call('GET', `/Events?after=${after}`)
      expect(refusalOf(answer)).toEqual({
        statusCode: 410,
        field: 'after',
        status: '410',
        message: `The events up to 12 were deleted because of their age, and those after ${after} among them. Compare the records themselves, and read on with after=12`,
      })
    }
    const { body } = await shop.call('GET', '/Events?after=1', { accept: 'application/problem+json' })
    expect(JSON.parse(body)).toMatchObject({ status: 410, title: 'Gone', errors: [{ field: 'after' }] })
  })

  test('who has read them all, and who begins, reads on', async () => {
    expect(await sequences('?after=12')).toEqual([13, 14, 15, 16, 17, 18, 19, 20])
    expect(await sequences('?after=0&limit=2')).toEqual([13, 14])
    expect(await sequences('?limit=2')).toEqual([13, 14])
    expect(await sequences('?after=20')).toEqual([])
  })

  test('also when no event is left', async () => {
    await cut(20)
    expect((await shop.call('GET', '/Events?after=12')).statusCode).toBe(410)
    expect(await sequences('?after=20')).toEqual([])
    expect(await sequences('')).toEqual([])
  })

  test('who reads one kind alone is told so only where events of that kind were', async () => {
    // 6, 13 and 20 are of the kind 6.
    expect(await sequences('?eventtype=6&after=6')).toEqual([13, 20])
    expect(await sequences('?eventtype=6')).toEqual([13, 20])
    const answer = await shop.call('GET', '/Events?eventtype=6&after=5')
    expect(refusalOf(answer)).toMatchObject({
      statusCode: 410,
      field: 'after',
      message: expect.stringContaining('read on with after=6'),
    })
  })

  test('an application is told so only where events of the kinds that it may read were', async () => {
    const { call } = await shop.as({ privileges: { Webhooks: ['read'], Customers: ['read'] } })
    // Of customers, 10 was the last one deleted.
    expect(await sequences('?after=10', call)).toEqual([17])
    expect((await call('GET', '/Events?after=9')).statusCode).toBe(410)
  })
})

test('who begins, begins behind all that was deleted, also where an older event is kept for a late delivery', async () => {
  const createdAt = new Date(server.clock.ms - 31 * 86_400_000)
  const late = await numberedEvent(server, shop, { sequence: 1, createdAt })
  await delivery(server, shop, await newWebhook(shop.call), late, { state: 'delivered' })
  for (const sequence of [2, 3]) await numberedEvent(server, shop, { sequence, createdAt })
  for (const sequence of [4, 5]) await numberedEvent(server, shop, { sequence })
  await deliverySweep({ db: server.database.db, now: server.services.now })(() => false)
  const kept = await server.database.db.event.count({ where: { storeId: shop.store.id, sequence: 1 } })
  expect(kept).toBe(1)

  expect(await sequences('?limit=1')).toEqual([4])
  expect(await sequences('?after=4&limit=1')).toEqual([5])
})

test.each([
  ['after=abc', 'after', 'after must be newest or a whole number from 0 to 9007199254740991; "abc" was given'],
  ['after=-1', 'after', 'after must be newest or a whole number from 0 to 9007199254740991; "-1" was given'],
  ['after=1.5', 'after', 'after must be newest or a whole number from 0 to 9007199254740991; "1.5" was given'],
  [
    'after=9007199254740992',
    'after',
    'after must be newest or a whole number from 0 to 9007199254740991; "9007199254740992" was given',
  ],
  ['record=0', 'record', 'record must be a whole number from 1 to 2147483647; "0" was given'],
  ['limit=abc', 'limit', 'limit must be a whole number; "abc" was given'],
  ['eventtype=abc', 'eventtype', 'eventtype must be a whole number; "abc" was given'],
  ['eventtype=99', 'eventtype', `eventtype must be one of ${kindsInWords}; "99" was given`],
  ['$select=Record/OrderID', '$select', /^\$select names an unknown property/],
  ['$orderby=Record', '$orderby', /^\$orderby cannot sort by an object/],
])('?%s is refused', async (query, field, message) => {
  const answer = await shop.call('GET', `/Events?${query}`)
  expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field })
  expect(refusalOf(answer).message).toMatch(message)
})

describe('from now on', () => {
  test('after=newest is the newest event alone, from whose number a program reads on', async () => {
    await addEvents(20)
    expect(await sequences('?after=newest')).toEqual([20])
    expect(await sequences('?after=newest&eventtype=5')).toEqual([19])
    expect(await sequences('?after=20')).toEqual([])
  })

  test('is empty where nothing has happened', async () => {
    expect(await sequences('?after=newest')).toEqual([])
  })

  test('is of the kinds that the application may read', async () => {
    await addEvents(20)
    const { call } = await shop.as({ privileges: { Webhooks: ['read'], Customers: ['read'] } })
    expect(await sequences('?after=newest', call)).toEqual([17])
  })
})

test('record is what happened to records with a number, and with eventtype to one', async () => {
  for (const [sequence, eventType, recordId] of [
    [1, 1, 5],
    [2, 2, 5],
    [3, 2, 6],
    [4, 5, 5],
    [5, 2, 5],
  ] as const) {
    await numberedEvent(server, shop, { sequence, eventType, recordId })
  }
  expect(await sequences('?record=5')).toEqual([1, 2, 4, 5])
  expect(await sequences('?record=5&eventtype=1&eventtype=2&after=1')).toEqual([2, 5])
  expect(await sequences('?record=5&after=newest')).toEqual([5])
  expect(await sequences('?record=7')).toEqual([])
})

test('takes GET and HEAD alone', async () => {
  for (const method of ['POST', 'PUT', 'DELETE'] as const) {
    const answer = await shop.call(method, '/Events')
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  }
  const head = await shop.call('HEAD', '/Events')
  expect([head.statusCode, head.body]).toEqual([200, ''])
})
