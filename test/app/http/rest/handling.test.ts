import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { updateApplication } from '../../../../src/access/applications/applications.ts'
import { openApiDocument } from '../../../../src/app.ts'
import { INT32_MAX } from '../../../../src/foundation/values/int32.ts'
import { operator } from '../../../support/actors.ts'
import { readOpenApi } from '../../../support/openapi.ts'
import { type CallOptions, type Method, sharedServer, type TestStore } from '../../../support/store.ts'
import { productBody, type Result } from './fixture.ts'
import { newWebhook } from './webhooks-fixture.ts'

// What becomes of names that nobody knows, of members that only the platform writes, and of values that do not fit.

let id: number
let serial = 0
const server = await sharedServer()
const shop = await server.openStore()
beforeEach(async () => {
  id = await shop.add('/Products', productBody(`P-${++serial}`, { SKUInfo: { Price: 5 } }))
})

const strict = { prefer: 'handling=strict' }

function send(method: Method, path: string, body?: unknown, options: CallOptions = {}) {
  const isXml = typeof body === 'string' && body.startsWith('<')
  const sent = { ...(body !== undefined && { body }), ...(isXml && { contentType: 'application/xml' }) }
  return shop.call(method, path, { tolerated: true, ...sent, ...options })
}

const strictly = (method: Method, path: string, body?: unknown, options: CallOptions = {}) =>
  send(method, path, body, { ...options, headers: { ...strict, ...options.headers } })

async function product(of = id): Promise<Record<string, unknown> & { SKUInfo: Record<string, unknown> }> {
  return (await shop.call('GET', `/Products/${of}`)).json()[0]
}

/** Field and text of everything that a refusal names. */
async function refusedFor(method: Method, path: string, body?: unknown): Promise<[string, string][]> {
  const answer = await strictly(method, path, body, { accept: 'application/problem+json' })
  expect(answer.statusCode, answer.body).toBe(400)
  return answer.json().errors.map(({ field, detail }: { field: string; detail: string }) => [field, detail])
}

const tinyPrice = '<Product><SKUInfo><Price>0.00001</Price></SKUInfo></Product>'

const ignoredBy = ({ headers }: LightMyRequestResponse) => headers['x-ignored']

describe('a strict request is one 400 that names', () => {
  test('unknown members at every depth, each with the nearest name; nothing is written', async () => {
    const before = await product()
    const body = {
      SKUInfo: { Prise: 5, Price: 6 },
      Manufacturer: 'x',
      FeatureList: [{ FeatureTitle: 'a' }, { FeatureTitel: 'b' }],
      zzzzzzzz: 1,
      Price: null,
    }
    const errors = await refusedFor('PUT', `/Products/${id}`, body)
    expect(errors).toHaveLength(5)
    expect(Object.fromEntries(errors)).toEqual({
      'SKUInfo.Prise': '"Prise" is not a field of SKUInfo; nearest: Price',
      'FeatureList[1].FeatureTitel': '"FeatureTitel" is not a field of FeatureList; nearest: FeatureTitle',
      Manufacturer: expect.stringMatching(/^"Manufacturer" is not a field of Product; nearest: Manufacturer/),
      zzzzzzzz: '"zzzzzzzz" is not a field of Product',
      Price: '"Price" is not a field of Product; nearest: SKUInfo.Price',
    })
    const answer = await strictly('PUT', `/Products/${id}`, body)
    const [item, ...others] = answer.json<Result[]>()
    expect([answer.statusCode, others, item?.Status, item?.Value]).toEqual([400, [], '400', errors[0]?.[0]])
    for (const [, message] of errors) expect(item?.Message).toContain(message)
    expect(await product()).toEqual(before)
  })

  test('unknown parameters, with and without a body', async () => {
    const unknown = [
      'lastupdatestrat',
      '"lastupdatestrat" is not a parameter of this address; nearest: lastupdatestart',
    ]
    expect(await refusedFor('GET', '/Products?lastupdatestrat=2026-01-01&nonsense=1&limit=5')).toEqual([
      unknown,
      ['nonsense', '"nonsense" is not a parameter of this address'],
    ])
    expect(await refusedFor('PUT', `/Products/${id}?dryrun=1`, { SKUInfo: { Prise: 5 } })).toEqual([
      ['dryrun', '"dryrun" is not a parameter of this address'],
      ['SKUInfo.Prise', '"Prise" is not a field of SKUInfo; nearest: Price'],
    ])
    expect(await refusedFor('DELETE', `/Products/${id}?dryrun=1`)).toHaveLength(1)
    expect((await product()).SKUInfo.Price).toBe(5)
  })

  test('members that are read only and differ; stamps, and what was read, are no fault', async () => {
    const shown = await product()
    const other = {
      ReviewAverage: 4.5,
      DateCreated: '2001-01-01T00:00:00',
      LastUpdate: '2001-01-01T00:00:00',
      UserID: 'me',
    }
    const errors = await refusedFor('PUT', `/Products/${id}`, { ...shown, ...other })
    expect(errors.map(([field]) => field).toSorted()).toEqual(['DateCreated', 'ReviewAverage'])
    expect(errors[0]?.[1]).toContain('is read only and differs from what is stored')
    const answer = await strictly('PUT', `/Products/${id}`, {
      ...shown,
      LastUpdate: '2001-01-01T00:00:00',
      UserID: 'me',
    })
    expect([answer.statusCode, ignoredBy(answer)]).toEqual([200, undefined])
  })

  test('an identifier that is not that of the address, and one of a new record', async () => {
    expect(await refusedFor('PUT', `/Products/${id}`, { SKUInfo: { CatalogID: id + 1, Price: 6 } })).toMatchObject([
      ['SKUInfo.CatalogID', expect.any(String)],
    ])
    const body = productBody(`New ${serial}`, { SKUInfo: { CatalogID: 7 }, ReviewCount: 3 })
    expect((await refusedFor('POST', '/Products', body)).map(([field]) => field)).toEqual([
      'SKUInfo.CatalogID',
      'ReviewCount',
    ])
    const empty = productBody(`New ${serial}`, { SKUInfo: { CatalogID: 0 }, ReviewCount: 0 })
    expect((await strictly('POST', '/Products', empty)).statusCode).toBe(201)
  })

  test('every value that does not fit, also texts that are too long', async () => {
    const long = 'x'.repeat(300)
    for (const [method, path] of [
      ['PUT', `/Products/${id}`],
      ['POST', '/Products'],
    ] as const) {
      const body = { SKUInfo: { SKU: long, Name: 'A', Price: 'dear', Stok: 1 }, GTIN: long }
      const errors = await refusedFor(method, path, body)
      expect(errors.map(([field]) => field).toSorted()).toEqual([
        'GTIN',
        'SKUInfo.Price',
        'SKUInfo.SKU',
        'SKUInfo.Stok',
      ])
      expect(errors.find(([field]) => field === 'SKUInfo.SKU')?.[1]).toContain(
        'has 300 characters; at most 255 are allowed',
      )
    }
  })

  test('numbers that would lose decimals, and none that only has what sums of floats leave', async () => {
    const body = { SKUInfo: { Price: 0.00001, Cost: '1.23456', RetailPrice: 0.1 + 0.2, SalePrice: 0.1 + 0.2 - 0.3 } }
    const names = ['SKUInfo.Cost', 'SKUInfo.Price'].map((name) => [name, `${name} must have at most 4 decimals`])
    expect(await refusedFor('PUT', `/Products/${id}`, body)).toEqual(names)
    expect(await refusedFor('POST', '/Products', productBody(`F-${serial}`, body))).toEqual(names)
    expect(await refusedFor('PUT', `/Products/${id}`, tinyPrice)).toEqual(names.slice(1))
    expect((await product()).SKUInfo.Price).toBe(5)
    const { Price: _, Cost: __, ...sums } = body.SKUInfo
    expect((await strictly('PUT', `/Products/${id}`, { SKUInfo: sums })).statusCode).toBe(200)
    expect((await product()).SKUInfo).toMatchObject({ RetailPrice: 0.3, SalePrice: 0 })
  })

  test('what is wrong with each record of a list, under its place; the others are changed', async () => {
    const other = await shop.add('/Products', productBody(`Q-${serial}`))
    const body = [
      { SKUInfo: { CatalogID: id, Prise: 1 } },
      { SKUInfo: { CatalogID: other, Price: 9 } },
      { SKUInfo: { CatalogID: id, Price: 7, Stcok: 2 }, ReviewCount: 9 },
    ]
    const answer = await strictly('PUT', '/Products', body)
    expect(answer.statusCode).toBe(206)
    expect(answer.json()).toMatchObject([
      { Key: 'Error', Value: 'SKUInfo.Prise', Status: '400' },
      { Value: String(other), Status: '200' },
      {
        Key: 'Error',
        Value: 'SKUInfo.Stcok',
        Status: '400',
        Message: expect.stringContaining('ReviewCount is read only'),
      },
    ])
    expect([(await product()).SKUInfo.Price, (await product(other)).SKUInfo.Price]).toEqual([5, 9])
    const accept = 'application/problem+json'
    const refusal = await strictly('PUT', '/Products', [body[0], body[2]], { accept })
    expect(refusal.json().errors.map(({ index, field }: { index: number; field: string }) => [index, field])).toEqual([
      [0, 'SKUInfo.Prise'],
      [1, 'SKUInfo.Stcok'],
      [1, 'ReviewCount'],
    ])
  })

  test('what is wrong with an item of a list inside a record', async () => {
    const path = `/Products/${id}/Features`
    const added = await strictly('POST', path, { FeatureTitle: 'Colour' })
    expect(added.statusCode).toBe(201)
    const feature = Number(added.json()[0].Value)
    expect(await refusedFor('POST', path, { FeatureTitle: 'Size', FeatureTitel: 'x', FeatureID: 77 })).toHaveLength(2)
    expect(await refusedFor('PUT', `${path}/${feature}`, { FeatureTitel: 'x' })).toEqual([
      ['FeatureTitel', '"FeatureTitel" is not a field of Feature; nearest: FeatureTitle'],
    ])
    expect((await refusedFor('PUT', `${path}/${feature}`, { FeatureID: feature + 1 })).map(([field]) => field)).toEqual(
      ['FeatureID'],
    )
    const [item] = (await shop.call('GET', path)).json()
    expect((await strictly('PUT', `${path}/${feature}`, item)).statusCode).toBe(200)
  })

  test('the same in XML', async () => {
    const body = '<Product><SKUInfo><Prise>5</Prise></SKUInfo><ReviewCount>4</ReviewCount></Product>'
    expect(await refusedFor('PUT', `/Products/${id}`, body)).toMatchObject([
      ['SKUInfo.Prise', '"Prise" is not a field of SKUInfo; nearest: Price'],
      ['ReviewCount', expect.stringContaining('ReviewCount is read only')],
    ])
  })

  test.each([
    [
      '{"SKUInfo": {"Price": 6, "Na\\u006de": "A", "price": 7}, "FeatureList": [{}, {"a": "}", "a": 1}], "Name": "A"}',
      ['price', 'a'],
    ],
    ['[{"GTIN": "1"}, {"GTIN": "2", "GTIN" : "3"}]', ['GTIN', 'GTIN']],
    [
      '<Product><SKUInfo><Price>6</Price><price>7</price></SKUInfo><GTIN>1</GTIN><SKUInfo/></Product>',
      ['SKUInfo.Price', 'SKUInfo'],
    ],
    [
      '<Product><FeatureList><Feature/><Feature><FeatureTitle>a</FeatureTitle><FeatureTitle/></Feature></FeatureList></Product>',
      ['FeatureList[1].FeatureTitle'],
    ],
  ])('a member that is given twice: %s', async (body, names) => {
    const path = body.startsWith('[') ? '/Products' : `/Products/${id}`
    const told = await refusedFor('PUT', path, body)
    expect(told.flatMap(([field, detail]) => (detail.includes('is given twice') ? field : []))).toEqual(names)
    expect((await send('PUT', path, body)).body).not.toContain('twice')
  })

  test('every page that a lenient request would be cut to', async () => {
    const api = readOpenApi(openApiDocument({ publicUrl: 'http://localhost', restPrefixes: ['/S'] }))
    let count = 0
    for (const { path, item, operations } of api.addresses) {
      const parameters = api.members(api.member(operations.get('GET'), 'parameters')).map(([, { value }]) => value)
      const limit = parameters.find(({ name }) => name === 'limit')
      if (limit === undefined || 'servers' in item.value) continue
      count++
      const { maximum } = limit.schema as { maximum: number }
      const address = path.replace(/\{\w+\}/g, '1')
      const limits = [0, -5, maximum + 1, 99_999_999_999].map((given) => ['limit', given, maximum] as const)
      const offsets = [0, -1].map((given) => ['offset', given, INT32_MAX] as const)
      const hasOffset = parameters.some(({ name }) => name === 'offset')
      for (const [name, given, most] of [...limits, ...(hasOffset ? offsets : [])]) {
        const fault = expect.stringContaining(`${name} must be a whole number from 1 to ${most};`)
        const answer = await refusedFor('GET', `${address}?${name}=${given}`)
        expect([path, given, answer]).toEqual([path, given, [[name, fault]]])
      }
      const within = await strictly('GET', `${address}?limit=${maximum}`)
      expect([path, within.statusCode === 200 || within.body === '']).toEqual([path, true])
    }
    expect(count).toBeGreaterThan(25)
    expect((await send('GET', '/Products?limit=9999&offset=0')).statusCode).toBe(200)
  })

  test('what a resumed webhook does not take', async () => {
    const webhook = await newWebhook(shop.call, {})
    expect(await refusedFor('POST', `/Webhooks/${webhook}/Resume`, { CatchUpp: true })).toEqual([
      ['CatchUpp', '"CatchUpp" is not a field of Resume; nearest: CatchUp'],
    ])
    const answer = await send('POST', `/Webhooks/${webhook}/Resume`, { CatchUpp: true })
    expect([answer.statusCode, ignoredBy(answer)]).toEqual([200, 'CatchUpp'])
  })

  test('at most a hundred of each record', async () => {
    const names = Array.from({ length: 200 }, (_, number) => [`Nonsense${number}`, 1])
    const body = Array.from({ length: 5 }, () => ({ SKUInfo: { CatalogID: id }, ...Object.fromEntries(names) }))
    const answer = await strictly('PUT', '/Products', body, { accept: 'application/problem+json' })
    expect([answer.statusCode, answer.json().errors.length]).toEqual([400, 500])
  })

  test('and the same when it is repeated with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'strict-1' }
    const first = await strictly('PUT', `/Products/${id}`, { SKUInfo: { Prise: 5 } }, { headers })
    const second = await strictly('PUT', `/Products/${id}`, { SKUInfo: { Prise: 5 } }, { headers })
    expect([first.statusCode, second.statusCode, second.body]).toEqual([400, 400, first.body])
  })
})

describe('who is strict', () => {
  let own: TestStore
  beforeAll(async () => {
    own = await server.openStore()
    await updateApplication(server.services, own.application.id, { Kind: 'new' }, operator)
  })

  test('a new application, unless it asks for tolerance', async () => {
    const refused = await own.call('GET', '/Products?nonsense=1&countonly=1', { tolerated: true })
    expect([refused.statusCode, refused.headers['preference-applied']]).toEqual([400, undefined])
    const headers = { prefer: 'handling=lenient' }
    const lenient = await own.call('GET', '/Products?nonsense=1&countonly=1', { tolerated: true, headers })
    expect([lenient.statusCode, ignoredBy(lenient), lenient.headers['preference-applied']]).toEqual([
      200,
      'nonsense',
      'handling=lenient',
    ])
  })

  test('is so at once when its kind is changed', async () => {
    const call = () => own.call('GET', '/Products?nonsense=1&countonly=1', { tolerated: true })
    expect((await call()).statusCode).toBe(400)
    await updateApplication(server.services, own.application.id, { Kind: 'existing' }, operator)
    expect((await call()).statusCode).toBe(200)
    await updateApplication(server.services, own.application.id, { Kind: 'new' }, operator)
    expect((await call()).statusCode).toBe(400)
  })

  test.each([
    ['handling=strict', 400, 'handling=strict'],
    ['Handling = "strict"; x=1', 400, 'handling=strict'],
    ['respond-async, handling=strict', 400, 'handling=strict'],
    ['handling=lenient, handling=strict', 200, 'handling=lenient'],
    ['handling=odd, handling=strict', 200, undefined],
    ['xhandling=strict', 200, undefined],
    ['handling', 200, undefined],
  ])('of existing ones, who sends Prefer: %s is answered %i', async (prefer, status, applied) => {
    const answer = await send('GET', '/Products?nonsense=1', undefined, { headers: { prefer } })
    expect([answer.statusCode, answer.headers['preference-applied']]).toEqual([status, applied])
  })

  test('also counts exactly', async () => {
    const answer = await send('GET', '/Products', undefined, { headers: { prefer: 'count=exact, handling=strict' } })
    expect(answer.headers['preference-applied']).toBe('handling=strict, count=exact')
    expect(answer.headers['x-total-count']).toMatch(/^\d+$/)
  })
})

describe('a lenient request', () => {
  test('is told by X-Ignored what was passed over, and is done as before', async () => {
    const body = {
      SKUInfo: { Prise: 5, Price: 6 },
      ReviewCount: 4,
      LastUpdate: '2001-01-01',
      FeatureList: [{ 'a b,ü': 1 }],
    }
    const answer = await send('PUT', `/Products/${id}?dryrun=1`, body)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe(`[{"Key":"CatalogID","Value":"${id}","Status":"200","Message":"updated successfully"}]`)
    const names = String(ignoredBy(answer)).split(', ').map(decodeURIComponent)
    expect(names.toSorted()).toEqual(['FeatureList.a b,ü', 'ReviewCount', 'SKUInfo.Prise', 'dryrun'])
    expect(answer.headers['access-control-expose-headers']).toContain('X-Ignored')
    expect((await product()).SKUInfo.Price).toBe(6)
  })

  test('is told of numbers of which rounding left nothing, in JSON and XML', async () => {
    const body = { SKUInfo: { Price: 0.00001, Cost: 1.23456 }, PriceLevel1: '0.00004', PriceLevel2: 0.1 + 0.2 - 0.3 }
    const answer = await send('PUT', `/Products/${id}`, body)
    expect([answer.statusCode, ignoredBy(answer)]).toEqual([200, 'SKUInfo.Price, PriceLevel1'])
    expect((await product()).SKUInfo).toMatchObject({ Price: 0, Cost: 1.2346 })
    for (const [method, path, sent, name] of [
      ['PUT', `/Products/${id}`, tinyPrice, 'SKUInfo.Price'],
      ['POST', '/Products', productBody(`Z-${serial}`, { SKUInfo: { Cost: 0.00001 } }), 'SKUInfo.Cost'],
      ['POST', `/Products/${id}/Discount`, { DiscountPrice: 0.00001 }, 'DiscountPrice'],
    ] as const) {
      const { statusCode, headers } = await send(method, path, sent)
      expect([statusCode, headers['x-ignored']]).toEqual([method === 'PUT' ? 200 : 201, name])
    }
  })

  test('without anything passed over has no such header', async () => {
    const answer = await send('PUT', `/Products/${id}`, await product())
    expect([answer.statusCode, ignoredBy(answer), answer.headers['preference-applied']]).toEqual([
      200,
      undefined,
      undefined,
    ])
    const secret = await send('PUT', '/Customers/1', { Password: 'x' })
    expect(ignoredBy(secret)).toBeUndefined()
  })

  test('of many records names each once, at most 20 names and 1 kB', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, number) => [`Nonsense${number}`, 1]))
    const body = [
      { SKUInfo: { CatalogID: id }, ...many },
      { SKUInfo: { CatalogID: id }, ...many },
    ]
    const answer = await send('PUT', '/Products', body)
    expect(String(ignoredBy(answer)).split(', ')).toEqual(Object.keys(many).slice(0, 20))
    const long = Object.fromEntries(Array.from({ length: 20 }, (_, number) => [`${number}${'ü'.repeat(80)}`, 1]))
    const cut = String(
      ignoredBy(await send('PUT', `/Products/${id}`, { SKUInfo: {}, ReviewCount: 0, ...long, GTIN: 'x' })),
    )
    expect(cut.length).toBeLessThanOrEqual(1_024)
    expect(decodeURIComponent(cut.split(', ')[0] ?? '')).toHaveLength(60)
  })

  test('of which parameters are passed over at the address of one record', async () => {
    const answer = await send('GET', `/Products/${id}?limit=5&%24select=SKUInfo`)
    expect([answer.statusCode, ignoredBy(answer)]).toEqual([200, 'limit'])
    const listed = await send('GET', `/Products/${id}/skuinfo?catalogid=${id}&countonly=0`)
    expect([listed.statusCode, ignoredBy(listed)]).toEqual([200, undefined])
  })

  test('names what differs even where others change the record at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        send('PUT', `/Products/${id}`, { SKUInfo: { Price: number }, ReviewCount: number }),
      ),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
    expect(answers.map(ignoredBy)).toEqual([undefined, ...Array(9).fill('ReviewCount')])
  })
})
