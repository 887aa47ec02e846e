import fc from 'fast-check'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { buildApp } from '../../../../src/app.ts'
import { updateRecord } from '../../../../src/engine/changing/change.ts'
import { lockRecord } from '../../../../src/engine/changing/write.ts'
import { inTransaction, type Transaction } from '../../../../src/foundation/database/client.ts'
import { writeDate } from '../../../../src/foundation/values/dates.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { untilWaiting } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { productBody } from './fixture.ts'

// Reading what changed since the last time, and losing nothing (docs/integration.md).

/** What a sync goes back by, as the docs say. */
const OVERLAP_MS = 120_000
/** A transaction that takes longer is undone (src/foundation/database/client.ts). */
const TRANSACTION_MS = 60_000

const server = await sharedServer()

/** Another process on the same database, whose clock is behind. */
const slow = { app: undefined as unknown as FastifyInstance, behindMs: 0 }
beforeAll(async () => {
  const now = () => new Date(server.clock.ms - slow.behindMs)
  const { db, secrets } = server.services
  slow.app = buildApp({ ...server.services, now, authenticator: createAuthenticator({ db, secrets, now }) })
})
afterAll(() => slow.app.close())

const newProduct = (shop: TestStore, others: object = {}) =>
  shop.add('/Products', productBody(crypto.randomUUID(), { ...others }))

/** A product with a stock of its own for each of its option's values, and the id of that value. */
async function newProductWithOption(shop: TestStore, others: object = {}): Promise<{ id: number; option: number }> {
  const sets = [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'L' }] }]
  const id = await newProduct(shop, { SKUInfo: { Stock: 99 }, OptionSetList: sets, ...others })
  const option = (await shop.call('GET', `/Products/${id}/Options`)).json()[0].OptionList[0].OptionID
  const body = { AdvancedOptionList: [{ AdvancedOptionCode: `${option}`, AdvancedOptionStock: 99 }] }
  await shop.call('PUT', `/Products/${id}`, { body })
  return { id, option }
}

/** Services with bounds of LastUpdate: how a record comes to be, and a change of it. */
const services = {
  Products: { make: (shop: TestStore) => newProduct(shop), change: { MFGID: 'changed' } },
  Customers: {
    make: (shop: TestStore) =>
      shop.add('/Customers', { Email: `${crypto.randomUUID()}@shop.example`, Password: 'secret' }),
    change: { BillingCity: 'changed' },
  },
  Orders: {
    make: async (shop: TestStore) =>
      shop.placeOrder([{ CatalogID: await newProduct(shop, { SKUInfo: { Stock: 5 } }), ItemQuantity: 1 }]),
    change: { InternalComments: 'changed' },
  },
} as const
type Service = keyof typeof services

/** A store in which one record of the service was changed at each of the instants, to the millisecond. */
async function storeWithChanges(service: Service, timeZone: string, instants: readonly string[]) {
  const shop = await server.openStore({ timeZone })
  server.clock.ms = Date.parse('2020-01-01T00:00:00Z')
  const { make, change } = services[service]
  const ids: number[] = []
  for (const _ of instants) ids.push(await make(shop))
  for (const [index, instant] of instants.entries()) {
    server.clock.ms = Date.parse(instant)
    expect((await shop.call('PUT', `/${service}/${ids[index]}`, { body: change })).statusCode).toBe(200)
  }
  /** The changes that a query lists, by their place among the instants: `0 1 2`. */
  return async (query: string): Promise<string> => {
    const answer = await shop.call('GET', `/${service}?limit=100&${query}`)
    if (answer.statusCode === 404) return ''
    expect(answer.statusCode, answer.body).toBe(200)
    const counted = await shop.call('GET', `/${service}?countonly=1&${query}`)
    expect(counted.json()).toEqual({ TotalCount: answer.json().length })
    const key = { Products: 'SKUInfo', Customers: 'CustomerID', Orders: 'OrderID' }[service]
    const found = answer.json<Record<string, number | { CatalogID: number }>[]>().map((record) => record[key])
    return found.map((id) => ids.indexOf(typeof id === 'object' ? id.CatalogID : (id as number))).join(' ')
  }
}

const start = (text: string) => `lastupdatestart=${encodeURIComponent(text)}`
const end = (text: string) => `lastupdateend=${encodeURIComponent(text)}`

describe('lastupdatestart and lastupdateend', () => {
  let found: (query: string) => Promise<string>
  beforeAll(async () => {
    // New York in summer: four hours behind.
    found = await storeWithChanges('Products', 'America/New_York', [
      '2026-07-10T03:59:59.999Z',
      '2026-07-10T04:00:00.000Z',
      '2026-07-10T14:44:07.999Z',
      '2026-07-10T14:44:08.000Z',
      '2026-07-10T14:44:08.999Z',
      '2026-07-10T14:44:09.000Z',
      '2026-07-11T03:59:59.999Z',
      '2026-07-11T04:00:00.000Z',
    ])
  })

  test.each([
    ['a second, whole', '7/10/2026 10:44:08 AM', '3 4 5 6 7', '0 1 2 3 4'],
    ['a second with an offset', '2026-07-10T20:14:08+05:30', '3 4 5 6 7', '0 1 2 3 4'],
    ['a day, whole', '07/10/2026', '1 2 3 4 5 6 7', '0 1 2 3 4 5 6'],
    ['the first second of a minute', '07/10/2026 10:44', '2 3 4 5 6 7', '0 1'],
    ['the first second of a day', '07/10/2026 00:00:00', '1 2 3 4 5 6 7', '0 1'],
    ['the last second of a day', '07/10/2026 23:59:59', '6 7', '0 1 2 3 4 5 6'],
  ])('%s is inside of both bounds: %s', async (_what, text, since, until) => {
    expect(await found(start(text))).toBe(since)
    expect(await found(end(text))).toBe(until)
    const both = since.split(' ').filter((each) => until.split(' ').includes(each))
    expect(await found(`${start(text)}&${end(text)}`)).toBe(both.join(' '))
  })

  test('bounds that exclude one another list nothing', async () => {
    expect(await found(`${start('07/10/2026 10:44:09')}&${end('07/10/2026 10:44:08')}`)).toBe('')
  })
})

describe('bounds are read in the zone of the store, where its clocks are changed', () => {
  interface ZoneCase {
    readonly zone: string
    readonly instants: readonly string[]
    /** A bound, what it lists as a start, and what as an end. */
    readonly bounds: readonly (readonly [text: string, since: string, until: string])[]
  }
  const cases: ZoneCase[] = [
    {
      zone: 'America/New_York, in autumn: from 01:00 to 02:00 comes twice',
      instants: [
        '2026-11-01T04:59:59.999Z', // 00:59:59
        '2026-11-01T05:00:00.000Z', // 01:00:00
        '2026-11-01T05:30:00.500Z', // 01:30:00
        '2026-11-01T06:00:00.000Z', // 01:00:00 again
        '2026-11-01T06:30:00.500Z', // 01:30:00 again
        '2026-11-01T06:59:59.999Z', // 01:59:59 again
        '2026-11-01T07:00:00.000Z', // 02:00:00
        '2026-11-02T04:59:59.999Z', // 23:59:59
        '2026-11-02T05:00:00.000Z', // 00:00:00
      ],
      bounds: [
        ['11/01/2026 00:59:59', '0 1 2 3 4 5 6 7 8', '0'],
        ['11/01/2026 01:00:00', '1 2 3 4 5 6 7 8', '0 1 2 3'],
        ['11/01/2026 01:30:00', '2 3 4 5 6 7 8', '0 1 2 3 4'],
        ['11/01/2026 01:59:59', '3 4 5 6 7 8', '0 1 2 3 4 5'],
        ['11/01/2026 02:00:00', '6 7 8', '0 1 2 3 4 5 6'],
        ['2026-11-01T01:30:00-04:00', '2 3 4 5 6 7 8', '0 1 2'],
        ['2026-11-01T01:30:00-05:00', '4 5 6 7 8', '0 1 2 3 4'],
        ['11/01/2026', '0 1 2 3 4 5 6 7 8', '0 1 2 3 4 5 6 7'],
        ['11/02/2026', '8', '0 1 2 3 4 5 6 7 8'],
      ],
    },
    {
      zone: 'America/Santiago, where a day begins at one o’clock',
      instants: [
        '2026-09-06T03:59:59.999Z',
        '2026-09-06T04:00:00.000Z',
        '2026-09-07T02:59:59.999Z',
        '2026-09-07T03:00:00.000Z',
      ],
      bounds: [
        ['09/05/2026', '0 1 2 3', '0'],
        ['09/06/2026', '1 2 3', '0 1 2'],
        ['09/06/2026 01:00:00', '1 2 3', '0 1'],
      ],
    },
  ]
  test.each(cases)('$zone', async ({ zone, instants, bounds }) => {
    const found = await storeWithChanges('Products', zone.split(',', 1)[0] as string, instants)
    const read = []
    for (const [text] of bounds) read.push([text, await found(start(text)), await found(end(text))])
    expect(read).toEqual(bounds)
  })

  test.each(['America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Europe/London'])(
    'LastUpdate as it is shown, as a start, lists its record, and as an end too: %s',
    async (timeZone) => {
      const shop = await server.openStore({ timeZone })
      const id = await newProduct(shop)
      const days = ['2026-03-08', '2026-11-01', '2026-04-05', '2026-10-04', '2026-09-06', '2026-03-29', '2026-10-25']
      const instants = fc
        .tuple(fc.constantFrom(...days), fc.integer({ min: -18 * 3_600_000, max: 30 * 3_600_000 }))
        .map(([day, ms]) => Date.parse(`${day}T00:00:00Z`) + ms)
      await fc.assert(
        fc.asyncProperty(instants, async (ms) => {
          await server.database.db.$executeRawUnsafe(
            'UPDATE "Product" SET "updatedAt" = $2::timestamptz WHERE "storeId" = $1::int',
            shop.store.id,
            new Date(ms).toISOString(),
          )
          const shown = (await shop.call('GET', `/Products/${id}`)).json()[0].LastUpdate
          expect(shown).toBe(writeDate(new Date(ms), timeZone))
          const listed = await shop.call('GET', `/Products?countonly=1&${start(shown)}&${end(shown)}`)
          expect(listed.json()).toEqual({ TotalCount: 1 })
        }),
        { numRuns: 20 },
      )
    },
  )
})

/** A transaction that has changed a record, so stamped it, and holds its lock. */
interface Held {
  readonly stampedMs: number
  readonly release: () => Promise<void>
}

async function hold(shop: TestStore, id: number, body: object): Promise<Held> {
  return holding(async (tx) => {
    await updateRecord({ ...shop.caller, db: tx }, products, id, body)
  })
}

async function holding(work: (tx: Transaction) => Promise<void>): Promise<Held> {
  const [reached, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended = inTransaction(server.database.db, async (tx) => {
    await work(tx)
    reached.resolve()
    await mayEnd.promise
  })
  await Promise.race([reached.promise, ended])
  return {
    stampedMs: server.clock.ms,
    release: () => {
      mayEnd.resolve()
      return ended
    },
  }
}

const lastUpdateOf = async (shop: TestStore, path: string): Promise<string> =>
  (await shop.call('GET', path)).json()[0].LastUpdate

describe('LastUpdate', () => {
  test('is stamped under the lock: a change that had to wait is stamped when it had it', async () => {
    const shop = await server.openStore({ timeZone: 'UTC' })
    server.clock.ms = Date.parse('2026-05-01T12:00:00Z')
    const id = await newProduct(shop)
    const held = await hold(shop, id, { MFGID: 'first' })
    const second = shop.call('PUT', `/Products/${id}`, { body: { MFGID: 'second' } })
    await untilWaiting(server.database, 1)
    server.clock.ms += 30_000
    await held.release()
    expect((await second).statusCode).toBe(200)
    expect(await lastUpdateOf(shop, `/Products/${id}`)).toBe('2026-05-01T12:00:30')
  })

  test('of the change that commits later is the later or the same, whoever was asked first', async () => {
    const shop = await server.openStore({ timeZone: 'UTC' })
    server.clock.ms = Date.parse('2026-05-01T12:00:00Z')
    const id = await newProduct(shop, { SKUInfo: { Stock: 9 } })
    const mayStamp = Promise.withResolvers<void>()
    const held = holding(async (tx) => {
      const caller = { ...shop.caller, db: tx }
      await lockRecord(caller, products, id, [])
      await mayStamp.promise
      await updateRecord(caller, products, id, { MFGID: 'first' })
    })
    await untilWaiting(server.database, 0)
    const order = shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }])
    await untilWaiting(server.database, 1)
    server.clock.ms += 30_000
    mayStamp.resolve()
    await (await held).release()
    await order
    const [product] = (await shop.call('GET', `/Products/${id}`)).json()
    expect(product).toMatchObject({ LastUpdate: '2026-05-01T12:00:30', MFGID: 'first', SKUInfo: { Stock: 8 } })
  })

  describe('of a record is that of its last change, and never goes back where another process has a clock that is behind', () => {
    interface Ground {
      readonly shop: TestStore
      readonly app: FastifyInstance
      readonly id: number
      readonly option: number
      readonly order: number
      readonly customer: number
      readonly send: (method: 'PUT' | 'POST', path: string, payload: object) => Promise<LightMyRequestResponse>
    }
    type Change = readonly [name: string, service: Service, change: (ground: Ground) => Promise<unknown>]
    const changes: Change[] = [
      ['a change of a product', 'Products', ({ send, id }) => send('PUT', `/Products/${id}`, { MFGID: 'x' })],
      [
        'a stock set in a list',
        'Products',
        ({ send, id }) => send('PUT', '/Products', [{ SKUInfo: { CatalogID: id, Stock: 50 } }]),
      ],
      [
        'a stock of an option',
        'Products',
        ({ send, id, option }) => send('PUT', `/Products/${id}/AdvancedOptions/${option}`, { AdvancedOptionStock: 6 }),
      ],
      [
        'a stock that an order takes',
        'Products',
        ({ shop, id, app }) => shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }], {}, app),
      ],
      [
        'a stock of an option that an order takes',
        'Products',
        ({ shop, id, option, app }) =>
          shop.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: `,${option}` }], {}, app),
      ],
      [
        'a stock that a cancelled order gives back',
        'Products',
        ({ send, order }) => send('PUT', `/Orders/${order}`, { OrderStatusID: 5 }),
      ],
      [
        'a stock that a changed order takes',
        'Products',
        async ({ shop, send, order }) => {
          const [item] = (await shop.call('GET', `/Orders/${order}/Items`)).json()
          return send('PUT', `/Orders/${order}/Items/${item.ItemIndexID}`, { ItemQuantity: 3 })
        },
      ],
      [
        'a change of a shipment',
        'Orders',
        ({ send, order }) => send('PUT', `/Orders/${order}/Shipments/0`, { ShipmentTrackingCode: 'x' }),
      ],
      [
        'a change of a customer',
        'Customers',
        ({ send, customer }) => send('PUT', `/Customers/${customer}`, { BillingCity: 'x' }),
      ],
    ]

    test.each(changes)('%s', async (_name, service, change) => {
      const shop = await server.openStore({ timeZone: 'UTC' })
      const { id, option } = await newProductWithOption(shop)
      const order = await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }])
      const customer = await services.Customers.make(shop)
      const ground = (app: FastifyInstance): Ground => ({
        ...{ shop, app, id, option, order, customer },
        send: async (method, path, payload) => {
          const headers = shop.credentials
          const answer = await app.inject({ method, url: `/StoreWebAPI/v1${path}`, headers, payload })
          expect([200, 201], answer.body).toContain(answer.statusCode)
          return answer
        },
      })
      const query = { Products: `catalogid=${id}`, Orders: `orderid=${order}`, Customers: `customerid=${customer}` }[
        service
      ]
      const isStamped = async (ms: number) => {
        const second = new Date(ms).toISOString().slice(0, 19)
        const path = `/${service}?countonly=1&${query}&${start(second)}&${end(second)}`
        return (await shop.call('GET', path)).json().TotalCount === 1
      }

      server.clock.ms += 60_000
      await change(ground(server.app))
      expect(await isStamped(server.clock.ms)).toBe(true)

      server.clock.ms += 60_000
      const path = `/${service}/${{ Products: id, Orders: order, Customers: customer }[service]}`
      await shop.call('PUT', path, { body: services[service].change })
      slow.behindMs = 45_000
      const again = await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }])
      await change({ ...ground(slow.app), order: service === 'Products' ? again : order })
      expect(await isStamped(server.clock.ms)).toBe(true)
    })
  })
})

interface Product {
  readonly SKUInfo: { readonly CatalogID: number; readonly Stock: number }
  readonly LastUpdate: string
}

/** A client's copy of the products, kept up by what changed since it last looked, as docs/integration.md says. */
class Copy {
  readonly records = new Map<number, Product>()
  readonly #shop: TestStore
  readonly #overlapMs: number
  #newest: string | null = null

  constructor(shop: TestStore, overlapMs: number) {
    this.#shop = shop
    this.#overlapMs = overlapMs
  }

  async sync(): Promise<void> {
    const since = this.#newest === null ? '' : start(minus(this.#newest, this.#overlapMs))
    let next: string | null = `/StoreWebAPI/v1/Products?limit=7&${since}`
    while (next !== null) {
      const answer: LightMyRequestResponse = await server.app.inject({ url: next, headers: this.#shop.credentials })
      if (answer.statusCode === 404) return
      expect(answer.statusCode, answer.body).toBe(200)
      for (const record of answer.json<Product[]>()) {
        this.records.set(record.SKUInfo.CatalogID, record)
        if (this.#newest === null || record.LastUpdate > this.#newest) this.#newest = record.LastUpdate
      }
      next = /^<http:\/\/localhost:3000(.*)>; rel="next"$/.exec(String(answer.headers.link))?.[1] ?? null
    }
  }
}

/** By the clock on the wall, as a client reckons that knows nothing of zones. */
function minus(local: string, ms: number): string {
  return new Date(Date.parse(`${local}Z`) - ms).toISOString().slice(0, 19)
}

describe('a sync that begins at the newest LastUpdate that it read, minus the overlap', () => {
  const allOf = async ({ call }: TestStore) =>
    new Map((await call('GET', '/Products?limit=200')).json<Product[]>().map((one) => [one.SKUInfo.CatalogID, one]))

  test('finds a change that was stamped before and committed after the newest one, which without it would be lost', async () => {
    const shop = await server.openStore({ timeZone: 'UTC' })
    const [late, early] = [await newProduct(shop), await newProduct(shop)]
    const [careful, careless] = [new Copy(shop, OVERLAP_MS), new Copy(shop, 0)]
    const held = await hold(shop, late, { MFGID: 'late' })
    server.clock.ms += TRANSACTION_MS - 1_000
    await shop.call('PUT', `/Products/${early}`, { body: { MFGID: 'early' } })
    for (const copy of [careful, careless]) await copy.sync()
    await held.release()
    for (const copy of [careful, careless]) await copy.sync()
    expect(careful.records).toEqual(await allOf(shop))
    expect(careless.records.get(late)).not.toEqual(careful.records.get(late))
  })

  test.each([
    ['any day', 'America/New_York', '2026-07-10T14:00:00Z'],
    ['the spring change', 'America/New_York', '2026-03-08T06:59:15Z'],
    ['the autumn change', 'America/New_York', '2026-11-01T05:59:15Z'],
    ['the spring change by half an hour', 'Australia/Lord_Howe', '2026-10-03T15:29:15Z'],
    ['the autumn change by half an hour', 'Australia/Lord_Howe', '2026-04-04T14:59:15Z'],
  ])('loses no change while others write and commit late: %s', async (_when, timeZone, begins) => {
    const shop = await server.openStore({ timeZone })
    server.clock.ms = Date.parse(begins) - 60_000
    const goods: { id: number; option: number }[] = []
    for (let made = 0; made < 16; made++) goods.push(await newProductWithOption(shop))
    server.clock.ms = Date.parse(begins)
    slow.behindMs = 20_000
    const copy = new Copy(shop, OVERLAP_MS)
    const held = new Set<Held>()

    const letGo = async (one: Held) => {
      held.delete(one)
      await one.release()
    }
    // Time goes on, but over no transaction that would have been undone by then.
    const pass = async (ms: number) => {
      await Promise.all(
        [...held].filter(({ stampedMs }) => stampedMs + TRANSACTION_MS < server.clock.ms + ms).map(letGo),
      )
      server.clock.ms += ms
    }
    let serial = 0
    const random = (below: number) => Math.floor(Math.random() * below)
    const locked = new Set<number>()
    const write = async () => {
      const { id, option } = goods[random(goods.length)] as { id: number; option: number }
      const value = `${++serial}`
      const kind = random(6)
      if (kind === 0)
        await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }], {}, random(2) === 0 ? slow.app : server.app)
      else if (kind === 1) await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1, ItemOptions: `,${option}` }])
      else if (kind === 2) await shop.call('POST', `/Products/${id}/Features`, { body: { FeatureTitle: value } })
      else if (kind === 3) goods.push(await newProductWithOption(shop, { MFGID: value }))
      else if (kind === 4) {
        const headers = shop.credentials
        await slow.app.inject({
          method: 'PUT',
          url: `/StoreWebAPI/v1/Products/${id}`,
          headers,
          payload: { MFGID: value },
        })
      } else await shop.call('PUT', '/Products', { body: [{ SKUInfo: { CatalogID: id }, MFGID: value }] })
      await pass(random(3_000))
    }
    const writers = Array.from({ length: 3 }, async () => {
      for (let round = 0; round < 14; round++) await write()
    })
    const lateWriter = (async () => {
      for (let round = 0; round < 10; round++) {
        const { id } = goods[round] as { id: number }
        if (locked.has(id)) continue
        locked.add(id)
        const one = await hold(shop, id, { MFGID: `late ${++serial}` })
        held.add(one)
        await copy.sync()
        await pass(random(20_000))
        if (random(2) === 0) await copy.sync()
        if (held.has(one)) await letGo(one)
        locked.delete(id)
      }
    })()
    await Promise.all([...writers, lateWriter])
    await copy.sync()
    expect(copy.records).toEqual(await allOf(shop))
  })
})
