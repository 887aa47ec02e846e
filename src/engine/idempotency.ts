import { createHash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { StoreFailure } from '../values/failure.ts'
import type { ResultItem } from '../values/result-item.ts'
import type { Caller } from './caller.ts'
import type { Call } from './endpoints.ts'
import type { Scalar } from './fields.ts'
import type { Terms } from './write.ts'

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

export type Claim =
  /** The caller works on it until it ends the attempt, or lets 60 s pass; what is stored stands. */
  | { readonly kind: 'ours'; readonly attempt: Attempt; readonly stored: StoredItems }
  | { readonly kind: 'answered'; readonly stored: StoredItems }
  /** Another attempt works on it. */
  | { readonly kind: 'in-progress' }
  | { readonly kind: 'other-body' }

/** The right to store what becomes of a request's records. Whoever takes over has another `claim`. */
export interface Attempt {
  readonly scope: string
  readonly claim: string
}

/** Claims a request for an attempt at it. A key of 24 hours ago counts as new. */
export async function claimRequest(caller: Caller, { scope, bodyHash }: KeyedRequest): Promise<Claim> {
  const attempt = { scope, claim: randomUUID() }
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await insertKey(caller, attempt, bodyHash)) return { kind: 'ours', attempt, stored: new Map() }
    const key = await readKey(caller, scope)
    if (key === null) continue
    if (key.isOver) {
      await deleteKey(caller, scope)
      continue
    }
    if (key.bodyHash !== bodyHash) return { kind: 'other-body' }
    if (key.answered) return { kind: 'answered', stored: key.stored }
    if (!(await takeOver(caller, attempt, key.claim))) return { kind: 'in-progress' }
    // Read again: until it was taken over, the other attempt may have stored more.
    const ours = await readKey(caller, scope)
    if (ours !== null) return { kind: 'ours', attempt, stored: ours.stored }
  }
  return { kind: 'in-progress' }
}

/** True when the key is new; what is in its way is left as it is. Keys of others whose time is over go with it. */
async function insertKey(caller: Caller, { scope, claim }: Attempt, bodyHash: string): Promise<boolean> {
  const inserted = await caller.db.$executeRawUnsafe(
    `WITH past AS (
       SELECT "storeId", "scope" FROM "IdempotencyKey" WHERE "claimedAt" <= $7::timestamptz
       ORDER BY "claimedAt" LIMIT ${PURGED_MAX} FOR UPDATE SKIP LOCKED),
     purged AS (
       DELETE FROM "IdempotencyKey" k USING past p WHERE k."storeId" = p."storeId" AND k."scope" = p."scope")
     INSERT INTO "IdempotencyKey" ("storeId", "scope", "bodyHash", "claimedAt", "claim", "leasedUntil", "answered")
     VALUES ($1::int, $2, $3, $4::timestamptz, $5, $6::timestamptz, false)
     ON CONFLICT ("storeId", "scope") DO NOTHING`,
    caller.store.id,
    scope,
    bodyHash,
    caller.now().toISOString(),
    claim,
    leaseEnd(caller),
    over(caller),
  )
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
  const [row] = await caller.db.$queryRawUnsafe<(Omit<Key, 'stored'> & { items: string | null })[]>(
    `SELECT k."bodyHash", k."claim", k."answered", k."claimedAt" <= $3::timestamptz AS "isOver",
       (SELECT json_agg(json_build_array(a."place", a."item") ORDER BY a."place")::text FROM "IdempotencyAnswer" a
        WHERE a."storeId" = k."storeId" AND a."scope" = k."scope") AS "items"
     FROM "IdempotencyKey" k WHERE k."storeId" = $1::int AND k."scope" = $2`,
    caller.store.id,
    scope,
    over(caller),
  )
  if (row === undefined) return null
  const { items, ...key } = row
  return { ...key, stored: new Map(JSON.parse(items ?? '[]') as [number, ResultItem][]) }
}

async function deleteKey(caller: Caller, scope: string): Promise<void> {
  await caller.db.$executeRawUnsafe(
    `DELETE FROM "IdempotencyKey" WHERE "storeId" = $1::int AND "scope" = $2 AND "claimedAt" <= $3::timestamptz`,
    caller.store.id,
    scope,
    over(caller),
  )
}

/** False while the lease runs, or when the key is another's by now. Waits for a transaction that is about to store. */
async function takeOver(caller: Caller, { scope, claim }: Attempt, former: string): Promise<boolean> {
  const taken = await caller.db.$executeRawUnsafe(
    `UPDATE "IdempotencyKey" SET "claim" = $4, "leasedUntil" = $5::timestamptz
     WHERE "storeId" = $1::int AND "scope" = $2 AND "claim" = $3 AND "leasedUntil" <= $6::timestamptz`,
    caller.store.id,
    scope,
    former,
    claim,
    leaseEnd(caller),
    caller.now().toISOString(),
  )
  return taken > 0
}

/**
 * Stores what became of one record, in the transaction of its change: as the last step, for from then on whoever wants the
 * key waits. False, with nothing stored, when another attempt has taken over: the change must then be undone.
 * `isLast`: with it the request is answered.
 */
export async function storeItem(
  tx: Caller,
  { scope, claim }: Attempt,
  place: number,
  item: ResultItem,
  isLast: boolean,
): Promise<boolean> {
  const stored = await tx.db.$executeRawUnsafe(
    `WITH held AS (
       UPDATE "IdempotencyKey" SET "leasedUntil" = $4::timestamptz, "answered" = $5::boolean
       WHERE "storeId" = $1::int AND "scope" = $2 AND "claim" = $3 RETURNING "storeId", "scope")
     INSERT INTO "IdempotencyAnswer" ("storeId", "scope", "place", "item")
     SELECT held."storeId", held."scope", $6::int, $7::text::json FROM held`,
    tx.store.id,
    scope,
    claim,
    leaseEnd(tx),
    isLast,
    place,
    JSON.stringify(item),
  )
  return stored > 0
}

/** Ends an attempt that leaves something to do: the next one can begin at once. Nothing happens where one took over. */
export async function endAttempt(caller: Caller, { scope, claim }: Attempt): Promise<void> {
  await caller.db.$executeRawUnsafe(
    `UPDATE "IdempotencyKey" SET "leasedUntil" = "claimedAt"
     WHERE "storeId" = $1::int AND "scope" = $2 AND "claim" = $3`,
    caller.store.id,
    scope,
    claim,
  )
}

function leaseEnd({ now }: Caller): string {
  return new Date(now().getTime() + LEASE_MS).toISOString()
}

/** Keys claimed until then count no more. */
function over({ now }: Caller): string {
  return new Date(now().getTime() - KEPT_MS).toISOString()
}

const HEADER = 'Idempotency-Key'

/** One attempt at a request that may be sent again. Its records are tried one after the other. */
export interface KeyedAttempt {
  /** The whole answer was stored before. */
  readonly isReplay: boolean
  /**
   * What became of the record at this place: what an earlier attempt stored, else what `make` answers, which is stored
   * with the change, or if it is a refusal by itself; a 5xx is not. Throws `in-progress`, with the change undone, when
   * another attempt has taken over meanwhile.
   */
  readonly once: (
    place: number,
    done: (key: Scalar) => ResultItem,
    make: (terms: Terms) => Promise<ResultItem>,
  ) => Promise<ResultItem>
  /** Lets the next attempt in at once where something is left to do. */
  readonly end: () => Promise<void>
}

/**
 * Begins an attempt at a request of so many records; null where it has no `Idempotency-Key`. Throws `bad-request` for a
 * key that cannot be one, `key-reused` for a key that came with another body, `in-progress` while another attempt runs.
 */
export async function beginAttempt(call: Call, records: number): Promise<KeyedAttempt | null> {
  const key = keyIn(call.headers)
  if (key === null) return null
  const claim = await claimRequest(call.caller, requestOf(call, key))
  if (claim.kind === 'in-progress') throw inProgress()
  if (claim.kind === 'answered') return replayOf(claim.stored)
  if (claim.kind === 'ours') return attemptAt(call, claim, records)
  throw new StoreFailure('key-reused', `This ${HEADER} was sent with another body; a new request needs a new key`, {
    field: HEADER,
  })
}

/** The key without the quotes that a structured field has; null: none was sent. */
function keyIn({ 'idempotency-key': header }: IncomingHttpHeaders): string | null {
  if (header === undefined) return null
  const key = String(header).replace(/^"(.*)"$/, '$1')
  if (/^[!-~]{1,255}$/.test(key)) return key
  throw new StoreFailure('bad-request', `${HEADER} must be 1 to 255 visible ASCII characters`, { field: HEADER })
}

/** The body's hash is over the key too, which is stored nowhere: a password in a body cannot be found by trying some. */
function requestOf({ caller, method, route, params, body }: Call, key: string): KeyedRequest {
  const address = JSON.stringify([caller.application?.id ?? null, method, route, params])
  return { scope: hash(address, key), bodyHash: hash(key, body?.format ?? '', body?.text ?? '') }
}

/** No text but the last may hold a line feed. */
function hash(...texts: string[]): string {
  const sum = createHash('sha256')
  for (const text of texts) sum.update(text).update('\n')
  return sum.digest('base64url')
}

function replayOf(stored: StoredItems): KeyedAttempt {
  return { isReplay: true, once: async (place) => stored.get(place) as ResultItem, end: async () => {} }
}

function attemptAt(
  { caller, log }: Call,
  { attempt, stored }: Extract<Claim, { kind: 'ours' }>,
  records: number,
): KeyedAttempt {
  let isEnded = false
  const store = async (tx: Caller, place: number, item: ResultItem) => {
    const isLast = stored.size === records - 1
    if (!(await storeItem(tx, attempt, place, item, isLast))) throw inProgress()
  }
  return {
    isReplay: stored.size === records,
    once: async (place, done, make) => {
      const known = stored.get(place)
      if (known !== undefined) return known
      const item = await make({ finish: (tx, key) => store(tx, place, done(key)) })
      const status = Number(item.Status)
      if (status >= 500) return item
      if (status >= 400) await store(caller, place, item)
      stored.set(place, item)
      isEnded = stored.size === records
      return item
    },
    end: async () => {
      if (isEnded) return
      try {
        // The connection that an outage broke may still be the next in line.
        await endAttempt(caller, attempt).catch(() => endAttempt(caller, attempt))
      } catch (error) {
        log.warn({ err: error }, 'an attempt could not be ended; the next one begins when its lease has run out')
      }
    },
  }
}

function inProgress(): StoreFailure {
  return new StoreFailure('in-progress', `Another request with this ${HEADER} is in progress; try again in a moment`, {
    field: HEADER,
  })
}
