import { type Db, inTransaction, type Transaction } from '../database/client.ts'
import { deleteExpired } from '../database/delete-expired.ts'
import { type Sql, sql } from '../database/sql.ts'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { deviceOf, type SignInAccount } from './devices.ts'

/** What tries are counted by: an account, whether or not there is one, or the network that they come from. */
interface Counter {
  /** Also the order in which rows are locked. */
  readonly key: string
  /** So many failures cost nothing; the last of them costs a second, each further one twice as much. */
  readonly free: number
  readonly longestSeconds: number
}

/** One try to get in, by everything that it is counted by. */
export interface Try {
  readonly account: Counter
  readonly address: Counter
  /** Of a browser that has signed in to the account before; while it is trusted, it counts instead of the others. */
  readonly device?: Counter
  /** Of a sign-up. */
  readonly signUp?: Counter
}

/** A try that `countTry` has let through. */
export interface CountedTry extends Try {
  readonly isOfDevice: boolean
}

const FORGOTTEN_MS = 24 * 60 * 60 * 1000
const FAILURES_MAX = 1_000_000
/** Past it a doubled second is longer than any delay. */
const DOUBLINGS_MAX = 20

const ofAccount = { free: 5, longestSeconds: 60 }
const ofAddress = { free: 20, longestSeconds: 15 * 60 }
/** A browser with more failures is trusted no longer: a stolen cookie is good for so many tries. */
const DEVICE_FAILURES_MAX = 10

export interface TryOptions extends SignInAccount {
  readonly address: string
  /** The browser's device cookie (devices.ts). */
  readonly devices?: string | undefined
}

/** A developer's account and a merchant's of the same address are two: whoever may open the one must not clear the other's failures. */
export function signInTry(secrets: Secrets, { kind, email, address, devices }: TryOptions): Try {
  const device = deviceOf(secrets, devices, { kind, email })
  return {
    account: { key: `account:${secrets.lookup(`${kind} ${email}`)}`, ...ofAccount },
    address: { key: `address:${secrets.lookup(networkOf(address))}`, ...ofAddress },
    ...(device !== null && { device: { key: `device:${secrets.lookup(device)}`, ...ofAccount } }),
  }
}

/** Sign-ups count by themselves as well, and those that succeed are not forgiven: nobody opens accounts without end. */
export function signUpTry(secrets: Secrets, options: Omit<TryOptions, 'devices'>): Try {
  const signUp = { key: `sign-up:${secrets.lookup(networkOf(options.address))}`, ...ofAddress }
  return { ...signInTry(secrets, options), signUp }
}

/**
 * Counts a try as failed, before the password is looked at: of any number at once, in any number of processes, only as
 * many get to that as are free. One that comes before its time is refused ('throttled', with the seconds to wait) and
 * counts nowhere. A try from a browser that has signed in to the account before is counted, and delayed, by the failures
 * of that browser alone, until there are ten of them.
 */
export async function countTry({ db, now }: { db: Db; now: () => Date }, tried: Try): Promise<CountedTry> {
  const { account, address, device, signUp } = tried
  const at = now()
  const isOfDevice = device !== undefined && (await isTrusted(db, device, at))
  const counters = isOfDevice ? [device] : [account, address, ...(signUp ? [signUp] : [])]
  await refuseTooEarly(db, counters, at)
  const forgottenAt = new Date(at.getTime() - FORGOTTEN_MS)
  await deleteExpired(db, { table: 'SignInDelay', key: 'key', column: 'failedAt' }, forgottenAt)
  await inTransaction(db, async (tx) => {
    for (const counter of counters) {
      if (await count(tx, counter, at)) continue
      await refuseTooEarly(tx, counters, at)
      throw throttled(1)
    }
  })
  return { ...tried, isOfDevice }
}

/** Of tries at once none gets past the last trusted one: failures above the free ones let one through at a time. */
async function isTrusted(db: Db, { key }: Counter, at: Date): Promise<boolean> {
  const forgottenAt = new Date(at.getTime() - FORGOTTEN_MS)
  const spent = { key, failures: { gte: DEVICE_FAILURES_MAX }, failedAt: { gt: forgottenAt } }
  return (await db.signInDelay.count({ where: spent })) === 0
}

async function refuseTooEarly(db: Db | Transaction, counters: readonly Counter[], at: Date): Promise<void> {
  const keys = counters.map(({ key }) => key)
  const latest = await db.signInDelay.aggregate({
    where: { key: { in: keys }, allowedAt: { gt: at } },
    _max: { allowedAt: true },
  })
  const { allowedAt } = latest._max
  if (allowedAt !== null) throw throttled(Math.ceil((allowedAt.getTime() - at.getTime()) / 1000))
}

function throttled(retryAfterSeconds: number): StoreFailure {
  return new StoreFailure('throttled', `Too many tries failed; come back in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  })
}

/** False: too early, by what another try has written meanwhile. */
async function count(tx: Transaction, { key, ...figures }: Counter, at: Date): Promise<boolean> {
  const forgottenAt = new Date(at.getTime() - FORGOTTEN_MS)
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
 * A try that was counted has succeeded: the account's failures are forgotten, and its address is as if it had not been.
 * The failures of others at the address stay, lest somebody with an account of their own guess there without end. A try
 * that counted for its browser alone has nothing else forgotten.
 */
export async function forgiveTry(tx: Transaction, { account, address, device, isOfDevice }: CountedTry): Promise<void> {
  if (device) await forgetFailures(tx, device)
  if (isOfDevice) return
  await forgetFailures(tx, account)
  const failures = sql`GREATEST("failures" - 1, 0)`
  await tx.$executeRaw`
    UPDATE "SignInDelay" SET "failures" = ${failures}, "allowedAt" = "failedAt" + ${delayAfter(failures, address)}
    WHERE "key" = ${address.key}`
}

/** Of an account, such as one that has got a new password. */
export async function forgetFailures(tx: Transaction, { key }: { readonly key: string }): Promise<void> {
  await tx.signInDelay.deleteMany({ where: { key } })
}
