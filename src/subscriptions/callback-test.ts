import { type CallbackResult, type CallbackServices, newMessageId, sendCallback } from '../applications/callback.ts'
import { findOwnRow, type OwnApplicationReader, type OwnId, recordOwn } from '../applications/own-applications.ts'
import type { RateLimit, Throttle } from '../applications/throttle.ts'
import type { Actor } from '../audit/audit.ts'
import { inTransaction } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'

/** The request that tested a CallBackURL, and its result. */
export interface CallbackTest {
  readonly messageId: string
  /** The JSON text of the request. */
  readonly sent: string
  readonly result: CallbackResult
}

/** Recognizably belongs to no store and no subscription. */
const sample = { secureUrl: 'https://sample.store.example', token: '0'.repeat(32) }

/** Per developer, because the address may belong to someone who never agreed to be called. */
const rateLimit: RateLimit = { capacity: 10, leakPerSecond: 0.1 }

/**
 * Sends a sample AUTHORIZE, signed like a real one, to an application's CallBackURL. Subscribes no store. Any response
 * is returned, not thrown. Throws for an application without a CallBackURL (409), beyond 10 tests in a burst and one
 * per 10 s after that (429), and for an id that is not one of the developer's applications (404).
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
