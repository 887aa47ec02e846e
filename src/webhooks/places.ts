import {
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
  leave(claim: Claim): boolean
  underWay(): Claim[]
}

export function createPlaces(): Places {
  const claims = new Set<Claim>()
  const byWebhook = new Map<string, number>()
  /** Webhooks that have all places that they may have. */
  const full = new Set<string>()
  let failing = 0
  let isFull = false
  let isFullOfFailing = false
  /** Where the last claim ended for want of places, so that webhooks have their turn one after the other. */
  let after: WebhookKey = { storeId: 0, webhookId: 0 }

  function room(): Room | null {
    const places = PLACES - claims.size
    if (places === 0) return null
    return { places, failingPlaces: PLACES_OF_ALL_FAILING - failing, underWay: Object.fromEntries(byWebhook), after }
  }

  function take(given: Room, taken: readonly Claim[]): boolean {
    for (const claim of taken) add(claim)
    const failingOnes = taken.filter(isFailing)
    const others = taken.filter((claim) => !isFailing(claim))
    isFull = taken.length === given.places
    isFullOfFailing = failingOnes.length === given.failingPlaces
    if (isFull) after = lastOf(others) ?? lastOf(failingOnes) ?? after
    else if (isFullOfFailing) after = lastOf(failingOnes) ?? after
    const isFreeAgain = noteFull(given, taken)
    return isFreeAgain || (isFull && claims.size < PLACES) || (isFullOfFailing && failing < PLACES_OF_ALL_FAILING)
  }

  function add(claim: Claim): void {
    claims.add(claim)
    byWebhook.set(keyOf(claim), countOf(claim) + 1)
    if (isFailing(claim)) failing += 1
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

  function leave(claim: Claim): boolean {
    if (!claims.delete(claim)) return false
    const key = keyOf(claim)
    const count = countOf(claim) - 1
    if (isFailing(claim)) failing -= 1
    const isWaitedFor = isFull || full.has(key) || (isFullOfFailing && isFailing(claim))
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

  return { room, take, leave, underWay: () => [...claims] }
}

/** As it was when it was claimed. */
function isFailing({ failingSince }: Claim): boolean {
  return failingSince !== null
}

/** In the order in which webhooks are gone through. */
function lastOf(claims: readonly Claim[]): WebhookKey | undefined {
  return claims.at(-1)
}
