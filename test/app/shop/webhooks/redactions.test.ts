import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import { updateApplication } from '../../../../src/access/applications/applications.ts'
import { createRemovalNotices } from '../../../../src/access/applications/subscriptions/removal-notices.ts'
import { subscribe, unsubscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { addRedactions } from '../../../../src/shop/webhooks/redactions.ts'
import { openAccess } from '../../../support/access.ts'
import { openReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { retryWaits } from '../../../support/retry-waits.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { auditOf, leftOf, nothing, type Scene, storeAndApplication } from '../../access/applications/subscribing.ts'

let receiver: Receiver

const access = await shared(openAccess())
const services = { ...access.services, log: { warn: () => undefined } }
beforeEach(async () => {
  await services.db.removalNotice.deleteMany()
  receiver = await ofTest(openReceiver())
})

/** A store that uses an application which asks to be told of erasures, with these settings besides. */
async function told(settings: object = {}, agreed = {}) {
  const scene = await storeAndApplication(services, receiver.url)
  const { id: subscriptionId, token } = await subscribe(services, scene.wanted)
  const data = { wantsErasures: true, ...settings }
  await services.db.application.update({ where: { id: scene.application.id }, data })
  await services.db.subscription.update({ where: { id: subscriptionId }, data: agreed })
  receiver.received.length = 0
  return { ...scene, token, subscriptionId }
}

const erase = ({ store }: Scene, customerId: number | null = 12, orderIds: readonly number[] = [3, 5]) =>
  inTransaction(services.db, (tx) => addRedactions(tx, services, { storeId: store.id, customerId, orderIds }))
const runDue = () => createRemovalNotices(services).runDue()

async function untilDue(scene: Scene) {
  const where = { ...scene.pair, action: 'REDACT' }
  const { nextAttemptAt } = await services.db.removalNotice.findFirstOrThrow({ where })
  access.clock.ms = nextAttemptAt.getTime()
}

test('an application that asks is told, signed, until it answers 200, also where it is removed meanwhile and being let in anew', async () => {
  const scene = await told({ privileges: { Orders: ['read'] } })
  const { subscriptionId } = scene
  await erase(scene)
  receiver.answer = status(500)
  await runDue()
  await unsubscribe(services, { ...scene.wanted, subscriptionId, force: true })
  receiver.answer = async (response, one) => {
    if (one.callback.Action === 'AUTHORIZE') await untilDue(scene).then(runDue)
    return status(one.callback.Action === 'AUTHORIZE' ? 200 : 500)(response, one)
  }
  const { token: other } = await subscribe(services, scene.wanted)
  receiver.answer = status(200)
  await untilDue(scene).then(runDue)
  const actions = receiver.received.map(({ callback }) => callback.Action)
  expect(actions).toEqual(['REDACT', 'REMOVE', 'AUTHORIZE', 'REDACT', 'REDACT'])
  const [[first], again] = [receiver.received, receiver.received.at(-1)]
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

test('an application that is closed to merchants meanwhile is not called, nor one of another store told', async () => {
  await told()
  const scene = await told()
  await erase(scene)
  expect(await services.db.removalNotice.findMany()).toMatchObject([scene.pair])
  await updateApplication(services, scene.application.id, { OpenToMerchants: false, Privileges: { Orders: ['read'] } })
  await runDue()
  expect(receiver.received).toEqual([])
})

test('a guest is 0; of more than 1,000 orders there are several callbacks, which hold up no other application', async () => {
  const orders = Array.from({ length: 5_001 }, (_, index) => index + 1)
  const scene = await told()
  await erase(scene, null, orders)
  const other = await told()
  await erase(other)
  const [released, callbacks] = [Promise.withResolvers<void>(), [] as { CustomerID: number; OrderIDs: number[] }[]]
  receiver.answer = async (response, one) => {
    if (one.callback.PublicKey === other.application.publicKey) released.resolve()
    else callbacks.push(JSON.parse(one.text))
    await released.promise
    return status(200)(response, one)
  }
  await runDue()
  expect(await services.db.removalNotice.count()).toBe(0)
  expect(callbacks.map(({ CustomerID }) => CustomerID)).toEqual(Array(6).fill(0))
  expect(callbacks.every(({ OrderIDs }) => OrderIDs.length <= 1_000)).toBe(true)
  expect(new Set(callbacks.flatMap(({ OrderIDs }) => OrderIDs))).toEqual(new Set(orders))
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(7)
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
