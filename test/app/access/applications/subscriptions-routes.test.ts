import { beforeEach, describe, expect, test } from 'vitest'
import { answerFaults } from '../../../support/answer-faults.ts'
import { readOpenApi } from '../../../support/openapi.ts'
import { json, openReceiver, openSocketReceiver, type Receiver, status } from '../../../support/receiver.ts'
import { operatorKey } from '../../../support/services.ts'
import { ofTest } from '../../../support/shared.ts'
import { sharedServer } from '../../../support/store.ts'
import { leftOf, nothing, type Scene, storeAndApplication } from './subscribing.ts'

// Subscribing as the operator's routes do it, with applications that have a CallBackURL, and with what a token opens.

let receiver: Receiver
let scene: Scene

const server = await sharedServer({ OUTBOUND_ALLOW: '127.0.0.1' })
const api = readOpenApi((await server.app.inject('/openapi.json')).json())
beforeEach(async () => {
  receiver = await ofTest(openReceiver())
  scene = await storeAndApplication(server.services, receiver.url)
})

/** A request of the operator, whose answer is as the reference says. */
async function call(method: 'GET' | 'POST' | 'DELETE', path = '', body?: object, one = scene) {
  const url = `/admin/stores/${one.store.id}/subscriptions${path}`
  // Some clients name a content type with every request.
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const text = body ? JSON.stringify(body) : ''
  const answer = await server.app.inject({ method, url, headers, ...(body && { payload: text }) })
  const exchange = { method, url, headers, body: text, isTolerated: false, answer }
  // The headers are held against it for all routes at once, in test/reference/.
  const faults = answerFaults(api, api.find(url), exchange).filter((fault) => !fault.startsWith('the header'))
  expect(faults, `${method} ${url} ${answer.statusCode}`).toEqual([])
  return { status: answer.statusCode, body: answer.json(), text: answer.body }
}

const post = (one = scene) => call('POST', '', { PublicKey: one.application.publicKey }, one)
const notResponding = [{ Key: 'Error', Value: '', Status: '502', Message: 'Server not Responding' }]

/** What a call of the REST services with the token answers. */
async function statusWith(token: string, one = scene): Promise<number> {
  const headers = {
    secureurl: one.store.secureUrl,
    privatekey: server.services.secrets.open(one.application.privateKeySealed),
    token,
  }
  return (await server.app.inject({ url: '/StoreWebAPI/v1/Products?countonly=1', headers })).statusCode
}

describe('POST', () => {
  test('answers 201 with the token that the application agreed to and where it wants to go on; then 200 with the same', async () => {
    receiver.answer = json({ PostBackURL: 'https://app.example/welcome' })
    const first = await post()
    const token = receiver.received[0]?.callback.TokenKey
    expect(first).toMatchObject({
      status: 201,
      text: `{"Token":"${token}","PostBackURL":"https://app.example/welcome"}`,
    })
    expect(await statusWith(token ?? '')).toBe(200)
    expect(await post()).toEqual({ ...first, status: 200 })
    expect(receiver.received).toHaveLength(1)
  })

  test('answers 502 within 15 seconds when the application hangs, and logs why without the token', async () => {
    const hanging = await openReceiver(() => undefined)
    const silent = await openSocketReceiver(() => undefined)
    const scenes = await Promise.all([hanging, silent].map(({ url }) => storeAndApplication(server.services, url)))
    server.log.length = 0
    const begun = performance.now()
    const answers = await Promise.all(scenes.map((one) => post(one)))
    expect(performance.now() - begun).toBeLessThan(15_000)
    for (const answer of answers) expect(answer).toMatchObject({ status: 502, body: notResponding })
    for (const one of scenes) expect(await leftOf(server.services, one)).toEqual(nothing)
    const refusals = server.log.map((line) => JSON.parse(line)).filter(({ status }) => status === 502)
    expect(refusals).toHaveLength(2)
    for (const { detail } of refusals) expect(detail).toMatch(/10 s/)
    const token = hanging.received[0]?.callback.TokenKey ?? 'none'
    expect(server.log.join('')).not.toContain(token)
    await Promise.all([hanging.close(), silent.close()])
  })
})

describe('DELETE', () => {
  async function subscribed() {
    const token = (await post()).body.Token
    const [{ Id: id }] = (await call('GET')).body
    return { token, id }
  }

  test('answers 200 when the application does, and the token opens nothing any more', async () => {
    const { token, id } = await subscribed()
    expect(await statusWith(token)).toBe(200)
    expect(await call('DELETE', `/${id}`)).toMatchObject({
      status: 200,
      body: [{ Key: 'Id', Value: String(id), Status: '200', Message: 'Deleted successfully' }],
    })
    expect(await statusWith(token)).toBe(401)
    expect(receiver.received.map(({ callback }) => callback.Action)).toEqual(['AUTHORIZE', 'REMOVE'])
    expect((await call('DELETE', `/${id}`)).status).toBe(404)
  })

  test('answers 502 when the application does not answer 200, and the token goes on working; with force=true 200, and it does not', async () => {
    const { token, id } = await subscribed()
    receiver.answer = status(500)
    expect(await call('DELETE', `/${id}`)).toMatchObject({ status: 502, body: notResponding })
    expect((await call('DELETE', `/${id}?force=false`)).status).toBe(502)
    expect(await statusWith(token)).toBe(200)
    expect((await call('DELETE', `/${id}?force=true`)).status).toBe(200)
    expect(await statusWith(token)).toBe(401)
    expect(await leftOf(server.services, scene)).toEqual({ ...nothing, notices: 1 })
  })

  test.each(['force=yes', 'force=', 'forced=true'])('refuses the query %s by its name', async (query) => {
    const { token, id } = await subscribed()
    const { status: code, body } = await call('DELETE', `/${id}?${query}`)
    expect({ code, field: body[0].Value }).toEqual({ code: 400, field: query.split('=')[0] })
    expect(await statusWith(token)).toBe(200)
    expect(receiver.received).toHaveLength(1)
  })
})

test('GET tells what was agreed to and is asked for, where to go on, and the last use', async () => {
  receiver.answer = json({ PostBackURL: 'https://app.example/welcome' })
  const { db } = server.services
  const ask = (privileges: object) =>
    db.application.update({ where: { id: scene.application.id }, data: { privileges } })
  await ask({ Products: ['read'] })
  const { Token } = (await post()).body
  await ask({ Products: ['read', 'write'] })
  await db.subscription.updateMany({ where: scene.pair, data: { lastUsedAt: new Date('2026-03-10T12:00:00Z') } })
  expect((await call('GET')).body).toEqual([
    {
      Id: expect.any(Number),
      ApplicationId: scene.application.id,
      Name: scene.application.name,
      PublicKey: scene.application.publicKey,
      Token,
      DateTokenBrought: null,
      Privileges: { Products: ['read'] },
      PrivilegesAsked: { Products: ['read', 'write'] },
      PostBackURL: 'https://app.example/welcome',
      DateLastUsed: '2026-03-10T12:00:00.000Z',
      DateCreated: '2026-03-10T16:00:00.000Z',
    },
  ])
})

test('the operator is in the audit log with the address that the request came from', async () => {
  await post()
  const entry = await server.services.db.auditEntry.findFirstOrThrow({ where: scene.pair })
  expect(entry).toMatchObject({
    action: 'subscription.created',
    actorKind: 'operator',
    actor: '',
    address: '127.0.0.1',
  })
})
