import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { hashPassword } from '../../../../src/access/people/passwords.ts'
import { findSession } from '../../../../src/access/people/sessions.ts'
import { signIn } from '../../../../src/access/people/sign-in.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { listMembers } from '../../../../src/shop/staff/members.ts'
import { openClient } from '../../../support/client.ts'
import { createDatabase } from '../../../support/database.ts'
import { servicesOn } from '../../../support/services.ts'
import { ofTest } from '../../../support/shared.ts'

// What the version that gave people roles makes of the accounts before it.

const LAST_BEFORE = '20261126120000_one_statement_a_request'
const HOUR_MS = 3_600_000

let database: Awaited<ReturnType<typeof createDatabase>>
let client: pg.Client
beforeEach(async () => {
  database = await ofTest(createDatabase())
  await migrate(database.url, () => {}, LAST_BEFORE)
  client = await ofTest(openClient(database.url))
})

async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const names = Object.keys(row).map((name) => `"${name}"`)
  const places = names.map((_, at) => `$${at + 1}`)
  await client.query(`INSERT INTO "${table}" (${names}) VALUES (${places})`, Object.values(row))
}

test('accounts become owners, each with its own password, and sessions stay open', async () => {
  const createdAt = new Date(Date.now() - HOUR_MS)
  const db = await ofTest(connect(database.url))
  const services = servicesOn(db)
  for (const id of [1, 2, 3]) {
    const store = { id, name: `Shop ${id}`, secureUrl: `https://shop-${id}.example`, host: `shop-${id}.example` }
    const others = { currency: 'USD', timeZone: 'UTC', userKeyHash: `${id}`, userKeySealed: '', createdAt }
    await insert('Store', { ...store, ...others })
  }
  const [one, other] = [await hashPassword('the password of one'), await hashPassword('the password of another')]
  const people = [
    { id: 1, storeId: 1, email: 'Ann@shop.example', passwordHash: one },
    { id: 2, storeId: 2, email: 'ann@shop.example', passwordHash: one },
    { id: 3, storeId: 3, email: 'ann@shop.example', passwordHash: other },
    { id: 4, storeId: 3, email: 'bea@shop.example', passwordHash: other },
  ]
  for (const user of people) await insert('StoreUser', { ...user, createdAt })
  await insert('Developer', { id: 1, email: 'ann@shop.example', passwordHash: other, createdAt })
  const session = {
    createdAt,
    seenAt: createdAt,
    expiresAt: new Date(Date.now() + HOUR_MS),
    address: '',
    userAgent: '',
  }
  await insert('Session', {
    ...session,
    tokenHash: services.secrets.lookup('of Ann'),
    storeUserId: 1,
    otherUserIds: [2],
  })
  await insert('Session', { ...session, tokenHash: services.secrets.lookup('of a developer'), developerId: 1 })

  await migrate(database.url)

  const everyone = await Promise.all(
    [1, 2, 3].map((storeId) => listMembers(services, { storeId, limit: 9, offset: 0 })),
  )
  expect(everyone.flat()).toEqual(
    people.map(({ id, email }) => ({ id, email, createdAt, role: 'owner', ownPrivileges: null })),
  )
  // One each: who calls an account by an address is not yet who has another of it.
  expect(await db.identity.count()).toBe(5)
  expect(await db.identity.count({ where: { emailProvedAt: null } })).toBe(5)
  expect(await findSession(services, 'merchant', 'of Ann')).toMatchObject({
    provedAt: createdAt,
    person: { id: 1, email: 'Ann@shop.example', role: 'owner', others: [{ userId: 2, storeId: 2 }] },
  })
  expect(await findSession(services, 'developer', 'of a developer')).toMatchObject({ person: { id: 1 } })

  const enter = async (kind: 'merchant' | 'developer', password: string) => {
    const { token } = await signIn(services, {
      kind,
      email: 'ann@shop.example',
      password,
      address: '192.0.2.1',
      userAgent: '',
    })
    const { person } = (await findSession(services, kind, token)) ?? {}
    return person?.kind === 'merchant' ? [person.id, ...person.others.map(({ userId }) => userId)] : [person?.id]
  }
  expect(await enter('merchant', 'the password of one')).toEqual([1, 2])
  expect(await enter('merchant', 'the password of another')).toEqual([3])
  expect(await enter('developer', 'the password of another')).toEqual([1])
  await expect(enter('developer', 'the password of one')).rejects.toThrow('is wrong')
})
