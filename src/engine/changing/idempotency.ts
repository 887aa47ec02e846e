import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isFree, leased, leaseEnd, leases } from '../../foundation/database/leases.ts'
import { outageOf } from '../../foundation/database/outage.ts'
import { processNumber } from '../../foundation/database/process-lock.ts'
import { sql } from '../../foundation/database/sql.ts'
import { type ResultItem, StoreFailure } from '../../foundation/values/failure.ts'
import type { Caller } from '../caller.ts'
import type { Call, Log } from '../definition/endpoints.ts'
import type { Scalar } from '../definition/fields.ts'

// The stored answers of requests with an Idempotency-Key (docs/decisions/idempotency.md).

const HEADER = 'Idempotency-Key'
/** How long a key is valid after its first use. */
export const KEPT_MS = 24 * 60 * 60 * 1_000
/** An attempt past it can be taken over, and one whose process is gone at once. Its next change then fails and rolls back. */
const lease = leases.idempotencyKey
/** Between two tries to end an attempt that an outage broke off. */
const END_RETRY_MS = 500
/** Another request can remove or claim the key between two statements, but not repeatedly. */
const TRIES_MAX = 5

/** The store that keys belong to; 0: none. Its `db` may be a transaction. */
type KeyOwner = Pick<Caller, 'db' | 'now'> & { readonly store: { readonly id: number } }

/** The right to store the results of a request's records. An attempt that takes over has another `claim`. */
export interface Attempt {
  readonly storeId: number
  readonly scope: string
  /** Null: the whole answer is stored. */
  readonly claim: string | null
  /** The results of the request's records, by index from 0. */
  readonly stored: ReadonlyMap<number, ResultItem>
}

export type Claim =
  /** `ours`: held until the attempt ends, stores nothing for 60 s or loses its process; stored results stand. `answered`: all stored. */
  | { readonly kind: 'ours' | 'answered'; readonly attempt: Attempt }
  | { readonly kind: 'in-progress' }
  | { readonly kind: 'other-body' }

/**
 * Stores the answer to a change as the last step of its transaction, because other attempts at the key wait from then on. Throws
 * `in-progress` if another attempt has taken over: the change must be rolled back.
 */
export type Remember<Key = Scalar> = (tx: Pick<Caller, 'db' | 'now'>, key: Key) => Promise<void>

/**
 * Begins an attempt at a request with an `Idempotency-Key`. Throws a 400 for a malformed key,
 * `key-reused` for a key first sent with another body, `in-progress` while another attempt runs.
 */
export async function beginAttempt(call: Call): Promise<Attempt> {
  const { caller, method, route, params, headers, body } = call
  const { 'idempotency-key': header } = headers
  const address = [caller.application?.id ?? null, method, route, params]
  return attemptAt(caller, { header, address, body: [body?.format ?? '', body?.text ?? ''] })
}

/** Begins an attempt at a request by its header, its address with the principal, and the texts of its body. Throws likewise. */
export async function attemptAt(
  owner: KeyOwner,
  { header, address, body }: { header: unknown; address: readonly unknown[]; body: readonly string[] },
): Promise<Attempt> {
  const claim = await claimRequest(owner, hashesOf(header, address, body))
  if (claim.kind === 'in-progress') throw inProgress()
  if (claim.kind !== 'other-body') return claim.attempt
  throw keyReused()
}

/** What is stored of a key at an address, and of the body that came with it. Throws a 400 for a malformed key. */
export function hashesOf(header: unknown, address: readonly unknown[], body: readonly string[]) {
  // A structured field may be quoted.
  const key = String(header).replace(/^"(.*)"$/, '$1')
  if (!/^[!-~]{1,255}$/.test(key))
    throw refusal('malformed-request', `${HEADER} must be 1 to 255 visible ASCII characters`)
  // The body's hash includes the key, which is not stored, so a password in a body cannot be found by trial.
  return { scope: hash(JSON.stringify(address), key), bodyHash: hash(key, ...body) }
}

type Hashes = ReturnType<typeof hashesOf>

export function keyReused(): StoreFailure {
  return refusal('key-reused', `This ${HEADER} was sent with another body; a new request needs a new key`)
}

function refusal(code: 'malformed-request' | 'key-reused' | 'in-progress', message: string): StoreFailure {
  return new StoreFailure(code, message, { field: HEADER, ...(code === 'in-progress' && { retryAfterSeconds: 1 }) })
}

/** Only the last text may contain a line feed, the separator. */
function hash(...texts: string[]): string {
  const sum = createHash('sha256')
  for (const text of texts) sum.update(text).update('\n')
  return sum.digest('base64url')
}

function inProgress(): StoreFailure {
  return refusal('in-progress', `Another request with this ${HEADER} is in progress; try again in a moment`)
}

/**
 * Claims a request for an attempt. `scope` is the same for each repetition and differs from all other requests of the
 * store; `bodyHash` differs if the body differs. A key first used 24 hours ago counts as new.
 */
export async function claimRequest(owner: KeyOwner, { scope, bodyHash }: Hashes): Promise<Claim> {
  const claim = randomUUID()
  const storeId = owner.store.id
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await insertKey(owner, scope, claim, bodyHash)) {
      return { kind: 'ours', attempt: { storeId, scope, claim, stored: new Map() } }
    }
    const key = await readKey(owner, scope)
    if (key === null) continue
    if (key.isOver) {
      await owner.db.$executeRaw(sql`
        DELETE FROM "IdempotencyKey"
        WHERE "storeId" = ${storeId}::int AND "scope" = ${scope} AND "claimedAt" <= ${over(owner)}::timestamptz`)
      continue
    }
    if (key.bodyHash !== bodyHash) return { kind: 'other-body' }
    if (key.answered) return { kind: 'answered', attempt: { storeId, scope, claim: null, stored: key.stored } }
    if (!(await takeOver(owner, scope, claim, key.claim))) return { kind: 'in-progress' }
    // Read again, because the other attempt may have stored more before the takeover.
    const ours = await readKey(owner, scope)
    if (ours !== null) return { kind: 'ours', attempt: { storeId, scope, claim, stored: ours.stored } }
  }
  return { kind: 'in-progress' }
}

/** Returns true if the key is new; leaves an existing key unchanged. */
async function insertKey(owner: KeyOwner, scope: string, claim: string, bodyHash: string): Promise<boolean> {
  const { db, store, now } = owner
  const inserted = await db.$executeRaw(sql`
    INSERT INTO "IdempotencyKey" ("storeId", "scope", "bodyHash", "claimedAt", "claim", "leasedUntil", "process", "answered")
    VALUES (${store.id}::int, ${scope}, ${bodyHash}, ${now().toISOString()}::timestamptz, ${claim},
      ${leaseEnd(lease, now)}, ${processNumber()}::int, false)
    ON CONFLICT ("storeId", "scope") DO NOTHING`)
  return inserted > 0
}

async function readKey({ db, store, now }: KeyOwner, scope: string) {
  type Row = { bodyHash: string; claim: string; answered: boolean; isOver: boolean; items: string | null }
  const [row] = await db.$queryRaw<Row[]>(sql`
    SELECT k."bodyHash", k."claim", k."answered", k."claimedAt" <= ${over({ now })}::timestamptz AS "isOver",
      (SELECT json_agg(json_build_array(a."place", a."item") ORDER BY a."place")::text FROM "IdempotencyAnswer" a
       WHERE a."storeId" = k."storeId" AND a."scope" = k."scope") AS "items"
    FROM "IdempotencyKey" k WHERE k."storeId" = ${store.id}::int AND k."scope" = ${scope}`)
  if (row === undefined) return null
  const { items, ...key } = row
  return { ...key, stored: new Map(JSON.parse(items ?? '[]') as [number, ResultItem][]) }
}

/**
 * False while the lease runs and the process of the attempt holds its lock, and after another attempt's claim. Waits for
 * a transaction that is storing an answer.
 */
async function takeOver(owner: KeyOwner, scope: string, claim: string, former: string): Promise<boolean> {
  const { db, store, now } = owner
  const taken = await db.$executeRaw(sql`
    UPDATE "IdempotencyKey" SET "claim" = ${claim}, ${leased(lease, now)}
    WHERE "storeId" = ${store.id}::int AND "scope" = ${scope} AND "claim" = ${former} AND ${isFree(lease, now)}`)
  return taken > 0
}

/** `rememberItems` for a request with one answer. */
export function rememberItem(tx: Pick<Caller, 'db' | 'now'>, attempt: Attempt, item: ResultItem): Promise<void> {
  return rememberItems(tx, attempt, new Map([[0, item]]), 1)
}

/**
 * Stores the results of some of the request's `records`, by place; for changes, see `Remember`. Throws `in-progress` and stores
 * nothing if another attempt has taken over.
 */
export async function rememberItems(
  tx: Pick<Caller, 'db' | 'now'>,
  { storeId, scope, claim }: Attempt,
  items: ReadonlyMap<number, ResultItem>,
  records: number,
): Promise<void> {
  const rows = [...items].map(([place, item]) => ({ place, item }))
  const inserted = await tx.db.$executeRaw(sql`
    WITH stored AS (
      SELECT count(*) AS "count" FROM "IdempotencyAnswer" WHERE "storeId" = ${storeId}::int AND "scope" = ${scope}),
    held AS (
      UPDATE "IdempotencyKey" SET "leasedUntil" = ${leaseEnd(lease, tx.now)},
        "answered" = stored."count" + ${rows.length}::int >= ${records}::int
      FROM stored WHERE "storeId" = ${storeId}::int AND "scope" = ${scope} AND "claim" = ${claim}
      RETURNING "storeId", "scope")
    INSERT INTO "IdempotencyAnswer" ("storeId", "scope", "place", "item")
    SELECT held."storeId", held."scope", n."place", n."item"
    FROM held, json_to_recordset(${JSON.stringify(rows)}::text::json) AS n ("place" int, "item" json)`)
  if (inserted === 0) throw inProgress()
}

/** Ends an incomplete attempt, so that the next can begin at once. Does nothing if another attempt took over. */
export async function endAttempt({ db }: Pick<Caller, 'db'>, { storeId, scope, claim }: Attempt, log?: Log) {
  const end = () =>
    db.$executeRaw(sql`
      UPDATE "IdempotencyKey" SET "leasedUntil" = "claimedAt"
      WHERE "storeId" = ${storeId}::int AND "scope" = ${scope} AND "claim" = ${claim}`)
  try {
    // The pool may still return the connection that an outage broke.
    await end().catch(end)
  } catch (error) {
    if (!log) throw error
    if (outageOf(error) === null) noteNotEnded(error, log)
    else endLater(end, log)
  }
}

/** Keeps trying while the database is away, as long as the lease runs, so that a retry only has to wait for the database. */
async function endLater(end: () => Promise<unknown>, log: Log): Promise<void> {
  let reason: unknown
  for (let waitedMs = 0; waitedMs < lease.ms; waitedMs += END_RETRY_MS) {
    await delay(END_RETRY_MS, undefined, { ref: false })
    try {
      await end()
      return
    } catch (error) {
      reason = error
    }
  }
  noteNotEnded(reason, log)
}

function noteNotEnded(err: unknown, log: Log): void {
  log.warn({ err }, 'an attempt could not be ended; the next one begins when its lease has run out')
}

/** Keys first used at or before this time have expired. */
function over({ now }: Pick<Caller, 'now'>): string {
  return new Date(now().getTime() - KEPT_MS).toISOString()
}
