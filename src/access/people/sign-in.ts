import { type Db, inTransaction } from '../../foundation/database/client.ts'
import { empty, sql } from '../../foundation/database/sql.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { asciiEmail } from '../../foundation/values/email.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, readInput, text } from '../../foundation/values/input.ts'
import type { Throttle } from '../applications/limits/throttle.ts'
import { normaliseHost } from '../stores/secure-url.ts'
import { digestOf, type EnterServices, enter, lockEntry, tableOf } from './enter.ts'
import { insertChallenge } from './factors/challenges.ts'
import { signInWithCode } from './factors/sign-in-factor.ts'
import { lowerCase, passwordInput, verifyPassword } from './passwords.ts'
import type { AccountKind, Client } from './sessions.ts'
import { checkCounted, countTry, forgiveTry, takeAttempt } from './sign-in-delay.ts'

export type SignInServices = EnterServices & { throttle: Throttle }

export interface SignIn extends Client {
  readonly kind: AccountKind
  readonly email: string
  readonly password: string
  /** For a merchant: the store's address as typed. Empty or omitted: all stores where address and password match. */
  readonly store?: string | undefined
}

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
 * Opens a session, or asks for a second factor where the first account's person has one: `awaits` is for the cookie of the sign-in that
 * waits (`signInWithCode`). A merchant's session is for one store; the
 * first 20 accounts in other stores with the same address and password become its `person.others`, but those of another identity that
 * has a second factor. Throws the same error after the same work for an unknown account and for a wrong password (401); after too many
 * failures (429, with the seconds to wait; failures elsewhere do not delay a browser that has signed in before) or attempts of one
 * network; while too many passwords are being checked (503); and for invalid input (400, with faults for Email, Password, Store).
 */
export async function signInStep(services: SignInServices, input: SignIn) {
  const { db } = services
  const { kind, address, devices } = input
  const sent = { Email: input.email, Password: input.password, Store: input.store?.trim() || undefined }
  const { Email, Password, Store } = readInput(signInInput, sent)
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
  const [first] = opened
  if (!first) throw wrong(kind, accounts.length === 0 ? 'no such account' : 'another password')
  return inTransaction(db, async (tx) => {
    const passwords = opened.map(({ passwordHash }) => digestOf(passwordHash))
    const entry = { kind, accountIds: opened.map(({ id }) => id), passwords, shown: null }
    const current = await lockEntry(tx, services, entry)
    if (!current) throw wrong(kind, 'the password was changed meanwhile')
    // The password was right. Whoever knows it has none left to guess, so the factor's own counter suffices from here on.
    await forgiveTry(tx, counted)
    if (!current.first.hasFactor) return enter(tx, services, current, { ...input, isKnown: counted.device !== null })
    const { identityId } = current.first
    return { awaits: await insertChallenge(tx, services, { purpose: 'second-factor', ...entry, identityId }) }
  })
}

/**
 * The same for a program, which sends the code of a second factor with the password. Throws (401, naming Code) where one is needed and
 * is missing or wrong.
 */
export async function signIn(services: SignInServices, input: SignIn & { readonly code?: string | undefined }) {
  const step = await signInStep(services, input)
  if (!('awaits' in step)) return step
  if (input.code === undefined) {
    const message =
      'Code is needed: send the code of the authenticator app, or a recovery code, with Email and Password'
    throw new StoreFailure('unauthorized', message, { field: 'Code' })
  }
  return signInWithCode(services, { ...input, token: step.awaits, code: input.code })
}

function findAccounts(db: Db, kind: SignIn['kind'], email: string, store: string | undefined) {
  const table = tableOf(kind)
  const host = store === undefined ? null : normaliseHost(store)
  const ofStore =
    kind === 'merchant'
      ? sql`JOIN "Store" ON "Store"."id" = "storeId" AND (
          ${host}::text IS NULL OR "Store"."id" = (SELECT "storeId" FROM "StoreHost" WHERE "host" = ${host}))`
      : empty
  return db.$queryRaw<{ id: number; passwordHash: string }[]>`
    SELECT ${table}."id", "passwordHash"
    FROM ${table} JOIN "Identity" ON "Identity"."id" = "identityId" ${ofStore}
    WHERE lower(${table}."email") = lower(${email}::text)
    ORDER BY ${table}."id" LIMIT ${ACCOUNTS_MAX}`
}

/** The message depends only on the kind of account. */
function wrong(kind: SignIn['kind'], logDetail: string): StoreFailure {
  const what = kind === 'merchant' ? 'E-mail address, password or store' : 'E-mail address or password'
  return new StoreFailure('unauthorized', `${what} is wrong`, { logDetail })
}
