import { nextTry } from '../../outbound/retry-schedule.ts'

/** What came of an attempt. */
export interface Outcome {
  /** When it began. */
  readonly at: Date
  /** Null: there was no answer. */
  readonly status: number | null
  /** A sentence without its full stop; empty: nothing went wrong. */
  readonly reason: string
  /** Whole milliseconds. */
  readonly durationMs: number
  /** The answer's body, its first 4 kB. */
  readonly answer: string
  /** The answer's Retry-After. */
  readonly retryAfter: string | null
  /** Nothing was sent, and nothing will be: it says nothing about the receiver. */
  readonly isHeldBack: boolean
}

/** What a decision depends on besides the outcome. */
export interface Tried {
  /** Those that came before included, and this one. */
  readonly attempts: number
  readonly triesBefore: number
  /** 0: a test. */
  readonly sequence: number
  /** Since when all attempts of the webhook failed, as far as known when this one began. */
  readonly failingSince: Date | null
}

export interface Decision {
  readonly state: 'delivered' | 'pending' | 'failed'
  /** Of a pending one. */
  readonly dueAt: Date | null
  /** Whether the receiver took it, for the webhook's record of failures; null: that is not touched. */
  readonly hasSucceeded: boolean | null
  /** Why the webhook is to be paused; null: it is not. */
  readonly pause: Pause | null
}

export interface Pause {
  readonly reason: string
  /** Only if all attempts since then have failed; null: at once. */
  readonly failingSince: Date | null
}

/** A webhook whose attempts have all failed for so long is paused. */
export const FAILING_MS_MAX = 5 * 24 * 3_600_000

const GONE = 410
const GONE_REASON = 'The receiver answered 410: it wants no more notifications'
const FAILING_REASON = 'Every attempt of five days failed'

/** `at` is when the outcome is known; `random` is from 0 to below 1. */
export function decide(tried: Tried, outcome: Outcome, at: Date, random: number): Decision {
  const isTest = tried.sequence === 0
  if (outcome.isHeldBack) return { state: 'failed', dueAt: null, hasSucceeded: null, pause: null }
  if (outcome.reason === '') return { state: 'delivered', dueAt: null, hasSucceeded: isTest ? null : true, pause: null }
  if (isTest) return { state: 'failed', dueAt: null, hasSucceeded: null, pause: null }
  const isGone = outcome.status === GONE
  const dueAt = isGone ? null : nextTry(tried.attempts - tried.triesBefore, at, outcome.retryAfter, random)
  return {
    state: dueAt === null ? 'failed' : 'pending',
    dueAt,
    hasSucceeded: false,
    pause: isGone ? { reason: GONE_REASON, failingSince: null } : pauseOfFailing(tried, outcome),
  }
}

function pauseOfFailing({ failingSince }: Tried, { at }: Outcome): Pause | null {
  if (failingSince === null || at.getTime() - failingSince.getTime() < FAILING_MS_MAX) return null
  return { reason: FAILING_REASON, failingSince }
}
