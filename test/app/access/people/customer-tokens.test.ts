import { expect, test } from 'vitest'
import { issueCustomerToken, redeemCustomerToken } from '../../../../src/access/people/customer-tokens.ts'
import { operatorCaller } from '../../../../src/access/stores/caller-store.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { newStore, openAccess } from '../../../support/access.ts'
import { shared } from '../../../support/shared.ts'
import { freshAddress, newCustomer, refusal, visible } from './persons.ts'

const access = await shared(openAccess())
const { services } = access
const storeId = (await newStore(services)).id

const publicUrl = 'https://api.shop.example/base'

async function issue(customerId: number, minutes = 10, ofStore = storeId) {
  return issueCustomerToken({ ...services, publicUrl }, await operatorCaller(services, ofStore), {
    customerId,
    minutes,
  })
}

function redeem(token: string) {
  return redeemCustomerToken(services, token, { address: freshAddress(), userAgent: 'a browser' })
}

test('of twenty at once with one token, one gets a session', async () => {
  const customerId = await newCustomer(services, storeId)
  const { token, url } = await issue(customerId)
  expect(url).toBe(`${publicUrl}/account/sign-in?token=${token}`)
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => redeem(token)))

  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await services.db.session.count({ where: { storeId, customerId } })).toBe(1)
})

test('one that was used, is too old, was altered, or is of a customer disabled since, is refused with one text', async () => {
  const customerId = await newCustomer(services, storeId)
  const used = await issue(customerId)
  await redeem(used.token)
  const altered = `${(await issue(customerId)).token.slice(1)}-`
  const old = await issue(customerId, 10)
  const disabledId = await newCustomer(services, storeId, { email: null })
  const disabled = await issue(disabledId)
  await services.db.customer.updateMany({ where: { id: disabledId }, data: { enabled: false } })
  access.clock.ms += 10 * 60_000

  const told = []
  for (const token of [used.token, altered, old.token, disabled.token, '', 'x'.repeat(100_000), 'zero\0']) {
    told.push(visible(await refusal(redeem(token))))
  }
  expect(told[0]).toMatchObject({ status: 401 })
  for (const each of told) expect(each).toEqual(told[0])
  expect(await services.db.session.count({ where: { customerId: disabledId } })).toBe(0)
})

test('the last moment of its time is still in time', async () => {
  const customerId = await newCustomer(services, storeId)
  const { token } = await issue(customerId, 1440)
  access.clock.ms += 1440 * 60_000 - 1

  await redeem(token)
})

test.each([0, 1441, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY])('%d minutes are refused', async (minutes) => {
  const customerId = await newCustomer(services, storeId)

  expect(await refusal(issue(customerId, minutes))).toMatchObject({ status: 400, field: 'minutes' })
  expect(await services.db.customerLoginToken.count({ where: { customerId } })).toBe(0)
})

test('a store makes links for its own customers alone, and for none that it has disabled', async () => {
  const customerId = await newCustomer(services, storeId)
  const other = await newStore(services)
  expect(await refusal(issue(customerId, 10, other.id))).toMatchObject({ code: 'not-found', field: String(customerId) })

  await services.db.customer.updateMany({ where: { id: customerId }, data: { enabled: false } })
  expect(await refusal(issue(customerId))).toMatchObject({ status: 409 })
})

test('the server keeps the hash alone', async () => {
  const { token } = await issue(await newCustomer(services, storeId))
  const rows = await services.db.customerLoginToken.findMany()

  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain(token)
})

test('a customer has twenty at most, the newest', async () => {
  const customerId = await newCustomer(services, storeId)
  const tokens: string[] = []
  for (let count = 0; count < 22; count++) {
    tokens.push((await issue(customerId)).token)
    access.clock.ms += 1
  }

  expect(await services.db.customerLoginToken.count({ where: { customerId } })).toBe(20)
  expect(await refusal(redeem(tokens[1] ?? ''))).toMatchObject({ status: 401 })
  await redeem(tokens[2] ?? '')
})

test('those that are too old are swept', async () => {
  const customerId = await newCustomer(services, storeId)
  const at = services.now()
  await services.db.customerLoginToken.deleteMany()
  const old = Array.from({ length: 150 }, (_, index) => ({
    tokenHash: `old ${index}`,
    storeId,
    customerId,
    createdAt: at,
    expiresAt: at,
  }))
  await services.db.customerLoginToken.createMany({ data: old })
  const other = await newCustomer(services, storeId)
  await issue(other)
  await sweepsByAge(services, { historyDays: null })['old sign-in links'](() => false)
  expect(await services.db.customerLoginToken.count()).toBe(1)
})

test('a transaction that is given up makes no link', async () => {
  const customerId = await newCustomer(services, storeId)
  const caller = await operatorCaller(services, storeId)
  const options = { customerId, minutes: 5 }
  let token = ''
  await inTransaction(services.db, async (tx) => {
    token = (await issueCustomerToken({ ...services, publicUrl }, { ...caller, db: tx }, options)).token
    throw new Error('given up')
  }).catch(() => undefined)

  expect(token).not.toBe('')
  expect(await refusal(redeem(token))).toMatchObject({ status: 401 })
})
