import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createRemovalNotices } from '../../../../src/access/applications/subscriptions/removal-notices.ts'
import { issueCustomerToken } from '../../../../src/access/people/customer-tokens.ts'
import { orderNew } from '../../../../src/engine/definition/event-kinds.ts'
import { checkDatabase } from '../../../../src/operations/installation/check-database.ts'
import { createTestStores } from '../../../../src/operations/sandbox/runner.ts'
import { createAlerts } from '../../../../src/shop/alerts/loop.ts'
import { createPictureFetches } from '../../../../src/shop/pictures/fetches.ts'
import { resourceNamed } from '../../../../src/shop/registry.ts'
import { invite } from '../../../../src/shop/staff/invitations.ts'
import { operator } from '../../../support/actors.ts'
import { rowsOf } from '../../../support/contents.ts'
import { sharedDispatcher } from '../../../support/dispatcher.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { openMailReceiver } from '../../../support/mail-receiver.ts'
import { otherProcess } from '../../../support/other-process.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { filled } from '../../../support/pictures.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { refused } from '../../../support/refused.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { customerIn, memberIn, merchantIn, operatorIn, proveAgain } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import {
  page as authorizePage,
  codeOf,
  exchangeOf,
  openClient,
  post,
  queryOf,
  tokenOf,
} from '../../http/oauth/fixture.ts'
import { soapCall } from '../../http/soap/support.ts'
import { openTelling, senderOf } from '../../shop/resources/order-mails/fixture.ts'
import { openReceiver as openWebhookReceiver } from '../../shop/webhooks/dispatch-receiver.ts'

const DAY_MS = 86_400_000
const message = 'The store is closed until one of its owners opens it again'
const folder = sharedFolder()
const mail = await shared(openMailReceiver())
const server = await sharedServer({
  FILES_DIR: folder,
  OUTBOUND_ALLOW: '127.0.0.0/8',
  SMTP_URL: mail.url,
  MAIL_FROM: 'mail@server.example',
})
const { db } = server.services
const dispatcher = sharedDispatcher(server)
const other = await server.openStore()

let shop: Awaited<ReturnType<typeof openTelling>>
let merchant: TestPerson
beforeEach(async () => {
  mail.reset()
  shop = await openTelling(server, ['order-placed'], { privileges: undefined as never })
  merchant = await merchantIn(server, shop.store)
})

const at = (path = '') => `/admin/stores/${shop.store.id}${path}`
const close = (by: Pick<TestPerson, 'call'> = { call: (...sent) => server.operate(...sent) }) =>
  by.call('DELETE', at(), { Name: shop.store.name })
const reopen = () => server.operate('POST', at('/reopen'))
const listed = async () => {
  const { Id, DateClosed, DateOfDeletion } = (await server.operate('GET', '/admin/stores?limit=100'))
    .json()
    .find((each: { Id: number }) => each.Id === shop.store.id)
  return { Id, DateClosed, DateOfDeletion }
}
const exported = async () => (await server.operate('GET', at('/export'))).body.replace(/"exportedAt":"[^"]*"/, '')
const pictured = async () => {
  const body = await filled(30, 20).png().toBuffer()
  const answer = await shop.call('POST', `/Products/${shop.lamp}/Images`, { body, contentType: 'image/png' })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  const [{ ImageGalleryFile }] = (await shop.call('GET', `/Products/${shop.lamp}/Images`)).json()
  return new URL(ImageGalleryFile).pathname
}

describe('closing', () => {
  test('needs the exact name, and the operator’s key or an owner who has shown the password lately; twice is once', async () => {
    const named = await server.operate('DELETE', at(), { Name: `${shop.store.name} ` })
    expect(refused(named)).toMatchObject({ statusCode: 400, field: 'Name' })
    const manager = await memberIn(server, shop, 'manager')
    const token = (await merchant.call('POST', '/account/tokens', { Name: 'Mine', Days: 30 })).json().Token
    const headers = { authorization: `Bearer ${token}` }
    const byToken = await server.app.inject({
      method: 'DELETE',
      url: at(),
      headers,
      payload: { Name: shop.store.name },
    })
    const byManager = [await close(manager), await manager.call('GET', at('/export'))]
    server.clock.ms += 16 * 60_000
    const answers = [...byManager, byToken, await close(merchant), await merchant.call('GET', at('/export'))]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403, 403])
    expect((await merchant.open('/admin/settings/close')).headers.location).toMatch(/^\/admin\/prove\?next=/)
    expect(await listed()).toMatchObject({ DateClosed: null, DateOfDeletion: null })

    await proveAgain(merchant)
    expect((await manager.open('/admin/settings')).body).not.toContain('/admin/settings/close')
    expect((await merchant.open('/admin/settings')).body).toContain('/admin/settings/close')
    const wrong = await merchant.submit('/admin/settings/close', { Name: 'another' })
    expect([wrong.statusCode, wrong.body]).toEqual([
      400,
      expect.stringContaining('must be the name of the store, exactly as it is'),
    ])
    const closed = await merchant.submit('/admin/settings/close', { Name: shop.store.name })
    expect(closed.headers.location).toBe('/admin/closed')
    const state = await listed()
    expect(Date.parse(state.DateOfDeletion) - Date.parse(state.DateClosed)).toBe(30 * DAY_MS)
    server.clock.ms += 1_000
    for (const again of [await close(), await close(merchant)]) expect(again.json()).toMatchObject(state)
    const second = await otherProcess(server)
    const headersOfOperator = { authorization: `Bearer ${server.services.operatorKey}` }
    const reopenThere = () => second.app.inject({ method: 'POST', url: at('/reopen'), headers: headersOfOperator })
    for (const one of await Promise.all([reopen(), reopenThere()])) expect(one.json().DateClosed).toBeNull()
    await second.close()
    const where = { storeId: shop.store.id, action: { in: ['store.closed', 'store.reopened'] } }
    expect(await db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })).toMatchObject([
      { action: 'store.closed', actorKind: 'merchant', target: shop.store.name },
      { action: 'store.reopened', actorKind: 'operator' },
    ])
  })

  test('is refused for a test store', async () => {
    await db.testStore.create({ data: { storeId: shop.store.id, state: 'ready', createdAt: server.services.now() } })
    expect((await close()).statusCode).toBe(409)
  })
})

describe('while a store is closed', () => {
  test('each door refuses, and opens again as it was', async () => {
    const client = await openClient(server, { Kind: 'new' })
    const pair = { ...shop, merchant }
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    const [first, code] = [await codeOf(pair, client, challenge), await codeOf(pair, client, challenge)]
    const granted = (await post(server, '/oauth/token', exchangeOf(client, first, { code_verifier }))).json()
    const keys = { client_id: client.PublicKey, client_secret: client.PrivateKey }
    const customer = await customerIn(server, shop)
    const orderId = await shop.order()
    const picture = await pictured()
    const { publicUrl } = server.services.config
    const link = await issueCustomerToken({ ...server.services, publicUrl }, shop.caller, {
      customerId: 1,
      minutes: 60,
    })
    const token = (await merchant.call('POST', '/account/tokens', { Name: 'Mine', Days: 30 })).json().Token
    const by = { actor: operator, userId: null }
    const guest = { Email: 'new@staff.example', Role: 'reader', HandOver: true }
    const invitation = new URL((await invite(server.services, shop.store.id, guest, by)).link ?? '')
    const runner = await operatorIn(server)
    const inject = async (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers })
    const doors: Record<string, () => Promise<{ statusCode: number; body: string }>> = {
      REST: () => shop.call('GET', '/Products'),
      'the feed': () => shop.call('GET', '/Events'),
      'an access token': () => inject('/StoreWebAPI/v1/Products', { authorization: `Bearer ${granted.access_token}` }),
      'a refresh token': () =>
        post(server, '/oauth/token', { grant_type: 'refresh_token', refresh_token: granted.refresh_token, ...keys }),
      'a code': () => post(server, '/oauth/token', exchangeOf(client, code, { code_verifier })),
      'the consent page': () => merchant.open(`${authorizePage}?${queryOf(client, shop.store, challenge)}`),
      'pages of a merchant': () => merchant.call('GET', '/admin/orders'),
      'JSON of a merchant': () =>
        merchant.call('POST', at('/subscriptions'), { PublicKey: shop.application.publicKey }),
      'a file of a merchant': () => merchant.call('POST', '/admin/products/csv'),
      'a person’s token': () => inject('/admin/stores', { authorization: `Bearer ${token}` }),
      'an invitation': () => inject(invitation.pathname + invitation.search),
      'a sign-in link': () => testPerson(server.app).call('POST', '/account/sign-in', { Token: link.token }),
      'asking for a link': () =>
        testPerson(server.app).call('POST', '/account/sign-in/link', {
          Email: 'a@b.example',
          Store: shop.store.secureUrl,
        }),
    }
    const others = {
      'a customer': () => customer.call('GET', '/account'),
      'a picture': () => inject(picture),
      'the operator’s changes': () => server.operate('PUT', at(), { Name: 'Another' }),
      'the operator’s orders': () => server.operate('POST', at('/orders'), {}),
      'the operator’s pages': () => runner.call('POST', `/operator/stores/${shop.store.id}`, {}),
    }
    const before = await exported()
    expect((await close()).statusCode).toBe(200)
    for (const [door, knock] of Object.entries(doors)) {
      const { statusCode, body } = await knock()
      expect([door, statusCode, body]).toEqual([door, 403, expect.stringContaining(message)])
    }
    const statuses = Object.entries(others).map(async ([door, knock]) => [door, (await knock()).statusCode])
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
      'a customer': 401,
      'a picture': 404,
      'the operator’s changes': 409,
      'the operator’s orders': 409,
      'the operator’s pages': 409,
    })
    expect(await soapCall(server, shop, 'getProductCount')).toContain('<Id>18</Id>')
    expect((await merchant.open('/admin/orders')).headers.location).toBe('/admin/closed')
    expect((await other.call('GET', '/OrderStatus')).statusCode).toBe(200)
    expect(await exported()).toBe(before)

    expect((await reopen()).json()).toMatchObject({ DateClosed: null, DateOfDeletion: null })
    expect(await exported()).toBe(before)
    for (const [door, knock] of Object.entries({ ...doors, 'a picture': others['a picture'] })) {
      const { body } = await knock()
      expect([door, body]).not.toEqual([door, expect.stringContaining(message)])
    }
    expect((await customer.open('/account')).statusCode).toBe(200)
    expect((await shop.call('GET', `/Orders/${orderId}`)).statusCode).toBe(200)
    expect(await soapCall(server, shop, 'getProductCount')).not.toContain('<Error')
  })

  test('its people see one page, which opens it again for owners, and hands them the data', async () => {
    const reader = await memberIn(server, shop, 'reader')
    const whole = await exported()
    await close(merchant)
    const shown = await reader.open('/admin/closed')
    expect([shown.statusCode, shown.body]).toEqual([200, expect.stringMatching(/Until[^.]*Apr 9, 2026/)])
    for (const text of ['Open the store again', '/export', 'href="/admin/orders"'])
      expect(shown.body).not.toContain(text)
    expect((await reader.call('POST', at('/reopen'))).statusCode).toBe(403)
    const german = await merchant.open('/admin/closed', { 'accept-language': 'de' })
    expect(german.body).toMatch(/Shop wieder öffnen[\s\S]*Daten herunterladen/)
    const file = await merchant.open(at('/export'))
    expect([file.headers['content-disposition'], file.body.split('\n').length]).toEqual([
      `attachment; filename="store-${shop.store.id}.ndjson"`,
      whole.split('\n').length,
    ])
    expect((await merchant.submit('/admin/closed', {})).headers.location).toBe('/admin?notice=store-reopened')
    expect((await merchant.open('/admin?notice=store-reopened')).body).toContain('The store is open again.')
    expect((await merchant.open('/admin/closed')).headers.location).toBe('/admin')
  })

  test('deliveries, mails, files, pictures and alerts wait, and none is given up for the time', async () => {
    const receiver = await openWebhookReceiver()
    const hook = { Name: 'New orders', Url: receiver.url, EventType: orderNew.type, Enabled: true, Format: 'JSON' }
    const id = await shop.add('/Webhooks', hook)
    await merchant.submit('/admin/account', { Alerts: ['stock-out'] }, { action: '/admin/account/alerts' })
    server.clock.ms += 1_000
    await shop.order()
    await shop.call('PUT', `/Products/${shop.lamp}`, { body: { SKUInfo: { Stock: 0 } } })
    const path = '/admin/products/csv'
    const uploaded = await merchant.upload(path, 'SKUInfo.SKU,SKUInfo.Name\nLAMP,Bright lamp\n')
    const csv = String(uploaded.headers.location).split('?')[0] ?? ''
    await shop.call('POST', `/Products/${shop.lamp}/Images`, { body: { FetchFrom: `${receiver.url}` } })
    const failingSince = new Date(server.clock.ms - 4 * DAY_MS)
    await db.webhook.updateMany({
      where: { storeId: shop.store.id, id },
      data: { failingSince, lastFailedAt: failingSince },
    })
    await close()
    await db.csvImport.updateMany({ where: { storeId: shop.store.id }, data: { state: 'applying', appliedBy: 'me' } })
    const sender = senderOf(server.services)
    const fetches = createPictureFetches({ ...server.services, resourceNamed })
    const work = async () => {
      await dispatcher.settle()
      await sender.runDue()
      await fetches.runDue()
      await server.services.csvImports.settle()
      await createAlerts(server.services).runDue()
    }
    server.clock.ms += 29 * DAY_MS
    await work()
    await server.services.testStores.settle()
    expect([receiver.arrivals, mail.mails]).toEqual([[], []])
    expect(await db.delivery.findMany({ where: { storeId: shop.store.id } })).toMatchObject([
      { state: 'pending', attempts: 0 },
    ])
    expect(await db.mail.count({ where: { storeId: shop.store.id, kind: 'alert' } })).toBe(0)

    expect((await reopen()).statusCode).toBe(200)
    const webhook = await db.webhook.findFirstOrThrow({ where: { storeId: shop.store.id, id } })
    expect(webhook.failingSince).toEqual(new Date(failingSince.getTime() + 29 * DAY_MS))
    await work()
    expect(receiver.arrivals.map(({ method }) => method).toSorted()).toEqual(['GET', 'POST'])
    expect(mail.mails.map(({ to }) => to[0])).toEqual(['guest@shop.example'])
    expect((await shop.call('GET', `/Products/${shop.lamp}`)).body).toContain('Bright lamp')
    expect(await db.mail.count({ where: { storeId: shop.store.id, kind: 'alert' } })).toBe(1)
    expect(csv).toMatch(/^\/admin\/csv\/\d+/)
    const entries = await db.auditEntry.findMany({
      where: { storeId: shop.store.id, action: { startsWith: 'store.' } },
    })
    expect(entries.map(({ action }) => action).slice(-2)).toEqual(['store.closed', 'store.reopened'])
    await sender.stop()
  })
})

describe('after 30 days', () => {
  test('its applications are told, and everything of it is deleted, whatever number of processes do it', async () => {
    const callback = await ofTest(openReceiver())
    const developed = await openClient(server, { CallBackURL: callback.url })
    await tokenOf(server, { ...shop, merchant }, developed)
    await customerIn(server, shop)
    await shop.order()
    await pictured()
    await other.add('/Products', { SKUInfo: { SKU: 'OTHER', Name: 'Other' } })
    const untouched = await rowsOf(db, other.store.id)
    expect(readdirSync(join(folder, String(shop.store.id))).length).toBeGreaterThan(0)
    await close()
    callback.received.length = 0
    server.clock.ms += 30 * DAY_MS - 1
    await server.services.testStores.settle()
    expect((await rowsOf(db, shop.store.id)).Product).toBe(1)

    server.clock.ms += 1
    const beside = createTestStores({ ...server.services, log: server.services.log })
    const both = () => Promise.all([server.services.testStores.settle(), beside.settle()])
    await both()
    expect(refused(await reopen()).statusCode).toBe(409)
    expect(await listed()).toMatchObject({ DateClosed: expect.any(String) })
    server.clock.ms += 60_000
    for (let turn = 0; turn < 5; turn++) await both()
    await createRemovalNotices(server.services).runDue()
    expect(callback.received.map(({ callback }) => callback)).toMatchObject([
      { Action: 'REMOVE', PublicKey: developed.PublicKey, SecureURL: shop.store.secureUrl },
    ])
    const left = Object.keys(await rowsOf(db, shop.store.id))
    expect(left.filter((name) => !['AuditEntry', 'EndedToken'].includes(name))).toEqual([])
    expect(readdirSync(folder)).not.toContain(String(shop.store.id))
    expect((await server.operate('GET', at('/export'))).statusCode).toBe(404)
    const last = await db.auditEntry.findFirst({ where: { storeId: shop.store.id }, orderBy: { id: 'desc' } })
    expect(last).toMatchObject({
      action: 'store.deleted',
      actor: '',
      address: '',
      target: shop.store.name,
      details: {},
    })
    expect(await db.auditEntry.count({ where: { storeId: shop.store.id, action: 'store.deleted' } })).toBe(1)
    expect(await rowsOf(db, other.store.id)).toEqual(untouched)
    for await (const { check, findings } of checkDatabase(server.database.url, 5)) {
      expect([check.name, findings]).toEqual([check.name, []])
    }
    await beside.stop()
  })
})
