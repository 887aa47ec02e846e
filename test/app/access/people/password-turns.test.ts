import { afterEach, expect, test } from 'vitest'
import { hashPassword, verifyPassword } from '../../../../src/access/people/passwords.ts'
import { openAccess } from '../../../support/access.ts'
import { looks } from '../../../support/argon2.ts'
import { shared } from '../../../support/shared.ts'
import { enter, freshAddress, newDeveloper, refusal } from './persons.ts'

const WAITING_OF_NETWORK_MAX = 50

const access = await shared(openAccess())
const { services } = access
afterEach(() => {
  looks.afterwards = async () => {}
})

/** Lets every check of a password wait for `end`. `atOnce` is how many have run at the same time. */
function holdChecks() {
  const held = Promise.withResolvers<void>()
  const figures = { running: 0, atOnce: 0 }
  looks.afterwards = async () => {
    figures.atOnce = Math.max(figures.atOnce, ++figures.running)
    await held.promise
    figures.running--
  }
  return { figures, end: held.resolve }
}

test('two passwords are checked at a time', async () => {
  const { figures, end } = holdChecks()
  const checks = Array.from({ length: 10 }, (_, number) => verifyPassword(null, 'a password', `network ${number}`))
  await expect.poll(() => figures.running).toBe(2)
  end()

  expect(await Promise.all(checks)).toEqual(Array.from({ length: 10 }, () => false))
  expect(figures.atOnce).toBe(2)
})

test('beyond the waiting ones of a network a sign-in is refused with 503, does not count as failed, and others wait their turn', async () => {
  const address = freshAddress()
  const { email } = await newDeveloper(services)
  const { end } = holdChecks()
  const checks = Array.from({ length: 2 + WAITING_OF_NETWORK_MAX }, () => verifyPassword(null, 'a password', address))
  const failure = await refusal(enter(services, { kind: 'developer', email, address }))
  const elsewhere = enter(services, { kind: 'developer', email })

  expect(failure).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
  const counted = await services.db.signInDelay.findMany({ where: { failures: { gt: 0 } } })
  end()
  await Promise.all([...checks, elsewhere])
  // The other sign-in is the one that may count while it waits, for its account and its network.
  expect(counted.length).toBeLessThanOrEqual(2)
  for (const { failures } of counted) expect(failures).toBe(1)
  const rows = await services.db.signInDelay.findMany({ where: { failures: { gt: 0 } } })
  expect(rows).toEqual([])
})

test('a network signs in a hundred times in a burst and then once a second, successes included', async () => {
  const address = freshAddress()
  const { email } = await newDeveloper(services)
  for (let count = 0; count < 100; count++) await enter(services, { kind: 'developer', email, address })

  const failure = await refusal(enter(services, { kind: 'developer', email, address }))
  expect(failure).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 1 })
  await enter(services, { kind: 'developer', email })
  access.clock.ms += 1000
  await enter(services, { kind: 'developer', email, address })
})

test('a new password is hashed in the same turns', async () => {
  const { figures, end } = holdChecks()
  const checks = [1, 2].map((number) => verifyPassword(null, 'a password', `network ${number}`))
  await expect.poll(() => figures.running).toBe(2)
  let isHashed = false
  const hashed = hashPassword('a new password').then(() => {
    isHashed = true
  })
  await services.db.$queryRaw`SELECT 1`
  expect(isHashed).toBe(false)
  end()
  await Promise.all([hashed, ...checks])
})
