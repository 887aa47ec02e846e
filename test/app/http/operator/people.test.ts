import { describe, expect, test } from 'vitest'
import { findSession } from '../../../../src/access/people/sessions.ts'
import { signIn } from '../../../../src/access/people/sign-in.ts'
import { type Method, sharedServer } from '../../../support/store.ts'

const server = await sharedServer()
const shop = await server.openStore()

const password = 'a password of the owner'

function call(method: Method, url: string, body?: unknown) {
  return server.operate(method, url, body)
}

async function refused(method: Method, url: string, body?: unknown) {
  const answer = await call(method, url, body)
  const [{ Value: field, Message: message }] = answer.json()
  return { status: answer.statusCode, field, message }
}

function enter(kind: 'developer' | 'merchant', email: string, given = password) {
  return signIn(server.services, { kind, email, password: given, address: '198.51.100.7', userAgent: 'a browser' })
}

async function isLive(kind: 'developer' | 'merchant', token: string): Promise<boolean> {
  return (await findSession(server.services, kind, token)) !== null
}

const DateCreated = '2026-03-10T16:00:00.000Z'

describe('developers', () => {
  test('are opened, listed, and given another password, which ends their sessions', async () => {
    const answer = await call('POST', '/admin/developers', { Email: 'dev@tools.example', Password: password })
    expect([answer.statusCode, answer.json()]).toEqual([
      201,
      { Id: expect.any(Number), Email: 'dev@tools.example', DateCreated },
    ])
    const developer = answer.json()
    expect((await call('GET', '/admin/developers')).json()).toEqual([developer])
    expect((await call('GET', '/admin/developers?limit=1&offset=1')).json()).toEqual([])

    const { token } = await enter('developer', 'dev@tools.example')
    const changed = await call('PUT', `/admin/developers/${developer.Id}`, { Password: 'another password' })
    expect([changed.statusCode, changed.json()]).toEqual([200, developer])
    expect(await isLive('developer', token)).toBe(false)
    await enter('developer', 'dev@tools.example', 'another password')
  })

  test('are refused with the field that is wrong', async () => {
    const email = 'must be an e-mail address of at most 254 characters'
    expect(await refused('POST', '/admin/developers', { Email: 'nobody', Password: password })).toEqual({
      status: 400,
      field: 'Email',
      message: `Email ${email}`,
    })
    expect(await refused('POST', '/admin/developers', { Password: password })).toEqual({
      status: 400,
      field: 'Email',
      message: `Email is missing and ${email}`,
    })
    const given = { Email: 'twice@tools.example', Password: password }
    expect((await call('POST', '/admin/developers', given)).statusCode).toBe(201)
    expect(await refused('POST', '/admin/developers', { ...given, Email: 'TWICE@tools.example' })).toEqual({
      status: 409,
      field: 'Email',
      message: 'Email is the address of another developer',
    })
    expect(await refused('PUT', '/admin/developers/999999', { Password: password })).toEqual({
      status: 404,
      field: '999999',
      message: 'No developer has the id 999999',
    })
    expect(await refused('PUT', '/admin/developers/1', {})).toMatchObject({ status: 400, field: 'Password' })
  })
})

describe('the accounts of a store', () => {
  test('are listed, opened, given another password and removed, but for the last', async () => {
    const users = `/admin/stores/${shop.store.id}/users`
    const [first, ...none] = (await call('GET', users)).json()
    expect([first, none]).toEqual([
      { Id: expect.any(Number), Email: 'merchant@shop.example', Role: 'owner', DateCreated },
      [],
    ])

    const added = await call('POST', users, { Email: 'second@shop.example', Password: password, Role: 'reader' })
    expect([added.statusCode, added.json()]).toEqual([
      201,
      { Id: expect.any(Number), Email: 'second@shop.example', Role: 'reader', DateCreated },
    ])
    const { Id } = added.json()
    expect((await call('GET', users)).json()).toEqual([first, added.json()])

    const { token } = await enter('merchant', 'second@shop.example')
    expect((await call('PUT', `${users}/${Id}`, { Password: 'another password' })).json()).toEqual(added.json())
    expect(await isLive('merchant', token)).toBe(false)
    const { token: later } = await enter('merchant', 'second@shop.example', 'another password')

    const removed = await call('DELETE', `${users}/${Id}`)
    expect([removed.statusCode, removed.json()]).toEqual([
      200,
      [{ Key: 'Id', Value: String(Id), Status: '200', Message: 'Deleted successfully' }],
    ])
    expect(await isLive('merchant', later)).toBe(false)
    expect(await refused('DELETE', `${users}/${Id}`)).toMatchObject({ status: 404, field: String(Id) })
    expect(await refused('DELETE', `${users}/${first.Id}`)).toMatchObject({ status: 409, field: String(first.Id) })
    await enter('merchant', 'merchant@shop.example', 'correct horse battery')
  })
})

test('the operator reads who did what, page by page, with nothing secret in it', async () => {
  const given = { Email: 'told@tools.example', Password: 'a password that nobody tells' }
  const { Id } = (await call('POST', '/admin/developers', given)).json()
  await enter('developer', given.Email, given.Password)
  await call('PUT', `/admin/developers/${Id}`, { Password: 'another that nobody tells' })

  const [newest] = (await call('GET', '/admin/audit?limit=1')).json()
  expect(newest).toMatchObject({
    Id: expect.any(Number),
    Actor: { Kind: 'operator', Name: '' },
    Action: 'account.password-changed',
    Target: given.Email,
    Address: '127.0.0.1',
  })
  const older = await call('GET', `/admin/audit?limit=2&before=${newest.Id}`)
  expect(older.json()).toMatchObject([
    { Action: 'account.signed-in', Actor: { Kind: 'developer', Name: given.Email }, Address: '198.51.100.7' },
    { Action: 'account.created', Actor: { Kind: 'operator' } },
  ])
  const whole = `${(await call('GET', '/admin/audit?limit=500')).body}${server.log.join('')}`
  expect(whole).toContain(given.Email)
  expect(whole).not.toContain('nobody tells')
})
