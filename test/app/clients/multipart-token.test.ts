import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../support/store.ts'
import { callStatus, codeOf, exchangeOf, openClient, openShop, type Query } from '../http/oauth/fixture.ts'

// A program whose HTTP library sends every form as multipart/form-data.

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })
const client = await openClient(server)
const shop = await openShop(server)

interface Written {
  readonly contentType: string
  readonly payload: string
}

type Fields = readonly (readonly [name: string, value: string])[]

/** As a library writes it: how a boundary stands in the header, and what stands above each value. */
const libraries: Record<string, (fields: Fields) => Written> = {
  'curl -F': (fields) =>
    written('------------------------d74496d66958873e', fields, (name) => [
      `Content-Disposition: form-data; name="${name}"`,
    ]),
  'HttpClient of .NET': (fields) =>
    written('"0f7b2ab1-6f3e"', fields, (name) => [
      'Content-Type: text/plain; charset=utf-8',
      `Content-Disposition: form-data; name=${name}`,
    ]),
  'form-data with a length': (fields) =>
    written('--------------------------503', fields, (name, value) => [
      `content-disposition: form-data; name="${name}"`,
      `Content-Length: ${value.length}`,
    ]),
  Java: (fields) =>
    written('Boundary_1', fields, (name) => [
      `Content-Disposition: form-data; name="${name}"`,
      'Content-Type: text/plain;charset=UTF-8',
      'Content-Transfer-Encoding: 8bit',
    ]),
}

function written(boundary: string, fields: Fields, head: (name: string, value: string) => string[]): Written {
  const mark = boundary.replaceAll('"', '')
  const parts = fields.map(([name, value]) => `--${mark}\r\n${head(name, value).join('\r\n')}\r\n\r\n${value}\r\n`)
  return { contentType: `multipart/form-data; boundary=${boundary}`, payload: `${parts.join('')}--${mark}--\r\n` }
}

const fieldsOf = (form: Query) =>
  Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)

let sent = 0

/** From another address each time, so that none is refused for the wrong keys of those before. */
function send(url: string, { contentType, payload }: Written, headers: Record<string, string> = {}) {
  const address = { 'x-forwarded-for': `10.0.${Math.trunc(++sent / 250)}.${sent % 250}` }
  return server.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': contentType, ...address, ...headers },
    payload,
  })
}

const curl = (fields: Fields) => libraries['curl -F']?.(fields) as Written

describe.each(Object.entries(libraries))('%s', (_library, write) => {
  test('gets a token, which works and can be revoked the same way', async () => {
    const form = exchangeOf(client, await codeOf(shop, client))
    const answer = await send('/oauth/token', write(fieldsOf(form)))
    expect(answer.statusCode, answer.body).toBe(200)
    const { access_token: token } = answer.json()
    const bearer = { authorization: `Bearer ${token}` }
    expect(await callStatus(server, bearer)).toBe(200)
    const keys = { client_id: client.PublicKey, client_secret: client.PrivateKey }
    expect((await send('/oauth/revoke', write(fieldsOf({ token, ...keys })))).statusCode).toBe(200)
    expect(await callStatus(server, bearer)).toBe(401)
  })
})

test('fetch of a browser’s FormData gets a token', async () => {
  const form = new FormData()
  for (const [name, value] of fieldsOf(exchangeOf(client, await codeOf(shop, client)))) form.append(name, value)
  const body = new Response(form)
  const contentType = body.headers.get('content-type') ?? ''
  expect((await send('/oauth/token', { contentType, payload: await body.text() })).statusCode).toBe(200)
})

test('what holds for a form holds for this one: Code, Basic, the query, and a name sent twice', async () => {
  const { grant_type, code, client_id, client_secret } = exchangeOf(client, await codeOf(shop, client))
  const basic = { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` }
  const twice: Fields = [
    ['Code', code ?? ''],
    ['Code', 'another'],
  ]
  const refused = await send('/oauth/token?grant_type=authorization_code', curl(twice), basic)
  expect([refused.statusCode, refused.json().error_description]).toEqual([
    400,
    'code is sent more than once with different values',
  ])
  const once: Fields = [
    ['Code', code ?? ''],
    ['code', code ?? ''],
  ]
  const answer = await send(`/oauth/token?grant_type=${grant_type}`, curl(once), basic)
  expect(answer.statusCode, answer.body).toBe(200)
})

/** Status and description of a refusal, which is `invalid_request`. */
function refusalOf(answer: Awaited<ReturnType<typeof send>>) {
  const { error, error_description } = answer.json()
  return [answer.statusCode, error, error_description]
}

describe.each(['/oauth/token', '/oauth/revoke'])('%s refuses', (url) => {
  test.each([
    ['chosen', 'filename="code.txt"'],
    ['chosen, of no name', 'filename=""'],
    ['named by another encoding', "filename*=UTF-8''code.txt"],
  ])('a file that was %s, and the code is as good as before', async (_what, filename) => {
    const form = exchangeOf(client, await codeOf(shop, client))
    const body = written('b', fieldsOf(form), (name) => [
      `Content-Disposition: form-data; name="${name}"${name === 'code' ? `; ${filename}` : ''}`,
    ])
    const refused = [400, 'invalid_request', 'The form has a file: send each parameter as a text']
    expect(refusalOf(await send(url, body))).toEqual(refused)
    expect((await send('/oauth/token', curl(fieldsOf(form)))).statusCode).toBe(200)
  })

  test('a body of more than 16 kB', async () => {
    const fits = curl([['client_id', 'x'.repeat(16_000)]])
    expect((await send(url, fits)).statusCode).toBe(401)
    const tooLarge = curl([['client_id', 'x'.repeat(16_384)]])
    expect(refusalOf(await send(url, tooLarge))).toEqual([413, 'invalid_request', 'The body is larger than 16 kB'])
  })

  test.each([
    ['without a boundary', 'multipart/form-data', '--b\r\n'],
    ['cut off', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="code"\r\n\r\nab'],
    ['of another boundary', 'multipart/form-data; boundary=c', curl([['code', 'x']]).payload],
  ])('a body %s', async (_what, contentType, payload) => {
    expect(refusalOf(await send(url, { contentType, payload }))).toEqual([
      400,
      'invalid_request',
      'The body is not valid multipart/form-data',
    ])
  })

  test('another multipart type', async () => {
    const { payload } = curl([['code', 'x']])
    const [status, error] = refusalOf(await send(url, { contentType: 'multipart/mixed; boundary=b', payload }))
    expect([status, error]).toEqual([415, 'invalid_request'])
  })

  test('what no client writes, with an error of OAuth and never a defect', async () => {
    const piece = fc.oneof(
      fc.constantFrom('--b', '\r\n', '--', ': ', 'Content-Disposition', 'form-data; name="code"', '; filename=a', '"'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 30 }), async (pieces) => {
        const payload = pieces.join('')
        const answer = await send(url, { contentType: 'multipart/form-data; boundary=b', payload })
        const { error, error_description } = answer.json()
        expect([400, 401]).toContain(answer.statusCode)
        expect(error).toMatch(/^invalid_(request|client)$/)
        expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
      }),
      { numRuns: 100 },
    )
  })
})

test('any form is read alike as multipart and as application/x-www-form-urlencoded', async () => {
  const name = fc.oneof(fc.constantFrom('code', 'Code', 'client_id', 'client_secret', 'grant_type'), fc.string())
  const value = fc.oneof(fc.constantFrom('', client.PublicKey, client.PrivateKey), fc.string({ unit: 'grapheme' }))
  const quoted = (text: string) => text.replace(/["\\\r\n\0]/g, '')
  const fields = fc.array(fc.tuple(name.map(quoted), value), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fields, async (form) => {
      const payload = String(new URLSearchParams(form))
      const expected = await send('/oauth/token', { contentType: 'application/x-www-form-urlencoded', payload })
      const answer = await send('/oauth/token', curl(form))
      expect([answer.statusCode, answer.json()]).toEqual([expected.statusCode, expected.json()])
    }),
    { numRuns: 40 },
  )
})
