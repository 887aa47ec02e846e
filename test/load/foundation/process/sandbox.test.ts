import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { installation } from '../../../../src/access/audit/audit.ts'
import { insertIdentity } from '../../../../src/access/people/identities.ts'
import { verifyPassword } from '../../../../src/access/people/passwords.ts'
import { rotateUserKey } from '../../../../src/access/stores/stores.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { type EnsureSandbox, ensureSandbox } from '../../../../src/operations/sandbox/create.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { ofTest } from '../../../support/shared.ts'

const secrets = createSecrets('secret-key-of-the-tests-secret-key')
const now = () => new Date('2026-03-01T12:00:00Z')

let database: TestDatabase
let dataDir: string
beforeEach(async () => {
  database = await ofTest(cloneDatabase())
  dataDir = folderOfTest()
})

function ensure(changes: Partial<EnsureSandbox> = {}) {
  return ensureSandbox({
    wanted: true,
    baseUrl: 'http://localhost:3000',
    dataDir,
    operatorKey: 'operator-key-of-the-tests',
    defaultTimeZone: 'America/New_York',
    db: database.db,
    secrets,
    now,
    fill: async () => {},
    onCreate: () => {},
    ...changes,
  })
}

function file(): unknown {
  return JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
}

test('an empty database gets a store, a developer and an application whose keys and passwords work', async () => {
  const sandbox = await ensure()
  expect(sandbox).toEqual({
    baseUrl: 'http://localhost:3000',
    operatorKey: 'operator-key-of-the-tests',
    store: {
      id: 1,
      secureUrl: 'https://sandbox.store-platform.test',
      email: expect.any(String),
      password: expect.any(String),
      userKey: expect.any(String),
    },
    developer: { email: expect.any(String), password: expect.any(String) },
    application: { publicKey: expect.any(String), privateKey: expect.any(String), token: expect.any(String) },
  })
  expect(file()).toEqual(sandbox)
  expect(statSync(join(dataDir, 'sandbox.json')).mode & 0o777).toBe(0o600)
  if (!sandbox) return
  const { store, application, developer } = sandbox
  const authenticator = createAuthenticator({ db: database.db, secrets, now })
  const { caller } = await authenticator.authenticate({ secureUrl: store.secureUrl, ...application })
  expect(caller.store.id).toBe(1)
  const merchant = await database.db.identity.findFirstOrThrow({ where: { email: store.email } })
  expect(await verifyPassword(merchant.passwordHash, store.password)).toBe(true)
  const account = await database.db.developer.findFirstOrThrow({ include: { applications: true, identity: true } })
  expect(await verifyPassword(account.identity.passwordHash, developer.password)).toBe(true)
  expect(account.applications.map(({ publicKey }) => publicKey)).toEqual([application.publicKey])
})

test('the second start finds it, and takes over another base address and operator key', async () => {
  const first = await ensure()
  expect(await ensure()).toEqual(first)
  const moved = { baseUrl: 'https://shop.example', operatorKey: 'another-operator-key' }
  expect(await ensure({ ...moved, wanted: false })).toEqual({ ...first, ...moved })
  expect(file()).toEqual({ ...first, ...moved })
  expect(await database.db.store.count()).toBe(1)
})

test('after the user key was rotated, the next start tells the new one', async () => {
  const first = await ensure()
  const authenticator = createAuthenticator({ db: database.db, secrets, now })
  const { userKey } = await rotateUserKey({ db: database.db, secrets, now, authenticator }, 1, installation)
  expect(userKey).not.toBe(first?.store.userKey)

  expect((await ensure())?.store).toEqual({ ...first?.store, userKey })
  expect(file()).toMatchObject({ store: { userKey } })
})

test('a creation that ends half way leaves an empty database, and the next one is whole', async () => {
  const broken = ensure({
    fill: async ({ db, store }) => {
      await db.manufacturer.create({
        data: { storeId: store.id, id: 1, name: 'M', updatedAt: now(), updatedBy: '', details: {} },
      })
      throw new Error('the power went')
    },
  })
  await expect(broken).rejects.toThrow('the power went')
  expect(await database.db.store.count()).toBe(0)
  expect(await database.db.manufacturer.count()).toBe(0)
  expect((await ensure())?.store.id).toBe(1)
})

test('a file whose database was never committed is overwritten', async () => {
  const lost = await cloneDatabase()
  const first = await ensure({ db: lost.db })
  await lost.drop()
  const second = await ensure()
  expect(second?.application.token).not.toBe(first?.application.token)
  expect(file()).toEqual(second)
})

test('two processes that start at once make one sandbox', async () => {
  const both = await Promise.all([ensure(), ensure()])
  expect(both[0]).toEqual(both[1])
  expect(await database.db.store.count()).toBe(1)
})

test('a database that holds anything gets none', async () => {
  const identity = await insertIdentity(database.db, now, { email: 'd@x.example', passwordHash: '' })
  await database.db.developer.create({ data: { ...identity, createdAt: now() } })
  expect(await ensure()).toBeNull()
  expect(await database.db.store.count()).toBe(0)
})

test("another database's file is not shown", async () => {
  await ensure()
  const other = await cloneDatabase()
  expect(await ensure({ db: other.db, wanted: false })).toBeNull()
  await other.drop()
})

test.each(['{', '{}'])('a damaged file (%s) does not stop the start', async (content) => {
  await ensure()
  writeFileSync(join(dataDir, 'sandbox.json'), content)
  expect(await ensure()).toBeNull()
})
