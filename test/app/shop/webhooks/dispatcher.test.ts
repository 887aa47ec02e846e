import { Webhook as Signer } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Webhook } from '../../../../src/foundation/database/generated/client.ts'
import { newSealedSecret } from '../../../../src/shop/webhooks/secret.ts'
import { openSocketReceiver } from '../../../support/receiver.ts'
import { shared } from '../../../support/shared.ts'
import { signingSecrets } from '../../../support/signing-secrets.ts'
import { type Arrival, openReceiver, type Receiver, status } from './dispatch-receiver.ts'
import { CUSTOMER_NEW, DAY_MS, openStage, SECOND_MS, verifyWith } from './dispatch-stage.ts'

let receiver: Receiver

const stage = await shared(openStage())
const storeId = await stage.addStore()
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => stage.clear())

const settle = () => stage.settle()
const addWebhook = (changes: Partial<Webhook> = {}) => stage.addWebhook(storeId, { url: receiver.url, ...changes })

/** What came of one event, sent to a webhook with this address. */
async function outcomeAt(url: string) {
  const webhook = await addWebhook({ url })
  await stage.addEvent(storeId)
  await settle()
  const [delivery] = await stage.deliveriesOf(webhook)
  const [attempt] = await stage.attemptsOf(webhook)
  return { delivery, attempt }
}

describe('a notification', () => {
  test('is a POST of an array with the record to the address as it is, with these headers', async () => {
    const webhook = await addWebhook()
    await stage.addEvent(storeId)
    const { messageId, body } = await stage.addEvent(storeId)
    stage.clock.ms += 999
    await settle()
    const arrival = receiver.arrivals.find(({ text }) => text === `[${body}]`)
    const { host, ...headers } = arrival?.headers ?? {}
    expect(arrival?.method).toBe('POST')
    expect(`http://${host}${arrival?.url}`).toBe(receiver.url)
    expect(headers).toEqual({
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      'content-length': String(Buffer.byteLength(`[${body}]`)),
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'store-platform',
      'webhook-event': 'Order New',
      'webhook-id': `evt_${messageId.replaceAll('-', '')}`,
      'webhook-sequence': '2',
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]+=$/),
      'webhook-timestamp': String(Math.floor(stage.clock.ms / SECOND_MS)),
    })
    expect(JSON.parse(arrival?.text ?? '')).toMatchObject([{ BillingFirstName: 'Zoë' }])
    stage.verify(arrival, webhook)
  })

  test('is XML for who wants that', async () => {
    const webhook = await addWebhook({ format: 'XML', eventType: CUSTOMER_NEW })
    await stage.addEvent(storeId, { eventType: CUSTOMER_NEW, body: '{"CustomerID":7,"BillingFirstName":"Zoë & <Co>"}' })
    await settle()
    const [arrival] = receiver.arrivals
    expect(arrival?.headers).toMatchObject({
      'content-type': 'application/xml; charset=utf-8',
      'webhook-event': 'Customer New',
    })
    expect(arrival?.text).toMatch(/^<\?xml version="1.0" encoding="utf-8"\?><ArrayOfCustomer [^>]*><Customer>/)
    expect(arrival?.text).toContain(
      '<BillingFirstName>Zoë &amp; &lt;Co&gt;</BillingFirstName></Customer></ArrayOfCustomer>',
    )
    stage.verify(arrival, webhook)
  })

  test('is signed with both secrets for a day after a rotation, the newer first', async () => {
    const webhook = await addWebhook({
      formerSecretSealed: newSealedSecret(stage.secrets),
      secretRotatedAt: stage.now(),
    })
    const both = signingSecrets(stage.secrets, webhook, stage.now())
    expect(new Set(both).size).toBe(2)
    stage.clock.ms += DAY_MS - 1
    await stage.addEvent(storeId)
    await settle()
    const [arrival] = receiver.arrivals
    for (const secret of both) verifyWith(secret, stage.clock.ms, arrival)
    const [first] = String(arrival?.headers['webhook-signature']).split(' ')
    expect(first).toBe(signature(both[0], arrival))

    stage.clock.ms += 1
    await stage.addEvent(storeId)
    await settle()
    const later = receiver.arrivals[1]
    verifyWith(both[0] ?? '', stage.clock.ms, later)
    expect(() => verifyWith(both[1] ?? '', stage.clock.ms, later)).toThrow('No matching signature found')
    expect(String(later?.headers['webhook-signature'])).not.toContain(' ')
  })

  test('that cannot be written as XML fails, and the log holds nothing of the record', async () => {
    const webhook = await addWebhook({ format: 'XML' })
    await stage.addEvent(storeId, { body: 'Zoë is no JSON' })
    await settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([
      { state: 'pending', attempts: 1, reason: 'The notification could not be made' },
    ])
    expect(stage.warnings).toHaveLength(1)
    expect(stage.warnings[0]).not.toContain('Zoë')
  })
})

function signature(secret: string | undefined, arrival: Arrival | undefined): string {
  return new Signer(secret ?? '').sign(String(arrival?.headers['webhook-id']), stage.now(), arrival?.text ?? '')
}

describe('the answer', () => {
  test.each([200, 201, 202, 204, 299])('%i is a yes', async (code) => {
    receiver.answer = status(code)
    const { delivery, attempt } = await outcomeAt(receiver.url)
    expect(delivery).toMatchObject({
      state: 'delivered',
      status: code,
      reason: '',
      attempts: 1,
      dueAt: null,
      endedAt: stage.now(),
    })
    expect(attempt).toMatchObject({ number: 1, status: code, reason: '', at: stage.now() })
  })

  test.each([300, 304, 400, 404, 429, 500, 503])('%i is none', async (code) => {
    receiver.answer = status(code)
    const { delivery, attempt } = await outcomeAt(receiver.url)
    const reason = `The answer has the status ${code}`
    expect(delivery).toMatchObject({ state: 'pending', status: code, reason, attempts: 1, endedAt: null })
    expect(attempt).toMatchObject({ number: 1, status: code, reason })
  })

  test('that points elsewhere is not followed', async () => {
    const elsewhere = await openReceiver()
    receiver.answer = status(307, { location: elsewhere.url })
    const { delivery } = await outcomeAt(receiver.url)
    expect(delivery).toMatchObject({ state: 'pending', reason: 'The answer has the status 307' })
    expect(elsewhere.arrivals).toEqual([])
  })

  test('is kept, its first 4 kB, as whole characters', async () => {
    receiver.answer = status(500, {}, `${'a'.repeat(4_094)}é!`)
    const { attempt } = await outcomeAt(receiver.url)
    expect(attempt?.answer).toBe(`${'a'.repeat(4_094)}é`)

    receiver.answer = status(500, {}, `${'a'.repeat(4_095)}é!`)
    const { attempt: other } = await outcomeAt(receiver.url)
    expect(other?.answer).toBe('a'.repeat(4_095))
  })

  test('may hold what no database takes', async () => {
    receiver.answer = status(200, {}, Buffer.from([0x61, 0, 0x62, 0xff, 0xed, 0xa0, 0x80, 0x63]))
    const { delivery, attempt } = await outcomeAt(receiver.url)
    expect(delivery).toMatchObject({ state: 'delivered' })
    expect(attempt?.answer).toMatch(/^ab\uFFFD+c$/)
  })

  test('that never ends is read up to 64 kB, and judged by its status', async () => {
    const socket = await openSocketReceiver((each) => {
      each.once('data', () => {
        each.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
        // More than is read, and no end.
        each.write('x'.repeat(70_000))
      })
    })
    const { delivery, attempt } = await outcomeAt(socket.url)
    await socket.close()
    expect(delivery).toMatchObject({ state: 'delivered', status: 200 })
    expect(attempt?.answer).toBe('x'.repeat(4_096))
  })

  test.each([
    ['nothing', ''],
    ['half an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
  ])('that breaks off after %s is none', async (_, text) => {
    const socket = await openSocketReceiver((each) => {
      each.once('data', () => {
        each.end(text)
      })
    })
    const { delivery, attempt } = await outcomeAt(socket.url)
    await socket.close()
    const reason = 'The connection was closed before the answer was complete'
    expect(delivery).toMatchObject({ state: 'pending', status: null, reason })
    expect(attempt).toMatchObject({ number: 1, status: null, reason, answer: '' })
  })

  test('of nobody is none', async () => {
    const socket = await openSocketReceiver(() => undefined)
    await socket.close()
    const { delivery } = await outcomeAt(socket.url)
    expect(delivery).toMatchObject({ state: 'pending', reason: '127.0.0.1 refused the connection' })
  })
})

describe('before it is sent', () => {
  /** A delivery that waits, although what allowed it has changed since the event. */
  async function expectHeldBack(webhook: Webhook, reason: string) {
    expect(receiver.arrivals).toEqual([])
    expect(await stage.deliveriesOf(webhook)).toMatchObject([
      { state: 'failed', reason, status: null, dueAt: null, endedAt: stage.now(), attempts: 1 },
    ])
    expect(await stage.attemptsOf(webhook)).toMatchObject([
      { number: 1, status: null, reason, durationMs: 0, answer: '' },
    ])
    expect(await stage.webhookNow(webhook)).toMatchObject({ failingSince: null, pauseReason: null })
  }

  async function pending(webhook: Webhook) {
    const event = await stage.addEvent(storeId, { sequence: 1n })
    const row = { storeId, webhookId: webhook.id, eventId: event.id, state: 'pending' }
    await stage.db.delivery.create({ data: { ...row, dueAt: stage.now(), createdAt: stage.now() } })
  }

  test('a webhook that was disabled meanwhile is not called', async () => {
    const webhook = await addWebhook({ enabled: false })
    await pending(webhook)
    await settle()
    await expectHeldBack(webhook, 'The webhook is not enabled')
  })

  test.each([
    ['application asks for less', { asked: { Orders: ['write' as const], Products: ['read' as const] }, agreed: null }],
    ['merchant agreed to less', { asked: null, agreed: { Customers: ['read' as const] } }],
  ])('the privilege counts that the application has now: the %s', async (_, privileges) => {
    const { subscriptionId } = await stage.addSubscription(storeId, privileges)
    const webhook = await addWebhook({ subscriptionId })
    await stage.addEvent(storeId)
    await settle()
    await expectHeldBack(webhook, 'The application may not read Orders')
  })

  test.each([
    ['everything', { asked: null, agreed: null }],
    ['this service', { asked: { Orders: ['read' as const] }, agreed: { Orders: ['read' as const, 'write' as const] } }],
  ])('an application that may read %s is told', async (_, privileges) => {
    const { subscriptionId } = await stage.addSubscription(storeId, privileges)
    const webhook = await addWebhook({ subscriptionId })
    await stage.addEvent(storeId)
    await settle()
    expect(await stage.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered' }])
  })
})

describe('a process', () => {
  test('looks by itself, whether it was told or not', async () => {
    await addWebhook()
    const { dispatcher } = stage.openProcess({ pollMs: 20 })
    dispatcher.start()
    await dispatcher.settle()
    await stage.addEvent(storeId)
    await receiver.came(1)
  })

  test('that is woken sends at once', async () => {
    await addWebhook()
    const { dispatcher } = stage.openProcess({ pollMs: 600_000 })
    dispatcher.start()
    await dispatcher.settle()
    await stage.addEvent(storeId)
    dispatcher.wake()
    await receiver.came(1)
  })

  test('counts its attempts, and how long events took to arrive', async () => {
    await addWebhook()
    const { dispatcher, registry } = stage.openProcess()
    await stage.addEvent(storeId, { createdAt: new Date(stage.clock.ms - 700) })
    await dispatcher.settle()
    receiver.answer = status(500)
    await stage.addEvent(storeId)
    await dispatcher.settle()
    receiver.answer = status(410)
    await stage.addEvent(storeId)
    await dispatcher.settle()
    const text = await registry.metrics()
    expect(text).toContain('webhook_attempts_total{outcome="delivered"} 1\n')
    expect(text).toContain('webhook_attempts_total{outcome="retried"} 1\n')
    expect(text).toContain('webhook_attempts_total{outcome="failed"} 1\n')
    expect(text).toContain('webhook_delivery_seconds_sum 0.7\n')
    expect(text).toContain('webhook_delivery_seconds_count 1\n')
  })
})
