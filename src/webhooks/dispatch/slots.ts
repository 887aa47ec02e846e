import {
  BYTES,
  BYTES_OF_ALL_FAILING,
  type Claim,
  keyOf,
  PLACES,
  PLACES_OF_ALL_FAILING,
  PLACES_OF_FAILING,
  PLACES_OF_WEBHOOK,
  type Room,
  type WebhookKey,
} from './claim.ts'

/** Which attempts are under way in this process, and how many more may be. */
export interface Places {
  /** What the next claim may take; null: nothing. */
  room(): Room | null
  /** Notes what was claimed in this room. True: places have become free meanwhile that something may wait for. */
  take(room: Room, claims: readonly Claim[]): boolean
  /** Notes that an attempt has ended. True: something may wait for its place. */
  leave(claim: Claim, durationMs: number): boolean
  underWay(): Claim[]
}

/** A webhook whose last answer took so long has its places among those of failing ones. */
const SLOW_MS = 2_000
const SLOW_MAX = 1_000

export function createPlaces(): Places {
  /** With the bytes of their records. */
  const claims = new Map<Claim, number>()
  const byWebhook = new Map<string, number>()
  /** Webhooks that have all places that they may have. */
  const full = new Set<string>()
  const slow = new Set<string>()
  let apart = 0
  let bytes = 0
  let failingBytes = 0
  let isFull = false
  let isFullOfApart = false
  /** Where the last claim ended for want of places, so that webhooks have their turn one after the other. */
  let after: WebhookKey = { storeId: 0, webhookId: 0 }

  function room(): Room | null {
    const places = PLACES - claims.size
    if (places === 0) return null
    return {
      places,
      failingPlaces: PLACES_OF_ALL_FAILING - apart,
      bytes: Math.max(0, BYTES - bytes),
      failingBytes: Math.max(0, Math.min(BYTES - bytes, BYTES_OF_ALL_FAILING - failingBytes)),
      isIdle: claims.size === 0,
      underWay: Object.fromEntries(byWebhook),
      slow: [...slow],
      after,
    }
  }

  function take(given: Room, taken: readonly Claim[]): boolean {
    for (const claim of taken) add(claim)
    const apartOnes = taken.filter(({ isApart }) => isApart)
    const others = taken.filter(({ isApart }) => !isApart)
    isFull = taken.length === given.places
    isFullOfApart = apartOnes.length === given.failingPlaces
    // Where records fill the memory, those that are left out have their turn too.
    if (isFull || bytes > BYTES / 4) after = lastOf(others) ?? lastOf(apartOnes) ?? after
    else if (isFullOfApart) after = lastOf(apartOnes) ?? after
    const isFreeAgain = noteFull(given, taken)
    return isFreeAgain || (isFull && claims.size < PLACES) || (isFullOfApart && apart < PLACES_OF_ALL_FAILING)
  }

  function add(claim: Claim): void {
    const size = Buffer.byteLength(claim.body)
    claims.set(claim, size)
    bytes += size
    if (claim.isApart) failingBytes += size
    byWebhook.set(keyOf(claim), countOf(claim) + 1)
    if (claim.isApart) apart += 1
  }

  /** Whether one that took all it may have has places again. */
  function noteFull({ underWay }: Room, taken: readonly Claim[]): boolean {
    let isFreeAgain = false
    for (const [key, ofWebhook] of Map.groupBy(taken, keyOf)) {
      const [claim] = ofWebhook
      const limit = claim && isFailing(claim) ? PLACES_OF_FAILING : PLACES_OF_WEBHOOK
      if ((underWay[key] ?? 0) + ofWebhook.length < limit) {
        full.delete(key)
        continue
      }
      full.add(key)
      isFreeAgain ||= (byWebhook.get(key) ?? 0) < limit
    }
    return isFreeAgain
  }

  function leave(claim: Claim, durationMs: number): boolean {
    const size = claims.get(claim)
    if (size === undefined) return false
    claims.delete(claim)
    const key = keyOf(claim)
    if (durationMs < SLOW_MS) slow.delete(key)
    else if (slow.size < SLOW_MAX) slow.add(key)
    const count = countOf(claim) - 1
    // Where records fill the memory, something may wait for that.
    const isWideOpen = bytes < BYTES / 4
    bytes -= size
    if (claim.isApart) failingBytes -= size
    if (claim.isApart) apart -= 1
    const isWaitedFor = !isWideOpen || isFull || full.has(key) || (isFullOfApart && claim.isApart)
    if (count > 0) byWebhook.set(key, count)
    else {
      byWebhook.delete(key)
      full.delete(key)
    }
    return isWaitedFor
  }

  function countOf(claim: Claim): number {
    return byWebhook.get(keyOf(claim)) ?? 0
  }

  return { room, take, leave, underWay: () => [...claims.keys()] }
}

/** As it was when it was claimed. */
function isFailing({ failingSince }: Claim): boolean {
  return failingSince !== null
}

/** In the order in which webhooks are gone through. */
function lastOf(claims: readonly Claim[]): WebhookKey | undefined {
  return claims.at(-1)
}
