import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { answerFaults } from '../../../support/answer-faults.ts'
import { readOpenApi } from '../../../support/openapi.ts'
import { operatorKey } from '../../../support/services.ts'
import { type Method, sharedServer } from '../../../support/store.ts'

const seen: string[] = []

const server = await sharedServer()
const api = readOpenApi((await server.app.inject('/openapi.json')).json())

const problem = 'application/problem+json'

interface Options {
  body?: unknown
  headers?: Record<string, string>
}

/** Sends a request that must be answered with the status, in the way that the document says. */
async function send(method: Method, url: string, status: number, { body, headers }: Options = {}) {
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
  const sent: Record<string, string> = {
    authorization: `Bearer ${operatorKey}`,
    ...(text !== '' && { 'content-type': 'application/json' }),
    ...headers,
  }
  const answer: LightMyRequestResponse = await server.app.inject({
    method,
    url,
    headers: sent,
    ...(text !== '' && { payload: text }),
  })
  expect([answer.statusCode, answer.body], `${method} ${url}`).toEqual([status, expect.anything()])
  const found = api.find(url)
  // Lines of JSON are no JSON: of a stream the type alone can be compared.
  const type = String(answer.headers['content-type'])
  const operation = found?.address.operations.get(method)
  const documented = api.member(operation, 'responses', String(status), 'content')?.value ?? {}
  if (type === 'application/x-ndjson') expect(Object.keys(documented)).toEqual([type])
  else {
    const exchange = { method, url, headers: sent, body: text, isTolerated: false, answer }
    expect(answerFaults(api, found, exchange), `${method} ${url} ${status}`).toEqual([])
  }
  seen.push(`${method} ${found?.address.path}`)
  const isAsked = headers?.accept !== undefined
  if (isAsked) expect(type, `${method} ${url} ${status}`).toBe(`${problem}; charset=utf-8`)
  // Refused in the other form too, for who asks for that by name.
  else if (status >= 400) await send(method, url, status, { body, headers: { ...headers, accept: problem } })
  return answer
}

const shop = {
  Name: 'Shop',
  SecureURL: 'https://documented.example',
  Email: 'a@shop.example',
  Password: 'the words of a password',
}

test('the operator’s routes and those of the process answer as the document says', async () => {
  const { Id } = (await send('POST', '/admin/stores', 201, { body: shop })).json()
  await send('POST', '/admin/stores', 409, { body: shop })
  await send('POST', '/admin/stores', 400, { body: { Name: 'Shop', Colour: 'red' } })
  await send('POST', '/admin/stores', 401, { body: shop, headers: { authorization: 'Bearer wrong' } })
  await send('POST', '/admin/stores', 413, { body: { Name: 'x'.repeat(1_100_000) } })
  await send('POST', '/admin/stores', 415, { body: '<Store/>', headers: { 'content-type': 'application/xml' } })
  await send('GET', '/admin/stores?limit=5&offset=0', 200)
  await send('GET', '/admin/stores?limit=0', 400)

  await send('PUT', `/admin/stores/${Id}`, 200, { body: { Name: 'The shop', Throttle: null } })
  await send('PUT', `/admin/stores/${Id}`, 200, { body: { CartAPI: { Enabled: false, Addresses: ['10.0.0.0/8'] } } })
  await send('PUT', `/admin/stores/${Id}`, 400, { body: { CartAPI: { Addresses: Array(101).fill('10.0.0.1') } } })
  await send('PUT', '/admin/stores/999999', 404, { body: { Name: 'The shop' } })
  await send('PUT', `/admin/stores/${Id}/order-statuses`, 200, { body: [{ OrderStatusID: 8, StatusText: 'Parts' }] })
  await send('PUT', `/admin/stores/${Id}/order-statuses`, 409, { body: [{ OrderStatusID: 9, StatusText: 'parts' }] })
  await send('POST', `/admin/stores/${Id}/order-statuses`, 201, { body: { StatusText: 'Quote', OrderStatusID: 21 } })
  await send('POST', `/admin/stores/${Id}/order-statuses`, 409, { body: { StatusText: 'quote' } })
  await send('POST', `/admin/stores/${Id}/order-statuses`, 400, { body: { StatusText: 'Held', OrderStatusID: 12 } })
  await send('POST', '/admin/stores/999999/order-statuses', 404, { body: { StatusText: 'Quote' } })
  const methods = `/admin/stores/${Id}/payment-methods`
  await send('GET', methods, 200)
  await send('GET', '/admin/stores/999999/payment-methods', 404)
  await send('PUT', methods, 200, { body: [{ PaymentMethodID: 3, Name: 'Check' }, { Name: 'Gift card' }] })
  await send('PUT', methods, 409, { body: [{ Name: 'check' }] })
  await send('PUT', methods, 400, { body: [{ Visible: true }] })
  await send('PUT', '/admin/stores/999999/payment-methods', 404, { body: [{ Name: 'Check' }] })
  await send('POST', `/admin/stores/${Id}/user-key`, 200)
  await send('DELETE', `/admin/stores/${Id}`, 400, { body: { Name: 'Another' } })
  await send('DELETE', `/admin/stores/${Id}`, 200, { body: { Name: 'The shop' } })
  await send('POST', `/admin/stores/${Id}/reopen`, 200)
  await send('POST', '/admin/stores/999999/user-key', 404)

  const registered = { Name: 'Application', Privileges: { Products: ['read', 'write'] }, Throttle: null }
  const application = (await send('POST', '/admin/applications', 201, { body: registered })).json()
  const changed = { Throttle: { Capacity: 100, LeakPerSecond: 2.5 }, Privileges: null }
  await send('PUT', `/admin/applications/${application.Id}`, 200, { body: changed })
  await send('PUT', '/admin/applications/999999', 404, { body: changed })
  await send('GET', '/admin/applications', 200)
  const rotation = `/admin/applications/${application.Id}/private-key`
  await send('POST', rotation, 200, { body: { KeepFormerForHours: 1 } })
  await send('POST', rotation, 409, { body: { PrivateKey: application.PrivateKey } })
  await send('POST', '/admin/applications/999999/private-key', 404, { body: {} })

  const subscription = { PublicKey: application.PublicKey }
  const subscriptions = `/admin/stores/${Id}/subscriptions`
  await send('POST', subscriptions, 201, { body: subscription })
  await send('POST', subscriptions, 200, { body: subscription })
  await send('POST', '/admin/stores/999999/subscriptions', 404, { body: subscription })
  const [{ Id: subscriptionId }] = (await send('GET', subscriptions, 200)).json()
  await send('DELETE', `${subscriptions}/${subscriptionId}`, 200)
  await send('DELETE', `${subscriptions}/${subscriptionId}`, 404)

  await send('POST', `/admin/stores/${Id}/orders`, 400, { body: { OrderItemList: [] } })
  await send('GET', `/admin/stores/${Id}/export`, 200)
  await send('POST', `/admin/stores/${Id}/import`, 200, {
    body: '{"service":"Manufacturers","record":{"ManufacturerID":5,"ManufacturerName":"Potter"}}\n',
    headers: { 'content-type': 'application/x-ndjson' },
  })
  await send('POST', `/admin/stores/${Id}/import`, 415, { body: '{}' })
  const wanted = { Path: 'a.png', Address: 'http://10.0.0.1/a.png' }
  await send('POST', `/admin/stores/${Id}/pictures`, 200, { body: wanted })
  await send('POST', `/admin/stores/${Id}/pictures`, 400, { body: {} })
  await send('POST', '/admin/stores/999999/pictures', 404, { body: wanted })

  await send('POST', `/admin/stores/${Id}/import`, 200, {
    body: '{"service":"Customers","record":{"CustomerID":7,"Email":"asks@shop.example"}}\n',
    headers: { 'content-type': 'application/x-ndjson' },
  })
  const customers = `/admin/stores/${Id}/customers`
  await send('GET', `${customers}/7/data`, 200)
  await send('GET', `${customers}/8/data`, 404)
  await send('GET', `/admin/stores/${Id}/guests/data?email=asks@shop.example`, 200)
  await send('GET', `/admin/stores/${Id}/guests/data`, 400)
  const { Confirm } = (await send('POST', `${customers}/7/erase?dry=true`, 200)).json()
  await send('POST', `${customers}/7/erase`, 400)
  await send('POST', `${customers}/7/erase`, 409, { body: { Confirm: 'another' } })
  await send('POST', `${customers}/7/erase`, 200, { body: { Confirm } })
  await send('POST', `/admin/stores/${Id}/guests/erase?order=1&dry=true`, 404)
  const idle = (await send('POST', `${customers}/erase?dry=true`, 200, { body: { Years: 10 } })).json()
  await send('POST', `${customers}/erase`, 400, { body: { Years: 9, Confirm: idle.Confirm } })
  await send('POST', `${customers}/erase`, 200, { body: { Years: 10, Confirm: idle.Confirm } })
  await send('GET', `/admin/stores/${Id}/erasures`, 200)

  for (const url of ['/healthz', '/readyz', '/metrics', '/records.xsd', '/openapi.json']) await send('GET', url, 200)
})

test('the operator’s routes for people answer as the document says', async () => {
  const email = 'dev@tools.example'
  const { Id } = (
    await send('POST', '/admin/developers', 201, { body: { Email: email, Password: 'the words of a password' } })
  ).json()
  await send('POST', '/admin/developers', 409, { body: { Email: email, Password: 'the words of a password' } })
  await send('POST', '/admin/developers', 400, { body: { Email: email } })
  await send('GET', '/admin/developers?limit=5', 200)
  await send('PUT', `/admin/developers/${Id}`, 200, { body: { Password: 'other words of a password' } })
  await send('PUT', '/admin/developers/999999', 404, { body: { Password: 'other words of a password' } })

  const { store } = await server.openStore()
  const users = `/admin/stores/${store.id}/users`
  const second = { Email: 'second@shop.example', Password: 'the words of a password' }
  const user = (await send('POST', users, 201, { body: second })).json()
  await send('POST', users, 409, { body: second })
  const [first] = (await send('GET', users, 200)).json()
  await send('GET', '/admin/stores/999999/users', 404)
  await send('PUT', `${users}/${user.Id}`, 200, { body: { Password: 'other words of a password' } })
  await send('PUT', `${users}/999999`, 404, { body: { Password: 'other words of a password' } })
  await send('DELETE', `${users}/${user.Id}`, 200)
  await send('DELETE', `${users}/${user.Id}`, 404)
  await send('DELETE', `${users}/${first.Id}`, 409)

  const invitations = `/admin/stores/${store.id}/invitations`
  const packer = { Email: 'packer@shop.example', Role: 'orders', HandOver: true }
  await send('POST', invitations, 201, { body: packer })
  await send('POST', invitations, 400, { body: { ...packer, Role: 'emperor' } })
  await send('POST', invitations, 409, { body: { ...packer, Email: first.Email } })
  await send('POST', '/admin/stores/999999/invitations', 404, { body: packer })

  await send('POST', '/admin/operators', 201, { body: { Email: 'ann@server.example' } })
  await send('POST', '/admin/operators', 400, { body: { Email: 'nobody' } })

  await send('GET', '/admin/switches', 200)
  await send('PUT', '/admin/switches', 200, { body: { TestStores: true } })
  await send('PUT', '/admin/switches', 400, { body: { TestStores: 'yes' } })
  await server.app.inject({ method: 'POST', url: '/admin/reset', payload: { Email: shop.Email } })
  expect((await send('GET', '/admin/mails?limit=5', 200)).json()).toHaveLength(1)
  await send('GET', '/admin/mails?limit=0', 400)

  const [entry] = (await send('GET', '/admin/audit?limit=3', 200)).json()
  await send('GET', `/admin/audit?before=${entry.Id}`, 200)
  await send('GET', '/admin/audit?limit=0', 400)
})

test('no name has a character that nobody sees or that turns the direction; joiners of scripts and emoji stay', async () => {
  const { store } = await server.openStore()
  const named = (name: string) =>
    [
      ['POST', '/admin/stores', { ...shop, SecureURL: 'https://unseen.example', Name: name }],
      ['PUT', `/admin/stores/${store.id}`, { Name: name }],
      ['POST', '/admin/applications', { Name: name }],
      ['PUT', `/admin/stores/${store.id}/order-statuses`, [{ OrderStatusID: 8, StatusText: name }]],
      ['PUT', `/admin/stores/${store.id}/payment-methods`, [{ Name: name }]],
    ] as const
  for (const sign of ['\u202e', '\u2028', '\u2029', '\u200b', '\u200f', '\u2066', '\ufeff']) {
    const code = sign.charCodeAt(0).toString(16).toUpperCase()
    for (const [method, url, body] of named(`Sh${sign}op`)) {
      const refused = await send(method, url, 400, { body })
      expect(refused.body).toContain(`has the character U+${code}, which nobody sees; leave it out`)
    }
  }
  for (const [method, url, body] of named('می\u200cخواهم 👩\u200d🌾').slice(1))
    await send(method, url, method === 'POST' ? 201 : 200, { body })
})

test('an order is placed with what the document describes of it', async () => {
  const store = await server.openStore()
  const product = { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } }
  const [{ Value: id }] = (await store.call('POST', '/Products', { body: product })).json()
  const order = (quantity: number) => ({
    BillingEmail: 'guest@shop.example',
    OrderDate: '2026-03-10 12:00:00',
    OrderItemList: [{ CatalogID: Number(id), ItemQuantity: quantity, ItemOptions: '' }],
    ShipmentList: [{ ShipmentMethodName: 'Ground', ShipmentCost: 6.5 }],
    QuestionList: [{ QuestionID: 1, QuestionTitle: 'How did you hear of us?', QuestionAnswer: 'A friend' }],
  })
  const address = `/admin/stores/${store.store.id}/orders`
  await send('POST', address, 201, { body: order(2) })
  await send('POST', address, 409, { body: order(9) })
})

test('a change with an Idempotency-Key is answered as the document says', async () => {
  const keyed = { body: { Name: 'Keyed' }, headers: { 'idempotency-key': 'documented' } }
  const { Id } = (await send('POST', '/admin/applications', 201, keyed)).json()
  await send('POST', '/admin/applications', 201, keyed)
  await send('POST', '/admin/applications', 422, { ...keyed, body: { Name: 'Other' } })
  await send('POST', '/admin/applications', 400, { ...keyed, headers: { 'idempotency-key': 'two words' } })
  for (const _ of [1, 2]) {
    await send('PUT', `/admin/applications/${Id}`, 400, { ...keyed, body: { Colour: 'red' } })
    await send('PUT', '/admin/applications/999999', 404, keyed)
    await send('POST', '/admin/stores', 409, { ...keyed, body: { ...shop, SecureURL: 'http://DOCUMENTED.example' } })
  }
})

test('every JSON route, and what is no route, refuses by problem details whoever asks for them by name', async () => {
  const routes = api.addresses
    .filter(({ path }) => /^\/(admin|developers)\//.test(path))
    .flatMap(({ path, operations }) =>
      [...operations].map(([method]) => [method as Method, path.replace(/\{\w+\}/g, '1')] as const),
    )
  expect(routes.length).toBeGreaterThan(50)
  for (const [method, url] of [...routes, ['GET', '/admin/nothing'], ['GET', '/admin/%zz']] as const) {
    const { statusCode, headers, body } = await server.app.inject({ method, url, headers: { accept: problem } })
    const type = `urn:store-platform:problem:${statusCode}`
    const told = { type, status: statusCode, errors: [expect.anything()], requestId: headers['x-request-id'] }
    expect([url, headers['content-type'], JSON.parse(body)]).toMatchObject([url, `${problem}; charset=utf-8`, told])
    expect(statusCode).toBeGreaterThanOrEqual(400)
  }
})

test('no route of the operator was left out', () => {
  const described = api.addresses
    .filter(({ path, item }) => item.value.servers !== undefined && path !== '/docs')
    .flatMap(({ path, operations }) =>
      [...operations].filter(([, { value }]) => isHere(value)).map(([method]) => `${method} ${path}`),
    )
  expect(described.filter((operation) => !seen.includes(operation))).toEqual([])
})

/** Those of developers and of OAuth have tests of their own. */
function isHere({ tags }: { tags?: unknown }): boolean {
  return Array.isArray(tags) && (tags.includes('Operator') || tags.includes('Server'))
}
