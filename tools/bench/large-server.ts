import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApp } from '../../src/app.ts'
import { createProgress } from '../../src/cli/progress.ts'
import { connect } from '../../src/foundation/database/client.ts'
import { withConnection } from '../../src/foundation/database/connection.ts'
import { migrate } from '../../src/foundation/database/migrations.ts'
import { fillLargeStore, recordsOf } from '../../test/support/large-store/fill.ts'
import type { StoreSize } from '../../test/support/large-store/statements.ts'
import { operatorKey, servicesOn } from '../../test/support/services.ts'

type Headers = Readonly<Record<string, string>>

/** The whole application in this process, over a database with one large store. */
export interface LargeServer {
  readonly storeId: number
  /** Of an application that no throttle holds up. */
  readonly application: Headers
  readonly operator: Headers
  /** Of a merchant who has signed in. */
  readonly merchant: Headers
  /** The JSON of an answer. Throws unless it is a success. */
  readonly ask: (request: InjectOptions) => Promise<unknown>
  /** The milliseconds that a request took; NaN where it was ended for its time (503). Throws for any other failure. */
  readonly timeOf: (request: InjectOptions) => Promise<number>
  readonly close: () => Promise<void>
}

const account = { Email: 'merchant@large.example', Password: 'correct horse battery' }
const secureurl = 'https://large.example'

/** Migrates the database at `url`, which must be empty, and fills a store of this size. */
export async function openLargeServer(url: string, size: StoreSize): Promise<LargeServer> {
  await migrate(url)
  const db = connect(url)
  const app = buildApp(servicesOn(db, { LOG_LEVEL: 'silent' }))
  const operator = { authorization: `Bearer ${operatorKey}` }
  const post = async (path: string, payload: object) => {
    const answer = await answerTo(app, { method: 'POST', url: `/admin/${path}`, headers: operator, payload })
    return answer.json() as Record<string, string | number>
  }
  const { Id } = await post('stores', {
    Name: 'Large',
    SecureURL: secureurl,
    Currency: 'USD',
    TimeZone: 'UTC',
    ...account,
  })
  const Throttle = { Capacity: 1_000_000, LeakPerSecond: 10_000 }
  const { PublicKey, PrivateKey } = await post('applications', { Name: 'Bench', Throttle })
  const { Token } = await post(`stores/${Id}/subscriptions`, { PublicKey })
  const progress = createProgress({ label: 'Filling the store', total: recordsOf(size) })
  await fillLargeStore(url, Number(Id), size, { isWhole: true, onRecords: progress.advance })
  progress.done()
  await fillHistory(url, Number(Id), size)
  return {
    storeId: Number(Id),
    application: { secureurl, privatekey: String(PrivateKey), token: String(Token) },
    operator,
    merchant: { accept: 'text/html', cookie: await signIn(app) },
    ask: async (request) => (await answerTo(app, request)).json(),
    timeOf: async (request) => {
      const startMs = performance.now()
      const { statusCode } = await answerTo(app, request, [503])
      return statusCode === 503 ? Number.NaN : performance.now() - startMs
    },
    close: async () => {
      await app.close()
      await db.$disconnect()
    },
  }
}

/** Prices of products and statuses of orders have changed now and then, as often as there are orders, evenly over two years. */
async function fillHistory(url: string, storeId: number, { products, orders }: StoreSize): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query(
      `INSERT INTO "HistoryEntry" ("storeId", "at", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
      SELECT $1::int, now() - interval '730 days' * (1 - n / $2::float8), CASE n % 2 WHEN 0 THEN 'Product' ELSE 'Order' END,
        CASE n % 2 WHEN 0 THEN 1 + n % $3::int ELSE n END, 'update', 'merchant', 'merchant@large.example',
        CASE n % 2 WHEN 0 THEN '[["SKUInfo.Price", 9.99, 12]]' ELSE '[["OrderStatusID", 1, 4]]' END::json, 0
      FROM generate_series(1, $2::int) n`,
      [storeId, orders, products],
    )
    await client.query('ANALYZE "HistoryEntry"')
  })
}

async function signIn(app: FastifyInstance): Promise<string> {
  const { cookies } = await answerTo(app, { method: 'POST', url: '/admin/sign-in', payload: account })
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
}

async function answerTo(app: FastifyInstance, request: InjectOptions, taken: readonly number[] = []) {
  const answer = await app.inject(request)
  const { statusCode, body } = answer
  if ((statusCode < 200 || statusCode > 299) && !taken.includes(statusCode))
    throw new Error(`${String(request.url)} answered ${statusCode}: ${body}`)
  return answer
}
