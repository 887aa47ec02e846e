import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../database/client.ts'
import { STOP_TIMEOUT_MS } from '../../process/shutdown.ts'
import { type Claim, claimDue, releaseClaims } from './claim.ts'
import { decide, type Outcome } from './decide.ts'
import { createLoop } from './loop.ts'
import type { DispatcherMetrics } from './metrics.ts'
import { numberEvents } from './number.ts'
import type { Result } from './record.ts'
import { createRecorder } from './recorder.ts'
import { sweepOld } from './retention.ts'
import { type SendServices, send } from './send.ts'
import { createPlaces } from './slots.ts'

export interface DispatcherServices extends SendServices {
  db: Db
  metrics: DispatcherMetrics
}

export interface Dispatcher {
  /** From now on, sends what is due: when it is woken, and every second; and deletes what is old every hour. */
  start(): void
  /** To be called when events were committed or deliveries became due, in any process. */
  wake(): void
  /**
   * Numbers every committed event, sends everything that is due, and comes back when the answers are written and
   * nothing more is due. What other transactions hold is left out.
   */
  settle(): Promise<void>
  /** Deletes what is older than 30 days. */
  sweep(): Promise<void>
  /**
   * Claims nothing more, waits up to 10 s for what is under way, and releases the rest: another process makes those
   * attempts at once. Never rejects.
   */
  stop(): Promise<void>
}

export interface DispatcherOptions {
  /** How often it looks by itself. */
  pollMs?: number
  /** How long `stop` waits. */
  stopMs?: number
}

const POLL_MS = 1_000
const SWEEP_MS = 3_600_000
/** When another process numbers events, or a store's have to wait. */
const NUMBERING_RETRY_MS = 100
const BATCHES_BEFORE_OTHERS = 10
/** How long the database has at the end. */
const RELEASE_MS = 5_000

/**
 * Sends events to webhooks, each at least once and with the same id every time. Any number of processes may do so on
 * one database: one at a time numbers new events (number.ts), and each claims deliveries for itself (claim.ts).
 */
export function createDispatcher(
  services: DispatcherServices,
  { pollMs = POLL_MS, stopMs = STOP_TIMEOUT_MS }: DispatcherOptions = {},
): Dispatcher {
  const { db, now, log, metrics } = services
  const places = createPlaces()
  const attempts = new Set<Promise<void>>()
  const timers: NodeJS.Timeout[] = []
  let numberingRetry: NodeJS.Timeout | undefined
  let isStarted = false
  let isStopping = false
  let isOver = false
  /** Whether nothing is claimed until results are written. */
  let isHeldUp = false
  /** Events numbered and deliveries claimed so far. */
  let progress = 0

  const numbering = createLoop(numberAll, { log, complaint: 'events could not be numbered' })
  const claiming = createLoop(claim, { log, complaint: 'webhook deliveries could not be claimed' })
  const sweeping = createLoop(() => sweepOld(db, now(), () => isStopping), {
    log,
    complaint: 'old webhook deliveries could not be deleted',
  })
  const recorder = createRecorder({ db, now, log, onWritten: claimAfter })

  async function numberAll(): Promise<void> {
    const busyStores = new Set<number>()
    let full = 0
    let aside: number[] = []
    while (!isStopping) {
      const numbered = await numberEvents(db, now(), [...busyStores, ...aside])
      if (numbered === null) {
        await delay(NUMBERING_RETRY_MS)
        continue
      }
      progress += numbered.events
      if (numbered.deliveries > 0) claiming.wake()
      for (const storeId of numbered.busyStores) busyStores.add(storeId)
      if (!numbered.isFull && aside.length === 0) break
      // A store with very many events lets the others pass now and then.
      const isTheirTurn = numbered.onlyStore !== null && aside.length === 0 && ++full % BATCHES_BEFORE_OTHERS === 0
      aside = isTheirTurn ? [numbered.onlyStore] : []
    }
    if (busyStores.size > 0 && isStarted) numberingRetry = setTimeout(numbering.wake, NUMBERING_RETRY_MS)
  }

  async function claim(): Promise<void> {
    const room = places.room()
    isHeldUp = recorder.isBehind()
    if (room === null || isStopping || isHeldUp) return
    const claims = await claimDue(db, now(), room)
    progress += claims.length
    const isMore = places.take(room, claims)
    for (const each of claims) begin(each)
    if (isMore) claiming.wake()
  }

  function claimAfter(written: readonly Result[]): void {
    // A webhook that is well again has more places.
    const isAnyWell = written.some(({ claim, decision }) => claim.failingSince !== null && decision.hasSucceeded)
    if (isHeldUp || isAnyWell) claiming.wake()
  }

  /** What was claimed while the process was told to stop is not sent any more; `stop` releases it. */
  function begin(claim: Claim): void {
    if (isStopping) return
    const attempt = make(claim)
    attempts.add(attempt)
    attempt.finally(() => attempts.delete(attempt))
  }

  async function make(claim: Claim): Promise<void> {
    const outcome = await send(services, claim)
    // It was released: another process may be at it.
    if (isOver) return
    if (places.leave(claim, outcome.durationMs)) claiming.wake()
    record(claim, outcome)
  }

  function record(claim: Claim, outcome: Outcome): void {
    const at = now()
    const decision = decide(claim, outcome, at, Math.random())
    // The record is not needed any more, and may be large.
    recorder.add({ claim: { ...claim, body: '' }, outcome, decision, at })
    metrics.attempted(decision.state === 'pending' ? 'retried' : decision.state)
    if (decision.state === 'delivered') metrics.arrived((at.getTime() - claim.createdAt.getTime()) / 1_000)
  }

  function wake(): void {
    numbering.wake()
    claiming.wake()
  }

  async function settle(): Promise<void> {
    for (let before = -1; before !== progress && !isStopping; ) {
      before = progress
      numbering.wake()
      await numbering.idle()
      claiming.wake()
      await quiet()
    }
  }

  async function quiet(): Promise<void> {
    await claiming.idle()
    while (attempts.size > 0) {
      await Promise.all(attempts)
      await claiming.idle()
    }
    await recorder.idle()
  }

  async function stop(): Promise<void> {
    isStopping = true
    for (const timer of timers.splice(0)) clearInterval(timer)
    clearTimeout(numberingRetry)
    await within(stopMs, Promise.all([quiet(), numbering.idle(), sweeping.idle()]))
    isOver = true
    const claims = places.underWay()
    if (claims.length > 0) await within(RELEASE_MS, release(claims))
  }

  async function release(claims: readonly Claim[]): Promise<void> {
    await releaseClaims(db, now(), claims).catch((error) => {
      log.warn({ err: error, claims: claims.length }, 'claims of webhook deliveries could not be released')
    })
  }

  return {
    start: () => {
      if (isStarted || isStopping) return
      isStarted = true
      timers.push(setInterval(wake, pollMs), setInterval(sweeping.wake, SWEEP_MS))
      wake()
      sweeping.wake()
    },
    wake,
    settle,
    sweep: async () => {
      sweeping.wake()
      await sweeping.idle()
    },
    stop,
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const limit = new AbortController()
  await Promise.race([work, delay(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)])
  limit.abort()
}
