import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../engine/caller.ts'
import type { Scalar } from '../engine/fields.ts'
import {
  type Claim,
  claimRequest,
  endAttempt,
  type KeyedRequest,
  type StoredItems,
  storeItem,
} from '../engine/idempotency.ts'
import type { Terms } from '../engine/write.ts'
import { StoreFailure } from '../values/failure.ts'
import type { ResultItem } from '../values/result-item.ts'
import type { Call } from './endpoints.ts'

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
