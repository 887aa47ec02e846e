import { requestFactorRemoval } from '../../../src/access/people/factors/removal.ts'
import { requestReset } from '../../../src/access/people/reset.ts'
import { invite } from '../../../src/shop/staff/invitations.ts'
import { registered, usedBy } from '../../app/http/pages/developers/fixture.ts'
import { mailTo, memberWith, tokenIn } from '../../app/shop/staff/fixture.ts'
import { operator } from '../../support/actors.ts'
import type { TestPerson } from '../../support/person.ts'
import { newDeveloper } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import type { Stage } from './browser.ts'
import type { Places } from './shop-fixture.ts'

/** Prepares links that were not used, an application with calls, a test store, an inbox, and people who lost their phones. */
export async function prepare(stage: Stage, shop: TestStore, developer: TestPerson): Promise<Places> {
  return {
    storeId: shop.store.id,
    ...(await sendLinks(stage, shop)),
    ...(await useApplication(stage, developer)),
    ...(await tryThingsOut(stage, developer)),
    ...(await losePhones(stage, shop)),
  }
}

async function sendLinks(stage: Stage, shop: TestStore): Promise<Places> {
  const [storeId, by] = [shop.store.id, { actor: operator, userId: null }]
  const invitation = { Email: 'new@shop.example', Role: 'orders', HandOver: true } as const
  const { link } = await invite(stage.services, storeId, invitation, by)
  const { email } = await memberWith(stage, shop, 'reader')
  await requestReset(stage.services, 'merchant', { Email: email }, { address: '192.0.2.1' })
  const mail = await mailTo(stage, email)
  return { invitationToken: tokenIn(link ?? ''), resetToken: tokenIn(mail?.link ?? '') }
}

/** Calls of an application, one with everything that is kept, and all of it long. */
async function useApplication(stage: Stage, developer: TestPerson): Promise<Places> {
  const asked = { RedirectURIs: ['https://app.example/back'], Privileges: { Orders: ['read'] } }
  const application = await registered(developer, { Name: 'Order sync', ...asked })
  const { store } = await usedBy(stage, application)
  const { callLog, db } = stage.services
  const { id: subscriptionId } = await db.subscription.findFirstOrThrow({ where: { storeId: store.id } })
  await db.subscription.update({ where: { id: subscriptionId }, data: { keepsBodies: true } })
  const call = { subscriptionId, requestId: '5f0c1f4e-8d8c-4c39-9f55-f8e6c62b8d07', ignored: [], body: null }
  callLog.record({ ...call, method: 'GET', path: '/StoreWebAPI/v1/Products', status: 200, message: '' })
  callLog.record({
    ...call,
    method: 'PUT',
    path: `/StoreWebAPI/v1/${'Products'.repeat(20)}`,
    status: 400,
    message: `SKUInfo.Price must be a number, ${'and '.repeat(50)}more`,
    ignored: ['SKUInfo.Prise', `${'Nested.'.repeat(30)}Name`],
    body: JSON.stringify({ SKUInfo: { SKU: 'LAMP', Price: 'cheap', Description: 'x'.repeat(2_000) } }),
  })
  await callLog.flush()
  return { applicationId: application.Id, publicKey: application.PublicKey, subscriptionId }
}

/** A test store in which something has happened, and an inbox with a message that is signed. */
async function tryThingsOut({ app, services }: Stage, developer: TestPerson): Promise<Places> {
  const made = async (path: string, body: object) => (await developer.call('POST', path, body)).json()
  const { Id: testStoreId } = await made('/developers/test-stores', { Name: 'Returns and refunds' })
  await services.testStores.settle()
  for (const Kind of ['return', 'stock']) await made(`/developers/test-stores/${testStoreId}/changes`, { Kind })
  const { Address } = await made('/developers/inboxes', { Name: 'Order webhooks' })
  const { pathname } = new URL(Address)
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,none' }
  await app.inject({ method: 'POST', url: `${pathname}?from=here`, headers, payload: [{ OrderID: 5 }] })
  const { id } = await services.db.inboxMessage.findFirstOrThrow()
  return { testStoreId, inbox: pathname.split('/').at(-1) ?? '', messageId: Number(id) }
}

/** Two people with a second factor, of which an operator takes one off. */
async function losePhones(stage: Stage, shop: TestStore): Promise<Places> {
  const { db, secrets, now } = stage.services
  const newFactor = async (where: object) => {
    const { id } = await db.identity.findFirstOrThrow({ where })
    await db.identity.update({ where: { id }, data: { totpSealed: secrets.seal('key'), totpSince: now() } })
    return id
  }
  const { Email } = await newDeveloper(stage)
  const factorId = await newFactor({ email: Email })
  const endingId = await newFactor({ users: { some: { storeId: shop.store.id, role: 'reader' } } })
  await requestFactorRemoval(stage.services, endingId, operator)
  return { factorId, endingId }
}
