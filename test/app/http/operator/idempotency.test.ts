import type { LightMyRequestResponse } from 'fastify'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { placeOrder } from '../../../../src/shop/resources/orders/place-order.ts'
import { holdIn } from '../../../support/held.ts'
import { otherProcess } from '../../../support/other-process.ts'
import { testPerson } from '../../../support/person.ts'
import { refused } from '../../../support/refused.ts'
import { operatorKey } from '../../../support/services.ts'
import { merchantAccount } from '../../../support/signed-in.ts'
import { type Method, sharedServer, type TestStore } from '../../../support/store.ts'

// Idempotency-Key on the operator's changes: whatever happens between a request and its answer, each is made once.

let shop: TestStore
let serial = 0
/** In the sandbox of the tests. */
let isSwitchedOn = true
const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

interface Request {
  method: Method
  url: string
  body?: unknown
}

const byOperator = { authorization: `Bearer ${operatorKey}` }

function send({ method, url, body }: Request, key?: string, headers: Record<string, string> = byOperator) {
  return server.app.inject({
    method,
    url,
    headers: {
      ...headers,
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { payload: body as object }),
  })
}

const isReplay = ({ headers }: LightMyRequestResponse) => headers['idempotency-replayed'] === 'true'
const outcome = (answer: LightMyRequestResponse) => [answer.statusCode, isReplay(answer)]
const query = <T extends object>(sql: string) => server.database.db.$queryRawUnsafe<T[]>(sql)
const execute = (sql: string) => server.database.db.$executeRawUnsafe(sql)

/** Every row of the tables but the keys' own. Calls are in their log. */
async function everything(): Promise<Record<string, string>> {
  await server.services.callLog.flush()
  const tables = await query<{ name: string }>(
    `SELECT "table_name" AS "name" FROM information_schema.tables
     WHERE "table_schema" = current_schema() AND "table_type" = 'BASE TABLE' AND "table_name" NOT LIKE 'Idempotency%'`,
  )
  const texts = tables.map(async ({ name }) => {
    const [row] = await query<{ rows: string }>(
      `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS "rows" FROM "${name}" t`,
    )
    return [name, row?.rows ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

/** What has been done: each change of the operator has an entry in the audit log, but for orders. */
async function done(): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT ((SELECT count(*) FROM "AuditEntry") + (SELECT count(*) FROM "Order"))::int AS "count"`,
  )
  return row?.count ?? 0
}

const password = { Password: 'correct horse battery' }
const storeInput = () => ({ Name: 'Shop', SecureURL: `https://keyed-${++serial}.example`, ...account() })
const account = () => ({ Email: `person-${++serial}@shop.example`, ...password })
const idIn = (answer: LightMyRequestResponse): number => answer.json().Id

/** Each change of the operator: the request, and the same with another body. */
const changes: readonly [string, number, () => Promise<Request> | Request][] = [
  ['POST /admin/stores', 201, () => ({ method: 'POST', url: '/admin/stores', body: storeInput() })],
  ['PUT /admin/stores/{id}', 200, () => ({ method: 'PUT', url: ofShop(''), body: { Name: `Renamed ${++serial}` } })],
  [
    'PUT …/order-statuses',
    200,
    () => ({ method: 'PUT', url: ofShop('/order-statuses'), body: [{ OrderStatusID: 8, StatusText: 'Parts' }] }),
  ],
  [
    'POST …/order-statuses',
    201,
    () => ({ method: 'POST', url: ofShop('/order-statuses'), body: { StatusText: `Quote ${++serial}` } }),
  ],
  ['PUT …/payment-methods', 200, () => ({ method: 'PUT', url: ofShop('/payment-methods'), body: [{ Name: 'Gift' }] })],
  ['DELETE /admin/stores/{id}', 200, () => ({ method: 'DELETE', url: ofShop(''), body: { Name: shop.store.name } })],
  [
    'POST …/reopen',
    200,
    async () => {
      await send({ method: 'DELETE', url: ofShop(''), body: { Name: shop.store.name } })
      return { method: 'POST', url: ofShop('/reopen') }
    },
  ],
  ['POST …/user-key', 200, () => ({ method: 'POST', url: ofShop('/user-key') })],
  [
    'POST …/orders',
    201,
    async () => {
      const product = { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } }
      const [{ Value }] = (await shop.call('POST', '/Products', { body: product })).json()
      const OrderItemList = [{ CatalogID: Number(Value), ItemQuantity: 2 }]
      return { method: 'POST', url: ofShop('/orders'), body: { BillingEmail: 'guest@shop.example', OrderItemList } }
    },
  ],
  [
    'POST …/subscriptions',
    201,
    async () => {
      const registered = await send({ method: 'POST', url: '/admin/applications', body: { Name: 'App' } })
      return { method: 'POST', url: ofShop('/subscriptions'), body: { PublicKey: registered.json().PublicKey } }
    },
  ],
  [
    'DELETE …/subscriptions/{id}',
    200,
    async () => {
      const [{ Id }] = (await send({ method: 'GET', url: ofShop('/subscriptions') })).json()
      return { method: 'DELETE', url: ofShop(`/subscriptions/${Id}`) }
    },
  ],
  ['POST /admin/applications', 201, () => ({ method: 'POST', url: '/admin/applications', body: { Name: 'App' } })],
  [
    'PUT /admin/applications/{id}',
    200,
    () => ({ method: 'PUT', url: `/admin/applications/${shop.application.id}`, body: { Name: `New ${++serial}` } }),
  ],
  [
    'POST …/private-key',
    200,
    () => ({ method: 'POST', url: `/admin/applications/${shop.application.id}/private-key`, body: {} }),
  ],
  [
    'POST /admin/operators',
    201,
    () => ({ method: 'POST', url: '/admin/operators', body: { Email: `operator-${++serial}@server.example` } }),
  ],
  [
    'PUT /admin/switches',
    200,
    () => {
      // What is as it was is no change.
      isSwitchedOn = !isSwitchedOn
      return { method: 'PUT', url: '/admin/switches', body: { TestStores: isSwitchedOn } }
    },
  ],
  ['POST /admin/developers', 201, () => ({ method: 'POST', url: '/admin/developers', body: account() })],
  [
    'PUT /admin/developers/{id}',
    200,
    async () => {
      const id = idIn(await send({ method: 'POST', url: '/admin/developers', body: account() }))
      return { method: 'PUT', url: `/admin/developers/${id}`, body: password }
    },
  ],
  [
    'POST …/invitations',
    201,
    () => ({
      method: 'POST',
      url: ofShop('/invitations'),
      body: { Email: `person-${++serial}@shop.example`, Role: 'orders', HandOver: true },
    }),
  ],
  ['POST …/users', 201, () => ({ method: 'POST', url: ofShop('/users'), body: account() })],
  [
    'PUT …/users/{userId}',
    200,
    async () => {
      const id = idIn(await send({ method: 'POST', url: ofShop('/users'), body: account() }))
      return { method: 'PUT', url: ofShop(`/users/${id}`), body: password }
    },
  ],
  [
    'POST …/customers/{customerId}/erase',
    200,
    async () => {
      const id = await shop.add('/Customers', { Email: `person-${++serial}@shop.example`, Password: 'secret' })
      return confirmed({ method: 'POST', url: ofShop(`/customers/${id}/erase`) })
    },
  ],
  [
    'POST …/guests/erase',
    200,
    async () => {
      const email = `guest-${++serial}@shop.example`
      await shop.add('/Products', { SKUInfo: { SKU: `CUP-${serial}`, Name: 'Cup', Price: 5, Stock: 3 } })
      const OrderItemList = [{ ItemID: `CUP-${serial}`, ItemQuantity: 1 }]
      await placeOrder(shop.caller, { BillingEmail: email, OrderItemList })
      return confirmed({ method: 'POST', url: ofShop(`/guests/erase?email=${email}`) })
    },
  ],
  [
    'POST …/customers/erase',
    200,
    () => confirmed({ method: 'POST', url: ofShop('/customers/erase'), body: { Years: 12 } }),
  ],
  [
    'DELETE …/users/{userId}',
    200,
    async () => {
      const id = idIn(await send({ method: 'POST', url: ofShop('/users'), body: account() }))
      return { method: 'DELETE', url: ofShop(`/users/${id}`) }
    },
  ],
]

/** The request with what its dry run answers. */
async function confirmed(request: Request): Promise<Request> {
  const dry = await send({ ...request, url: `${request.url}${request.url.includes('?') ? '&' : '?'}dry=true` })
  return { ...request, body: { ...(request.body as object), Confirm: dry.json().Confirm } }
}

function ofShop(path: string): string {
  return `/admin/stores/${shop.store.id}${path}`
}

test('the table has every change of the operator but the import and fetched pictures, which may be repeated', async () => {
  const { paths } = (await server.app.inject('/openapi.json')).json()
  const described = Object.values<Record<string, { tags: string[]; parameters?: object[] }>>(paths).flatMap((item) =>
    Object.entries(item).filter(
      ([method, { tags }]) => ['post', 'put', 'delete'].includes(method) && tags?.includes('Operator'),
    ),
  )
  const takingKeys = described.filter(([, { parameters = [] }]) =>
    parameters.some((one) => '$ref' in one && one.$ref === '#/components/parameters/IdempotencyKey'),
  )
  expect([described.length, takingKeys.length]).toEqual([changes.length + 2, changes.length + 1])
})

describe.each(changes)('%s', (_route, status, requestOf) => {
  test('sent again, is answered as it was and changes nothing; with another body it is refused', async () => {
    const request = await requestOf()
    const key = `again-${++serial}`
    const first = await send(request, key)
    expect(outcome(first)).toEqual([status, false])
    const before = await everything()

    for (const sent of [key, `"${key}"`]) {
      const again = await send(request, sent)
      expect([...outcome(again), again.body]).toEqual([status, true, first.body])
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
    }
    const other = await send({ ...request, body: { Name: 'another' } }, key)
    expect(refused(other)).toMatchObject({ statusCode: 422, field: 'Idempotency-Key' })
    expect(await everything()).toEqual(before)
  })

  test('sent five times at once, is made once', async () => {
    const request = await requestOf()
    const before = await done()
    const key = `at-once-${++serial}`
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send(request, key)))
    const made = answers.filter(({ statusCode }) => statusCode === status)
    expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1)
    expect(new Set(made.map(({ body }) => body)).size).toBe(1)
    for (const answer of answers.filter((one) => !made.includes(one))) {
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([409, '1'])
    }
    expect(await done()).toBe(before + 1)
  })

  test('is not made while its answer cannot be stored, and the retry makes it', async () => {
    const request = await requestOf()
    const before = await done()
    const key = `torn-${++serial}`
    await execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`)
    await execute(`CREATE TRIGGER refuse BEFORE INSERT ON "IdempotencyAnswer" FOR EACH ROW EXECUTE FUNCTION refuse()`)
    try {
      expect((await send(request, key)).statusCode).toBe(500)
    } finally {
      await execute('DROP FUNCTION refuse CASCADE')
    }
    expect(await done()).toBe(before)
    expect(outcome(await send(request, key))).toEqual([status, false])
    expect(await done()).toBe(before + 1)
  })
})

test('nothing secret is stored with an answer', async () => {
  await execute('DELETE FROM "IdempotencyKey"')
  const opened = await send({ method: 'POST', url: '/admin/stores', body: storeInput() }, 'secret-1')
  const registered = await send({ method: 'POST', url: '/admin/applications', body: { Name: 'App' } }, 'secret-2')
  const application = registered.json()
  const joined = await send(
    { method: 'POST', url: ofShop('/subscriptions'), body: { PublicKey: application.PublicKey } },
    'secret-3',
  )
  const secrets = [opened.json().UserKey, application.PrivateKey, joined.json().Token]
  const [row] = await query<{ text: string }>(
    `SELECT (SELECT json_agg(k)::text FROM "IdempotencyKey" k) || json_agg(a)::text AS "text" FROM "IdempotencyAnswer" a`,
  )
  for (const secret of [...secrets, 'secret-1', 'correct horse']) expect(row?.text).not.toContain(secret)
})

describe('a refusal', () => {
  test('is stored and repeated, even when the reason has gone', async () => {
    const body = { ...storeInput(), SecureURL: shop.store.secureUrl }
    const request: Request = { method: 'POST', url: '/admin/stores', body }
    const key = `refused-${++serial}`
    const first = await send(request, key)
    expect(outcome(first)).toEqual([409, false])
    await send({ method: 'PUT', url: ofShop(''), body: { SecureURL: `https://moved-${serial}.example` } })
    const again = await send(request, key)
    expect([...outcome(again), again.body]).toEqual([409, true, first.body])
    expect((await send(request, `${key}-new`)).statusCode).toBe(201)
  })

  test('before the change begins leaves the key free', async () => {
    const request: Request = { method: 'POST', url: '/admin/stores', body: storeInput() }
    const key = `free-${++serial}`
    expect((await send(request, key, { authorization: 'Bearer wrong' })).statusCode).toBe(401)
    expect(
      (await send({ ...request, body: '{' }, key, { ...byOperator, 'content-type': 'application/json' })).statusCode,
    ).toBe(400)
    expect(outcome(await send(request, key))).toEqual([201, false])
  })

  test('of a malformed key names the header', async () => {
    const answer = await send({ method: 'POST', url: ofShop('/user-key') }, 'two words')
    expect(refused(answer)).toMatchObject({ statusCode: 400, field: 'Idempotency-Key' })
  })

  test('of a deeply nested body is no defect', async () => {
    const body = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const request: Request = { method: 'POST', url: '/admin/stores', body }
    expect((await send(request, 'nested', { ...byOperator, 'content-type': 'application/json' })).statusCode).toBe(400)
  })
})

test('a key stands for one address of one principal', async () => {
  const other = await server.openStore()
  const colleague = account()
  await send({ method: 'POST', url: ofShop('/users'), body: colleague })
  const key = `shared-${++serial}`
  const rotate = (id: number): Request => ({ method: 'POST', url: `/admin/stores/${id}/user-key` })
  const principals = [undefined, await signedIn(merchantAccount), await signedIn(colleague)]
  for (const isAgain of [false, true]) {
    for (const headers of principals) {
      expect(outcome(await send(rotate(shop.store.id), key, headers))).toEqual([200, isAgain])
    }
    expect(outcome(await send(rotate(other.store.id), key))).toEqual([200, isAgain])
  }
  expect((await send(rotate(other.store.id), key, principals[1])).statusCode).toBe(404)
})

/** The headers of a program with the session of a merchant of the shop. */
async function signedIn(fields: { Email: string; Password: string }) {
  const person = testPerson(server.app)
  const page = `/admin/sign-in?store=${encodeURIComponent(shop.store.secureUrl)}`
  await person.submit(page, fields, { action: '/admin/sign-in' })
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { cookie, 'x-requested-with': 'a test' }
}

test('a subscription that was there is answered as such, again too', async () => {
  const body = { PublicKey: shop.application.publicKey }
  const request: Request = { method: 'POST', url: ofShop('/subscriptions'), body }
  const key = `there-${++serial}`
  for (const isAgain of [false, true]) {
    const answer = await send(request, key)
    expect([...outcome(answer), answer.json()]).toEqual([200, isAgain, { Token: shop.token }])
  }
})

test.each(['POST …/orders', 'POST …/subscriptions', 'POST /admin/applications'])(
  '%s: where the change was made but the word of it lost, the retry tells of it and makes no other',
  async (wanted) => {
    const [, status, requestOf] = changes.find(([route]) => route === wanted) ?? []
    const request = (await requestOf?.()) as Request
    const before = await done()
    const { app, cutAfterCommit, close } = await otherProcess(server)
    onTestFinished(close)
    const key = `lost-${++serial}`
    const post = () =>
      app.inject({
        method: 'POST',
        url: request.url,
        headers: { ...byOperator, 'idempotency-key': key },
        payload: request.body as object,
      })
    cutAfterCommit()
    expect(outcome(await post())).toEqual([503, false])
    expect(await done()).toBe(before + 1)
    for (const _ of [1, 2]) expect(outcome(await post())).toEqual([status, true])
    expect(await done()).toBe(before + 1)
  },
)

test('while a request is in progress, every other one with its key gets 409 and when to come back', async () => {
  const request: Request = { method: 'PUT', url: ofShop(''), body: { Name: 'Slow' } }
  const key = `slow-${++serial}`
  const release = await holdIn(
    server.database.db,
    (tx) => tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${shop.store.id} FOR UPDATE`,
  )
  const first = send(request, key)
  await vi.waitFor(async () => expect(await keysInProgress()).toBe(1), { timeout: 20_000 })
  const second = await send(request, key)
  expect(refused(second)).toMatchObject({ statusCode: 409, field: 'Idempotency-Key' })
  expect(second.headers['retry-after']).toBe('1')
  await release()
  expect(outcome(await first)).toEqual([200, false])
  expect(outcome(await send(request, key))).toEqual([200, true])
})

async function keysInProgress(): Promise<number> {
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM "IdempotencyKey" WHERE NOT "answered" AND "leasedUntil" > "claimedAt"`,
  )
  return row?.count ?? 0
}

test('a change of access with a key counts at once', async () => {
  const read = (secureurl: string) => shop.call('GET', '/Products', { headers: { secureurl } })
  expect((await read(shop.store.secureUrl)).statusCode).not.toBe(401)
  const SecureURL = `https://with-key-${++serial}.example`
  expect((await send({ method: 'PUT', url: ofShop(''), body: { SecureURL } }, `move-${serial}`)).statusCode).toBe(200)
  expect((await read(shop.store.secureUrl)).statusCode).toBe(401)
  expect((await read(SecureURL)).statusCode).not.toBe(401)
})
