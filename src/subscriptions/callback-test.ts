import { type CallbackResult, type CallbackServices, newMessageId, sendCallback } from '../applications/callback.ts'
import { findOwnRow, type OwnApplicationReader, type OwnId, recordOwn } from '../applications/own-applications.ts'
import type { RateLimit, Throttle } from '../applications/throttle.ts'
import type { Actor } from '../audit/audit.ts'
import { inTransaction } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'

/** What was sent to try a CallBackURL, and what came of it. */
export interface CallbackTest {
  readonly messageId: string
  /** The JSON text. */
  readonly sent: string
  readonly result: CallbackResult
}

/** That of no store and no subscription, and seen to be. */
const sample = { secureUrl: 'https://sample.store.example', token: '0'.repeat(32) }

/** Of one developer: whoever is called has not asked for it. */
const rateLimit: RateLimit = { capacity: 10, leakPerSecond: 0.1 }

/**
 * Sends an application's CallBackURL a sample AUTHORIZE, signed as a real one. Nobody is subscribed by it, and whatever is
 * answered is a value. Refuses an application without a CallBackURL (409), more than 10 tries at once and one in 10 s
 * then (429), and an id that no application of the developer has (404).
 */
export async function testCallback(
  services: OwnApplicationReader & CallbackServices & { throttle: Throttle },
  own: OwnId,
  actor: Actor,
): Promise<CallbackTest> {
  const { db, now, throttle } = services
  const row = await findOwnRow(db, own)
  const { callbackUrl } = row
  if (callbackUrl === null) {
    throw new StoreFailure('conflict', 'The application has no CallBackURL to try; save one first', {
      field: 'CallBackURL',
    })
  }
  const { accepted, retryAfterSeconds } = throttle.take(`callback-test:${own.developerId}`, rateLimit)
  if (!accepted) {
    const message = `Too many tries; come back in ${retryAfterSeconds} s`
    throw new StoreFailure('throttled', message, { retryAfterSeconds })
  }
  const messageId = newMessageId()
  const callback = { application: { ...row, callbackUrl }, action: 'AUTHORIZE', ...sample, messageId } as const
  const { sent, ...result } = await sendCallback(services, callback)
  const details = result.ok ? { status: 200 } : { status: result.status, reason: result.reason }
  await inTransaction(db, (tx) => recordOwn(tx, now, actor, 'application.callback-tested', row, details))
  return { messageId, sent, result }
}
