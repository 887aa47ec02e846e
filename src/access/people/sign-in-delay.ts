import { createHmac, randomBytes } from 'node:crypto'
import { type DataServices, type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneOf, type Secrets } from '../../foundation/values/secrets.ts'
import { type Throttle, tooMany } from '../applications/limits/throttle.ts'
import type { RateLimit } from '../stores/rate-limit.ts'
import type { AccountKind } from './sessions.ts'

// The delays after failed attempts, and the cookie by which a browser that has signed in before escapes those of others.

/** The account of a sign-in attempt, whether or not it exists. */
interface SignInAccount {
  readonly kind: AccountKind
  /** In lower case by PostgreSQL's lower(), so that all spellings that find an account count as one. */
  readonly email: string
}

interface Attempt extends SignInAccount {
  /** Also counts against the network's sign-ups, which keep successes too, to limit the accounts it can create. */
  readonly isSignUp?: boolean
  readonly address: string
  /** The browser's device cookie. */
  readonly devices?: string | undefined
}

/** A counter of attempts, for an account (whether or not it exists), a browser or a network. */
interface Counter {
  /** Also the order in which rows are locked. */
  readonly key: string
  /** The number of failures without delay. The last one causes a delay of 1 s, which doubles with each further one. */
  readonly free: number
  readonly longestSeconds: number
}

export const FORGOTTEN_MS = 24 * 60 * 60 * 1000
const FAILURES_MAX = 1_000_000
/** Beyond this many doublings, one second exceeds every delay. */
const DOUBLINGS_MAX = 20

const ofAccount = { free: 5, longestSeconds: 60 }
const ofAddress = { free: 20, longestSeconds: 15 * 60 }
const ofFactor = { free: 5, longestSeconds: 15 * 60 }
/** Beyond this many failures a browser is no longer trusted, which limits the attempts with a stolen cookie. */
const DEVICE_FAILURES_MAX = 10

/** By kind of account: access to one must not clear the failures of the other. The first one counts, the others are of former secret keys. */
function accountKeys(secrets: Secrets, { kind, email }: SignInAccount): string[] {
  return secrets.lookups(`${kind} ${email}`).map((hash) => `account:${hash}`)
}

export type CountedTry = Awaited<ReturnType<typeof countTry>>

/**
 * Counts an attempt as failed before its password is verified. Of concurrent attempts, in any number of processes, only
 * those free of delay proceed. One that is too early is not counted and throws 'rate-limited' with the seconds to wait. One
 * from a browser that has signed in to the account before is counted and delayed only by that browser's failures
 * (`isOfDevice`), up to ten of them.
 */
export async function countTry({ db, secrets, now }: DataServices, attempt: Attempt) {
  const { isSignUp = false, devices } = attempt
  const network = secrets.lookup(networkOf(attempt.address))
  const [accountKey = ''] = accountKeys(secrets, attempt)
  const account = { key: accountKey, ...ofAccount }
  const address = { key: `address:${network}`, ...ofAddress }
  const signUps = isSignUp ? [{ key: `sign-up:${network}`, ...ofAddress }] : []
  const deviceId = deviceOf(secrets, devices, attempt)
  const device: Counter | null = deviceId === null ? null : { key: `device:${secrets.lookup(deviceId)}`, ...ofAccount }
  const at = now()
  const forgottenAt = new Date(at.getTime() - FORGOTTEN_MS)
  const isOfDevice = device !== null && (await isTrusted(db, device, forgottenAt))
  const counters = isOfDevice ? [device] : [account, address, ...signUps]
  await countAll(db, counters, at, forgottenAt)
  return { account, address, device, isOfDevice }
}

async function countAll(db: Db, counters: readonly Counter[], at: Date, forgottenAt: Date): Promise<void> {
  await refuseTooEarly(db, counters, at)
  await inTransaction(db, async (tx) => {
    for (const counter of counters) {
      if (await count(tx, counter, at, forgottenAt)) continue
      await refuseTooEarly(tx, counters, at)
      throw throttled(1)
    }
  })
}

function factorKeys(secrets: Secrets, identityId: number): string[] {
  return secrets.lookups(`factor ${identityId}`).map((hash) => `factor:${hash}`)
}

/**
 * Counts a try of a second factor as failed before the code is looked at, as `countTry` does a password. Only somebody who knows the
 * password comes here, and the right password forgives nothing, so that codes cannot be guessed by signing in in between.
 */
export async function countFactorTry({ db, secrets, now }: DataServices, identityId: number): Promise<void> {
  const [key = ''] = factorKeys(secrets, identityId)
  const at = now()
  await countAll(db, [{ key, ...ofFactor }], at, new Date(at.getTime() - FORGOTTEN_MS))
}

/** Deletes the failed second factors of an identity after a right one. */
export async function forgetFactorFailures(tx: Transaction, secrets: Secrets, identityId: number): Promise<void> {
  await tx.signInDelay.deleteMany({ where: { key: { in: factorKeys(secrets, identityId) } } })
}

/** Concurrent attempts cannot exceed the limit: beyond the free failures, only one proceeds at a time. */
async function isTrusted(db: Db, { key }: Counter, forgottenAt: Date): Promise<boolean> {
  const spent = { key, failures: { gte: DEVICE_FAILURES_MAX }, failedAt: { gt: forgottenAt } }
  return (await db.signInDelay.count({ where: spent })) === 0
}

async function refuseTooEarly(db: Db | Transaction, counters: readonly Counter[], at: Date): Promise<void> {
  const where = { key: { in: counters.map(({ key }) => key) }, allowedAt: { gt: at } }
  const { allowedAt } = (await db.signInDelay.aggregate({ where, _max: { allowedAt: true } }))._max
  if (allowedAt !== null) throw throttled(Math.ceil((allowedAt.getTime() - at.getTime()) / 1000))
}

function throttled(retryAfterSeconds: number): StoreFailure {
  const message = `Too many tries failed; come back in ${retryAfterSeconds} s`
  return new StoreFailure('rate-limited', message, { retryAfterSeconds })
}

/** False: too early, because a concurrent attempt was counted first. */
async function count(tx: Transaction, { key, ...figures }: Counter, at: Date, forgottenAt: Date): Promise<boolean> {
  const failures = sql`CASE WHEN "kept"."failedAt" <= ${forgottenAt} THEN 1 ELSE LEAST("kept"."failures", ${FAILURES_MAX}::int) + 1 END`
  const counted = await tx.$executeRaw`
    INSERT INTO "SignInDelay" AS "kept" ("key", "failures", "allowedAt", "failedAt") VALUES (${key}, 1, ${at}, ${at})
    ON CONFLICT ("key") DO UPDATE
    SET "failures" = ${failures}, "allowedAt" = ${at}::timestamptz + ${delayAfter(failures, figures)}, "failedAt" = ${at}
    WHERE "kept"."allowedAt" <= ${at}`
  return counted > 0
}

function delayAfter(failures: Sql, { free, longestSeconds }: Omit<Counter, 'key'>): Sql {
  return sql`make_interval(secs => CASE WHEN ${failures} < ${free}::int THEN 0
    ELSE LEAST(${longestSeconds}::int, 2 ^ LEAST(${failures} - ${free}::int, ${DOUBLINGS_MAX}::int)) END)`
}

/**
 * Undoes the counting of a successful attempt: deletes the account's failures, and subtracts the attempt from the
 * network's. The network's other failures stay, because otherwise an attacker with an account could guess without
 * limit. An attempt counted only for its browser resets only that browser's failures.
 */
export async function forgiveTry(tx: Transaction, { account, address, device, isOfDevice }: CountedTry): Promise<void> {
  if (device) await tx.signInDelay.deleteMany({ where: { key: device.key } })
  if (isOfDevice) return
  await tx.signInDelay.deleteMany({ where: { key: account.key } })
  await subtractOne(tx, address)
}

async function subtractOne(tx: Transaction, { key, ...figures }: Counter): Promise<void> {
  const failures = sql`GREATEST("failures" - 1, 0)`
  await tx.$executeRaw`
    UPDATE "SignInDelay" SET "failures" = ${failures}, "allowedAt" = "failedAt" + ${delayAfter(failures, figures)}
    WHERE "key" = ${key}`
}

/** Checks the password of a counted attempt. The attempt does not count if the server is too busy to check it. */
export async function checkCounted<T>(db: Db, counted: CountedTry, check: () => Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof StoreFailure && error.code === 'unavailable') {
      const { account, address, device, isOfDevice } = counted
      const counters = isOfDevice && device ? [device] : [account, address]
      await inTransaction(db, async (tx) => {
        for (const counter of counters) await subtractOne(tx, counter)
      })
    }
    throw error
  }
}

/** Attempts of one network, successful ones included, which the delays forgive: an office signs in on a Monday morning. */
const attemptRateLimit: RateLimit = { capacity: 100, leakPerSecond: 1 }

/** Counts an attempt against its network. Throws `rate-limited` with the seconds to wait. */
export async function takeAttempt({ throttle }: { throttle: Pick<Throttle, 'take'> }, network: string): Promise<void> {
  const reading = await throttle.take(`sign-in:${network}`, attemptRateLimit)
  if (!reading.accepted) throw tooMany(reading)
}

/** Deletes the failures of an account, for example after its password was set. */
export async function forgetFailures(tx: Transaction, secrets: Secrets, account: SignInAccount): Promise<void> {
  await tx.signInDelay.deleteMany({ where: { key: { in: accountKeys(secrets, account) } } })
}

/** The entries of a device cookie: base64url of 16 bytes each, a random id and its HMAC with the account. */
const ID_LENGTH = 22
const ENTRY_LENGTH = 2 * ID_LENGTH
const ENTRIES_MAX = 10

/**
 * Returns the id of a browser that has signed in to the account before, from its device cookie; otherwise null. Reads
 * only the cookie, so that the result does not reveal whether the account exists.
 */
export function deviceOf(secrets: Secrets, cookie: string | undefined, account: SignInAccount): string | null {
  const entry = entriesOf(cookie).find((each) => isOf(secrets, each, account))
  return entry === undefined ? null : entry.slice(0, ID_LENGTH)
}

/** Returns the device cookie after a sign-in: a new entry for the account, and those of the last 9 other accounts. */
export function withDevice(secrets: Secrets, cookie: string | undefined, account: SignInAccount): string {
  const id = randomBytes(16).toString('base64url')
  const others = entriesOf(cookie).filter((entry) => !isOf(secrets, entry, account))
  const [signature = ''] = signatures(secrets, id, account)
  return [id + signature, ...others].slice(0, ENTRIES_MAX).join('.')
}

function entriesOf(cookie = ''): string[] {
  return cookie.split('.', ENTRIES_MAX).filter((entry) => entry.length === ENTRY_LENGTH)
}

function isOf(secrets: Secrets, entry: string, account: SignInAccount): boolean {
  return isOneOf(entry.slice(ID_LENGTH), signatures(secrets, entry.slice(0, ID_LENGTH), account))
}

/** Under each secret key, the current one first. */
function signatures(secrets: Secrets, id: string, { kind, email }: SignInAccount): string[] {
  return secrets.derivations('device cookie').map((key) => {
    const whole = createHmac('sha256', key).update(`${id} ${kind} ${email}`)
    return whole.digest().subarray(0, 16).toString('base64url')
  })
}
