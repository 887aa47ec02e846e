import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { registerApplication } from '../applications/applications.ts'
import type { Db, Transaction } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import { hashPassword } from '../people/passwords.ts'
import { readSandboxFile, type SandboxFile, writeSandboxFile } from '../process/sandbox-file.ts'
import { createStore, storeWithKey } from '../stores/stores.ts'
import { addSubscription } from '../subscriptions/subscription-rows.ts'
import type { Secrets } from '../values/secrets.ts'

/** Lets one process at a time look whether the database is empty, and fill it. Any number that nothing else locks. */
const SANDBOX_LOCK = 7_420_313
/** A slow machine may take its time. */
const CREATION_TIMEOUT_MS = 600_000

const DOMAIN = 'sandbox.store-platform.test'

export interface EnsureSandbox {
  /** Whether an empty database gets a sandbox. */
  wanted: boolean
  baseUrl: string
  dataDir: string
  operatorKey: string
  defaultTimeZone: string
  db: Db
  secrets: Secrets
  now: () => Date
  /** The services that an application may be allowed to use. */
  services: readonly string[]
  /** Puts the records into the new store, on the caller's transaction. */
  fill: (caller: Caller) => Promise<void>
  /** Called when the creation begins. */
  onCreate: () => void
}

/**
 * Creates the sandbox if it is wanted and the database is empty. Gives what `sandbox.json` says of the sandbox that the
 * database holds; null when it holds none, or nobody kept the file.
 */
export async function ensureSandbox(options: EnsureSandbox): Promise<SandboxFile | null> {
  if (options.wanted && (await isEmpty(options.db))) {
    options.onCreate()
    const created = await create(options)
    if (created) return created
  }
  return find(options)
}

/** Order statuses tell of a store whose row somebody has deleted by hand: its other records may still be there. */
async function isEmpty(db: Db | Transaction): Promise<boolean> {
  const [row] = await db.$queryRaw<{ empty: boolean }[]>`
    SELECT NOT EXISTS (TABLE "Store") AND NOT EXISTS (TABLE "OrderStatus")
      AND NOT EXISTS (TABLE "Application") AND NOT EXISTS (TABLE "Developer") AS "empty"`
  return row?.empty === true
}

/**
 * Everything is one transaction, and the file is written as its last step: a kill before the commit leaves an empty
 * database (and perhaps a file, which the next start overwrites), a kill after it leaves both. Null: another process was first.
 */
function create(options: EnsureSandbox): Promise<SandboxFile | null> {
  return options.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${SANDBOX_LOCK})`
      if (!(await isEmpty(tx))) return null
      // An attempt that was rolled back has used up ids; the sandbox's store is number 1 all the same.
      await tx.$executeRaw`SELECT setval(pg_get_serial_sequence('"Store"', 'id'), 1, false)`
      const content = await createEverything(options, tx)
      await writeSandboxFile(options.dataDir, content)
      return content
    },
    { maxWait: 10_000, timeout: CREATION_TIMEOUT_MS },
  )
}

async function createEverything(options: EnsureSandbox, tx: Transaction): Promise<SandboxFile> {
  const { baseUrl, operatorKey, defaultTimeZone, secrets, now, services, fill } = options
  const merchant = { email: `merchant@${DOMAIN}`, password: newPassword() }
  const developer = { email: `developer@${DOMAIN}`, password: newPassword() }

  const store = await createStore(
    { db: tx, secrets, now, defaultTimeZone },
    { Name: 'Sandbox', SecureURL: `https://${DOMAIN}`, Email: merchant.email, Password: merchant.password },
  )
  const { id: developerId } = await tx.developer.create({
    data: { email: developer.email, passwordHash: await hashPassword(developer.password), createdAt: now() },
  })
  const { id, publicKey, privateKey } = await registerApplication(
    { db: tx, secrets, now, services },
    { Name: 'Sandbox' },
  )
  await tx.application.update({ where: { id }, data: { developerId } })
  const { token } = await addSubscription({ db: tx, secrets, now }, { storeId: store.id, publicKey })
  await fill({ store, application: null, channel: 'administration', privileges: null, actor: 'operator', db: tx, now })

  return {
    baseUrl,
    operatorKey,
    store: { id: store.id, secureUrl: store.secureUrl, ...merchant, userKey: store.userKey },
    developer,
    application: { publicKey, privateKey, token },
  }
}

function newPassword(): string {
  return randomBytes(15).toString('base64url')
}

/** The file of another database, or one whose sandbox is gone, is not shown. Address and operator key follow the settings. */
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
