import type { LightMyRequestResponse } from 'fastify'
import { beforeEach, describe, expect, test } from 'vitest'
import { type CallOptions, type Method, sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// ETag, If-None-Match and If-Match: optimistic locking (RFC 9110 §8.8.3 and §13).

const prefixes = ['/StoreWebAPI', '/api/3dCartWebAPI']

let id: number
const server = await sharedServer({ REST_PREFIXES: prefixes.join(',') })
const shop = await server.openStore()

beforeEach(async () => {
  const body = productBody(crypto.randomUUID(), { SKUInfo: { Stock: 1 }, FeatureList: [{ FeatureTitle: 'old' }] })
  id = await shop.add('/Products', body)
})

const read = (path = `/Products/${id}`, options?: CallOptions) => shop.call('GET', path, options)
const tagOf = ({ headers }: LightMyRequestResponse) => String(headers.etag)
const currentTag = async (path?: string) => tagOf(await read(path))

const ifMatch = (tag: string): Pick<CallOptions, 'headers'> => ({ headers: { 'if-match': tag } })
const ifNoneMatch = (tag: string): Pick<CallOptions, 'headers'> => ({ headers: { 'if-none-match': tag } })
const weak = (tag: string) => `W/${tag}`
const unknownTag = '"AAAAAAAAAAAAAAAAAAAAAAAAAAA"'

describe('the ETag of a record', () => {
  test('is strong, quoted and short, and comes with HEAD too', async () => {
    const tag = await currentTag()
    expect(tag).toMatch(/^"[\w-]{27}"$/)
    expect(tagOf(await shop.call('HEAD', `/Products/${id}`))).toBe(tag)
  })

  test('differs where the bytes differ, and nowhere else', async () => {
    const seen = new Map<string, string>()
    const reads: [string, string?][] = [
      [''],
      ['?$select=MFGID'],
      ['?$select=MFGID,Hide'],
      ['?$select=SKUInfo'],
      ['?$orderby=MFGID'],
      ['?nonsense=1'],
      ['', 'application/xml'],
      ['', 'text/xml'],
      ['?$select=MFGID', 'application/xml'],
      ['?$select=SKUInfo', 'application/xml'],
    ]
    for (const [query, accept = 'application/json'] of [...reads, ...reads]) {
      const answer = await read(`/Products/${id}${query}`, { accept, tolerated: true })
      const tag = tagOf(answer)
      expect(tag).toMatch(/^"[\w.-]+"$/)
      expect(answer.body).toBe(seen.get(tag) ?? answer.body)
      seen.set(tag, answer.body)
    }
    expect(seen.size).toBe(7)
    expect(new Set(seen.values()).size).toBe(seen.size)
  })

  test('is another after every change of what is shown, and the old one after the way back', async () => {
    const set = (body: object) => shop.call('PUT', `/Products/${id}`, { body })
    const manufacturer = await shop.add('/Manufacturers', { ManufacturerName: 'Old' })
    await set({ ManufacturerID: manufacturer })
    const tag = await currentTag()
    await set({})
    expect(await currentTag()).toBe(tag)
    await set({ SKUInfo: { Stock: 2 } })
    expect(await currentTag()).not.toBe(tag)
    await set({ SKUInfo: { Stock: 1 } })
    expect(await currentTag()).toBe(tag)
    await shop.call('POST', `/Products/${id}/Features`, { body: { FeatureTitle: 'new' } })
    const longer = await currentTag()
    expect(longer).not.toBe(tag)
    await shop.call('PUT', `/Manufacturers/${manufacturer}`, { body: { ManufacturerName: 'New' } })
    expect(await currentTag()).not.toBe(longer)
  })

  test('is not for lists, counts, items and refusals', async () => {
    for (const path of [
      '/Products',
      `/Products?catalogid=${id}`,
      `/Products/${id}/Features`,
      '/Products?countonly=1',
    ]) {
      expect((await read(path)).headers).not.toHaveProperty('etag')
    }
    expect((await read('/Products/400000')).headers).not.toHaveProperty('etag')
    expect((await read(`/Products/${id}?$select=Nothing`)).headers).not.toHaveProperty('etag')
  })
})

describe('If-None-Match of a GET', () => {
  const forms = [
    ['the tag', (tag: string) => tag],
    ['the tag, made weak on the way', weak],
    ['several, of which one is it', (tag: string) => `"x", W/"y" ,${tag}`],
    ['several, of which one is it, weak', (tag: string) => `${weak(tag)},"x"`],
    ['any', () => '*'],
    ['any, with blanks', () => ' * '],
  ] as const

  test.each(forms)('that names %s is answered 304, without a body', async (_form, form) => {
    const answer = await read()
    const unmodified = await read(undefined, ifNoneMatch(form(tagOf(answer))))
    expect([unmodified.statusCode, unmodified.body]).toEqual([304, ''])
    expect(tagOf(unmodified)).toBe(tagOf(answer))
    expect((await shop.call('HEAD', `/Products/${id}`, ifNoneMatch(tagOf(answer)))).statusCode).toBe(304)
  })

  test('304 has the headers that a cache needs, those of every answer, and none of a body', async () => {
    const { headers: full } = await read()
    const { headers } = await read(undefined, ifNoneMatch('*'))
    for (const name of ['cache-control', 'expires', 'pragma', 'vary', 'etag', 'access-control-allow-origin']) {
      expect(full).toHaveProperty(name)
      expect(headers[name]).toBe(full[name])
    }
    expect(headers).toMatchObject({
      date: expect.any(String),
      'x-request-id': expect.any(String),
      'x-ratelimit-remaining': expect.any(String),
    })
    for (const name of ['content-type', 'content-length', 'transfer-encoding']) expect(headers).not.toHaveProperty(name)
  })

  test.each([
    ['another tag', unknownTag],
    ['nothing', ''],
    ['what is no tag', 'x'],
    ['a tag without quotes', 'bare'],
    ['a tag among what is no tag', 'mixed'],
    ['a star in quotes', '"*"'],
    ['a star among tags', '*, "x"'],
  ])('that names %s is answered in full', async (_form, header) => {
    const tag = await currentTag()
    const given = header === 'bare' ? tag.slice(1, -1) : header === 'mixed' ? `x ${tag}` : header
    const answer = await server.app.inject({
      url: `/StoreWebAPI/v1/Products/${id}`,
      headers: { ...shop.credentials, 'if-none-match': given },
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toHaveLength(1)
  })

  test('is about the representation that was asked for', async () => {
    const json = await currentTag()
    const xml = tagOf(await read(undefined, { accept: 'text/xml' }))
    expect((await read(undefined, { accept: 'text/xml', ...ifNoneMatch(json) })).statusCode).toBe(200)
    expect((await read(undefined, { accept: 'text/xml', ...ifNoneMatch(xml) })).statusCode).toBe(304)
    expect((await read(undefined, ifNoneMatch(xml))).statusCode).toBe(200)
    expect((await read(`/Products/${id}?$select=MFGID`, ifNoneMatch(json))).statusCode).toBe(200)
  })

  test('makes a success of no refusal, and is not looked at by lists', async () => {
    expect((await read('/Products/400000', ifNoneMatch('*'))).statusCode).toBe(404)
    expect(refusalOf(await read(`/Products/${id}?$select=Nothing`, ifNoneMatch('*')))).toMatchObject({
      statusCode: 400,
      field: '$select',
    })
    expect((await read('/Products/abc', ifNoneMatch('*'))).statusCode).toBe(400)
    expect((await read('/Products', ifNoneMatch('*'))).statusCode).toBe(200)
    expect((await read(`/Products/${id}/Features`, ifNoneMatch('*'))).statusCode).toBe(200)
  })
})

/** Every change that a precondition may go with: where, and the record that it is about. */
const changes: [name: string, change: (headers: CallOptions) => Promise<LightMyRequestResponse>][] = [
  ['PUT of a record', (more) => shop.call('PUT', `/Products/${id}`, { body: { MFGID: 'new' }, ...more })],
  [
    'PUT of a list of one',
    (more) => shop.call('PUT', '/Products', { body: [{ SKUInfo: { CatalogID: id }, MFGID: 'new' }], ...more }),
  ],
  ['DELETE', (more) => shop.call('DELETE', `/Products/${id}`, more)],
  ['POST of an item', (more) => shop.call('POST', `/Products/${id}/Features`, { body: {}, ...more })],
  [
    'PUT of an item',
    async (more) => {
      const key = (await read(`/Products/${id}/Features`)).json()[0].FeatureID
      return shop.call('PUT', `/Products/${id}/Features/${key}`, { body: { FeatureTitle: 'new' }, ...more })
    },
  ],
  [
    'PUT of a list of one item',
    async (more) => {
      const key = (await read(`/Products/${id}/Features`)).json()[0].FeatureID
      const body = [{ FeatureID: key, FeatureTitle: 'new' }]
      return shop.call('PUT', `/Products/${id}/Features`, { body, ...more })
    },
  ],
  [
    'PUT of a record in XML',
    (more) =>
      shop.call('PUT', `/Products/${id}`, {
        body: '<Product><MFGID>new</MFGID></Product>',
        contentType: 'application/xml',
        ...more,
      }),
  ],
]

describe.each(changes)('If-Match of a %s', (_name, change) => {
  const matching = [
    ['the tag', async () => currentTag()],
    ['any', async () => '*'],
    ['several, of which one is it', async () => `"x", W/"y",${await currentTag()} , "z"`],
    ['the tag of the record in XML', async () => tagOf(await read(undefined, { accept: 'text/xml' }))],
    ['the tag of a part of the record', async () => currentTag(`/Products/${id}?$select=MFGID`)],
  ] as const
  test.each(matching)('lets it through by %s', async (_form, header) => {
    const answer = await change(ifMatch(await header()))
    expect([200, 201]).toContain(answer.statusCode)
    const now = await read()
    expect(now.statusCode === 404 || /new|"FeatureTitle":""/.test(now.body)).toBe(true)
  })

  const failing = [
    ['another tag', async () => unknownTag],
    ['several other tags', async () => `${unknownTag}, "x"`],
    ['the tag, weak', async () => weak(await currentTag())],
    ['weak tags alone', async () => `W/"x", ${weak(await currentTag())}`],
    [
      'a tag of before the last change',
      async () => {
        const tag = await currentTag()
        await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 9 } } })
        return tag
      },
    ],
  ] as const
  test.each(failing)('refuses it with 412 for %s, and nothing is changed', async (_form, header) => {
    const given = await header()
    const before = await read()
    const refusal = refusalOf(await change(ifMatch(given)))
    expect(refusal).toMatchObject({ statusCode: 412, status: '412', field: 'If-Match' })
    expect(refusal.message).toContain('changed meanwhile')
    expect((await read()).body).toBe(before.body)
  })

  test.each(['', 'x', '"x', 'bare', 'w/', 'mixed', '**', '"*"', '*, "x"'])(
    'refuses it with 412 for what is not well-formed, and says so: %s',
    async (header) => {
      const before = await read()
      const tag = tagOf(before)
      const given = { bare: tag.slice(1, -1), 'w/': `w/${tag}`, mixed: `x ${tag}` }[header] ?? header
      const answer = await change({ ...ifMatch(given), tolerated: true })
      expect(refusalOf(answer)).toMatchObject({ statusCode: 412, field: 'If-Match' })
      if (!['', '"*"'].includes(header)) expect(refusalOf(answer).message).toContain('double quotes')
      expect((await read()).body).toBe(before.body)
    },
  )

  test('is 404 for a record that is gone, whatever it names', async () => {
    const tag = await currentTag()
    const gone = id
    const path = (await read(`/Products/${id}/Features`)).json()[0].FeatureID
    await shop.call('DELETE', `/Products/${gone}`)
    for (const header of [tag, '*', unknownTag]) {
      const answers = [
        await shop.call('PUT', `/Products/${gone}`, { body: {}, ...ifMatch(header) }),
        await shop.call('DELETE', `/Products/${gone}`, ifMatch(header)),
        await shop.call('POST', `/Products/${gone}/Features`, { body: {}, ...ifMatch(header) }),
        await shop.call('PUT', `/Products/${gone}/Features/${path}`, { body: {}, ...ifMatch(header) }),
      ]
      expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual(answers.map(() => [404, '']))
    }
  })

  test('If-None-Match refuses it with 412 where it names the record', async () => {
    const before = await read()
    for (const header of [tagOf(before), weak(tagOf(before)), '*']) {
      expect(refusalOf(await change(ifNoneMatch(header)))).toMatchObject({ statusCode: 412, field: 'If-None-Match' })
    }
    expect((await read()).body).toBe(before.body)
    expect([200, 201]).toContain((await change(ifNoneMatch(unknownTag))).statusCode)
  })
})

describe('a change that a tag cannot go with', () => {
  test.each(['*', '"x"'])(
    'a list of several is refused with 412 by If-Match: %s, and nothing is changed',
    async (tag) => {
      const other = await shop.add('/Products', productBody(crypto.randomUUID()))
      const before = [await read(), await read(`/Products/${other}`)].map(({ body }) => body)
      const feature = { FeatureTitle: 'new' }
      const requests: [Method, string, object][] = [
        ['PUT', '/Products', [id, other].map((CatalogID) => ({ SKUInfo: { CatalogID }, MFGID: 'new' }))],
        ['POST', `/Products/${id}/Features`, [feature, feature]],
        ['PUT', `/Products/${id}/Features`, [feature, feature]],
      ]
      for (const [method, path, body] of requests) {
        const refusal = refusalOf(await shop.call(method, path, { body, ...ifMatch(tag) }))
        expect(refusal).toMatchObject({ statusCode: 412, field: 'If-Match' })
      }
      expect([await read(), await read(`/Products/${other}`)].map(({ body }) => body)).toEqual(before)
    },
  )

  test('a new record is refused with 412 by If-Match, and not made', async () => {
    const sku = crypto.randomUUID()
    const answer = await shop.call('POST', '/Products', { body: productBody(sku), ...ifMatch('*') })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 412, field: 'If-Match' })
    expect((await read(`/Products?sku=${sku}`)).statusCode).toBe(404)
  })

  test('a wrong body is 400 before the condition is looked at', async () => {
    const answer = await shop.call('PUT', `/Products/${id}`, {
      body: { SKUInfo: { Price: 'x' } },
      ...ifMatch(unknownTag),
    })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field: 'SKUInfo.Price' })
  })
})

test('a stock that an order takes ends the tag of its product', async () => {
  const tag = await currentTag()
  await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }])
  const answer = await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 5 } }, ...ifMatch(tag) })
  expect(answer.statusCode).toBe(412)
})

describe('of two writers with the same tag at once exactly one wins, the other gets 412', () => {
  const writers: [string, (value: string, tag: string) => Promise<LightMyRequestResponse>][] = [
    ['two PUTs', (value, tag) => shop.call('PUT', `/Products/${id}`, { body: { MFGID: value }, ...ifMatch(tag) })],
    [
      'two PUTs of a list of one, by SKU',
      async (value, tag) => {
        const body = [{ SKUInfo: { SKU: (await read()).json()[0].SKUInfo.SKU }, MFGID: value }]
        return shop.call('PUT', '/Products', { body, ...ifMatch(tag) })
      },
    ],
    [
      'two PUTs in XML, by the tag of the XML',
      (value, tag) =>
        shop.call('PUT', `/Products/${id}`, {
          body: `<Product><MFGID>${value}</MFGID></Product>`,
          contentType: 'application/xml',
          accept: 'application/xml',
          ...ifMatch(tag),
        }),
    ],
    [
      'two new items',
      (value, tag) => shop.call('POST', `/Products/${id}/Features`, { body: { FeatureTitle: value }, ...ifMatch(tag) }),
    ],
  ]
  test.each(writers)('%s, twenty times', async (name, write) => {
    const accept = name.includes('XML') ? 'application/xml' : 'application/json'
    for (let round = 0; round < 20; round++) {
      const tag = tagOf(await read(undefined, { accept }))
      const values = [`a${round}`, `b${round}`]
      const answers = await Promise.all(values.map((value) => write(value, tag)))
      expect(answers.map(({ statusCode }) => (statusCode === 201 ? 200 : statusCode)).sort()).toEqual([200, 412])
      const winner = values[answers.findIndex(({ statusCode }) => statusCode < 300)] as string
      const loser = values.find((value) => value !== winner) as string
      const { body } = await read()
      expect([body.includes(`"${winner}"`), body.includes(`"${loser}"`)]).toEqual([true, false])
    }
  })

  test('a PUT and a DELETE: either one, and what it says is so', async () => {
    for (let round = 0; round < 20; round++) {
      id = await shop.add('/Products', productBody(crypto.randomUUID()))
      const tag = await currentTag()
      const [put, gone] = await Promise.all([
        shop.call('PUT', `/Products/${id}`, { body: { MFGID: 'kept' }, ...ifMatch(tag) }),
        shop.call('DELETE', `/Products/${id}`, ifMatch(tag)),
      ])
      // The slower PUT meets no record at all.
      expect([`${[200, 412]}`, `${[404, 200]}`]).toContain(`${[put.statusCode, gone.statusCode]}`)
      expect((await read()).statusCode).toBe(put.statusCode === 200 ? 200 : 404)
    }
  })

  test('twenty at once: one', async () => {
    const tag = await currentTag()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        shop.call('PUT', `/Products/${id}`, { body: { MFGID: `${index}` }, ...ifMatch(tag) }),
      ),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 412)).toHaveLength(19)
  })
})
