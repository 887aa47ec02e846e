import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRemovalNotices } from '../../../../src/access/applications/subscriptions/removal-notices.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { createOutbound } from '../../../../src/foundation/outbound/outbound.ts'
import { newSigningSecret } from '../../../../src/foundation/outbound/standard-webhooks.ts'
import { openAccess } from '../../../support/access.ts'
import { openGate } from '../../../support/gate.ts'
import { holdAnswers, openReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { retryWaits as waits } from '../../../support/retry-waits.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { auditOf, leftOf, merchant, nothing, type Scene, statusWith, storeAndApplication } from './subscribing.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

let receiver: Receiver
let scene: Scene
const warnings: string[] = []

const access = await shared(openAccess())
const otherDb = connect(access.url)
const services = { ...access.services, log: { warn: (_details: object, message: string) => warnings.push(message) } }
beforeEach(async () => {
  await services.db.removalNotice.deleteMany()
  warnings.length = 0
  receiver = await ofTest(openReceiver())
  scene = await storeAndApplication(services, receiver.url)
})
afterAll(async () => {
  await otherDb.$disconnect()
})

/** A store that removed an application which answers 500 to everything. */
async function removedAllTheSame(one: Scene = scene): Promise<{ token: string }> {
  receiver.answer = status(200)
  const { id: subscriptionId, token } = await subscribe(services, one.wanted)
  receiver.answer = status(500)
  await unsubscribe(services, { storeId: one.store.id, subscriptionId, actor: merchant, force: true })
  receiver.received.length = 0
  return { token }
}

const notices = () => services.db.removalNotice.findMany({ where: scene.pair })
const runDue = () => createRemovalNotices(services).runDue()

/** To the moment that the notice is due, and not a millisecond more. */
async function untilDue() {
  const notice = await services.db.removalNotice.findFirstOrThrow({ where: scene.pair })
  access.clock.ms = notice.nextAttemptAt.getTime()
}

test('is sent again when its time comes, byte for byte, under the same id, signed anew, and then forgotten', async () => {
  const { token } = await removedAllTheSame()
  const [notice] = await notices()
  await untilDue()
  access.clock.ms -= 1
  await runDue()
  expect(receiver.received).toEqual([])

  // The application may have come up with another secret meanwhile.
  const { id } = scene.application
  const secret = newSigningSecret()
  await services.db.application.update({ where: { id }, data: { callbackSecretSealed: services.secrets.seal(secret) } })
  access.clock.ms += 1
  receiver.answer = status(200)
  await runDue()
  const [again, ...others] = receiver.received
  expect(others).toEqual([])
  expect(again?.callback).toMatchObject({ Action: 'REMOVE', TokenKey: token, TimeStamp: '03-01-2026 07:00:00' })
  expect(again?.text).toBe(services.secrets.open(notice?.bodySealed ?? ''))
  const {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  } = again?.headers ?? {}
  expect(messageId).toBe(notice?.messageId)
  expect(timestamp).toBe(String(Math.floor(access.clock.ms / 1_000)))
  expect(signature).toBe(new Webhook(secret).sign(String(messageId), services.now(), again?.text ?? ''))
  expect(await leftOf(services, scene)).toEqual(nothing)
  expect((await auditOf(services, scene)).at(-1)).toMatchObject({ action: 'subscription.removed' })
})

test('is tried again after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, each up to a fifth more or less, and then given up', async () => {
  await removedAllTheSame()
  const [first] = await notices()
  for (const [index, wait] of waits.entries()) {
    const [notice] = await notices()
    expect(notice?.attempts).toBe(index + 1)
    const waitMs = (notice?.nextAttemptAt.getTime() ?? 0) - access.clock.ms
    expect(waitMs).toBeGreaterThanOrEqual(wait * 0.8)
    expect(waitMs).toBeLessThanOrEqual(wait * 1.2)
    await untilDue()
    receiver.answer = status(index % 2 ? 503 : 404)
    await runDue()
    expect(receiver.received).toHaveLength(index + 1)
  }
  expect(await leftOf(services, scene)).toEqual(nothing)
  expect((await auditOf(services, scene)).at(-1)).toEqual({
    action: 'subscription.refused',
    actor: scene.application.name,
    details: {
      asked: 'REMOVE',
      messageId: first?.messageId,
      reason: 'The answer has the status 404 and not 200',
      attempts: 10,
      givenUp: true,
    },
  })
  await runDue()
  expect(receiver.received).toHaveLength(waits.length)
})

test('waits are not all the same', async () => {
  const moments = new Set<number>()
  for (let round = 0; round < 5; round++) {
    const one = await storeAndApplication(services, receiver.url)
    await removedAllTheSame(one)
    const { nextAttemptAt } = await services.db.removalNotice.findFirstOrThrow({ where: one.pair })
    moments.add(nextAttemptAt.getTime())
  }
  expect(moments.size).toBeGreaterThan(1)
})

test('keeps what came of the last attempt, and its body sealed', async () => {
  const { token } = await removedAllTheSame()
  await untilDue()
  receiver.answer = status(418)
  await runDue()
  const [notice] = await notices()
  expect(notice).toMatchObject({ attempts: 2, reason: 'The answer has the status 418 and not 200' })
  expect(JSON.stringify(notice)).not.toContain(token)
})

describe('any number of processes', () => {
  function processes() {
    const other = { ...services, db: otherDb, outbound: createOutbound({ allow: ['127.0.0.1'] }) }
    return { both: [createRemovalNotices(services), createRemovalNotices(other)], close: () => other.outbound.close() }
  }

  test('send each notice once', async () => {
    const scenes = await Promise.all(Array.from({ length: 12 }, () => storeAndApplication(services, receiver.url)))
    for (const one of scenes) await removedAllTheSame(one)
    access.clock.ms += 10 * SECOND_MS
    receiver.answer = status(200)
    const { both, close } = processes()
    await Promise.all([...both, ...both].map((one) => one.runDue()))
    await close()
    expect(receiver.received).toHaveLength(scenes.length)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(scenes.length)
    expect(await services.db.removalNotice.count()).toBe(0)
  })

  test('have no more than five under way each', async () => {
    const scenes = await Promise.all(Array.from({ length: 12 }, () => storeAndApplication(services, receiver.url)))
    for (const one of scenes) await removedAllTheSame(one)
    access.clock.ms += 10 * SECOND_MS
    let underWay = 0
    let most = 0
    const { arrived, release } = holdAnswers(receiver)
    const { answer } = receiver
    receiver.answer = async (response, received) => {
      most = Math.max(most, ++underWay)
      await answer(response, received)
      underWay--
    }
    const sending = runDue()
    await arrived
    await vi.waitFor(() => expect(underWay).toBe(5))
    release()
    await sending
    expect(most).toBe(5)
    expect(receiver.received).toHaveLength(scenes.length)
  })

  test('go on with what a killed one had begun, after its lease, and count its attempt', async () => {
    await removedAllTheSame()
    await untilDue()
    const [notice] = await notices()
    // What a process leaves that was killed while it sent.
    const leasedUntil = new Date(access.clock.ms + MINUTE_MS)
    await services.db.removalNotice.updateMany({
      where: scene.pair,
      data: { attempts: 2, nextAttemptAt: leasedUntil },
    })
    const { storeId, applicationId } = scene.pair
    await services.db.handshake.create({
      data: {
        storeId,
        applicationId,
        action: 'REMOVE',
        tokenSealed: services.secrets.seal('a token'),
        messageId: 'msg_killed',
        claim: 'killed',
        claimedUntil: new Date(access.clock.ms + 15 * SECOND_MS),
      },
    })
    access.clock.ms = leasedUntil.getTime() - 1
    await runDue()
    expect(receiver.received).toEqual([])
    access.clock.ms += 1
    await runDue()
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([notice?.messageId])
    expect(await notices()).toMatchObject([{ attempts: 3 }])
    expect((await leftOf(services, scene)).handshakes).toBe(0)
  })

  test('keep nothing of an attempt that outlived its lease', async () => {
    await removedAllTheSame()
    await untilDue()
    const { arrived, release } = holdAnswers(receiver, status(500))
    const slow = runDue()
    await arrived
    receiver.answer = status(404)
    const other = createRemovalNotices({ ...services, db: otherDb })
    access.clock.ms += MINUTE_MS - 1
    await other.runDue()
    expect(receiver.received).toHaveLength(1)
    access.clock.ms += 1
    await other.runDue()
    const taken = await notices()
    expect(taken).toMatchObject([{ attempts: 3, reason: 'The answer has the status 404 and not 200' }])
    release()
    await slow
    expect(await notices()).toEqual(taken)
  })
})

describe('a store that subscribes again', () => {
  test('is not told of any more: the application would end what has just begun', async () => {
    await removedAllTheSame()
    receiver.answer = status(200)
    const { token } = await subscribe(services, scene.wanted)
    expect(await leftOf(services, scene)).toEqual({ ...nothing, subscriptions: 1 })
    access.clock.ms += HOUR_MS
    await runDue()
    expect(receiver.received.map(({ callback }) => callback.Action)).toEqual(['AUTHORIZE'])
    expect(await statusWith(services, scene, token)).toBe(200)
  })

  test('waits while the notice is under way, so that the application hears of the removal first', async () => {
    await removedAllTheSame()
    await untilDue()
    const { arrived, release } = holdAnswers(receiver)
    const sending = runDue()
    await arrived
    const subscribing = subscribe(services, scene.wanted)
    expect(receiver.received).toHaveLength(1)
    release()
    await sending
    await subscribing
    expect(receiver.received.map(({ callback }) => callback.Action)).toEqual(['REMOVE', 'AUTHORIZE'])
  })

  test('comes first where the application is being asked: the notice waits, uncounted, and is then not sent', async () => {
    await removedAllTheSame()
    await untilDue()
    const { arrived, release } = holdAnswers(receiver)
    const subscribing = subscribe(services, scene.wanted)
    await arrived
    await runDue()
    expect(receiver.received).toHaveLength(1)
    expect(await notices()).toMatchObject([{ attempts: 1 }])
    release()
    await subscribing
    access.clock.ms += HOUR_MS
    await runDue()
    expect(receiver.received).toHaveLength(1)
  })

  test('between the look for what is due and its sending has the notice not sent', async () => {
    await removedAllTheSame()
    await untilDue()
    receiver.answer = status(200)
    const { application } = services.db
    const findUnique = async (...args: Parameters<typeof application.findUnique>) => {
      await subscribe(services, scene.wanted)
      return application.findUnique(...args)
    }
    const db = new Proxy(services.db, {
      get: (target, name) => (name === 'application' ? { findUnique } : Reflect.get(target, name)),
    })
    await createRemovalNotices({ ...services, db }).runDue()
    expect(receiver.received.map(({ callback }) => callback.Action)).toEqual(['AUTHORIZE'])
    expect(await leftOf(services, scene)).toEqual({ ...nothing, subscriptions: 1 })
  })
})

test('one whose attempts all ended with their process is given up, and the log says so', async () => {
  await removedAllTheSame()
  await services.db.removalNotice.updateMany({ where: scene.pair, data: { attempts: waits.length + 1 } })
  await untilDue()
  receiver.answer = status(200)
  await runDue()
  expect(receiver.received).toEqual([])
  expect(await notices()).toEqual([])
  const [newest] = await services.db.auditEntry.findMany({ where: scene.pair, orderBy: { id: 'desc' }, take: 1 })
  expect(newest).toMatchObject({
    action: 'subscription.refused',
    details: { asked: 'REMOVE', givenUp: true, reason: 'The answer has the status 500 and not 200' },
  })
})

describe('what is deleted', () => {
  test('an application takes its notices with it', async () => {
    await removedAllTheSame()
    await services.db.application.delete({ where: { id: scene.application.id } })
    expect(await notices()).toEqual([])
  })

  test('a store does not: the application is told all the same', async () => {
    await removedAllTheSame()
    await services.db.store.delete({ where: { id: scene.store.id } })
    await untilDue()
    receiver.answer = status(200)
    await runDue()
    expect(receiver.received).toHaveLength(1)
    expect(await notices()).toEqual([])
  })
})

describe('the loop', () => {
  test('sends what is due by itself, until it is stopped, and then waits for what is under way', async () => {
    await removedAllTheSame()
    await untilDue()
    const { arrived, release } = holdAnswers(receiver)
    const loop = createRemovalNotices(services, { everyMs: 5 })
    loop.start()
    loop.start()
    await arrived
    let isStopped = false
    const stopping = loop.stop().then(() => {
      isStopped = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    release()
    await stopping
    expect(await notices()).toEqual([])
    expect(receiver.received).toHaveLength(1)
  })

  test('goes on after the database was away', async () => {
    await removedAllTheSame()
    await untilDue()
    receiver.answer = status(200)
    const gate = await openGate(access.url)
    const db = connect(gate.url)
    await gate.close()
    const loop = createRemovalNotices({ ...services, db }, { everyMs: 5 })
    loop.start()
    await vi.waitUntil(() => warnings.length >= 1)
    await gate.open()
    await vi.waitFor(async () => expect(await notices()).toEqual([]))
    await loop.stop()
    await db.$disconnect()
    await gate.close()
    expect(warnings).toEqual(['removal notices could not be looked for'])
  })

  test('stops at once when nothing is under way', async () => {
    const loop = createRemovalNotices(services, { everyMs: HOUR_MS })
    loop.start()
    await loop.stop()
    await createRemovalNotices(services).stop()
  })
})
