import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { sendCallback } from '../../../../src/access/applications/subscriptions/callback.ts'
import {
  awaitHandshake,
  claimHandshake,
  WAIT_MS,
} from '../../../../src/access/applications/subscriptions/handshakes.ts'
import type { Subscribed } from '../../../../src/access/applications/subscriptions/subscription-rows.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { connect, type Db } from '../../../../src/foundation/database/client.ts'
import { createOutbound, type Outbound } from '../../../../src/foundation/outbound/outbound.ts'
import { createSecrets, generateKey } from '../../../../src/foundation/values/secrets.ts'
import {
  auditOf,
  leftOf,
  merchant,
  nothing,
  type Scene,
  statusWith,
  storeAndApplication,
} from '../../../app/access/applications/subscribing.ts'
import { openAccess, type Services } from '../../../support/access.ts'
import { untilItWaits } from '../../../support/held.ts'
import { type Answer, holdAnswers, json, openReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { type Run, runProgram } from '../../../support/run-server.ts'

// Double clicks, two processes, and a kill between the callback and what it allows.

/** Above the time after which a holder is taken for dead. */
const CLAIM_OVER_MS = 15_001

const secretKey = 'the secret key of all processes, 32+'

let access: Awaited<ReturnType<typeof openAccess>>
let services: Services
/** Another process on the same database. */
let others: Services
let otherDb: Db
let otherOutbound: Outbound
let receiver: Receiver
let scene: Scene
let child: Run | undefined

beforeAll(async () => {
  access = await openAccess()
  otherDb = connect(access.url)
  otherOutbound = createOutbound({ allow: ['127.0.0.1'] })
  services = processOn(access.services.db, access.services.outbound)
  others = processOn(otherDb, otherOutbound)
})
beforeEach(async () => {
  receiver = await openReceiver()
  scene = await storeAndApplication(services, receiver.url)
})
afterEach(async () => {
  await child?.end('SIGKILL')
  child = undefined
  await receiver.close()
})
afterAll(async () => {
  await otherOutbound.close()
  await otherDb.$disconnect()
  await access.close()
})

const notResponding = { code: 'bad-gateway', status: 502, message: 'Server not Responding' }
const subscribedOnly = { ...nothing, subscriptions: 1 }

const told = () => receiver.received.map(({ callback }) => `${callback.Action} ${callback.TokenKey}`)
const messageIds = () => receiver.received.map(({ headers }) => headers['webhook-id'])
const actions = async () => (await auditOf(services, scene)).map(({ action }) => action)
const removal = (subscriptionId: number) => ({ storeId: scene.store.id, subscriptionId, actor: merchant })

function processOn(db: Db, outbound: Outbound): Services {
  const secrets = createSecrets(secretKey)
  const authenticator = createAuthenticator({ db, secrets, now: access.services.now })
  return { ...access.services, db, secrets, outbound, authenticator }
}

/** Twenty times, in two processes. */
function twenty<T>(work: (process: Services) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: 20 }, (_, index) => work(index % 2 ? others : services)))
}

/** Twenty at once while the application thinks, and one that comes later; then it says `answered`. What became of each. */
async function whileItThinks<T>(answered: Answer, work: (process: Services) => Promise<T>) {
  const { arrived, release } = holdAnswers(receiver, answered)
  const all = twenty(work)
  await arrived
  const late = watched(others)
  const last = work(late.process)
  await late.waits(last)
  release()
  return [...(await all), ...(await Promise.allSettled([last]))]
}

describe('twenty at once, in two processes', () => {
  test('subscribe by one callback, and all get the same answer', async () => {
    const answer = json({ PostBackURL: 'https://app.example/welcome' })
    const all = await whileItThinks(answer, (process) => subscribe(process, scene.wanted))
    const subscribed = all.map((one) => (one as PromiseFulfilledResult<Subscribed>).value)
    expect(told()).toEqual([`AUTHORIZE ${subscribed[0]?.token}`])
    expect(new Set(subscribed.map(({ id, token, postBackUrl }) => `${id} ${token} ${postBackUrl}`)).size).toBe(1)
    expect(subscribed.filter(({ created }) => created)).toHaveLength(1)
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect(await actions()).toEqual(['subscription.created'])
  })

  test('are refused by one callback', async () => {
    const all = await whileItThinks(status(500), (process) => subscribe(process, scene.wanted))
    for (const one of all) expect(one).toMatchObject({ status: 'rejected', reason: notResponding })
    expect(receiver.received).toHaveLength(1)
    expect(await leftOf(services, scene)).toEqual(nothing)
    expect(await actions()).toEqual(['subscription.refused'])
  })

  test('unsubscribe by one callback, and none is told that there was nothing to end', async () => {
    const { id, token } = await subscribe(services, scene.wanted)
    const all = await whileItThinks(status(200), (process) => unsubscribe(process, removal(id)))
    for (const one of all) expect(one).toMatchObject({ status: 'fulfilled' })
    expect(told()).toEqual([`AUTHORIZE ${token}`, `REMOVE ${token}`])
    expect(await leftOf(services, scene)).toEqual(nothing)
    expect(await actions()).toEqual(['subscription.created', 'subscription.removed'])
  })

  test('are refused the removal by one callback', async () => {
    const { id, token } = await subscribe(services, scene.wanted)
    const all = await whileItThinks(status(503), (process) => unsubscribe(process, removal(id)))
    for (const one of all) expect(one).toMatchObject({ status: 'rejected', reason: notResponding })
    expect(told()).toEqual([`AUTHORIZE ${token}`, `REMOVE ${token}`])
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
  })

  test('subscribe and unsubscribe: the application was told last what is so', async () => {
    for (let round = 0; round < 3; round++) {
      const all = await twenty(async (process) => {
        const { id } = await subscribe(process, scene.wanted)
        await unsubscribe(process, removal(id))
      })
      // Nobody was refused anything, so nobody hears so; one may find removed what it was given a moment ago.
      const refusals = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
      expect(refusals.filter((code) => code !== 'not-found')).toEqual([])
      if (round % 2) await twenty((process) => subscribe(process, scene.wanted))
      const subscription = await services.db.subscription.findUnique({ where: { storeId_applicationId: scene.pair } })
      const token = subscription && services.secrets.open(subscription.tokenSealed)
      expect(told().at(-1)).toMatch(token ? `AUTHORIZE ${token}` : /^REMOVE/)
    }
    const pairs = told().join(' ')
    expect(pairs).toMatch(/^(AUTHORIZE (\w+) REMOVE \2 ?)+(AUTHORIZE \w+)?$/)
    expect((await leftOf(services, scene)).handshakes).toBe(0)
  })
})

describe('who comes while another asks', () => {
  test('and wants the application back waits for the removal, and gets a token of its own', async () => {
    const first = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver)
    const unsubscribing = unsubscribe(services, removal(first.id))
    await arrived
    const { process, waits } = watched(others)
    const again = subscribe(process, scene.wanted)
    await waits(again)
    release()
    await unsubscribing
    const second = await again
    expect(second.created).toBe(true)
    expect(told()).toEqual([`AUTHORIZE ${first.token}`, `REMOVE ${first.token}`, `AUTHORIZE ${second.token}`])
    expect(await statusWith(others, scene, second.token)).toBe(200)
  })

  test('and wants to keep the application keeps its token when the removal is refused', async () => {
    const first = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver, status(500))
    const unsubscribing = unsubscribe(services, removal(first.id)).catch((error) => error)
    await arrived
    const { process, waits } = watched(others)
    const again = subscribe(process, scene.wanted)
    await waits(again)
    release()
    expect(await unsubscribing).toMatchObject(notResponding)
    expect(await again).toEqual({ ...first, created: false })
  })

  test('and removes all the same does so, whatever the other hears', async () => {
    const { id } = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver, status(500))
    const unsubscribing = unsubscribe(services, removal(id)).catch((error) => error)
    await arrived
    const { process, waits } = watched(others)
    const forced = unsubscribe(process, { ...removal(id), force: true })
    await waits(forced)
    release()
    expect(await unsubscribing).toMatchObject(notResponding)
    await forced
    expect(await leftOf(services, scene)).toEqual({ ...nothing, notices: 1 })
  })

  test('waits for 30 seconds at most, however often', async () => {
    await claimHandshake(services, { ...scene.pair, action: 'AUTHORIZE', token: generateKey() })
    expect(WAIT_MS).toBe(30_000)
    // The clock stands, so the claim never ends.
    const wait = { leftMs: 100 }
    expect(await awaitHandshake(services, scene.pair, wait)).toBe(null)
    expect(wait.leftMs).toBeLessThanOrEqual(0)
  })
})

describe('after a process was killed', () => {
  /** What it leaves that was killed before it could act upon an answer. */
  async function killed(action: 'AUTHORIZE' | 'REMOVE', token: string) {
    const handshake = await claimHandshake(services, { ...scene.pair, action, token })
    if (!handshake) throw new Error('It is held')
    const application = { ...scene.application, callbackUrl: receiver.url }
    const { messageId } = handshake
    await sendCallback(services, { application, action, token, secureUrl: scene.store.secureUrl, messageId })
    return handshake
  }

  test('that was subscribing, the next one uses the token and the message that the application was told', async () => {
    const { token, messageId } = await killed('AUTHORIZE', generateKey())
    const { process, waits } = watched(others)
    const subscribing = subscribe(process, scene.wanted)
    await waits(subscribing)
    expect(await statusWith(services, scene, token)).toBe(401)
    access.clock.ms += CLAIM_OVER_MS
    expect(await subscribing).toMatchObject({ token, created: true })
    expect(told()).toEqual([`AUTHORIZE ${token}`, `AUTHORIZE ${token}`])
    expect(messageIds()).toEqual([messageId, messageId])
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect(await statusWith(services, scene, token)).toBe(200)
  })

  test('that was subscribing, and an application that refuses by now, nothing is left', async () => {
    const { token } = await killed('AUTHORIZE', generateKey())
    access.clock.ms += CLAIM_OVER_MS
    receiver.answer = status(500)
    await expect(subscribe(others, scene.wanted)).rejects.toMatchObject(notResponding)
    expect(await leftOf(services, scene)).toEqual(nothing)
    expect(await statusWith(services, scene, token)).toBe(401)
  })

  test('that was subscribing, one of twenty takes over', async () => {
    const { token } = await killed('AUTHORIZE', generateKey())
    access.clock.ms += CLAIM_OVER_MS
    for (const one of await twenty((process) => subscribe(process, scene.wanted))) {
      expect(one).toMatchObject({ status: 'fulfilled', value: { token } })
    }
    expect(receiver.received).toHaveLength(2)
  })

  test('that was unsubscribing, the next removal is the same message, and ends it', async () => {
    const { id, token } = await subscribe(services, scene.wanted)
    const { messageId } = await killed('REMOVE', token)
    access.clock.ms += CLAIM_OVER_MS
    await unsubscribe(others, removal(id))
    expect(told().slice(1)).toEqual([`REMOVE ${token}`, `REMOVE ${token}`])
    expect(messageIds().slice(1)).toEqual([messageId, messageId])
    expect(await leftOf(services, scene)).toEqual(nothing)
  })

  test('that was unsubscribing, a store that subscribes has the application told so', async () => {
    const { id, token } = await subscribe(services, scene.wanted)
    await killed('REMOVE', token)
    access.clock.ms += CLAIM_OVER_MS

    receiver.answer = status(500)
    await expect(subscribe(others, scene.wanted)).rejects.toMatchObject(notResponding)
    expect(await leftOf(services, scene)).toEqual({ ...subscribedOnly, handshakes: 1 })

    receiver.answer = json({ PostBackURL: 'https://app.example/again' })
    const again = await subscribe(others, scene.wanted)
    expect(again).toEqual({ id, token, created: false, postBackUrl: 'https://app.example/again' })
    expect(told().slice(1)).toEqual([`REMOVE ${token}`, `AUTHORIZE ${token}`, `AUTHORIZE ${token}`])
    expect(new Set(messageIds()).size).toBe(4)
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect(await statusWith(services, scene, token)).toBe(200)
  })

  test('by kill -9, between the answer 200 and its commit, the token that was told comes to work', async () => {
    const blocker = new pg.Client(access.url)
    await blocker.connect()
    receiver.answer = async (response) => {
      // What the answer allows has to wait, so that the kill comes before it.
      await blocker.query('BEGIN')
      await blocker.query('SELECT 1 FROM "Application" WHERE "id" = $1 FOR UPDATE', [scene.application.id])
      response.end()
    }
    const program = fileURLToPath(new URL('subscribe-child.ts', import.meta.url))
    const { storeId, publicKey } = scene.wanted
    child = runProgram(process.execPath, [program, access.url, secretKey, String(storeId), publicKey], {})
    await untilItWaits(services, child.exited)
    if (child.process.exitCode !== null) throw new Error(child.output())
    await child.end('SIGKILL')
    await blocker.query('ROLLBACK')
    await blocker.end()
    expect(await leftOf(services, scene)).toEqual({ ...nothing, handshakes: 1 })
    const tokenTold = receiver.received[0]?.callback.TokenKey

    access.clock.ms = Date.now() + CLAIM_OVER_MS
    receiver.answer = status(200)
    expect(await subscribe(services, scene.wanted)).toMatchObject({ token: tokenTold, created: true })
    expect(new Set(messageIds()).size).toBe(1)
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
  })
})

describe('a process that was taken for dead, and lives', () => {
  test('gets the same token as the one that took over, and changes nothing any more', async () => {
    const { arrived, release } = holdAnswers(receiver)
    const slow = subscribe(services, scene.wanted)
    await arrived
    access.clock.ms += CLAIM_OVER_MS
    receiver.answer = status(200)
    const quick = await subscribe(others, scene.wanted)
    release()
    expect(await slow).toEqual({ ...quick, created: false })
    expect(told()).toEqual([`AUTHORIZE ${quick.token}`, `AUTHORIZE ${quick.token}`])
    expect(await leftOf(services, scene)).toEqual(subscribedOnly)
    expect(await actions()).toEqual(['subscription.created'])
  })

  test('is heard no more, while the one that took over still asks', async () => {
    const first = holdAnswers(receiver, status(500))
    const { process, waits } = watched(services)
    const slow = subscribe(process, scene.wanted)
    await first.arrived
    access.clock.ms += CLAIM_OVER_MS
    const second = holdAnswers(receiver)
    const quick = subscribe(others, scene.wanted)
    await second.arrived
    first.release()
    await waits(slow)
    expect(await leftOf(services, scene)).toEqual({ ...nothing, handshakes: 1 })
    second.release()
    const subscribed = await quick
    expect(subscribed.created).toBe(true)
    expect(await slow).toEqual({ ...subscribed, created: false })
    expect(told()).toEqual([`AUTHORIZE ${subscribed.token}`, `AUTHORIZE ${subscribed.token}`])
    expect(await actions()).toEqual(['subscription.created'])
  })

  test('does not take away what the one that took over was allowed', async () => {
    const { arrived, release } = holdAnswers(receiver, status(500))
    const slow = subscribe(services, scene.wanted)
    await arrived
    access.clock.ms += CLAIM_OVER_MS
    receiver.answer = status(200)
    const quick = await subscribe(others, scene.wanted)
    release()
    expect(await slow).toEqual({ ...quick, created: false })
    expect(await actions()).toEqual(['subscription.created'])
  })
})

test('what goes wrong after the answer lets the next one use the token at once', async () => {
  const send: Outbound['send'] = async (request) => {
    await services.outbound.send(request)
    throw new Error('a defect')
  }
  const broken = { ...services, outbound: { ...services.outbound, send } }
  await expect(subscribe(broken, scene.wanted)).rejects.toThrow('a defect')
  const { token } = await subscribe(services, scene.wanted)
  expect(told()).toEqual([`AUTHORIZE ${token}`, `AUTHORIZE ${token}`])
  expect(new Set(messageIds()).size).toBe(1)
})

describe('what is deleted while the application thinks', () => {
  test.each([
    ['application', 'unknown-reference'],
    ['store', 'not-found'],
  ] as const)('the %s: nobody is subscribed, and the refusal says so', async (which, code) => {
    const { arrived, release } = holdAnswers(receiver)
    const subscribing = subscribe(services, scene.wanted).catch((error) => error)
    await arrived
    const waiting = subscribe(others, scene.wanted).catch((error) => error)
    await deleteIt(which)
    release()
    expect(await subscribing).toMatchObject({ code })
    expect(await waiting).toMatchObject({ code })
    expect(await leftOf(services, scene)).toEqual(nothing)
  })

  test.each(['application', 'store'] as const)('the %s: what was to be removed is', async (which) => {
    const { id } = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver)
    const unsubscribing = unsubscribe(services, removal(id))
    await arrived
    await deleteIt(which)
    release()
    await unsubscribing
    expect(await leftOf(services, scene)).toEqual(nothing)
  })

  test('the subscription, by what another process was allowed: what was to be removed is', async () => {
    const { id } = await subscribe(services, scene.wanted)
    const { arrived, release } = holdAnswers(receiver)
    const unsubscribing = unsubscribe(services, removal(id))
    await arrived
    access.clock.ms += CLAIM_OVER_MS
    receiver.answer = status(200)
    await unsubscribe(others, removal(id))
    release()
    await unsubscribing
    expect(await actions()).toEqual(['subscription.created', 'subscription.removed'])
  })

  test.each([
    ['application', 'unknown-reference'],
    ['store', 'not-found'],
  ] as const)('the %s, before it is asked at all: it is not asked, and the refusal says so', async (which, code) => {
    const { application } = services.db
    const db = meddled('application', {
      findUnique: async (...args: Parameters<typeof application.findUnique>) => {
        const found = await application.findUnique(...args)
        if (found) await deleteIt(which)
        return found
      },
    })
    await expect(subscribe({ ...services, db }, scene.wanted)).rejects.toMatchObject({ code })
    expect(receiver.received).toEqual([])
  })

  test('the application, before it is told of its removal: it is not told, and what was to be removed is', async () => {
    const { id } = await subscribe(services, scene.wanted)
    const { subscription } = services.db
    const db = meddled('subscription', {
      findFirst: async (...args: Parameters<typeof subscription.findFirst>) => {
        const found = await subscription.findFirst(...args)
        if (found) await deleteIt('application')
        return found
      },
    })
    await unsubscribe({ ...services, db }, removal(id))
    expect(receiver.received).toHaveLength(1)
  })

  /** The database, with something happening between two statements. */
  function meddled(name: string, table: object): Db {
    return new Proxy(services.db, { get: (target, each) => (each === name ? table : Reflect.get(target, each)) })
  }

  function deleteIt(which: 'application' | 'store') {
    if (which === 'application') return services.db.application.delete({ where: { id: scene.application.id } })
    return services.db.store.delete({ where: { id: scene.store.id } })
  }
})

/** A process of which it can be seen that it waits: it looks at the clock again and again. */
function watched(process: Services) {
  let looks = 0
  const now = () => {
    looks++
    return process.now()
  }
  return {
    process: { ...process, now },
    /** Comes back when the process has waited for a while, or when `work` has ended without. */
    waits: async (work: Promise<unknown>) => {
      let isOver = false
      const over = () => {
        isOver = true
      }
      work.then(over, over)
      await vi.waitFor(() => expect(isOver || looks > 5).toBe(true), { interval: 10, timeout: 10_000 })
    },
  }
}
