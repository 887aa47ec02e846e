import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { registerApplication } from '../../access/applications/applications.ts'
import { addSubscription } from '../../access/applications/subscriptions/subscription-rows.ts'
import { createStore } from '../../access/people/create-store.ts'
import { insertIdentity } from '../../access/people/identities.ts'
import { hashPassword } from '../../access/people/passwords.ts'
import { storeWithKey } from '../../access/stores/stores.ts'
import { type Caller, OPERATOR } from '../../engine/caller.ts'
import { locks } from '../../foundation/database/advisory-locks.ts'
import type { DataServices, Db, Transaction } from '../../foundation/database/client.ts'
import { readSandboxFile, type SandboxFile, writeSandboxFile } from '../../foundation/process/data-folder.ts'
import { allPrivileges } from '../../shop/registry.ts'

/** Allows for slow machines. */
const CREATION_TIMEOUT_MS = 600_000

const DOMAIN = 'sandbox.store-platform.test'
/** By which its people sign in. */
export const sandboxAddresses = { merchant: `merchant@${DOMAIN}`, developer: `developer@${DOMAIN}` } as const

export interface EnsureSandbox extends DataServices {
  /** Whether to create a sandbox in an empty database. */
  wanted: boolean
  baseUrl: string
  dataDir: string
  operatorKey: string
  defaultTimeZone: string
  /** Creates the records in the new store, in the caller's transaction. */
  fill: (caller: Caller) => Promise<void>
  /** Runs when the creation begins. */
  onCreate: () => void
}

/**
 * Creates the sandbox if it is wanted and the database is empty. Returns the content of `sandbox.json` for the sandbox
 * in the database. Null: no sandbox, or the file is missing.
 */
export async function ensureSandbox(options: EnsureSandbox): Promise<SandboxFile | null> {
  if (!options.wanted || !(await isEmpty(options.db))) return find(options)
  options.onCreate()
  return (await create(options)) ?? find(options)
}

/** Also checks for order statuses, because a store whose row was deleted manually may have left other records. */
async function isEmpty(db: Db | Transaction): Promise<boolean> {
  const [row] = await db.$queryRaw<{ empty: boolean }[]>`
    SELECT NOT EXISTS (TABLE "Store") AND NOT EXISTS (TABLE "OrderStatus")
      AND NOT EXISTS (TABLE "Application") AND NOT EXISTS (TABLE "Developer") AS "empty"`
  return row?.empty === true
}

/**
 * Creates everything in one transaction and writes the file as its last step. A kill before the commit leaves an empty
 * database (and perhaps a file, which the next start overwrites); a kill after it leaves both. Null: another process
 * has created the sandbox.
 */
function create(options: EnsureSandbox): Promise<SandboxFile | null> {
  return options.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${locks.sandbox})`
      if (!(await isEmpty(tx))) return null
      // A rolled-back attempt has used up ids, but the sandbox's store must be number 1.
      await tx.$executeRaw`SELECT setval(pg_get_serial_sequence('"Store"', 'id'), 1, false)`
      const content = await createEverything(options, tx)
      await writeSandboxFile(options.dataDir, content)
      return content
    },
    { maxWait: 10_000, timeout: CREATION_TIMEOUT_MS },
  )
}

async function createEverything(options: EnsureSandbox, tx: Transaction): Promise<SandboxFile> {
  const { baseUrl, operatorKey, defaultTimeZone, secrets, now, fill } = options
  const newPassword = () => randomBytes(15).toString('base64url')
  const merchant = { email: sandboxAddresses.merchant, password: newPassword() }
  const developer = { email: sandboxAddresses.developer, password: newPassword() }

  const store = await createStore(
    { db: tx, secrets, now, defaultTimeZone },
    { Name: 'Sandbox', SecureURL: `https://${DOMAIN}`, Email: merchant.email, Password: merchant.password },
  )
  // Nobody but the sandbox has these addresses.
  await tx.identity.updateMany({ where: { email: merchant.email }, data: { emailProvedAt: now() } })
  const passwordHash = await hashPassword(developer.password)
  const identity = await insertIdentity(tx, now, { email: developer.email, passwordHash, isProved: true })
  const { id: developerId } = await tx.developer.create({ data: { ...identity, createdAt: now() } })
  const { id, publicKey, privateKey } = await registerApplication(
    { db: tx, secrets, now },
    { Name: 'Sandbox', Privileges: allPrivileges },
  )
  await tx.application.update({ where: { id }, data: { developerId } })
  const { token } = await addSubscription({ db: tx, secrets, now }, { storeId: store.id, publicKey })
  const caller = { store, application: null, channel: 'administration', privileges: null, actor: OPERATOR } as const
  await fill({ ...caller, db: tx, now, secrets })

  return {
    baseUrl,
    operatorKey,
    store: { id: store.id, secureUrl: store.secureUrl, ...merchant, userKey: store.userKey },
    developer,
    application: { publicKey, privateKey, token },
  }
}

/** Ignores the file of another database or of a deleted sandbox. Updates address and keys to the current ones. */
async function find({ db, secrets, dataDir, baseUrl, operatorKey }: EnsureSandbox): Promise<SandboxFile | null> {
  const content = await readSandboxFile(dataDir)
  if (!content) return null
  const { id, secureUrl } = content.store
  const { publicKey } = content.application
  const isHere = await db.subscription.count({ where: { store: { id, secureUrl }, application: { publicKey } } })
  if (isHere === 0) return null
  const { userKey } = await storeWithKey({ db, secrets }, id)
  const current = { ...content, baseUrl, operatorKey, store: { ...content.store, userKey } }
  if (isDeepStrictEqual(current, content)) return content
  await writeSandboxFile(dataDir, current)
  return current
}
