import type { Throttle } from '../applications/throttle.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type Db, inTransaction, type Transaction } from '../database/client.ts'
import { empty, identifier, sql } from '../database/sql.ts'
import { normaliseHost } from '../stores/secure-url.ts'
import { networkOf } from '../values/address-blocks.ts'
import { asciiEmail } from '../values/email.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, readInput, text } from '../values/input.ts'
import { lowerCase, passwordInput, verifyPassword } from './passwords.ts'
import { type AccountKind, type Client, type OpenedSession, openSession, type SessionServices } from './sessions.ts'
import { type CountedTry, checkCounted, countTry, forgiveTry, takeAttempt, withDevice } from './sign-in-delay.ts'

export type SignInServices = SessionServices & { throttle: Throttle }

export interface SignIn extends Client {
  readonly kind: AccountKind
  readonly email: string
  readonly password: string
  /** For a merchant: the store's address as typed. Empty or omitted: all stores where address and password match. */
  readonly store?: string | undefined
  /** The browser's device cookie. */
  readonly devices?: string | undefined
}

/** A session opened with a password, and the browser's new device cookie. */
export type EnteredSession = OpenedSession & { readonly devices: string }

const ACCOUNTS_MAX = 20
/**
 * The minimum of password checks for a failed sign-in without a store. A merchant may have several accounts, each of
 * which takes a check; the duration must not reveal whether any exist.
 */
export const LOOKS_MIN = 4

const signInInput = namedObject({
  Email: text(254).overwrite(asciiEmail),
  Password: passwordInput,
  Store: text(2048).optional(),
})

/**
 * Opens a session. A merchant's is for one store; the first 20 accounts in other stores with the same address and
 * password become its `person.others`. Throws the same error after the same work for an unknown account and for a wrong
 * password (401); after too many failures (429, with the seconds to wait; failures elsewhere do not delay a browser
 * that has signed in before) or attempts of one network; while
 * too many passwords are being checked (503); and for invalid input (400, with faults for Email, Password, Store).
 */
export async function signIn(services: SignInServices, input: SignIn): Promise<EnteredSession> {
  const { db, secrets } = services
  const { kind, address, devices } = input
  const { Email, Password, Store } = readInput(signInInput, {
    Email: input.email,
    Password: input.password,
    Store: input.store?.trim() || undefined,
  })
  const accounts = await findAccounts(db, kind, Email, Store)
  const account = { kind, email: await lowerCase(db, Email) }
  const network = networkOf(address)
  await takeAttempt(services, network)
  const counted = await countTry(services, { ...account, address, devices })
  const fits = (stored: string | null) => verifyPassword(stored, Password, network)
  const opened = await checkCounted(db, counted, async () => {
    const hashes = new Set(accounts.map(({ passwordHash }) => passwordHash))
    const fitting = new Set<string>()
    // One password after another, so that a sign-in occupies at most one thread.
    for (const hash of hashes) if (await fits(hash)) fitting.add(hash)
    const looksMin = kind === 'merchant' && Store === undefined ? LOOKS_MIN : 1
    if (fitting.size === 0) for (let looks = hashes.size; looks < looksMin; looks++) await fits(null)
    return accounts.filter(({ passwordHash }) => fitting.has(passwordHash))
  })
  if (opened.length === 0) throw wrong(kind, accounts.length === 0 ? 'no such account' : 'another password')
  const session = await inTransaction(db, (tx) => enter(tx, services, input, opened, counted))
  return { ...session, devices: withDevice(secrets, devices, account) }
}

interface FoundAccount {
  readonly id: number
  readonly identityId: number
  readonly email: string
  readonly passwordHash: string
  /** Null: not a merchant's. */
  readonly storeId: number | null
}

async function findAccounts(db: Db, kind: SignIn['kind'], email: string, store?: string): Promise<FoundAccount[]> {
  const table = tableOf(kind)
  const host = store === undefined ? null : normaliseHost(store)
  const ofStore =
    kind === 'merchant' ? sql`JOIN "Store" ON "Store"."id" = "storeId" AND "host" = coalesce(${host}, "host")` : empty
  return db.$queryRaw`
    SELECT ${table}."id", "identityId", "Identity"."email", "passwordHash", ${kind === 'merchant' ? sql`"storeId"` : sql`NULL`} AS "storeId"
    FROM ${table} JOIN "Identity" ON "Identity"."id" = "identityId" ${ofStore}
    WHERE lower(${table}."email") = lower(${email}::text)
    ORDER BY ${table}."id" LIMIT ${ACCOUNTS_MAX}`
}

/** The message depends only on the kind of account. */
function wrong(kind: SignIn['kind'], logDetail: string): StoreFailure {
  const what = kind === 'merchant' ? 'E-mail address, password or store' : 'E-mail address or password'
  return new StoreFailure('unauthorized', `${what} is wrong`, { logDetail })
}

/** The table of the accounts of a kind. */
export function tableOf(kind: AccountKind) {
  return identifier({ developer: 'Developer', merchant: 'StoreUser', operator: 'Operator' }[kind])
}

async function enter(
  tx: Transaction,
  services: SessionServices,
  { kind, address, userAgent }: SignIn,
  opened: readonly FoundAccount[],
  counted: CountedTry,
): Promise<OpenedSession> {
  const locked = await tx.$queryRaw<{ id: number; passwordHash: string }[]>`
    SELECT "id", "passwordHash" FROM "Identity" WHERE "id" = ANY (${opened.map(({ identityId }) => identityId)})
    ORDER BY "id" FOR NO KEY UPDATE`
  // Otherwise a session would outlive a change of the password.
  const [current, ...others] = opened.filter(({ identityId, passwordHash }) =>
    locked.some((row) => row.id === identityId && row.passwordHash === passwordHash),
  )
  if (!current) throw wrong(kind, 'the password was changed meanwhile')
  await forgiveTry(tx, counted)
  const account = { kind, id: current.id }
  const otherIds = others.map(({ id }) => id)
  const session = await openSession(tx, services, account, { address, userAgent }, otherIds)
  const actor: Actor = { kind, name: current.email, address }
  for (const { id, email, storeId } of [current, ...others]) {
    const developerId = kind === 'developer' ? id : null
    await recordAudit(tx, services.now, { actor, action: 'account.signed-in', target: email, storeId, developerId })
  }
  return session
}
