import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { updateApplication } from '../../../../src/access/applications/applications.ts'
import { createRemovalNotices } from '../../../../src/access/applications/subscriptions/removal-notices.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { addRedactions } from '../../../../src/shop/webhooks/redactions.ts'
import { openAccess } from '../../../support/access.ts'
import { openReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { retryWaits } from '../../../support/retry-waits.ts'
import { shared } from '../../../support/shared.ts'
import { auditOf, leftOf, nothing, type Scene, storeAndApplication } from '../../access/applications/subscribing.ts'

let receiver: Receiver

const access = await shared(openAccess())
const services = { ...access.services, log: { warn: () => undefined } }
beforeEach(async () => {
  await services.db.removalNotice.deleteMany()
  receiver = await openReceiver()
})
afterEach(() => receiver.close())

/** A store that uses an application which asks to be told of erasures, with these settings besides. */
async function told(settings: object = {}, agreed = {}) {
  const scene = await storeAndApplication(services, receiver.url)
  const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
  await services.db.application.update({
    where: { id: scene.application.id },
    data: { wantsErasures: true, ...settings },
  })
  await services.db.subscription.update({ where: { id: subscriptionId }, data: agreed })
  receiver.received.length = 0
  return { ...scene, token, subscriptionId }
}

const erase = ({ store }: Scene, customerId: number | null = 12, orderIds: readonly number[] = [3, 5]) =>
  inTransaction(services.db, (tx) => addRedactions(tx, services, { storeId: store.id, customerId, orderIds }))
const runDue = () => createRemovalNotices(services).runDue()

async function untilDue(scene: Scene) {
  const { nextAttemptAt } = await services.db.removalNotice.findFirstOrThrow({ where: scene.pair })
  access.clock.ms = nextAttemptAt.getTime()
}

test('an application that asks for it is told of an erasure, signed, until it answers 200, also where it is removed or let in anew', async () => {
  const scene = await told({ privileges: { Orders: ['read'] } })
  await erase(scene)
  await services.db
    .$transaction(async (tx) => {
      await addRedactions(tx, services, { storeId: scene.store.id, customerId: 99, orderIds: [] })
      throw new Error('undone')
    })
    .catch(() => undefined)
  receiver.answer = status(500)
  await runDue()
  await unsubscribe(services, {
    ...scene.wanted,
    storeId: scene.store.id,
    subscriptionId: scene.subscriptionId,
    force: true,
  })
  receiver.answer = status(200)
  const { token: other } = await subscribe(services, scene.wanted)
  await untilDue(scene)
  await runDue()
  const [first, remove, authorize, again, ...more] = receiver.received
  expect([remove, authorize].map((one) => one?.callback.Action)).toEqual(['REMOVE', 'AUTHORIZE'])
  expect(more).toEqual([])
  const { secureUrl } = scene.store
  const { publicKey, callbackSecretSealed } = scene.application
  expect(first?.text).toBe(
    `{"PublicKey":"${publicKey}","TimeStamp":"03-01-2026 07:00:00","TokenKey":"${scene.token}","Action":"REDACT","SecureURL":"${secureUrl}","CustomerID":12,"OrderIDs":[3,5]}`,
  )
  expect(other).not.toBe(scene.token)
  expect(again?.text).toBe(first?.text)
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  const signer = new Webhook(services.secrets.open(callbackSecretSealed))
  const signature = signer.sign(String(first?.headers['webhook-id']), services.now(), again?.text ?? '')
  expect(again?.headers['webhook-signature']).toBe(signature)
  expect(await leftOf(services, scene)).toEqual({ ...nothing, subscriptions: 1 })
})

test.each([
  ['that does not ask for it', { wantsErasures: false }, {}],
  ['without an address', { callbackUrl: null }, {}],
  ['that is closed to merchants', { openToMerchants: false }, {}],
  ['that may not read', { privileges: { Orders: ['write'], Products: ['read'] } }, {}],
  ['that the store lets read others', { privileges: { Customers: ['read'] } }, { privileges: { Orders: ['read'] } }],
])('an application %s is not told', async (_which, settings, agreed) => {
  await erase(await told(settings, agreed))
  expect(await services.db.removalNotice.count()).toBe(0)
})

test('the applications of other stores are not told; one that is closed meanwhile is not called', async () => {
  const [scene, other] = [await told(), await told()]
  await erase(scene)
  expect(await services.db.removalNotice.count({ where: other.pair })).toBe(0)
  await updateApplication(services, scene.application.id, { OpenToMerchants: false, Privileges: { Orders: ['read'] } })
  await runDue()
  expect(receiver.received).toEqual([])
})

test('a guest is 0; of more than 1,000 orders there are several callbacks, one of an application at a time', async () => {
  const scene = await told()
  const orders = Array.from({ length: 2_001 }, (_, index) => index + 1)
  await erase(scene, null, orders)
  let underWay = 0
  receiver.answer = async (response, one) => {
    expect(++underWay).toBe(1)
    await new Promise((resolve) => setImmediate(resolve))
    underWay--
    return status(200)(response, one)
  }
  await runDue()
  const bodies = receiver.received.map(({ text }) => JSON.parse(text) as { CustomerID: number; OrderIDs: number[] })
  expect(bodies.map(({ CustomerID, OrderIDs }) => [CustomerID, OrderIDs.length])).toEqual([
    [0, 1_000],
    [0, 1_000],
    [0, 1],
  ])
  expect(bodies.flatMap(({ OrderIDs }) => OrderIDs)).toEqual(orders)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
})

test('one that is never accepted is given up after ten attempts, and the log says what was asked', async () => {
  const scene = await told()
  receiver.answer = status(503)
  await erase(scene)
  for (const _ of [0, ...retryWaits]) {
    await untilDue(scene)
    await runDue()
  }
  expect(receiver.received).toHaveLength(10)
  expect(await leftOf(services, scene)).toMatchObject({ notices: 0, handshakes: 0 })
  const details = { asked: 'REDACT', attempts: 10, givenUp: true, reason: 'The answer has the status 503 and not 200' }
  expect((await auditOf(services, scene)).at(-1)).toMatchObject({ action: 'subscription.refused', details })
})
