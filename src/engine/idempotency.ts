import { createHash, randomUUID } from 'node:crypto'
import { sql } from '../database/sql.ts'
import { StoreFailure } from '../values/failure.ts'
import type { ResultItem } from '../values/result-item.ts'
import type { Caller } from './caller.ts'
import type { Call, Log } from './endpoints.ts'
import type { Scalar } from './fields.ts'

// The remembered answers of requests with an Idempotency-Key (docs/decisions/idempotency.md).

const HEADER = 'Idempotency-Key'
/** How long a key counts from its first use on. */
const KEPT_MS = 24 * 60 * 60 * 1_000
/** An attempt that stored nothing for so long is taken for dead. Should it live, the lost claim undoes its next change. */
const LEASE_MS = 60_000
/** Each claim removes so many keys whose time is over: more than it adds, and too few to be felt. */
const PURGED_MAX = 5
/** A key can be gone, or another's, between two statements of a claim; not time after time. */
const TRIES_MAX = 5

/** A request that may be sent again. */
export interface KeyedRequest {
  /** The same for every time that it is sent, and for no other request of the store. */
  readonly scope: string
  /** Another one for another body. */
  readonly bodyHash: string
}

/** What became of the records of a request, by their places from 0. */
export type StoredItems = Map<number, ResultItem>

/** The right to store what becomes of a request's records. Whoever takes over has another `claim`. */
export interface Attempt {
  readonly scope: string
  /** Null: the whole answer is stored. */
  readonly claim: string | null
  readonly stored: StoredItems
}

export type Claim =
  /** The caller works on it until it ends the attempt, or lets 60 s pass; what is stored stands. `answered`: all is. */
  | { readonly kind: 'ours' | 'answered'; readonly attempt: Attempt }
  /** Another attempt works on it. */
  | { readonly kind: 'in-progress' }
  | { readonly kind: 'other-body' }

/** The answer of one record of a request, to be stored with its change. */
export interface PendingAnswer<Key = Scalar> {
  readonly attempt: Attempt
  readonly place: number
  /** How many records the request has. */
  readonly records: number
  readonly itemOf: (key: Key) => ResultItem
}

/**
 * Begins an attempt at a request; null where it has no `Idempotency-Key`. Throws `bad-request` for a key that cannot be one,
 * `key-reused` for a key that came with another body, `in-progress` while another attempt runs.
 */
export async function beginAttempt(call: Call): Promise<Attempt | null> {
  const key = keyIn(call)
  if (key === null) return null
  const claim = await claimRequest(call.caller, keyedRequest(call, key))
  if (claim.kind === 'in-progress') throw inProgress()
  if (claim.kind !== 'other-body') return claim.attempt
  throw new StoreFailure('key-reused', `This ${HEADER} was sent with another body; a new request needs a new key`, {
    field: HEADER,
  })
}

/** The key without the quotes that a structured field has; null: none was sent. */
function keyIn({ headers: { 'idempotency-key': header } }: Call): string | null {
  if (header === undefined) return null
  const key = String(header).replace(/^"(.*)"$/, '$1')
  if (/^[!-~]{1,255}$/.test(key)) return key
  throw new StoreFailure('bad-request', `${HEADER} must be 1 to 255 visible ASCII characters`, { field: HEADER })
}

/** The body's hash is over the key too, which is stored nowhere: a password in a body cannot be found by trying some. */
function keyedRequest({ caller, method, route, params, body }: Call, key: string): KeyedRequest {
  const address = JSON.stringify([caller.application?.id ?? null, method, route, params])
  return { scope: hash(address, key), bodyHash: hash(key, body?.format ?? '', body?.text ?? '') }
}

/** No text but the last may hold a line feed. */
function hash(...texts: string[]): string {
  const sum = createHash('sha256')
  for (const text of texts) sum.update(text).update('\n')
  return sum.digest('base64url')
}

function inProgress(): StoreFailure {
  return new StoreFailure('in-progress', `Another request with this ${HEADER} is in progress; try again in a moment`, {
    field: HEADER,
  })
}

/** Claims a request for an attempt at it. A key of 24 hours ago counts as new. */
export async function claimRequest(caller: Caller, { scope, bodyHash }: KeyedRequest): Promise<Claim> {
  const claim = randomUUID()
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await insertKey(caller, scope, claim, bodyHash)) {
      return { kind: 'ours', attempt: { scope, claim, stored: new Map() } }
    }
    const key = await readKey(caller, scope)
    if (key === null) continue
    if (key.isOver) {
      await deleteKey(caller, scope)
      continue
    }
    if (key.bodyHash !== bodyHash) return { kind: 'other-body' }
    if (key.answered) return { kind: 'answered', attempt: { scope, claim: null, stored: key.stored } }
    if (!(await takeOver(caller, scope, claim, key.claim))) return { kind: 'in-progress' }
    // Read again: until it was taken over, the other attempt may have stored more.
    const ours = await readKey(caller, scope)
    if (ours !== null) return { kind: 'ours', attempt: { scope, claim, stored: ours.stored } }
  }
  return { kind: 'in-progress' }
}

/** True when the key is new; what is in its way is left as it is. Keys of others whose time is over go with it. */
async function insertKey(caller: Caller, scope: string, claim: string, bodyHash: string): Promise<boolean> {
  const { db, store, now } = caller
  const inserted = await db.$executeRaw(sql`
    WITH past AS (
      SELECT "storeId", "scope" FROM "IdempotencyKey" WHERE "claimedAt" <= ${over(caller)}::timestamptz
      ORDER BY "claimedAt" LIMIT ${PURGED_MAX}::int FOR UPDATE SKIP LOCKED),
    purged AS (
      DELETE FROM "IdempotencyKey" k USING past p WHERE k."storeId" = p."storeId" AND k."scope" = p."scope")
    INSERT INTO "IdempotencyKey" ("storeId", "scope", "bodyHash", "claimedAt", "claim", "leasedUntil", "answered")
    VALUES (${store.id}::int, ${scope}, ${bodyHash}, ${now().toISOString()}::timestamptz, ${claim},
      ${leaseEnd(caller)}::timestamptz, false)
    ON CONFLICT ("storeId", "scope") DO NOTHING`)
  return inserted > 0
}

interface Key {
  readonly bodyHash: string
  readonly claim: string
  readonly answered: boolean
  readonly isOver: boolean
  readonly stored: StoredItems
}

async function readKey(caller: Caller, scope: string): Promise<Key | null> {
  const [row] = await caller.db.$queryRaw<(Omit<Key, 'stored'> & { items: string | null })[]>(sql`
    SELECT k."bodyHash", k."claim", k."answered", k."claimedAt" <= ${over(caller)}::timestamptz AS "isOver",
      (SELECT json_agg(json_build_array(a."place", a."item") ORDER BY a."place")::text FROM "IdempotencyAnswer" a
       WHERE a."storeId" = k."storeId" AND a."scope" = k."scope") AS "items"
    FROM "IdempotencyKey" k WHERE k."storeId" = ${caller.store.id}::int AND k."scope" = ${scope}`)
  if (row === undefined) return null
  const { items, ...key } = row
  return { ...key, stored: new Map(JSON.parse(items ?? '[]') as [number, ResultItem][]) }
}

async function deleteKey(caller: Caller, scope: string): Promise<void> {
  await caller.db.$executeRaw(sql`
    DELETE FROM "IdempotencyKey"
    WHERE "storeId" = ${caller.store.id}::int AND "scope" = ${scope} AND "claimedAt" <= ${over(caller)}::timestamptz`)
}

/** False while the lease runs, or when the key is another's by now. Waits for a transaction that is about to store. */
async function takeOver(caller: Caller, scope: string, claim: string, former: string): Promise<boolean> {
  const taken = await caller.db.$executeRaw(sql`
    UPDATE "IdempotencyKey" SET "claim" = ${claim}, "leasedUntil" = ${leaseEnd(caller)}::timestamptz
    WHERE "storeId" = ${caller.store.id}::int AND "scope" = ${scope} AND "claim" = ${former}
      AND "leasedUntil" <= ${caller.now().toISOString()}::timestamptz`)
  return taken > 0
}

/** Stores the answer of a change in its transaction. Throws `in-progress` when another attempt has taken over meanwhile. */
export function rememberAnswer<Key>(tx: Caller, { itemOf, ...answer }: PendingAnswer<Key>, key: Key): Promise<void> {
  return rememberItem(tx, answer, itemOf(key))
}

/**
 * Stores what became of one record. Where that is a change, in its transaction, as the last step: from then on whoever wants
 * the key waits. Throws `in-progress`, with nothing stored, when another attempt has taken over: the change must be undone.
 */
export async function rememberItem(
  tx: Caller,
  { attempt: { scope, claim, stored }, place, records }: Omit<PendingAnswer, 'itemOf'>,
  item: ResultItem,
): Promise<void> {
  const isLast = stored.size === records - 1
  const inserted = await tx.db.$executeRaw(sql`
    WITH held AS (
      UPDATE "IdempotencyKey" SET "leasedUntil" = ${leaseEnd(tx)}::timestamptz, "answered" = ${isLast}::boolean
      WHERE "storeId" = ${tx.store.id}::int AND "scope" = ${scope} AND "claim" = ${claim} RETURNING "storeId", "scope")
    INSERT INTO "IdempotencyAnswer" ("storeId", "scope", "place", "item")
    SELECT held."storeId", held."scope", ${place}::int, ${JSON.stringify(item)}::text::json FROM held`)
  if (inserted === 0) throw inProgress()
}

/** Ends an attempt that leaves something to do: the next one can begin at once. Nothing happens where one took over. */
export async function endAttempt(caller: Caller, { scope, claim }: Attempt, log?: Log): Promise<void> {
  const end = () =>
    caller.db.$executeRaw(sql`
      UPDATE "IdempotencyKey" SET "leasedUntil" = "claimedAt"
      WHERE "storeId" = ${caller.store.id}::int AND "scope" = ${scope} AND "claim" = ${claim}`)
  try {
    // The connection that an outage broke may still be the next in line.
    await end().catch(end)
  } catch (error) {
    if (!log) throw error
    log.warn({ err: error }, 'an attempt could not be ended; the next one begins when its lease has run out')
  }
}

function leaseEnd({ now }: Caller): string {
  return new Date(now().getTime() + LEASE_MS).toISOString()
}

/** Keys claimed until then count no more. */
function over({ now }: Caller): string {
  return new Date(now().getTime() - KEPT_MS).toISOString()
}
