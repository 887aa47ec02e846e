import {
  BYTES,
  BYTES_OF_ALL_FAILING,
  type Claim,
  type FreeSlots,
  keyOf,
  SLOTS,
  SLOTS_OF_ALL_FAILING,
  SLOTS_OF_FAILING,
  SLOTS_OF_WEBHOOK,
  type WebhookKey,
} from './claim.ts'

/** A webhook whose last answer took this long shares the slots of failing ones. */
const SLOW_MS = 2_000
const SLOW_MAX = 1_000

/** The attempts in progress in this process, and the free slots. */
export class Slots {
  /** By claim, the bytes of its record. */
  readonly #claims = new Map<Claim, number>()
  readonly #byWebhook = new Map<string, number>()
  /** Webhooks that use all their slots. */
  readonly #full = new Set<string>()
  readonly #slow = new Set<string>()
  #isFull = false
  #isFullOfIsolated = false
  /** The webhook at which the last claim ran out of slots, so that webhooks take turns. */
  #after: WebhookKey = { storeId: 0, webhookId: 0 }

  get claims(): Claim[] {
    return [...this.#claims.keys()]
  }

  /** Returns the limits of the next claim; null: no slot is free. */
  free(): FreeSlots | null {
    const slots = SLOTS - this.#claims.size
    if (slots === 0) return null
    const { bytes, isolated, isolatedBytes } = this.#used()
    return {
      slots,
      failingSlots: SLOTS_OF_ALL_FAILING - isolated,
      bytes: Math.max(0, BYTES - bytes),
      failingBytes: Math.max(0, Math.min(BYTES - bytes, BYTES_OF_ALL_FAILING - isolatedBytes)),
      isIdle: this.#claims.size === 0,
      underWay: Object.fromEntries(this.#byWebhook),
      slow: [...this.#slow],
      after: this.#after,
    }
  }

  /** Records the claims of these slots. True: slots became free meanwhile that deliveries may wait for. */
  occupy(free: FreeSlots, claims: readonly Claim[]): boolean {
    for (const claim of claims) {
      this.#claims.set(claim, Buffer.byteLength(claim.body))
      this.#byWebhook.set(keyOf(claim), this.#countOf(claim) + 1)
    }
    const isolatedOnes = claims.filter(({ isIsolated }) => isIsolated)
    const others = claims.filter(({ isIsolated }) => !isIsolated)
    this.#isFull = claims.length === free.slots
    this.#isFullOfIsolated = isolatedOnes.length === free.failingSlots
    const { bytes, isolated } = this.#used()
    // When records use up the bytes, the webhooks left out also get a turn.
    if (this.#isFull || bytes > BYTES / 4) this.#after = others.at(-1) ?? isolatedOnes.at(-1) ?? this.#after
    else if (this.#isFullOfIsolated) this.#after = isolatedOnes.at(-1) ?? this.#after
    const isFreeAgain = this.#noteFull(free, claims)
    return (
      isFreeAgain ||
      (this.#isFull && this.#claims.size < SLOTS) ||
      (this.#isFullOfIsolated && isolated < SLOTS_OF_ALL_FAILING)
    )
  }

  /** Whether a webhook that used all its slots has free ones again. */
  #noteFull({ underWay }: FreeSlots, claims: readonly Claim[]): boolean {
    let isFreeAgain = false
    for (const [key, ofWebhook] of Map.groupBy(claims, keyOf)) {
      // As of the claim.
      const isFailing = ofWebhook.some(({ failingSince }) => failingSince !== null)
      const limit = isFailing ? SLOTS_OF_FAILING : SLOTS_OF_WEBHOOK
      if ((underWay[key] ?? 0) + ofWebhook.length < limit) {
        this.#full.delete(key)
        continue
      }
      this.#full.add(key)
      isFreeAgain ||= (this.#byWebhook.get(key) ?? 0) < limit
    }
    return isFreeAgain
  }

  /** Records the end of an attempt. True: a delivery may wait for its slot. */
  release(claim: Claim, durationMs: number): boolean {
    if (!this.#claims.has(claim)) return false
    const key = keyOf(claim)
    if (durationMs < SLOW_MS) this.#slow.delete(key)
    else if (this.#slow.size < SLOW_MAX) this.#slow.add(key)
    // When records use up the bytes, a delivery may wait for them.
    const isShort = this.#used().bytes >= BYTES / 4
    const isWaitedFor = isShort || this.#isFull || this.#full.has(key) || (this.#isFullOfIsolated && claim.isIsolated)
    const count = this.#countOf(claim) - 1
    this.#claims.delete(claim)
    if (count > 0) this.#byWebhook.set(key, count)
    else {
      this.#byWebhook.delete(key)
      this.#full.delete(key)
    }
    return isWaitedFor
  }

  #countOf(claim: Claim): number {
    return this.#byWebhook.get(keyOf(claim)) ?? 0
  }

  /** Recounts each time: a few hundred claims at most. */
  #used() {
    const used = { bytes: 0, isolated: 0, isolatedBytes: 0 }
    for (const [{ isIsolated }, size] of this.#claims) {
      used.bytes += size
      if (!isIsolated) continue
      used.isolated += 1
      used.isolatedBytes += size
    }
    return used
  }
}
