import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendCallback } from '../../../../src/access/applications/subscriptions/callback.ts'
import { createOutbound, type OutboundRequest } from '../../../../src/foundation/outbound/outbound.ts'
import { newSigningSecret } from '../../../../src/foundation/outbound/standard-webhooks.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { json, openReceiver, type Received, type Receiver, status } from '../../../support/receiver.ts'

const secrets = createSecrets('a secret key for tests alone, 32+')
const outbound = createOutbound({ allow: ['127.0.0.1'] })
const clock = { ms: 0 }
const services = { secrets, outbound, now: () => new Date(clock.ms) }

let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = status(200)
  clock.ms = Date.now()
})
afterAll(async () => {
  await outbound.close()
  await receiver.close()
})

const HOUR_MS = 3_600_000
const publicKey = '0123456789abcdef0123456789abcdef'
const token = 'fedcba9876543210fedcba9876543210'

const signing: Record<number, string> = {}
const secretOf = (version: number) => {
  signing[version] ??= newSigningSecret()
  return signing[version]
}

interface Change {
  action?: 'AUTHORIZE' | 'REMOVE'
  version?: number
  rotatedAt?: Date | null
  url?: string
}

function send({ action = 'AUTHORIZE', version = 1, rotatedAt = null, url = receiver.url }: Change = {}) {
  const application = {
    publicKey,
    callbackUrl: url,
    callbackSecretSealed: secrets.seal(secretOf(version)),
    formerCallbackSecretSealed: rotatedAt && secrets.seal(secretOf(version - 1)),
    callbackSecretRotatedAt: rotatedAt,
  }
  const secureUrl = 'https://shop.example'
  return sendCallback(services, { application, action, token, secureUrl, messageId: 'msg_1' })
}

function only(): Received {
  const [one, ...others] = receiver.received
  if (!one || others.length > 0) throw new Error(`${receiver.received.length} came`)
  return one
}

describe('what is sent', () => {
  test.each([
    ['summer', '2026-07-04T03:59:58Z', '07-03-2026 23:59:58'],
    ['winter', '2026-01-01T04:59:58Z', '12-31-2025 23:59:58'],
    ['the afternoon', '2026-03-10T17:05:09Z', '03-10-2026 13:05:09'],
    ['the midnight hour', '2026-01-02T05:00:00Z', '01-02-2026 00:00:00'],
  ])('is the contract’s body byte for byte, in Eastern time in %s', async (_when, at, timeStamp) => {
    clock.ms = Date.parse(at)
    await send({ action: 'REMOVE' })
    const { method, url, headers, text } = only()
    expect(text).toBe(
      `{"PublicKey":"${publicKey}","TimeStamp":"${timeStamp}","TokenKey":"${token}","Action":"REMOVE","SecureURL":"https://shop.example"}`,
    )
    expect({ method, url }).toEqual({ method: 'POST', url: '/callback?app=7' })
    expect(headers['content-type']).toBe('application/json')
    expect(headers['webhook-timestamp']).toBe(String(clock.ms / 1_000))
  })

  test('is given 3 seconds to connect, 10 in all, and 64 kB to answer', async () => {
    const limits: object[] = []
    const watched = {
      ...outbound,
      send: (request: OutboundRequest) => {
        const { connectMs, totalMs, answerBytesMax } = request
        limits.push({ connectMs, totalMs, answerBytesMax })
        return outbound.send(request)
      },
    }
    const application = {
      publicKey,
      callbackUrl: receiver.url,
      callbackSecretSealed: secrets.seal(secretOf(1)),
      formerCallbackSecretSealed: null,
      callbackSecretRotatedAt: null,
    }
    await sendCallback(
      { ...services, outbound: watched },
      { application, action: 'AUTHORIZE', token, secureUrl: 'https://shop.example', messageId: 'msg_1' },
    )
    expect(limits).toEqual([{ connectMs: 3_000, totalMs: 10_000, answerBytesMax: 65_536 }])
  })
})

describe('the signature', () => {
  const verify = (version: number, { text, headers }: Pick<Received, 'text' | 'headers'>) =>
    new Webhook(secretOf(version)).verify(text, headers as Record<string, string>)

  test('is verified by the library of the scheme, and not when a byte, the id or the secret is another', async () => {
    await send()
    const received = only()
    expect(verify(1, received)).toEqual(received.callback)
    expect(() => verify(2, received)).toThrow('No matching signature')
    expect(() => verify(1, { ...received, text: received.text.replace('shop', 'shoq') })).toThrow(
      'No matching signature',
    )
    const headers = { ...received.headers, 'webhook-id': 'msg_2' }
    expect(() => verify(1, { ...received, headers })).toThrow('No matching signature')
  })

  test('is made with both secrets for 24 hours after a rotation, and then with the new one alone', async () => {
    const rotatedAt = new Date(clock.ms - 24 * HOUR_MS + 1)
    await send({ version: 2, rotatedAt })
    const within = only()
    expect(verify(1, within)).toEqual(within.callback)
    expect(verify(2, within)).toEqual(within.callback)
    expect(within.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)

    receiver.received.length = 0
    await send({ version: 2, rotatedAt: new Date(clock.ms - 24 * HOUR_MS) })
    expect(verify(2, only())).toEqual(only().callback)
    expect(() => verify(1, only())).toThrow('No matching signature')
  })
})

describe('the answer', () => {
  test.each([201, 202, 204, 206, 301, 302, 400, 401, 404, 500, 503])('is a no with the status %i', async (code) => {
    receiver.answer = status(code, { location: receiver.url }, code === 204 ? '' : 'some words')
    expect(await send()).toMatchObject({
      ok: false,
      status: code,
      body: code === 204 ? '' : 'some words',
      reason: `The answer has the status ${code} and not 200`,
      durationMs: expect.any(Number),
    })
    only()
  })

  test('is a yes with the status 200, whatever it says', async () => {
    for (const body of [
      '',
      'Thank you',
      '<html>',
      '{"PostBackURL": "https://app.example/"',
      '[]',
      'null',
      '1',
      '"x"',
    ]) {
      receiver.answer = status(200, {}, body)
      expect(await send()).toMatchObject({ ok: true, status: 200, body, postBackUrl: null })
    }
  })

  test('is a no past 64 kB, and shows no more than its beginning', async () => {
    receiver.answer = status(200, {}, 'x'.repeat(65_536))
    expect(await send()).toMatchObject({ ok: true, body: 'x'.repeat(4_096) })
    receiver.answer = status(200, {}, 'x'.repeat(65_537))
    expect(await send()).toMatchObject({
      ok: false,
      reason: 'The answer is longer than 64 kB',
      body: 'x'.repeat(4_096),
    })
  })

  test.each([
    ['https://app.example/welcome?id=7&x=%20#step', true],
    ['http://app.example', true],
    ['HTTPS://APP.EXAMPLE/', true],
    [`https://app.example/${'x'.repeat(1_980)}`, true],
    [`https://app.example/${'x'.repeat(1_981)}`, false],
    ['javascript:alert(1)', false],
    ['java\nscript:alert(1)', false],
    ['https://app.example/\njavascript:alert(1)', false],
    [' https://app.example/', false],
    ['data:text/html,hello', false],
    ['ftp://app.example/', false],
    ['//app.example/', false],
    ['/welcome', false],
    ['https://', false],
    ['', false],
    [null, false],
    [7, false],
    [['https://app.example/'], false],
    [{ url: 'https://app.example/' }, false],
  ])('asks to go on at %j: %s', async (url, isGood) => {
    receiver.answer = json({ PostBackURL: url, more: true })
    expect(await send()).toMatchObject({ ok: true, postBackUrl: isGood ? url : null })
  })

  test('may begin with a byte order mark', async () => {
    receiver.answer = status(200, {}, '\uFEFF{"PostBackURL":"https://app.example/"}')
    expect(await send()).toMatchObject({ ok: true, postBackUrl: 'https://app.example/' })
  })

  test('that never comes, or cannot be asked for, is a no with its reason', async () => {
    const closed = await openReceiver()
    await closed.close()
    for (const url of [closed.url, 'http://10.0.0.5/', 'ftp://app.example/', 'no address']) {
      expect(await send({ url })).toMatchObject({
        ok: false,
        status: null,
        body: '',
        reason: expect.stringMatching(/\w/),
      })
    }
  })
})
