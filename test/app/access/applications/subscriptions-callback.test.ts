import { beforeEach, describe, expect, test } from 'vitest'
import { subscriptionById } from '../../../../src/access/applications/subscriptions/subscription-rows.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { openAccess } from '../../../support/access.ts'
import { holdAnswers, json, openReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { auditOf, leftOf, merchant, nothing, type Scene, statusWith, storeAndApplication } from './subscribing.ts'

// The state table of contract §3, with applications that have a CallBackURL.

let receiver: Receiver
let scene: Scene

const access = await shared(openAccess())
const { services } = access
beforeEach(async () => {
  receiver = await ofTest(openReceiver())
  scene = await storeAndApplication(services, receiver.url)
})

const notResponding = { code: 'bad-gateway', status: 502, message: 'Server not Responding' }
const subscribedOnly = { ...nothing, subscriptions: 1 }

const told = () => receiver.received.map(({ callback }) => `${callback.Action} ${callback.TokenKey}`)

describe('a store that does not use the application', () => {
  test('subscribes when the application answers 200: the token that it was told works from then on', async () => {
    const { arrived, release } = holdAnswers(receiver, json({ PostBackURL: 'https://app.example/welcome?x=1' }))
    const subscribing = subscribe(services, scene.wanted)
    await arrived
    const { callback, headers } = receiver.received[0] ?? {}
    expect(callback).toEqual({
      PublicKey: scene.application.publicKey,
      TimeStamp: '03-01-2026 07:00:00',
      TokenKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      Action: 'AUTHORIZE',
      SecureURL: scene.store.secureUrl,
    })
    expect(headers?.['webhook-id']).toMatch(/^msg_/)
    expect(await statusWith(services, scene, callback?.TokenKey ?? '')).toBe(401)
    release()

    const subscribed = await subscribing
    expect(subscribed).toEqual({
      id: expect.any(Number),
      token: callback?.TokenKey,
      created: true,
      postBackUrl: 'https://app.example/welcome?x=1',
    })
    expect(await statusWith(services, scene, subscribed.token)).toBe(200)
    expect(receiver.received).toHaveLength(1)
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect(await auditOf(services, scene)).toEqual([
      { action: 'subscription.created', actor: merchant.name, details: { privileges: null } },
    ])
    const found = await subscriptionById(services, { storeId: scene.store.id, subscriptionId: subscribed.id })
    expect(found.postBackUrl).toBe('https://app.example/welcome?x=1')
  })

  test.each([201, 204, 302, 400, 500])('stays so when the application answers %i', async (code) => {
    receiver.answer = status(
      code,
      { location: receiver.url },
      code === 204 ? '' : '{"PostBackURL":"https://app.example/"}',
    )
    await expect(subscribe(services, scene.wanted)).rejects.toMatchObject(notResponding)
    await expectNothingLeft()
    expect(await auditOf(services, scene)).toEqual([
      {
        action: 'subscription.refused',
        actor: merchant.name,
        details: {
          asked: 'AUTHORIZE',
          messageId: receiver.received[0]?.headers['webhook-id'],
          reason: `The answer has the status ${code} and not 200`,
        },
      },
    ])
  })

  test('stays so, with the reason in the audit and the log alone, when the address must not be called', async () => {
    for (const callbackUrl of ['http://169.254.169.254/latest', 'http://10.0.0.5/', 'file:///etc/passwd']) {
      const forbidden = await storeAndApplication(services, callbackUrl)
      const refusal = await subscribe(services, forbidden.wanted).catch((error) => error)
      expect(refusal).toMatchObject(notResponding)
      const [entry, ...others] = await auditOf(services, forbidden)
      expect(entry).toMatchObject({
        action: 'subscription.refused',
        details: { asked: 'AUTHORIZE', reason: refusal.logDetail },
      })
      expect(others).toEqual([])
      expect(refusal.logDetail).toMatch(/\w+ \w+/)
      expect(await leftOf(services, forbidden)).toEqual(nothing)
    }
  })

  test('can try again: another token, another message, and what was refused does not count', async () => {
    receiver.answer = status(500)
    await expect(subscribe(services, scene.wanted)).rejects.toMatchObject(notResponding)
    receiver.answer = status(200)
    const { token } = await subscribe(services, scene.wanted)
    const [first, second] = receiver.received
    expect(second?.callback.TokenKey).toBe(token)
    expect(first?.callback.TokenKey).not.toBe(token)
    expect(first?.headers['webhook-id']).not.toBe(second?.headers['webhook-id'])
    expect(await statusWith(services, scene, first?.callback.TokenKey ?? '')).toBe(401)
  })

  test('holds no connection to the database while the application thinks', async () => {
    const { arrived, release } = holdAnswers(receiver)
    const subscribing = subscribe(services, scene.wanted)
    await arrived
    const [row] = await services.db.$queryRaw<{ busy: number }[]>`
      SELECT count(*)::int AS "busy" FROM pg_stat_activity
      WHERE "datname" = current_database() AND "state" <> 'idle' AND "pid" <> pg_backend_pid()`
    expect(row?.busy).toBe(0)
    release()
    await subscribing
  })
})

describe('a store that uses the application', () => {
  test('unsubscribes when the application answers 200 to REMOVE: until then the token works, from then on not', async () => {
    const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver)
    const unsubscribing = unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant })
    await arrived
    expect(receiver.received[1]?.callback).toEqual({
      PublicKey: scene.application.publicKey,
      TimeStamp: '03-01-2026 07:00:00',
      TokenKey: token,
      Action: 'REMOVE',
      SecureURL: scene.store.secureUrl,
    })
    expect(await statusWith(services, scene, token)).toBe(200)
    release()
    await unsubscribing
    expect(await statusWith(services, scene, token)).toBe(401)
    expect(await leftOf(services, scene)).toEqual(nothing)
    expect((await auditOf(services, scene)).at(-1)).toEqual({
      action: 'subscription.removed',
      actor: merchant.name,
      details: {},
    })
  })

  test.each([201, 302, 404, 500])('goes on using it when the application answers %i to REMOVE', async (code) => {
    const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
    receiver.answer = status(code, { location: receiver.url })
    const unsubscribing = unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant })
    await expect(unsubscribing).rejects.toMatchObject(notResponding)
    expect(await statusWith(services, scene, token)).toBe(200)
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect((await auditOf(services, scene)).at(-1)).toEqual({
      action: 'subscription.refused',
      actor: merchant.name,
      details: {
        asked: 'REMOVE',
        messageId: receiver.received[1]?.headers['webhook-id'],
        reason: `The answer has the status ${code} and not 200`,
      },
    })
  })

  test('is rid of it all the same, knowingly, and the notice is kept for later', async () => {
    const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
    receiver.answer = status(500)
    await unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant, force: true })
    expect(told()).toEqual([`AUTHORIZE ${token}`, `REMOVE ${token}`])
    expect(await statusWith(services, scene, token)).toBe(401)
    expect(await leftOf(services, scene)).toEqual({ ...nothing, notices: 1 })
    expect((await auditOf(services, scene)).at(-1)).toEqual({
      action: 'subscription.removed',
      actor: merchant.name,
      details: { forced: true, reason: 'The answer has the status 500 and not 200' },
    })
    const notice = await services.db.removalNotice.findFirstOrThrow({ where: scene.pair })
    expect(services.secrets.open(notice.bodySealed)).toBe(receiver.received[1]?.text)
    expect(notice).toMatchObject({
      url: receiver.url,
      attempts: 1,
      messageId: receiver.received[1]?.headers['webhook-id'],
    })
    const waitMs = notice.nextAttemptAt.getTime() - services.now().getTime()
    expect(waitMs).toBeGreaterThanOrEqual(4_000)
    expect(waitMs).toBeLessThanOrEqual(6_000)
  })

  test('keeps no notice when the application answers 200 to what was forced', async () => {
    const { id: subscriptionId } = await subscribe(services, scene.wanted)
    await unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant, force: true })
    expect(await leftOf(services, scene)).toEqual(nothing)
    expect((await auditOf(services, scene)).at(-1)).toMatchObject({ action: 'subscription.removed', details: {} })
  })

  test('unsubscribes at once where nobody wants to be told any more', async () => {
    const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
    await services.db.application.update({ where: { id: scene.application.id }, data: { callbackUrl: null } })
    await unsubscribe(services, { storeId: scene.store.id, subscriptionId, actor: merchant })
    expect(told()).toEqual([`AUTHORIZE ${token}`])
    expect(await leftOf(services, scene)).toEqual(nothing)
  })
})

async function expectNothingLeft() {
  expect(await leftOf(services, scene)).toEqual(nothing)
  expect(receiver.received).toHaveLength(1)
  expect(await statusWith(services, scene, receiver.received[0]?.callback.TokenKey ?? '')).toBe(401)
}
