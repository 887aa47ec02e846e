import { LRUCache } from 'lru-cache'
import { type Allotment, afterAnswer, allot, failing, type Standing, unknown } from './allot.ts'
import { type Claim, type DueWebhook, keyOf } from './claim.ts'
import type { Outcome } from './decide.ts'

/** How long an answer counts. */
const STANDING_MS = 600_000
/** Webhooks and stores that are remembered. With lru-cache's `max`, room for all would be taken at once. */
const known = { maxSize: 10_000, sizeCalculation: () => 1 }

/** The attempts in progress in this process, and what each webhook's answers to it have earned. */
export class Slots {
  /** Of the attempts in progress. */
  readonly claims = new Set<Claim>()
  readonly #standings = new LRUCache<string, Standing>({ ...known, ttl: STANDING_MS })
  /** By webhook and by store, the number of the last attempt that began. */
  readonly #turns = new LRUCache<string | number, number>(known)
  #begun = 0
  /** Whether due deliveries wait for slots. */
  #isWaitedFor = false

  /** Divides the free slots among webhooks with due deliveries. */
  allot(due: readonly DueWebhook[]): Allotment[] {
    const allotments = due.map((webhook) => {
      const { storeId, applicationId, url, failingSince } = webhook
      const key = keyOf(webhook)
      const standing = this.#standings.get(key) ?? (failingSince === null ? unknown : failing)
      // A receiver is a host with its port.
      const sharers = [`store ${storeId}`, `receiver ${URL.parse(url)?.host}`]
      if (applicationId !== null) sharers.push(`application ${applicationId}`)
      const turns = { turn: this.#turns.get(key) ?? 0, storeTurn: this.#turns.get(storeId) ?? 0 }
      return { ...webhook, key, sharers, ...standing, ...turns, deliveries: 0, slots: 0, isShort: false }
    })
    allot(allotments, this.claims)
    // Until more is known, so that an attempt that ends meanwhile is noticed.
    this.#isWaitedFor = due.length > 0
    return allotments
  }

  /** Records what was claimed of allotments. True: deliveries that wait can have slots that were not used. */
  occupy(allotments: readonly Allotment[], claims: readonly Claim[]): boolean {
    let unused = allotments.reduce((sum, { slots }) => sum + slots, 0)
    const withMore = new Set<string>()
    for (const claim of claims) {
      unused -= claim.slots
      if (claim.isMoreDue) withMore.add(claim.key)
      this.claims.add(claim)
      this.#begun += 1
      for (const key of [claim.key, claim.storeId]) this.#turns.set(key, this.#begun)
    }
    const waiting = allotments.filter(({ key, deliveries }) => deliveries === 0 || withMore.has(key))
    this.#isWaitedFor = waiting.length > 0
    return claims.length > 0 && unused > 0 && waiting.some(({ isShort }) => isShort)
  }

  /** Records the end of an attempt. True: a delivery may wait for its slots. */
  release(claim: Claim, { reason, durationMs, isHeldBack }: Outcome): boolean {
    if (!this.claims.delete(claim)) return false
    if (!isHeldBack) {
      const before = this.#standings.get(claim.key) ?? unknown
      this.#standings.set(claim.key, afterAnswer(before, reason === '', durationMs))
    }
    return this.#isWaitedFor
  }
}
