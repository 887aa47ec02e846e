import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeInput } from '../../support/access.ts'
import { untilItWaits } from '../../support/held.ts'
import { refused } from '../../support/refused.ts'
import { openAdmin } from './fixture.ts'

let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  admin = await openAdmin()
})
afterAll(() => admin.close())

async function storeAndApplication() {
  const store = (await admin.call('POST', '/admin/stores', storeInput())).json()
  const application = (await admin.call('POST', '/admin/applications', { Name: 'App' })).json()
  const credentialsWith = (token: string) => ({
    secureUrl: store.SecureURL,
    privateKey: application.PrivateKey,
    token,
  })
  return { store, application, credentialsWith, url: `/admin/stores/${store.Id}/subscriptions` }
}

test('POST answers 201 with the token, and again 200 with the same one', async () => {
  const { application, url } = await storeAndApplication()
  const first = await admin.call('POST', url, { PublicKey: application.PublicKey })
  expect(first.statusCode).toBe(201)
  expect(first.json()).toEqual({ Token: expect.stringMatching(/^[0-9a-f]{32}$/) })
  const second = await admin.call('POST', url, { publickey: application.PublicKey })
  expect(second.statusCode).toBe(200)
  expect(second.json()).toEqual(first.json())
})

test('the token calls in the name of store and application', async () => {
  const { store, application, credentialsWith, url } = await storeAndApplication()
  const { Token } = (await admin.call('POST', url, { PublicKey: application.PublicKey })).json()
  const { caller } = await admin.services.authenticator.authenticate(credentialsWith(Token))
  expect(caller).toMatchObject({ store: { id: store.Id }, application: { id: application.Id } })
})

test('GET lists the store’s subscriptions with their tokens', async () => {
  const { application, url } = await storeAndApplication()
  const { Token } = (await admin.call('POST', url, { PublicKey: application.PublicKey })).json()
  expect((await admin.call('GET', url)).json()).toEqual([
    {
      Id: expect.any(Number),
      ApplicationId: application.Id,
      Name: 'App',
      PublicKey: application.PublicKey,
      Token,
      Privileges: null,
      PrivilegesAsked: null,
      PostBackURL: null,
      DateLastUsed: null,
      DateCreated: '2026-03-01T12:00:00.000Z',
    },
  ])
  expect((await admin.call('GET', `${url}?offset=1`)).json()).toEqual([])
})

test('DELETE ends the subscription: 200, the token is refused at once, and a second DELETE answers 404', async () => {
  const { application, credentialsWith, url } = await storeAndApplication()
  const { Token } = (await admin.call('POST', url, { PublicKey: application.PublicKey })).json()
  const { authenticate } = admin.services.authenticator
  await authenticate(credentialsWith(Token))
  const [{ Id }] = (await admin.call('GET', url)).json()
  // Some clients name a content type with every request.
  const answer = await admin.call('DELETE', `${url}/${Id}`, undefined, {
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual([{ Key: 'Id', Value: String(Id), Status: '200', Message: 'Deleted successfully' }])
  await expect(authenticate(credentialsWith(Token))).rejects.toMatchObject({ status: 401 })
  expect(refused(await admin.call('DELETE', `${url}/${Id}`))).toMatchObject({ statusCode: 404, field: String(Id) })
})

test('DELETE by way of another store answers 404, and the token goes on working', async () => {
  const one = await storeAndApplication()
  const other = await storeAndApplication()
  const { Token } = (await admin.call('POST', one.url, { PublicKey: one.application.PublicKey })).json()
  const [{ Id }] = (await admin.call('GET', one.url)).json()
  expect((await admin.call('DELETE', `${other.url}/${Id}`)).statusCode).toBe(404)
  await admin.services.authenticator.authenticate(one.credentialsWith(Token))
})

test('an unknown store answers 404', async () => {
  const { application } = await storeAndApplication()
  const url = '/admin/stores/999999/subscriptions'
  for (const answer of [
    await admin.call('GET', url),
    await admin.call('POST', url, { PublicKey: application.PublicKey }),
  ]) {
    expect(refused(answer)).toMatchObject({ statusCode: 404, field: '999999', message: 'No store has the id 999999' })
  }
})

test('an unknown public key, a private key in its place and none are refused with a 400 that names PublicKey', async () => {
  const { application, url } = await storeAndApplication()
  for (const body of [{ PublicKey: '0'.repeat(32) }, { PublicKey: application.PrivateKey }, {}, { PublicKey: 7 }]) {
    const answer = await admin.call('POST', url, body)
    expect(refused(answer)).toMatchObject({ statusCode: 400, field: 'PublicKey' })
    expect(answer.body).not.toContain(application.PrivateKey)
  }
})

test.each([
  ['GET', '/admin/stores/abc/subscriptions', 'id'],
  ['POST', '/admin/stores/0/subscriptions', 'id'],
  ['DELETE', '/admin/stores/1/subscriptions/-1', 'subscriptionId'],
] as const)('%s %s is refused with a 400 that names the id', async (method, url, field) => {
  expect(refused(await admin.call(method, url))).toMatchObject({ statusCode: 400, field })
})

test('a subscription whose application is deleted while it is read is one that is gone', async () => {
  const { application, url } = await storeAndApplication()
  await admin.call('POST', url, { PublicKey: application.PublicKey })
  const { db } = admin.services
  const requests: Promise<{ statusCode: number; json: () => unknown }>[] = []
  await db.$transaction(async (tx) => {
    // The subscriptions are read by now, and their applications not yet.
    await tx.$executeRaw`LOCK TABLE "Application" IN ACCESS EXCLUSIVE MODE`
    const listing = admin.call('GET', url)
    requests.push(listing)
    await untilItWaits({ db }, listing)
    await tx.$executeRaw`DELETE FROM "Application" WHERE "id" = ${application.Id}::int`
  })
  const [listed] = await Promise.all(requests)
  expect([listed?.statusCode, listed?.json()]).toEqual([200, []])
})
