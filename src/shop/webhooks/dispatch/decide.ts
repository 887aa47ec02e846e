import { nextTry } from '../../../foundation/outbound/retry-schedule.ts'
import type { Claim } from './claim.ts'

/** What a decision depends on besides the outcome. */
type Tried = Pick<Claim, 'attempts' | 'triesBefore' | 'sequence' | 'failingSince'>

export interface Outcome {
  /** When the attempt began. */
  readonly at: Date
  /** Null: no answer. */
  readonly status: number | null
  /** A sentence without its full stop; empty: success. */
  readonly reason: string
  /** Whole milliseconds. */
  readonly durationMs: number
  /** The first 4 kB of the answer's body. */
  readonly answer: string
  /** The answer's Retry-After header. */
  readonly retryAfter: string | null
  /** Nothing was or will be sent, so it says nothing about the receiver. */
  readonly isHeldBack: boolean
}

export interface Decision {
  readonly state: 'delivered' | 'pending' | 'failed'
  /** Null unless pending. */
  readonly dueAt: Date | null
  /** Whether the receiver accepted it; null: leaves the webhook's record of failures unchanged. */
  readonly hasSucceeded: boolean | null
  /** Null: the webhook is not paused. */
  readonly pause: Pause | null
}

export interface Pause {
  readonly reason: string
  /** Pauses only if all attempts since then have failed; null: at once. */
  readonly failingSince: Date | null
}

/** A webhook whose attempts have all failed for this long is paused. */
export const FAILING_MS_MAX = 5 * 24 * 3_600_000

const GONE = 410

/** `at` is when the outcome is known; `random` is from 0 to below 1. */
export function decide(tried: Tried, outcome: Outcome, at: Date, random: number): Decision {
  const isTest = tried.sequence === 0
  const over = { dueAt: null, hasSucceeded: null, pause: null }
  if (outcome.isHeldBack) return { ...over, state: 'failed' }
  if (outcome.reason === '') return { ...over, state: 'delivered', hasSucceeded: isTest ? null : true }
  if (isTest) return { ...over, state: 'failed' }
  const tries = tried.attempts - tried.triesBefore
  const dueAt = outcome.status === GONE ? null : nextTry(tries, at, outcome.retryAfter, random)
  const state = dueAt === null ? 'failed' : 'pending'
  return { state, dueAt, hasSucceeded: false, pause: pauseOf(tried, outcome) }
}

function pauseOf({ failingSince }: Tried, { at, status }: Outcome): Pause | null {
  if (status === GONE) {
    return { reason: 'The receiver answered 410: it wants no more notifications', failingSince: null }
  }
  if (failingSince === null || at.getTime() - failingSince.getTime() < FAILING_MS_MAX) return null
  return { reason: 'Every attempt of five days failed', failingSince }
}
