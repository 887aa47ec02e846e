import { expect, test } from 'vitest'
import { storeInput } from '../../../support/access.ts'
import { untilItWaits } from '../../../support/held.ts'
import { refused } from '../../../support/refused.ts'
import { shared } from '../../../support/shared.ts'
import { openAdmin } from './fixture.ts'

const admin = await shared(openAdmin())

async function storeAndApplication() {
  const store = (await admin.call('POST', '/admin/stores', storeInput())).json()
  const application = (await admin.call('POST', '/admin/applications', { Name: 'App' })).json()
  return { application, url: `/admin/stores/${store.Id}/subscriptions` }
}

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
