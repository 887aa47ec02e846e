import { describe, expect, test } from 'vitest'
import { cloneDatabase } from '../../../../support/database.ts'
import { testPerson } from '../../../../support/person.ts'
import { developerIn, newDeveloper } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertOf, cookieSet, leadsTo } from './fixture.ts'

const server = await sharedServer({ DEVELOPER_SIGNUP: 'open' })
const closed = await sharedServer({ DEVELOPER_SIGNUP: 'closed' }, cloneDatabase)
const address = '/developers/sign-up'
let serial = 0
const fresh = () => ({ Email: `new-${++serial}@tools.example`, Password: 'correct horse battery' })

describe('where it is open', () => {
  test('a developer has an account, and is signed in', async () => {
    const person = testPerson(server.app)
    const account = fresh()
    const answer = await person.submit(`${address}?next=%2Fdevelopers%2Faudit`, account, { action: address })

    expect(leadsTo(answer)).toEqual([303, '/developers/audit'])
    expect((await person.open('/developers/account')).body).toContain(account.Email)
    expect(leadsTo(await testPerson(server.app).submit('/developers/sign-in', account))).toEqual([303, '/developers'])
  })

  test('a program gets the same by JSON', async () => {
    const person = testPerson(server.app)
    const account = fresh()
    const answer = await person.call('POST', address, account)

    expect(answer.json()).toEqual({ Email: account.Email, ExpiresAt: expect.stringMatching(/^2026-03-17T/) })
    expect((await person.call('GET', '/developers/account')).statusCode).toBe(200)
  })

  test('what does not do is said beside its field, and the address is kept', async () => {
    const answer = await testPerson(server.app).submit(address, { Email: 'no address', Password: 'too short' })

    expect(answer.statusCode).toBe(400)
    expect(answer.body).toMatch(/id="Email-problem"[^<]*must be an e-mail address/)
    expect(answer.body).toMatch(/id="Password-problem"[^<]*12 to 1000 characters/)
    expect(answer.body).toContain('value="no address"')
    expect(answer.body).not.toContain('too short')
  })

  test('an address that has an account opens neither another one nor a session', async () => {
    const { Email } = await newDeveloper(server)
    const answer = await testPerson(server.app).submit(address, {
      Email: Email.toUpperCase(),
      Password: 'another password',
    })

    expect([answer.statusCode, cookieSet(answer, 'developer')]).toEqual([409, undefined])
    expect(alertOf(answer)).toContain('sign in')
  })

  test('it never leads to another place', async () => {
    const answer = await testPerson(server.app).submit(address, { ...fresh(), next: '//evil.example' })

    expect(leadsTo(answer)).toEqual([303, '/developers'])
  })

  test('who is signed in needs no account', async () => {
    const person = await developerIn(server)

    expect(leadsTo(await person.open(address))).toEqual([303, '/developers'])
  })
})

describe('where it is closed', () => {
  test('the page says who opens accounts', async () => {
    const answer = await testPerson(closed.app).open(address)

    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('Ask them for one')
    expect(answer.body).not.toContain('<form')
  })

  test('nobody gets one, whatever is sent', async () => {
    const person = testPerson(closed.app)
    const json = await person.call('POST', address, fresh())
    const { body } = await person.open('/developers/sign-in')
    const form = await closed.app.inject({
      method: 'POST',
      url: address,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      payload: new URLSearchParams({
        ...fresh(),
        _csrf: /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? '',
      }).toString(),
    })

    expect([json.statusCode, json.json()[0].Message]).toEqual([403, expect.stringContaining('operator')])
    expect([form.statusCode, form.body]).toEqual([403, expect.stringContaining('Ask them for one')])
    expect(await closed.services.db.developer.count()).toBe(0)
  })
})
