import { expect, test } from 'vitest'
import { keepBodies } from '../../../../../src/access/applications/subscriptions/terms.ts'
import { operator } from '../../../../support/actors.ts'
import { refused } from '../../../../support/refused.ts'
import { developerIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { wordsOf } from '../shop/webhooks-fixture.ts'
import { type ApplicationRecord, registered, type UsedBy, usedBy } from './fixture.ts'

const server = await sharedServer()
const developer = await developerIn(server)

/** An application, a store that uses it, and the address of its calls. */
async function opened(name?: string) {
  const application = await registered(developer)
  const shop = await usedBy(server, application, name)
  const all = `/developers/applications/${application.Id}/calls`
  const [{ Id: subscriptionId }] = (await developer.call('GET', all)).json()
  return { application, shop, all, subscriptionId, calls: `${all}/${subscriptionId}` }
}

async function put({ PrivateKey }: ApplicationRecord, { store, token }: UsedBy, payload: object) {
  const headers = { secureurl: store.secureUrl, privatekey: PrivateKey, token, 'x-request-id': 'mine-7' }
  await server.app.inject({ method: 'PUT', url: '/StoreWebAPI/v1/Products', headers, payload })
}

test('without a store the page says how to get one; the page of the application leads there', async () => {
  const { Id, PublicKey } = await registered(developer)
  const address = `/developers/applications/${Id}/calls`
  expect((await developer.open(`/developers/applications/${Id}`)).body).toContain(`href="${address}"`)
  expect((await developer.call('GET', address)).json()).toEqual([])
  const { body } = await developer.open(address)
  expect(body).toContain('No store uses this application yet.')
  expect(body).toContain(PublicKey)
})

test('each store is listed with its last refusal', async () => {
  const { application, shop, all, calls } = await opened('Tea & more')
  expect(wordsOf((await developer.open(calls)).body)).toContain('has not called this store yet')
  expect(wordsOf((await developer.open(`${calls}?refused=1`)).body)).toContain('None of its calls was refused')
  await shop.status('wrong')
  await shop.status(application.PrivateKey)
  await server.services.callLog.flush()
  const Message = 'Authentication failed: the private key is not that of the application that the token is for'
  const at = '2026-03-10T16:00:00.000Z'
  expect((await developer.call('GET', all)).json()).toEqual([
    {
      Id: expect.any(Number),
      Name: 'Tea & more',
      SecureURL: shop.store.secureUrl,
      KeepsBodies: false,
      DateLastUsed: at,
      LastRefusal: { Date: at, Method: 'GET', Path: '/StoreWebAPI/v1/Products', Status: 401, Message },
    },
  ])
  const { body } = await developer.open(all)
  expect(body).toContain(`<a href="${calls}">Tea &amp; more</a>`)
  expect(wordsOf(body)).toContain(Message)
  expect(body).not.toContain(shop.token)
})

test('the calls to a store have what was said, request id and names that were passed over', async () => {
  const { application, shop, calls, subscriptionId } = await opened()
  await shop.status(application.PrivateKey)
  await shop.status(application.PrivateKey, 'POST')
  const { callLog } = server.services
  const answered = { method: 'PUT', path: '/p', status: 200, message: '', requestId: 'r-9', body: null }
  callLog.record({ subscriptionId, ...answered, ignored: ['SKUInfo.Prise', 'sort'] })
  await callLog.flush()
  const records = (await developer.call('GET', calls)).json()
  expect(records).toHaveLength(3)
  expect(records).toContainEqual({
    Id: expect.any(Number),
    Date: '2026-03-10T16:00:00.000Z',
    Method: 'PUT',
    Path: '/p',
    Status: 200,
    Message: '',
    RequestID: 'r-9',
    Ignored: ['SKUInfo.Prise', 'sort'],
    Body: null,
  })
  expect((await developer.call('GET', `${calls}?limit=1`)).json()).toEqual(records.slice(0, 1))
  const onlyRefused = (await developer.call('GET', `${calls}?refused=1`)).json()
  expect(onlyRefused.map(({ Status }: { Status: number }) => Status)).toEqual([400])
  const page = wordsOf((await developer.open(calls)).body)
  expect(page).toContain('request r-9')
  expect(page).toContain('Passed over: SKUInfo.Prise, sort')
  expect(page).toContain('The body is an empty list; send at least one record')
  const shown = wordsOf((await developer.open(`${calls}?refused=1`)).body)
  expect([shown.includes('empty list'), shown.includes('r-9')]).toEqual([true, false])
  expect(wordsOf((await developer.open(`${calls}?limit=1`)).body)).toContain('Show all')
})

test('the body of a refused request is shown where the merchant allows it', async () => {
  const { application, shop, calls, subscriptionId } = await opened()
  await put(application, shop, { SKUInfo: { CatalogID: 98 } })
  await server.services.callLog.flush()
  expect((await developer.call('GET', calls)).json()).toMatchObject([{ RequestID: 'mine-7', Body: null }])
  expect(wordsOf((await developer.open(calls)).body)).toContain('does not let the bodies of refused requests be kept')
  await keepBodies(server.services, { storeId: shop.store.id, subscriptionId, isKept: true, actor: operator })
  await put(application, shop, { SKUInfo: { CatalogID: 99 } })
  await server.services.callLog.flush()
  const bodies = (await developer.call('GET', calls)).json().map(({ Body }: { Body: unknown }) => Body)
  expect(bodies).toEqual(['{"SKUInfo":{"CatalogID":99}}', null])
  const { body } = await developer.open(calls)
  expect(wordsOf(body)).toContain('The merchant lets the bodies of refused requests be kept')
  expect(body).toContain('&quot;CatalogID&quot;: 99')
})

test('another developer has neither the list nor the calls, and no application has those of another', async () => {
  const { application, shop, all, calls } = await opened()
  await shop.status(application.PrivateKey)
  await server.services.callLog.flush()
  const other = await opened()
  const stranger = await developerIn(server)
  for (const address of [all, calls]) expect((await stranger.call('GET', address)).statusCode).toBe(404)
  for (const subscriptionId of [other.subscriptionId, other.subscriptionId + 1_000]) {
    const answer = await developer.call('GET', `${all}/${subscriptionId}`)
    expect(refused(answer)).toMatchObject({ statusCode: 404, field: String(subscriptionId) })
  }
})

test('a long list of stores goes on by Link', async () => {
  const application = await registered(developer)
  for (let count = 0; count < 3; count++) await usedBy(server, application)
  const address = `/developers/applications/${application.Id}/calls`
  const all = (await developer.call('GET', address)).json()
  const first = await developer.call('GET', `${address}?limit=2`)
  const { publicUrl } = server.services.config
  const next = `${address}?limit=2&cursor=${all[1].Id}`
  expect([first.json(), first.headers.link]).toEqual([all.slice(0, 2), `<${publicUrl}${next}>; rel="next"`])
  const second = await developer.call('GET', next)
  expect([second.json(), second.headers.link]).toEqual([all.slice(2), undefined])
  expect((await developer.open(`${address}?limit=2`)).body).toContain(`href="${next.replace('&', '&amp;')}"`)
  expect((await developer.open(next)).body).toContain('First page')
})

test.each([
  ['/calls', 'limit=0'],
  ['/calls', 'cursor=x'],
  ['/calls/1', 'limit=201'],
  ['/calls/1', 'refused=yes'],
  ['/calls/1', 'offset=1'],
])('%s?%s is refused with 400', async (path, query) => {
  const { Id } = await registered(developer)
  const answer = await developer.call('GET', `/developers/applications/${Id}${path}?${query}`)
  expect(refused(answer)).toMatchObject({ statusCode: 400, field: query.split('=')[0] })
})
