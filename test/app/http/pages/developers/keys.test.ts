import { describe, expect, test } from 'vitest'
import { refused } from '../../../../support/refused.ts'
import { developerIn, proveAgain } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { type ApplicationRecord, logged, read, registered, usedBy } from './fixture.ts'

const HOUR_MS = 60 * 60 * 1_000
const ACCEPTED = 404
const REFUSED = 401

const server = await sharedServer()
const developer = await developerIn(server)

function addressOf({ Id }: ApplicationRecord): string {
  return `/developers/applications/${Id}`
}

async function rotate(application: ApplicationRecord, body?: object): Promise<ApplicationRecord> {
  const answer = await developer.call('POST', `${addressOf(application)}/private-key`, body)
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

describe('the private key', () => {
  test('after a rotation both keys work until the moment that was said, and then the new one alone', async () => {
    const before = await registered(developer)
    const { status } = await usedBy(server, before)
    const after = await rotate(before, { KeepFormerForHours: 2 })
    const until = new Date(server.clock.ms + 2 * HOUR_MS)
    expect(after).toEqual({
      ...before,
      PrivateKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      FormerPrivateKeyUntil: until.toISOString(),
    })
    expect(after.PrivateKey).not.toBe(before.PrivateKey)
    const statuses = async () => [await status(before.PrivateKey), await status(after.PrivateKey)]
    expect(await statuses()).toEqual([ACCEPTED, ACCEPTED])

    server.clock.ms = until.getTime() - 1
    await proveAgain(developer, '/developers')
    expect(await statuses()).toEqual([ACCEPTED, ACCEPTED])
    expect((await read(developer, after)).FormerPrivateKeyUntil).toBe(until.toISOString())
    server.clock.ms = until.getTime()
    expect(await statuses()).toEqual([REFUSED, ACCEPTED])
    expect((await read(developer, after)).FormerPrivateKeyUntil).toBeNull()
  })

  test('with 0 hours the former key ends at once, also for who has just used it', async () => {
    const before = await registered(developer)
    const { status } = await usedBy(server, before)
    expect(await status(before.PrivateKey)).toBe(ACCEPTED)
    const after = await rotate(before, { KeepFormerForHours: 0 })
    expect(after.FormerPrivateKeyUntil).toBeNull()
    expect([await status(before.PrivateKey), await status(after.PrivateKey)]).toEqual([REFUSED, ACCEPTED])
    // Another process, whose clock is a little behind.
    server.clock.ms -= 1_000
    expect(await status(before.PrivateKey)).toBe(REFUSED)
    server.clock.ms += 1_000
  })

  test('without a body the former key is kept for 24 hours', async () => {
    const before = await registered(developer)
    const after = await rotate(before)
    expect(after.FormerPrivateKeyUntil).toBe(new Date(server.clock.ms + 24 * HOUR_MS).toISOString())
  })

  test('a further rotation ends the key before the last one, whose time had not run out', async () => {
    const first = await registered(developer)
    const { status } = await usedBy(server, first)
    const second = await rotate(first, { KeepFormerForHours: 720 })
    expect(await status(first.PrivateKey)).toBe(ACCEPTED)
    const third = await rotate(second, { KeepFormerForHours: 1 })
    expect([await status(first.PrivateKey), await status(second.PrivateKey), await status(third.PrivateKey)]).toEqual([
      REFUSED,
      ACCEPTED,
      ACCEPTED,
    ])
  })

  test('the key that is named is replaced once, however often and at once it is sent', async () => {
    const before = await registered(developer)
    const { status } = await usedBy(server, before)
    const body = { PrivateKey: before.PrivateKey, KeepFormerForHours: 24 }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => developer.call('POST', `${addressOf(before)}/private-key`, body)),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409, 409, 409])
    const { PrivateKey } = await read(developer, before)
    expect([await status(before.PrivateKey), await status(PrivateKey)]).toEqual([ACCEPTED, ACCEPTED])
    expect(await logged(server, before)).toHaveLength(3)
  })

  test('the form names the key: sent twice, the second time it shows the page as it is by then, and why', async () => {
    const before = await registered(developer)
    const page = await developer.open(addressOf(before))
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    expect(page.body).toContain(`name="PrivateKey" value="${before.PrivateKey}"`)
    const payload = new URLSearchParams({ _csrf: csrf, PrivateKey: before.PrivateKey, KeepFormerForHours: '48' })
    const send = () =>
      server.app.inject({
        method: 'POST',
        url: `${addressOf(before)}/private-key`,
        headers: {
          accept: 'text/html',
          'content-type': 'application/x-www-form-urlencoded',
          cookie: [...developer.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
        payload: payload.toString(),
      })
    const first = await send()
    expect([first.statusCode, first.headers.location]).toEqual([303, `${addressOf(before)}?notice=key-rotated`])
    const after = await read(developer, before)
    expect(after.FormerPrivateKeyUntil).toBe(new Date(server.clock.ms + 48 * HOUR_MS).toISOString())
    const second = await send()
    expect(second.statusCode).toBe(409)
    expect(second.body).toContain('There is a newer private key')
    expect(second.body).toContain(after.PrivateKey)
    expect(await read(developer, before)).toEqual(after)
  })

  test.each([-1, 721, 1.5, '24', null])('KeepFormerForHours %j is refused, and nothing is changed', async (hours) => {
    const before = await registered(developer)
    const answer = await developer.call('POST', `${addressOf(before)}/private-key`, { KeepFormerForHours: hours })
    expect(refused(answer)).toMatchObject({
      statusCode: 400,
      field: 'KeepFormerForHours',
      message: 'KeepFormerForHours must be a whole number from 0 to 720',
    })
    expect(await read(developer, before)).toEqual(before)
  })

  test('720 hours are taken; the log has how long, and no key', async () => {
    const before = await registered(developer)
    const after = await rotate(before, { keepformerforhours: 720 })
    const entries = await logged(server, before)
    expect(entries.slice(1)).toEqual([
      {
        action: 'application.key-rotated',
        actorKind: 'developer',
        target: 'App',
        details: { keepFormerForHours: 720 },
        storeId: null,
      },
    ])
    for (const { PrivateKey } of [before, after]) {
      expect(JSON.stringify(entries) + server.log.join('')).not.toContain(PrivateKey)
    }
  })
})

describe('the callback secret', () => {
  test('a rotation makes another one, and the page says until when the former one signs too', async () => {
    const before = await registered(developer, { CallBackURL: 'https://app.example/callback' })
    const answer = await developer.call('POST', `${addressOf(before)}/callback-secret`)
    const after = answer.json()
    expect([answer.statusCode, after]).toEqual([200, { ...before, CallBackSecret: expect.stringMatching(/^whsec_/) }])
    expect(after.CallBackSecret).not.toBe(before.CallBackSecret)
    expect((await developer.open(addressOf(before))).body).toContain('signs too until')
    server.clock.ms += 24 * HOUR_MS
    await developer.signIn()
    const page = await developer.open(addressOf(before))
    expect(page.body).toContain(after.CallBackSecret)
    expect(page.body).not.toContain('signs too until')
    expect((await logged(server, before)).map(({ action, details }) => [action, details])).toEqual([
      ['application.created', {}],
      ['application.secret-rotated', {}],
    ])
    expect(server.log.join('')).not.toContain(after.CallBackSecret)
  })

  test('the form names the secret, which is replaced once', async () => {
    const before = await registered(developer, { CallBackURL: 'https://app.example/callback' })
    const action = `${addressOf(before)}/callback-secret`
    const first = await developer.submit(addressOf(before), {}, { action })
    expect([first.statusCode, first.headers.location]).toEqual([303, `${addressOf(before)}?notice=secret-rotated`])
    const after = await read(developer, before)
    const second = await developer.submit(addressOf(before), { CallBackSecret: before.CallBackSecret }, { action })
    expect(second.statusCode).toBe(409)
    expect(second.body).toContain('There is a newer callback secret')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => developer.call('POST', action, { CallBackSecret: after.CallBackSecret })),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409, 409, 409])
  })

  test('two applications have secrets of their own', async () => {
    const secrets = [await registered(developer), await registered(developer)].map((each) => each.CallBackSecret)
    expect(new Set(secrets).size).toBe(2)
  })
})
