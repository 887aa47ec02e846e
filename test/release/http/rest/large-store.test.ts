import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { referencesTo } from '../../../../src/engine/changing/referrers.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { servedResources } from '../../../../src/shop/registry.ts'
import { productLinks } from '../../../../src/shop/resources/products/linked-products.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { fillLargeStore } from '../../../support/large-store/fill.ts'
import { shares } from '../../../support/large-store/statements.ts'
import { hasPostgres15, type Postgres15, startPostgres15 } from '../../../support/postgres-15.ts'
import { type Method, openServer, type TestServer, type TestStore } from '../../../support/store.ts'

// What a request costs is told by the rows and index entries that PostgreSQL read for it, whatever else the machine does.

const PRODUCTS = 4_000
/** For the credentials and ten records with all that is nested in them. Who walks through the store reads more. */
const PAGE_ROWS_MAX = 800
/** For the records that are looked at for a page within bounds, and those within them. Who walks through the store reads more. */
const BOUNDED_ROWS_MAX = 3_000
/** For a deletion that changes twenty products and records an event for each. A sub-select for each product reads more. */
const DELETION_ROWS_MAX = 12_000

const relatedLists = servedResources.flatMap(({ service, subResources }) =>
  Object.entries(subResources)
    .filter(([, sub]) => sub.kind === 'related')
    .map(([name]) => [service, name] as const),
)

describe.each([
  { version: '18 (embedded)', isThere: true },
  { version: '15', isThere: hasPostgres15 },
])('on PostgreSQL $version', ({ version, isThere }) => {
  describe.skipIf(!isThere)('a store of thousands', () => {
    let postgres: Postgres15 | undefined
    let url: string
    let server: TestServer
    let shop: TestStore

    beforeAll(async () => {
      postgres = version === '15' ? await startPostgres15() : undefined
      server = await openServer({}, openDatabase)
      shop = await server.openStore()
      // Another store of which PostgreSQL knows, so that it knows nothing of the one that is asked.
      const known = await server.openStore()
      await fillLargeStore(url, known.store.id, { products: 1_000, customers: 1_000, orders: 100 })
      await server.services.db.$executeRaw`ANALYZE`
      await fillLargeStore(url, shop.store.id, { products: PRODUCTS, customers: PRODUCTS, orders: PRODUCTS / 10 })
    })

    afterAll(async () => {
      await server?.close()
      await postgres?.stop()
    })

    /** One connection, whose figures a test can ask for. PostgreSQL must not count anew in the middle. */
    async function openDatabase(): Promise<TestDatabase> {
      const created = postgres ? { url: postgres.url, drop: async () => {} } : await createDatabase()
      url = created.url
      await migrate(url)
      const db = connect(url, { poolMax: 1 })
      const tables = await db.$queryRaw<{ name: string }[]>`
        SELECT relname AS "name" FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
      for (const { name } of tables) {
        await db.$executeRawUnsafe(`ALTER TABLE "${name}" SET (autovacuum_enabled = false)`)
      }
      return { url, db, drop: async () => void (await Promise.all([db.$disconnect(), created.drop()])) }
    }

    async function rowsReadFor(path: string, method: Method = 'GET') {
      const before = await rowsRead()
      const answer = await shop.call(method, path)
      return {
        status: answer.statusCode,
        records: answer.body ? answer.json().length : 0,
        rows: (await rowsRead()) - before,
      }
    }

    async function rowsRead(): Promise<number> {
      const { db } = server.services
      // Each connection counts for itself, and each statement here takes one of its own because the others are not over.
      const flush = () => db.$queryRaw`SELECT pg_stat_force_next_flush()::text, pg_sleep(0.02)::text`
      await Promise.all(Array.from({ length: 10 }, flush))
      const [row] = await db.$queryRaw<{ rows: number }[]>`
        SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::int AS "rows"`
      return row?.rows ?? 0
    }

    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

    const cheap = (status: number, records: number, max = PAGE_ROWS_MAX) => ({
      status,
      records,
      // An empty list may be seen to be empty by an index alone.
      rows: expect.toSatisfy((rows: number) => rows >= Math.min(records, 1) && rows <= max, `at most ${max}`),
    })

    describe.each(['just filled', 'counted'])('%s', (state) => {
      beforeAll(async () => {
        if (state === 'counted') await server.services.db.$executeRaw`ANALYZE`
      })

      test.each(relatedLists)(
        'a page of %s/{id}/%s costs what its records cost, wherever it begins',
        async (service, name) => {
          const path = (id: number, query = '') => `/${service}/${id}/${name}${query}`
          expect(await rowsReadFor(path(shares.half))).toEqual(cheap(200, 10))
          expect(await rowsReadFor(path(shares.half, `?cursor=${PRODUCTS - 200}`))).toEqual(cheap(200, 10))
          expect(await rowsReadFor(path(shares.hundredth))).toEqual(cheap(200, 10))
          expect(await rowsReadFor(path(shares.lastTwenty))).toEqual(cheap(200, 10))
          expect(await rowsReadFor(path(shares.none))).toEqual(cheap(404, 0))
        },
      )

      test('a page of what was changed lately costs what that is, although it lies at the end of the store', async () => {
        const path = `/Customers?lastupdatestart=${daysAgo(60)}`
        expect(await rowsReadFor(path)).toEqual(cheap(200, 10, BOUNDED_ROWS_MAX))
      })

      test('which products name one costs what they are', async () => {
        const before = await rowsRead()
        const named = await referencesTo(shop.caller, { ...products, referrers: productLinks }, 1)
        expect(named.map(({ ids }) => ids)).toEqual([[], []])
        expect(await rowsRead()).toBeLessThan(before + PAGE_ROWS_MAX)
      })
    })

    test.each([
      { bounds: 'stockfrom=6', are: '"stock" >= 6' },
      { bounds: 'stockfrom=700&priceto=300', are: '"stock" >= 700 AND "price" <= 300' },
      { bounds: 'lastupdateend=2026-01-01', are: `"updatedAt" < '2026-01-02 00:00 America/New_York'` },
    ])('pages within $bounds have every product once, by cursor and by offset', async ({ bounds, are }) => {
      const stored = await server.services.db.$queryRawUnsafe<{ id: number }[]>(
        `SELECT "id" FROM "Product" WHERE "storeId" = $1 AND ${are} ORDER BY "id"`,
        shop.store.id,
      )
      const ids = stored.map(({ id }) => id)
      expect(ids.length).toBeGreaterThan(20)
      const read = async (page: string): Promise<number[]> => {
        const answer = await shop.call('GET', `/Products?${bounds}&$select=SKUInfo/CatalogID&${page}`)
        return answer.json().map((record: { SKUInfo: { CatalogID: number } }) => record.SKUInfo.CatalogID)
      }
      const limit = 150
      const byCursor: number[] = []
      for (let page = await read(`limit=${limit}`); page.length > 0; ) {
        byCursor.push(...page)
        page = await read(`limit=${limit}&cursor=${page.at(-1)}`)
      }
      expect(byCursor).toEqual(ids)
      for (const offset of [1, 7, Math.ceil(ids.length / 2), ids.length - 3]) {
        expect(await read(`offset=${offset}`)).toEqual(ids.slice(offset - 1, offset + 9))
      }
    })

    test.each([
      `/Category/${shares.lastTwenty}`,
      `/Distributors/${shares.lastTwenty}`,
      `/Products/${shares.hundredth}`,
    ])('deleting %s costs what refers to it', async (path) => {
      expect(await rowsReadFor(path, 'DELETE')).toEqual(cheap(200, 1, DELETION_ROWS_MAX))
    })
  })
})
