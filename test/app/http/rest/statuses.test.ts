import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// What the conformance suite does not ask of every address: HEAD, how a refusal is told, what a defect tells.

const server = await sharedServer()
const shop = await server.openStore()
const other = await server.openStore()
for (const { call } of [shop, other]) {
  await call('POST', '/Manufacturers', { body: { ManufacturerName: 'Acme' } })
  await call('POST', '/Products', {
    body: productBody('A-1', { ManufacturerID: 1, FeatureList: [{ FeatureTitle: 'f' }] }),
  })
}

/** Each kind of address that answers with records. */
const readable = [
  '/Products',
  '/Products/1',
  '/Products/skuinfo',
  '/Products/1/skuinfo',
  '/Products/1/Features',
  '/Manufacturers/1/Products',
]

describe('HEAD', () => {
  test.each(readable)('%s answers the headers of GET and no body', async (path) => {
    const got = await shop.call('GET', path)
    const answer = await shop.call('HEAD', path)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe(got.headers['content-type'])
    expect(answer.headers['content-length']).toBe(got.headers['content-length'])
    expect(answer.body).toBe('')
  })
})

describe('401', () => {
  const none = { token: undefined, privatekey: undefined, secureurl: undefined }

  test.each<[Record<string, string | undefined>, string]>([
    [{ token: '' }, 'the header Token is missing'],
    [{ privatekey: undefined }, 'the header PrivateKey is missing'],
    [{ token: 'wrong', secureurl: undefined }, 'the header SecureURL is missing'],
    [{ token: undefined, secureurl: undefined }, 'the headers Token and SecureURL are missing'],
    [none, 'the headers PrivateKey, Token and SecureURL are missing'],
  ])('for %j says that %s, in JSON, XML and problem details', async (headers, missing) => {
    const message = `Authentication failed: ${missing}`
    for (const accept of ['application/json', 'text/xml', 'application/problem+json']) {
      const answer = await shop.call('GET', '/Products', { headers, accept })
      expect([answer.statusCode, answer.body]).toEqual([401, expect.stringContaining(message)])
    }
  })

  test.each<[Record<string, string | undefined>, string | undefined]>([
    [{ token: 'wrong' }, undefined],
    [{ token: undefined }, undefined],
    [none, 'Bearer'],
    [{ ...none, authorization: 'Basic abc' }, 'Bearer'],
    [{ ...none, authorization: 'Bearer' }, 'Bearer'],
    [{ ...none, authorization: 'Bearer wrong' }, 'Bearer error="invalid_token"'],
    [{ token: undefined, authorization: 'Bearer wrong' }, 'Bearer error="invalid_token"'],
  ])('for %j has the challenge %j', async (headers, challenge) => {
    const answer = await shop.call('GET', '/Products', { headers })
    expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, challenge])
  })

  test('for a lacking privilege has a challenge for Bearer alone, which a new token would not answer', async () => {
    const { call, token } = await server.openStore({ privileges: { Manufacturers: ['read'] } })
    const byBearer = await call('GET', '/Products', { headers: { token: undefined, authorization: `Bearer ${token}` } })
    expect(byBearer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
    expect(refusalOf(byBearer)).toMatchObject({ statusCode: 401, field: 'Products' })
    expect((await call('GET', '/Products')).headers['www-authenticate']).toBeUndefined()
  })

  test('comes before the body is looked at', async () => {
    const answer = await shop.call('POST', '/Products', { body: '{', headers: { token: 'wrong' } })
    expect(answer.statusCode).toBe(401)
  })
})

describe('404 for an unknown service lists those that exist', () => {
  const services =
    'No such address: the services are Category, Manufacturers, Distributors, CustomerGroups, Products, Customers, OrderStatus, Orders, GiftRegistries, RMA, Webhooks, Checkout, Events, Calls'

  test.each(['/v1/Nope', '/V2/nope/1?limit=5', '/v1', '/v1/'])('%s, in every format', async (path) => {
    const answerIn = (accept: string) => server.app.inject({ url: `/StoreWebAPI${path}`, headers: { accept } })
    const [json, xml, problem] = [
      await answerIn('*/*'),
      await answerIn('text/xml'),
      await answerIn('application/problem+json'),
    ]
    expect(refusalOf(json)).toEqual({ statusCode: 404, field: '', status: '404', message: services })
    expect([xml.statusCode, xml.body]).toEqual([404, expect.stringContaining(`<Message>${services}</Message>`)])
    expect([problem.statusCode, problem.json().detail]).toEqual([404, services])
  })

  test.each(['/v3/Products', '/v1/Products/1/Nope', '/v1/categories/1/2/3/4', '/v1/events/1'])(
    '%s is wrong otherwise',
    async (path) => {
      const answer = await server.app.inject({ url: `/StoreWebAPI${path}`, headers: shop.credentials })
      expect(refusalOf(answer)).toMatchObject({
        statusCode: 404,
        message: expect.stringContaining('expected /v1 or /v2'),
      })
    },
  )
})

describe('500 tells nothing from inside', () => {
  test("when one record of several fails, it is that record's, and the others stand", async () => {
    const { db } = server.database
    await db.$executeRawUnsafe(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'from inside'; END $$`,
    )
    await db.$executeRawUnsafe(
      `CREATE TRIGGER fail BEFORE INSERT ON "Product" FOR EACH ROW WHEN (NEW."sku" = 'BROKEN') EXECUTE FUNCTION fail()`,
    )
    const several = await shop.call('POST', '/Products', {
      body: [productBody('B-1'), productBody('BROKEN'), productBody('B-2')],
    })
    const one = await shop.call('POST', '/Products', { body: productBody('BROKEN') })
    await db.$executeRawUnsafe('DROP FUNCTION fail() CASCADE')
    expect(several.statusCode).toBe(206)
    expect(several.json().map(({ Status }: { Status: string }) => Status)).toEqual(['201', '500', '201'])
    expect(several.body).not.toContain('inside')
    expect(one.statusCode).toBe(500)
    expect(one.body).toBe('[{"Key":"Error","Value":"","Status":"500","Message":"Internal error"}]')
  })
})
