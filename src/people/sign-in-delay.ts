import { type Db, inTransaction, type Transaction } from '../database/client.ts'
import { deleteExpired } from '../database/delete-expired.ts'
import { type Sql, sql } from '../database/sql.ts'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { deviceOf, type SignInAccount } from './devices.ts'

/** A counter of attempts, for an account (whether or not it exists), a browser or a network. */
interface Counter {
  /** Also the order in which rows are locked. */
  readonly key: string
  /** The number of failures without delay. The last one causes a delay of 1 s, which doubles with each further one. */
  readonly free: number
  readonly longestSeconds: number
}

/** An attempt to sign in or sign up, with its counters. */
export interface Try {
  readonly account: Counter
  readonly address: Counter
  /** A browser that has signed in to the account before. While trusted, it replaces the other counters. */
  readonly device?: Counter
  /** Set for sign-ups only. */
  readonly signUp?: Counter
}

/** An attempt that `countTry` has accepted. */
export interface CountedTry extends Try {
  readonly isOfDevice: boolean
}

const FORGOTTEN_MS = 24 * 60 * 60 * 1000
const FAILURES_MAX = 1_000_000
/** Beyond this many doublings, one second exceeds every delay. */
const DOUBLINGS_MAX = 20

const ofAccount = { free: 5, longestSeconds: 60 }
const ofAddress = { free: 20, longestSeconds: 15 * 60 }
/** Beyond this many failures a browser is no longer trusted, which limits the attempts with a stolen cookie. */
const DEVICE_FAILURES_MAX = 10

export interface TryOptions extends SignInAccount {
  readonly address: string
  /** The browser's device cookie (devices.ts). */
  readonly devices?: string | undefined
}

/** Returns a sign-in's counters, by kind of account: access to one must not clear the failures of the other. */
export function signInTry(secrets: Secrets, { kind, email, address, devices }: TryOptions): Try {
  const device = deviceOf(secrets, devices, { kind, email })
  return {
    account: { key: `account:${secrets.lookup(`${kind} ${email}`)}`, ...ofAccount },
    address: { key: `address:${secrets.lookup(networkOf(address))}`, ...ofAddress },
    ...(device !== null && { device: { key: `device:${secrets.lookup(device)}`, ...ofAccount } }),
  }
}

/** Returns the counters of a sign-up, which keep successes too, to limit the accounts that a network can create. */
export function signUpTry(secrets: Secrets, options: Omit<TryOptions, 'devices'>): Try {
  const signUp = { key: `sign-up:${secrets.lookup(networkOf(options.address))}`, ...ofAddress }
  return { ...signInTry(secrets, options), signUp }
}

/**
 * Counts an attempt as failed before its password is verified. Of concurrent attempts, in any number of processes, only
 * those free of delay proceed. An attempt that is too early is not counted and throws 'throttled' with the seconds to
 * wait. An attempt from a browser that has signed in to the account before is counted, and delayed, by that browser's
 * failures alone, up to ten of them.
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

/** Concurrent attempts cannot exceed the limit: beyond the free failures, only one proceeds at a time. */
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

/** False: too early, because a concurrent attempt was counted first. */
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
 * Undoes the counting of a successful attempt: deletes the account's failures, and subtracts the attempt from the
 * network's. The network's other failures stay, because otherwise an attacker with an account could guess without
 * limit. An attempt counted only for its browser resets only that browser's failures.
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

/** Deletes the failures of an account, for example after its password was set. */
export async function forgetFailures(tx: Transaction, { key }: { readonly key: string }): Promise<void> {
  await tx.signInDelay.deleteMany({ where: { key } })
}
