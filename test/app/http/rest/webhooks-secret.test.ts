import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { rotateWebhookSecret } from '../../../../src/shop/webhooks/secret.ts'
import { signingSecrets } from '../../../support/signing-secrets.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { newWebhook, stored } from './webhooks-fixture.ts'

// What notifications are signed with: GET and POST /Webhooks/{id}/Secret.

let shop: TestStore
let id: number

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
  id = await newWebhook(shop.call)
})

const DAY_MS = 86_400_000
const form = /^whsec_[A-Za-z0-9+/]{43}=$/

interface Shown {
  Secret: string
  FormerSecret: string
  FormerSecretUntil: string
  DateRotated: string
}

const show = async () => (await shop.call('GET', `/Webhooks/${id}/Secret`)).json<Shown[]>()[0] as Shown
const rotate = async (key?: string) => {
  const answer = await shop.call('POST', `/Webhooks/${id}/Secret`, { headers: { 'idempotency-key': key } })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer
}
const rotated = async () => (await rotate()).json<Shown[]>()[0] as Shown

test('a webhook has a secret from the start, which is its own and stays the same', async () => {
  const secret = await show()

  expect(secret).toEqual({
    Secret: expect.stringMatching(form),
    FormerSecret: '',
    FormerSecretUntil: '',
    DateRotated: '',
  })
  expect(await show()).toEqual(secret)
  const other = await newWebhook(shop.call)
  expect((await shop.call('GET', `/Webhooks/${other}/Secret`)).json()[0].Secret).not.toBe(secret.Secret)
})

test('the reference library verifies with it what is signed with it', async () => {
  const { Secret } = await show()
  const [signing = ''] = signingSecrets(server.services.secrets, await stored(server, shop, id), server.services.now())
  const now = new Date()

  const signature = new Webhook(signing).sign('evt_1', now, '[{}]')

  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signature,
  }
  expect(new Webhook(Secret).verify('[{}]', headers)).toEqual([{}])
})

describe('POST', () => {
  test('gives it a new one, and shows the former one with its end', async () => {
    const { Secret: former } = await show()

    const secret = await rotated()

    expect(secret).toEqual({
      Secret: expect.stringMatching(form),
      FormerSecret: former,
      FormerSecretUntil: '2026-03-11T12:00:00',
      DateRotated: '2026-03-10T12:00:00',
    })
    expect(secret.Secret).not.toBe(former)
    expect(await show()).toEqual(secret)
    const { body } = await shop.call('GET', `/Webhooks/${id}/Secret`, { accept: 'application/xml' })
    expect(body).toContain(`<WebhookSecret><Secret>${secret.Secret}</Secret><FormerSecret>${former}</FormerSecret>`)
  })

  test('lets both sign for 24 hours, the new one first, and then the new one alone', async () => {
    const startMs = server.clock.ms
    const { Secret, FormerSecret } = await rotated()
    const at = async (ms: number) =>
      signingSecrets(server.services.secrets, await stored(server, shop, id), new Date(startMs + ms))

    expect(await at(0)).toEqual([Secret, FormerSecret])
    expect(await at(DAY_MS - 1)).toEqual([Secret, FormerSecret])
    expect(await at(DAY_MS)).toEqual([Secret])
    server.clock.ms += DAY_MS
    const later = await show()
    server.clock.ms = startMs
    expect(later).toEqual({ Secret, FormerSecret: '', FormerSecretUntil: '', DateRotated: '2026-03-10T12:00:00' })
  })

  test('twice leaves the first two: one from before signs no more', async () => {
    const { Secret: first } = await show()
    const { Secret: second } = await rotated()
    const { Secret: third, FormerSecret } = await rotated()

    expect(FormerSecret).toBe(second)
    expect(new Set([first, second, third]).size).toBe(3)
  })

  test('with an Idempotency-Key rotates once, and nothing secret is stored with the answer', async () => {
    const first = await rotate(`rotate-${id}`)
    const second = await rotate(`rotate-${id}`)

    expect(second.body).toBe(first.body)
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([undefined, 'true'])
    const answers = await server.database.db.idempotencyAnswer.findMany({ where: { storeId: shop.store.id } })
    expect(answers.map(({ item }) => item)).toEqual([
      { Key: 'Id', Value: String(id), Status: '200', Message: 'updated successfully' },
    ])
  })

  test('is no change of the record: its ETag and DateUpdated stay', async () => {
    const before = await shop.call('GET', `/Webhooks/${id}`)
    server.clock.ms += 120_000
    await rotate()
    server.clock.ms -= 120_000
    const after = await shop.call('GET', `/Webhooks/${id}`)
    expect([after.body, after.headers.etag]).toEqual([before.body, before.headers.etag])
  })

  test('at once leaves secrets of which each was shown to somebody', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, rotated))
    const { Secret, FormerSecret } = await show()
    expect(all.map((each) => each.Secret)).toContain(Secret)
    expect([...all.map((each) => each.Secret), ...all.map((each) => each.FormerSecret)]).toContain(FormerSecret)
  })
})

test('nobody on the way may keep a secret, and no log has it', async () => {
  const before = await shop.call('GET', `/Webhooks/${id}/Secret`)
  const answer = await rotate()
  await server.services.callLog.flush()

  expect([before.headers['cache-control'], answer.headers['cache-control']]).toEqual(['no-store', 'no-store'])
  const { Secret, FormerSecret } = answer.json()[0]
  const { secretSealed } = await stored(server, shop, id)
  const calls = JSON.stringify(await server.database.db.apiCall.findMany(), (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(calls).toContain(`/Webhooks/${id}/Secret`)
  for (const secret of [Secret, FormerSecret, secretSealed]) {
    expect(server.log.join('')).not.toContain(secret)
    expect(calls).not.toContain(secret)
  }
})

test('what is stored leads to no secret without the secret key', async () => {
  const { Secret } = await show()
  const row = JSON.stringify(await stored(server, shop, id))
  expect(row).not.toContain(Secret)
  expect(row).not.toContain(Buffer.from(Secret.slice('whsec_'.length), 'base64').toString('hex'))
})

test('a webhook that was deleted meanwhile gets no new secret', async () => {
  await shop.call('DELETE', `/Webhooks/${id}`)
  await expect(rotateWebhookSecret(shop.caller, server.services.secrets, id)).rejects.toMatchObject({
    code: 'not-found',
  })
})
