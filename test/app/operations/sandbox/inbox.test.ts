import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { developerIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { registered } from '../../http/pages/developers/fixture.ts'

interface Inbox {
  readonly Id: number
  readonly Address: string
}

const home = '/developers/inboxes'

const server = await sharedServer({}, undefined, { fill: async () => {} })
const developer = await developerIn(server)
const stranger = await developerIn(server)

async function made(by = developer): Promise<Inbox> {
  const answer = await by.call('POST', home, { Name: 'Orders' })
  expect(answer.statusCode, answer.body).toBe(201)
  return answer.json()
}

const pathOf = ({ Address }: Inbox) => new URL(Address).pathname

function send(inbox: Inbox, payload: string | Buffer, headers: Record<string, string> = {}, query = '') {
  return server.app.inject({ method: 'POST', url: pathOf(inbox) + query, payload, headers })
}

const messages = async ({ Id }: Inbox, query = '') =>
  (await developer.call('GET', `${home}/${Id}/messages${query}`)).json()

test('an inbox has an address that nobody can guess, and keeps what comes as it came', async () => {
  const inbox = await made()
  expect(inbox).toEqual({
    Id: expect.any(Number),
    Name: 'Orders',
    Address: expect.stringMatching(/^http:\/\/localhost:3000\/developers\/inbox\/[\w-]{32}$/),
    Answer: 'ok',
    PostBackURL: '',
    DateCreated: '2026-03-10T16:00:00.000Z',
  })
  const answer = await send(inbox, '<b>é</b>', { 'content-type': 'text/html', 'x-own': '1' }, '?a=%20b')
  expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([
    200,
    'OK\n',
    'text/plain; charset=utf-8',
  ])
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  await send(inbox, Buffer.from([0xff, 0x00]), { 'content-type': 'application/octet-stream' })
  await server.app.inject({ method: 'POST', url: pathOf(inbox) })
  const [empty, bytes, text] = await messages(inbox)
  expect(empty).toMatchObject({ Body: '', Bytes: 0 })
  expect(bytes).toMatchObject({ Body: '/wA=', IsBase64: true, Bytes: 2 })
  expect(text).toMatchObject({
    Method: 'POST',
    Query: 'a=%20b',
    Body: '<b>é</b>',
    IsBase64: false,
    Bytes: 9,
    Signature: 'none',
    Signer: '',
    Status: 200,
  })
  expect(text.Headers).toContainEqual({ Name: 'x-own', Value: '1' })
  expect(await messages(inbox, `?limit=1&before=${empty.Id}`)).toEqual([bytes])
  // Callbacks bring tokens: what is stored is sealed.
  const stored = await server.services.db.inboxMessage.findMany({ where: { inboxId: inbox.Id } })
  expect(JSON.stringify(stored, (_key, value) => (typeof value === 'bigint' ? Number(value) : value))).not.toContain(
    '<b>',
  )
})

test('shows a message as text, on pages that run nothing of it', async () => {
  const inbox = await made()
  await send(inbox, `<script>alert(1)</script>${'x'.repeat(3_000)}`, { 'x-own': '<img src=x>' }, '?<i>')
  const page = await developer.open(pathOf(inbox))
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page.body).toContain('&lt;img src=x&gt;')
  expect(page.body).not.toMatch(/<script>alert|<img src=x|<i>/)
  const [, whole = ''] = /href="(\/developers\/inbox\/[^"]*\/\d+)"/.exec(page.body) ?? []
  const message = await developer.open(whole)
  expect(message.body).toContain('x'.repeat(3_000))
  expect((await stranger.open(whole)).statusCode).toBe(404)
  expect((await stranger.open(pathOf(inbox))).statusCode).toBe(404)
  expect((await server.app.inject({ url: pathOf(inbox), headers: { accept: 'text/html' } })).statusCode).toBe(303)
})

test('is of its developer alone, at every door', async () => {
  const inbox = await made(stranger)
  const at = `${home}/${inbox.Id}`
  const answers = await Promise.all([
    developer.call('GET', at),
    developer.call('PUT', at, { Answer: 'error' }),
    developer.call('DELETE', at),
    developer.call('GET', `${at}/messages`),
    developer.call('DELETE', `${at}/messages`),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(404))
  expect((await stranger.call('GET', home)).json()).toEqual([inbox])
})

test('five at most, also of ten at once; a deleted one receives nothing', async () => {
  const own = await developerIn(server)
  const answers = await Promise.all(Array.from({ length: 10 }, () => own.call('POST', home, { Name: 'Many' })))
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(5)
  expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(5)
  const [first] = (await own.call('GET', home)).json() as [Inbox]
  await send(first, 'x')
  expect((await own.call('DELETE', `${home}/${first.Id}`)).statusCode).toBe(200)
  expect((await send(first, 'x')).statusCode).toBe(404)
  expect(await server.services.db.inboxMessage.count({ where: { inboxId: first.Id } })).toBe(0)
})

test('64 kB are taken and not a byte more; a hundred messages are kept, for a day', async () => {
  const inbox = await made()
  expect((await send(inbox, 'x'.repeat(65_536))).statusCode).toBe(200)
  const larger = await send(inbox, 'x'.repeat(65_537))
  expect([larger.statusCode, larger.json()[0].Message]).toEqual([413, 'The body is larger than 64 kB'])
  for (let number = 1; number <= 102; number++) {
    const { statusCode } = await send(inbox, String(number))
    // A hundred in a burst, then five a second.
    if (statusCode === 429) {
      server.clock.ms += 1_000
      expect((await send(inbox, String(number))).statusCode).toBe(200)
    }
  }
  const { db } = server.services
  expect(await db.inboxMessage.count({ where: { inboxId: inbox.Id } })).toBe(100)
  expect((await messages(inbox))[0].Body).toBe('102')
  server.clock.ms += 24 * 3_600_000
  await developer.signIn()
  expect(await messages(inbox)).toEqual([])
  await sweepsByAge(server.services, { historyDays: null })['old messages of inboxes'](() => false)
  expect(await db.inboxMessage.count()).toBe(0)
  await developer.call('DELETE', `${home}/${inbox.Id}`)
  await stranger.signIn()
})

describe('a signature', () => {
  test('is verified by the secret of an application that calls back here, and by no other', async () => {
    const inbox = await made()
    const { CallBackSecret } = await registered(developer, { Name: 'Sync', CallBackURL: inbox.Address })
    const others = await registered(stranger, { CallBackURL: inbox.Address })
    const at = () => String(Math.floor(server.clock.ms / 1_000))
    const signed = (secret: string, body: string, timestamp = at()) => {
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64')
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,bm8= v1,${signature}` }
    }
    await send(inbox, 'body', signed(CallBackSecret, 'body'))
    await send(inbox, 'changed', signed(CallBackSecret, 'body'))
    await send(inbox, 'body', signed(others.CallBackSecret, 'body'))
    await send(inbox, 'body', signed(CallBackSecret, 'body', String(Number(at()) - 301)))
    await send(inbox, 'body', { ...signed(CallBackSecret, 'body'), 'webhook-timestamp': 'now' })
    const found = (await messages(inbox)).toReversed()
    expect(found.map(({ Signature, Signer }: Record<string, string>) => [Signature, Signer])).toEqual([
      ['verified', 'callbacks of the application Sync'],
      ['wrong', 'It is by none of your secrets, or the body was changed'],
      ['wrong', 'It is by none of your secrets, or the body was changed'],
      ['wrong', 'It is by callbacks of the application Sync, but more than five minutes old or early'],
      ['wrong', 'webhook-id or webhook-timestamp is missing, or is none'],
    ])
    const inGerman = async ({ Address }: Inbox) => {
      const { body } = await developer.open(new URL(Address).pathname, { 'accept-language': 'de-DE' })
      return [...body.matchAll(/<\/summary>\s*<p>([^<]*)<\/p>/g)].map(([, said]) => said)
    }
    expect(await inGerman(inbox)).toEqual([
      'webhook-id oder webhook-timestamp fehlt oder ist ungültig.',
      'Sie stammt von Callbacks der Anwendung Sync, weicht aber um mehr als fünf Minuten von der Uhrzeit ab.',
      'Sie stammt von keinem Ihrer geheimen Schlüssel, oder der Inhalt wurde verändert.',
      'Sie stammt von keinem Ihrer geheimen Schlüssel, oder der Inhalt wurde verändert.',
      'Signiert von Callbacks der Anwendung Sync.',
    ])
    const other = await made()
    await send(other, 'body', signed(CallBackSecret, 'body'))
    expect((await messages(other))[0]).toMatchObject({ Signature: 'unknown' })
    expect(await inGerman(other)).toEqual([
      'Keiner Ihrer Webhooks und keine Ihrer Anwendungen sendet an diese Adresse.',
    ])
    for (const { Id } of [inbox, other]) await developer.call('DELETE', `${home}/${Id}`)
  })
})

/** Lets time pass until it is over: a timer may begin a moment after its message is seen. */
async function passUntil(over: Promise<unknown>, ms: number): Promise<void> {
  let isOver = false
  over.then(() => {
    isOver = true
  })
  await expect.poll(() => server.clock.pass(ms).then(() => isOver)).toBe(true)
}

describe('what senders are answered', () => {
  test('is what the developer says, from the next message on', async () => {
    const inbox = await made()
    const put = (body: object) => developer.call('PUT', `${home}/${inbox.Id}`, body)
    expect((await put({ PostBackURL: 'https://app.example/go' })).json().PostBackURL).toBe('https://app.example/go')
    expect((await send(inbox, 'x')).json()).toEqual({ PostBackURL: 'https://app.example/go' })
    expect((await put({ Answer: 'error' })).json().Answer).toBe('error')
    expect((await send(inbox, 'x')).statusCode).toBe(500)
    const refused = await put({ Answer: 'maybe', PostBackURL: 'javascript:alert(1)' })
    expect([refused.statusCode, refused.json()[0].Message]).toEqual([
      400,
      'Answer must be one of ok, error, slow, none; PostBackURL must be an http or https address of at most 2000 characters, or empty',
    ])
    const saved = await developer.submit(pathOf(inbox), { Answer: 'slow' }, { action: `${home}/${inbox.Id}` })
    expect(saved.headers.location).toBe(`${pathOf(inbox)}?notice=settings-saved`)
    expect((await developer.call('GET', `${home}/${inbox.Id}`)).json().Answer).toBe('slow')
    await developer.call('DELETE', `${home}/${inbox.Id}`)
  })

  test('comes slowly, or not at all, while a bounded number waits', async () => {
    const inbox = await made()
    const { db } = server.services
    const count = () => db.inboxMessage.count({ where: { inboxId: inbox.Id } })
    await developer.call('PUT', `${home}/${inbox.Id}`, { Answer: 'slow' })
    const waiting = Array.from({ length: 20 }, () => send(inbox, 'x'))
    await expect.poll(count).toBe(20)
    const busy = await send(inbox, 'x')
    expect([busy.statusCode, busy.headers['retry-after']]).toEqual([503, '30'])
    await passUntil(Promise.all(waiting), 12_000)
    expect((await Promise.all(waiting)).map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200))

    await developer.call('PUT', `${home}/${inbox.Id}`, { Answer: 'none' })
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = server.app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    let answered = ''
    const closed = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    socket.on('data', (chunk) => {
      answered += chunk
    })
    socket.write(`POST ${pathOf(inbox)} HTTP/1.1\r\nHost: here\r\nContent-Length: 1\r\n\r\nx`)
    await expect.poll(count).toBe(22)
    expect((await messages(inbox))[0]).toMatchObject({ Status: 0 })
    await passUntil(closed, 20_000)
    expect(answered).toBe('')
    await developer.call('DELETE', `${home}/${inbox.Id}`)
  })
})
