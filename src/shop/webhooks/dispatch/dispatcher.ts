import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../../foundation/database/client.ts'
import { createLoop, type Loop } from '../../../foundation/process/loop.ts'
import { STOP_TIMEOUT_MS } from '../../../foundation/process/shutdown.ts'
import { type Claim, claimDue, DUE_MAX, findDue, releaseClaims, type WebhookKey } from './claim.ts'
import { decide } from './decide.ts'
import type { DispatcherMetrics } from './metrics.ts'
import { numberEvents } from './number.ts'
import { createRecorder, type Recorder } from './record.ts'
import { createSender, type SendServices } from './send.ts'
import { Slots } from './slots.ts'

export interface DispatcherServices extends SendServices {
  db: Db
  metrics: DispatcherMetrics
}

export interface DispatcherOptions {
  pollMs?: number
  /** How long `stop` waits. */
  stopMs?: number
}

const POLL_MS = 1_000
/** Applies while another process numbers events. */
const NUMBERING_RETRY_MS = 100
const BATCHES_BEFORE_OTHERS = 10
/** The time limit for releasing claims. */
const RELEASE_MS = 5_000

/**
 * Sends events to webhooks, each at least once and always with the same id. Any number of processes may share a
 * database: one at a time numbers new events (number.ts), and each claims its own deliveries (claim.ts).
 */
export class Dispatcher {
  readonly #services: DispatcherServices
  readonly #stopMs: number
  /** Distinguishes the notifications of this process. */
  readonly #id: string = randomUUID()
  readonly #slots = new Slots()
  readonly #attempts = new Set<Promise<void>>()
  readonly #numbering: Loop
  readonly #claiming: Loop
  readonly #recorder: Recorder
  readonly #send: ReturnType<typeof createSender>
  #isStopping = false
  #isOver = false
  /** Events numbered and deliveries claimed so far. */
  #progress = 0
  /** Whether deliveries may wait for the end of an attempt. */
  #isAwaited = false
  /** The last webhook looked at when more were due than one statement finds. */
  #after: WebhookKey = { storeId: 0, webhookId: 0 }

  constructor(services: DispatcherServices, { pollMs = POLL_MS, stopMs = STOP_TIMEOUT_MS }: DispatcherOptions = {}) {
    const { log } = services
    this.#services = services
    this.#stopMs = stopMs
    const looping = (complaint: string) => ({ log, complaint, everyMs: pollMs })
    this.#numbering = createLoop(() => this.#numberAll(), looping('events could not be numbered'))
    this.#claiming = createLoop(() => this.#claim(), looping('webhook deliveries could not be claimed'))
    this.#recorder = createRecorder(services, () => this.#claiming.wake())
    this.#send = createSender(services)
  }

  /** Starts to send what is due, on each wake and every second. */
  start(): void {
    this.#numbering.start()
    this.#claiming.start()
  }

  /** Looks for everything. */
  wake(): void {
    this.eventsCommitted()
    this.#claiming.wake()
  }

  /** Call it when events were committed, in any process. */
  eventsCommitted(): void {
    this.#numbering.wake()
  }

  /** Call it when deliveries became due; `by` is the payload of the notification. */
  deliveriesDue(by: string): void {
    // This process woke its claiming when it made them.
    if (by !== this.#id) this.#claiming.wake()
  }

  /**
   * Numbers every committed event and sends everything that is due. Resolves when the results are written and nothing
   * more is due. Skips what other transactions hold.
   */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.#progress && !this.#isStopping; ) {
      before = this.#progress
      this.#numbering.wake()
      await this.#numbering.idle()
      this.#claiming.wake()
      await this.#quiet()
    }
  }

  /**
   * Stops claiming, waits up to 10 s for attempts in progress, and releases the rest, so that another process makes
   * those attempts at once. Never rejects.
   */
  async stop(): Promise<void> {
    const { db, now, log } = this.#services
    this.#isStopping = true
    await within(this.#stopMs, Promise.all([this.#quiet(), this.#numbering.stop(), this.#claiming.stop()]))
    this.#isOver = true
    const claims = [...this.#slots.claims]
    if (claims.length === 0) return
    const release = releaseClaims(db, now(), claims).catch((error) => {
      log.warn({ err: error, claims: claims.length }, 'claims of webhook deliveries could not be released')
    })
    await within(RELEASE_MS, release)
  }

  async #numberAll(): Promise<void> {
    const { db, now, metrics } = this.#services
    // Their webhooks are being changed; they have their turn in the next run, after a second at most.
    const busyStores = new Set<number>()
    let full = 0
    let aside: number[] = []
    while (!this.#isStopping) {
      const numbered = await numberEvents(db, now(), [...busyStores, ...aside], this.#id)
      metrics.ran('numbering', now())
      if (numbered === null) {
        await delay(NUMBERING_RETRY_MS)
        continue
      }
      this.#progress += numbered.events
      if (numbered.deliveries > 0) this.#claiming.wake()
      for (const storeId of numbered.busyStores) busyStores.add(storeId)
      if (!numbered.isFull && aside.length === 0) break
      // A store with very many events yields to the others now and then.
      const isTheirTurn = numbered.onlyStore !== null && aside.length === 0 && ++full % BATCHES_BEFORE_OTHERS === 0
      aside = isTheirTurn ? [numbered.onlyStore] : []
    }
  }

  async #claim(): Promise<void> {
    const { db, now, metrics } = this.#services
    if (this.#isStopping || this.#recorder.isBehind()) return
    const at = now()
    const due = await findDue(db, at, this.#after)
    const allotments = this.#slots.allot(due)
    this.#isAwaited = due.length > 0
    const claims = allotments.length === 0 ? [] : await claimDue(db, at, allotments)
    metrics.ran('claiming', now())
    this.#progress += claims.length
    for (const claim of claims) this.#begin(claim)
    this.#after = due[DUE_MAX - 1] ?? this.#after
    // There may be more, or slots that were not used.
    if (claims.length > 0) this.#claiming.wake()
  }

  /** Claims made while stopping are not sent; `stop` releases them. */
  #begin(claim: Claim): void {
    this.#slots.claims.add(claim)
    if (this.#isStopping) return
    const attempt = this.#attempt(claim)
    this.#attempts.add(attempt)
    attempt.finally(() => this.#attempts.delete(attempt))
  }

  async #attempt(claim: Claim): Promise<void> {
    const { now, metrics } = this.#services
    const outcome = await this.#send(claim)
    // It was released: another process may be sending it.
    if (this.#isOver) return
    this.#slots.release(claim, outcome)
    if (this.#isAwaited) this.#claiming.wake()
    const at = now()
    const decision = decide(claim, outcome, at, Math.random())
    // Drops the record, which may be large.
    this.#recorder.add({ claim: { ...claim, body: '' }, outcome, decision, at })
    metrics.attempted(decision.state === 'pending' ? 'retried' : decision.state)
    if (decision.state === 'delivered') metrics.arrived((at.getTime() - claim.createdAt.getTime()) / 1_000)
  }

  async #quiet(): Promise<void> {
    await this.#claiming.idle()
    while (this.#attempts.size > 0) {
      await Promise.all(this.#attempts)
      await this.#claiming.idle()
    }
    await this.#recorder.idle()
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const limit = new AbortController()
  await Promise.race([work, delay(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)])
  limit.abort()
}
