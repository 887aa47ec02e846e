import { beforeEach, describe, expect, test } from 'vitest'
import type { Webhook } from '../../../../../src/foundation/database/generated/client.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { pageAt, type StoredDelivery, storedDelivery, storedWebhook, wordsOf } from './webhooks-fixture.ts'

/** Its clock stands at noon of March 10 in New York. */
let shop: TestStore
let merchant: TestPerson
let webhook: Webhook
let home: string

const server = await sharedServer()
const start = server.clock.ms
beforeEach(async () => {
  shop = await server.openStore()
  merchant = await merchantIn(server, shop.store)
  webhook = await storedWebhook(server, shop)
  home = `/admin/webhooks/${webhook.id}`
})

function delivery(changes: StoredDelivery = {}): Promise<number> {
  return storedDelivery(server, webhook, changes)
}

const pending = (): StoredDelivery => {
  return {
    state: 'pending',
    endedAt: null,
    dueAt: new Date(start + 300_000),
    attempts: 1,
    status: 503,
    reason: 'The answer has the status 503',
  }
}
const failed = { state: 'failed', status: null, reason: 'No answer within 15 s' }

function rowOf(id: number) {
  return server.services.db.delivery.findFirstOrThrow({ where: { id } })
}

const page = (address: string) => pageAt(merchant, address)

function idsOn(body: string): number[] {
  return [...body.matchAll(/\/deliveries\/(\d+)">/g)].map(([, id]) => Number(id))
}

describe('the deliveries of a webhook', () => {
  test('are there with event, record, state, attempts, what came last and what comes next', async () => {
    await delivery()
    const waiting = await delivery(pending())
    await delivery({ ...failed, attempts: 10 })
    await delivery({ event: { sequence: 0 } })

    const words = wordsOf(await page(home))
    const time = 'Mar 10, 2026, 12:00 PM EDT'
    expect(words).toContain(`${time} delivered Order New 17 1 200 Deliveries and their attempts`)
    expect(words).toContain(
      `${time} pending Order New 17 1 The answer has the status 503 next attempt Mar 10, 2026, 12:05 PM EDT `,
    )
    expect(words).toContain(`${time} failed Order New 17 10 No answer within 15 s `)
    expect(words).toContain(`${time} delivered Order New test 1 200 `)

    await server.services.db.delivery.update({ where: { id: waiting }, data: { dueAt: new Date(start) } })
    expect(wordsOf(await page(home))).toContain('The answer has the status 503 next attempt now ')
  })

  test('are found by state, and where none is in it the page says so', async () => {
    const ids = { delivered: await delivery(), pending: await delivery(pending()), failed: await delivery(failed) }
    for (const [state, id] of Object.entries(ids)) {
      const body = await page(`${home}?state=${state}`)
      expect([state, idsOn(body)]).toEqual([state, [id]])
      expect(body).toContain(`href="${home}?state=${state}#deliveries" aria-current="page"`)
    }
    expect(idsOn(await page(home))).toEqual([ids.failed, ids.pending, ids.delivered])

    await server.services.db.delivery.deleteMany({ where: { id: ids.failed } })
    expect(wordsOf(await page(`${home}?state=failed`))).toContain('No delivery failed.')
  })

  test('lead on, 50 a page and the newest first, within a state, until each was there once', async () => {
    const ids: number[] = []
    await delivery()
    for (let count = 0; count < 52; count++) ids.push(await delivery(failed))
    await delivery()
    const first = await page(`${home}?state=failed`)
    const older = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(older).toMatch(/#deliveries$/)
    const second = await page(older.replace('#deliveries', ''))

    expect([idsOn(first).length, [...idsOn(first), ...idsOn(second)]]).toEqual([50, ids.toReversed()])
    expect(second).not.toContain('rel="next"')
    expect(second).toContain('>Newest</a>')
  })

  test('are none yet: the page says what will be there', async () => {
    expect(wordsOf(await page(home))).toContain('Nothing has been sent yet.')
  })

  test.each(['state=lost', 'before=x', 'before=0', 'colour=red'])('refuses ?%s', async (query) => {
    expect((await merchant.open(`${home}?${query}`)).statusCode).toBe(400)
  })
})

describe('one delivery', () => {
  test('is shown whole: its ids and times, each attempt with its answer, and the body as it is sent', async () => {
    const id = await delivery({
      ...failed,
      attempts: 2,
      endedAt: new Date(start + 7_000),
      event: { sequence: 4711, messageId: '0190c0de-0000-7000-8000-000000000001', body: '{"OrderID":17,"Total":5.5}' },
      log: [
        { status: 500, reason: 'The answer has the status 500', durationMs: 1_234, answer: 'out of\nmemory' },
        { status: null, reason: 'No answer within 15 s', durationMs: 15_000, at: new Date(start + 7_000) },
      ],
    })

    const body = await page(`${home}/deliveries/${id}`)
    const words = wordsOf(body)
    expect(words).toContain(`Order New, delivery ${id} failed`)
    expect(words).toContain('Record 17 Raised Mar 10, 2026, 12:00:00 PM EDT Given up Mar 10, 2026, 12:00:07 PM EDT')
    expect(words).toContain('webhook-id evt_0190c0de000070008000000000000001')
    expect(words).toContain('webhook-sequence 4711')
    const [last = '', first = ''] = body.match(/<details class="attempt"[\s\S]*?<\/details>/g) ?? []
    expect(wordsOf(last)).toContain(
      '2. Mar 10, 2026, 12:00:07 PM EDT no answer Result No answer within 15 s Duration 15,000 ms',
    )
    expect(wordsOf(first)).toContain(
      '1. Mar 10, 2026, 12:00:00 PM EDT 500 Result The answer has the status 500 Duration 1,234 ms',
    )
    expect(first).toContain('<code>out of\nmemory</code>')
    expect(body).toContain('<code>[\n  {\n    &quot;OrderID&quot;: 17,\n    &quot;Total&quot;: 5.5\n  }\n]</code>')
  })

  test('that is huge is cut', async () => {
    const id = await delivery({ event: { body: JSON.stringify({ Text: 'x'.repeat(300_000) }) } })
    const body = await page(`${home}/deliveries/${id}`)
    expect(body.length).toBeLessThan(150_000)
    expect(wordsOf(body)).toContain('Only the beginning is shown; the whole body is sent.')
  })

  test('has an id beyond the numbers of records', async () => {
    const id = 9_007_199_254_740_991
    await delivery({ id })
    expect(wordsOf(await page(`${home}/deliveries/${id}`))).toContain(`delivery ${id}`)
    const { body } = await merchant.open(`${home}?before=${id}`)
    expect(wordsOf(body)).toContain('There is nothing older.')
    expect((await merchant.open(`${home}/deliveries/${id - 1}`)).statusCode).toBe(404)
  })

  test.each(['0', '9007199254740992', '99999999999999999', 'x'])('refuses the id %s', async (id) => {
    expect((await merchant.open(`${home}/deliveries/${id}`)).statusCode).toBe(400)
  })

  test('of another webhook of the store is not there', async () => {
    const other = await storedWebhook(server, shop)
    const id = await storedDelivery(server, other)
    expect((await merchant.open(`${home}/deliveries/${id}`)).statusCode).toBe(404)
  })
})

describe('sending again', () => {
  test('makes it due at once, and its page looks for the result by itself, for a while', async () => {
    const id = await delivery({ ...failed, attempts: 10 })
    const address = `${home}/deliveries/${id}`
    const answer = await merchant.submit(address, {}, { action: `${address}/redeliver` })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${address}?looks=20`])
    expect(await rowOf(id)).toMatchObject({ state: 'pending', dueAt: new Date(0), triesBefore: 10 })

    const { headers, body } = await merchant.open(`${address}?looks=20`)
    expect(headers.refresh).toBe(`1; url=${address}?looks=19`)
    expect(wordsOf(body)).toContain('It is being sent. The result appears here by itself.')
    expect((await merchant.open(`${address}?looks=99`)).headers.refresh).toBe(`1; url=${address}?looks=19`)
    for (const query of ['', '?looks=0', '?looks=x']) {
      const shown = await merchant.open(address + query)
      expect([query, shown.headers.refresh]).toEqual([query, undefined])
      expect(wordsOf(shown.body)).toContain('Not delivered yet. Look again')
    }
  })

  test('stops looking as soon as there is a result', async () => {
    const id = await delivery()
    expect((await merchant.open(`${home}/deliveries/${id}?looks=20`)).headers.refresh).toBeUndefined()
  })

  test('of one that waits makes it due now, and then there is nothing more to press', async () => {
    const id = await delivery({ ...pending(), log: [{ status: 503, reason: 'The answer has the status 503' }] })
    const address = `${home}/deliveries/${id}`
    expect(await page(address)).toContain('>Send now</button>')
    await merchant.submit(address, {}, { action: `${address}/redeliver` })
    expect(await rowOf(id)).toMatchObject({ state: 'pending', dueAt: new Date(0) })
    expect(await page(address)).not.toContain(`${address}/redeliver`)
  })

  test('says of an attempt that is under way so, not when the next one is due', async () => {
    const log = [{ status: 503, reason: 'The answer has the status 503' }]
    const id = await delivery({ ...pending(), attempts: 2, log })
    const body = await page(`${home}/deliveries/${id}`)
    expect(wordsOf(body)).toContain('Next attempt under way')
    expect(body).not.toContain('/redeliver')
    await server.services.db.delivery.update({ where: { id }, data: { attempts: 1 } })
    expect(wordsOf(await page(`${home}/deliveries/${id}`))).toContain('Next attempt Mar 10, 2026, 12:05:00 PM EDT')
  })

  test('is refused while the webhook is not on, on its page', async () => {
    const id = await delivery(failed)
    const address = `${home}/deliveries/${id}`
    const form = await page(address)
    const token = /name="_csrf" value="([^"]+)"/.exec(form)?.[1] ?? ''
    await server.services.db.webhook.update({
      where: { storeId_id: { storeId: shop.store.id, id: webhook.id } },
      data: { enabled: false, disabledAt: new Date(start) },
    })
    expect(await page(address)).not.toContain(`${address}/redeliver`)

    const answer = await server.app.inject({
      method: 'POST',
      url: `${address}/redeliver`,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        cookie: [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      payload: new URLSearchParams({ _csrf: token }).toString(),
    })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain('role="alert"')
    expect(await rowOf(id)).toMatchObject({ state: 'failed' })
  })
})

describe('a test event', () => {
  test('is a delivery of its own that leads to its page, and says that it is a test', async () => {
    const answer = await merchant.submit(home, {}, { action: `${home}/test` })
    expect(answer.statusCode).toBe(303)
    const [, address = '', id = ''] = /^(.+\/deliveries\/(\d+))\?looks=20$/.exec(String(answer.headers.location)) ?? []
    expect(address).toBe(`${home}/deliveries/${id}`)
    expect(await rowOf(Number(id))).toMatchObject({ webhookId: webhook.id, state: 'pending', dueAt: new Date(0) })

    const words = wordsOf(await page(address))
    expect(words).toContain('Event Order New test with a made-up record')
    expect(words).not.toContain('webhook-sequence')
  })

  test('can be sent while the webhook is off', async () => {
    await merchant.submit(home, {}, { action: `${home}/disable` })
    const answer = await merchant.submit(home, {}, { action: `${home}/test` })
    expect(answer.statusCode).toBe(303)
  })
})
