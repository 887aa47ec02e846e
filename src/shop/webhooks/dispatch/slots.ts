import { LRUCache } from 'lru-cache'
import type { Claim, DueWebhook, WebhookKey } from './claim.ts'
import type { Outcome } from './decide.ts'

/** Slots for attempts, of all webhooks and of those that are not proven, which may hang and leave half to the others. */
const pools = { all: 500, unproven: 250 }
type Pool = keyof typeof pools
const ALL = 'all webhooks'
/** A record uses a slot for each of these bytes begun, so that the slots also bound the memory: 32 MB and one record. */
export const SLOT_BYTES = 65_536
/** The highest limit of a webhook. */
const LIMIT_MAX = 20
/** An answer that takes this long proves nothing, even a success. */
const SLOW_MS = 2_000
/** How long an answer counts. */
const STANDING_MS = 600_000

/** What a webhook has earned by its answers. */
interface Standing {
  /** Whether its last answers promise that the next attempt ends soon. */
  readonly isProven: boolean
  /** The slots it may use. */
  readonly limit: number
}

const unknown: Standing = { isProven: false, limit: 1 }

/** What a webhook with due deliveries may claim now. */
export interface Allotment extends DueWebhook, Standing {
  /** `keyOf` the webhook. */
  readonly key: string
  /** The store, the receiver and the application: each has one bound for all its webhooks. */
  readonly sharers: readonly string[]
  deliveries: number
  slots: number
}

/** The attempts in progress in this process, and what each webhook's answers to it have earned. */
export class Slots {
  readonly claims = new Set<Claim>()
  /** With lru-cache's `max`, room for all would be taken at once. */
  readonly #standings = new LRUCache<string, Standing>({ maxSize: 10_000, sizeCalculation: () => 1, ttl: STANDING_MS })

  /**
   * Divides the free slots among webhooks. An attempt may begin if its webhook uses fewer slots than its limit, and if
   * neither the store, nor the receiver, nor the application uses as many slots as are free. So one of these uses half of
   * the slots at most, two use a third each, and another one always finds slots. Webhooks take turns: first those of the
   * store that uses the fewest slots.
   */
  allot(due: readonly DueWebhook[]): Allotment[] {
    const used = new Map<string, number>()
    const usedBy = (user: string, pool: Pool = 'all') => used.get(`${pool} ${user}`) ?? 0
    const use = ({ key, isProven, sharers }: Allotment, slots: number) => {
      for (const pool of poolsOf(isProven)) {
        for (const user of [key, ALL, ...sharers]) used.set(`${pool} ${user}`, usedBy(user, pool) + slots)
      }
    }
    const begin = (next: Allotment) => {
      const isFree = (pool: Pool) => next.sharers.every((user) => usedBy(user, pool) < pools[pool] - usedBy(ALL, pool))
      if (usedBy(next.key) >= next.limit || !poolsOf(next.isProven).every(isFree)) return false
      const slots = next.deliveries === 0 ? slotsOf(next.bytes) : 1
      use(next, slots)
      next.deliveries += 1
      next.slots += slots
      return true
    }
    for (const claim of this.claims) use(claim, claim.slots)
    const allotments = due.map((webhook) => this.#emptyAllotment(webhook))
    // Slots are whole numbers, so the fraction decides between equal ones.
    const places = new Map(allotments.map((one) => [one, usedBy(storeOf(one)) + Math.random()]))
    let inTurn = allotments.toSorted((one, other) => Number(places.get(one)) - Number(places.get(other)))
    while (inTurn.length > 0) inTurn = inTurn.filter(begin)
    return allotments.filter(({ deliveries }) => deliveries > 0)
  }

  #emptyAllotment(webhook: DueWebhook): Allotment {
    const { applicationId, url } = webhook
    const key = keyOf(webhook)
    const sharers = [storeOf(webhook), `receiver ${URL.parse(url)?.host}`]
    if (applicationId !== null) sharers.push(`application ${applicationId}`)
    const standing = this.#standings.get(key) ?? unknown
    return { ...webhook, key, sharers, ...standing, deliveries: 0, slots: 0 }
  }

  /**
   * Records the end of an attempt. A success doubles the limit of its webhook, and proves it if quick; a failure halves the
   * limit, a slow one leaves one slot. A webhook with one slot left is not proven.
   */
  release(claim: Claim, { reason, durationMs, isHeldBack }: Outcome): void {
    if (!this.claims.delete(claim) || isHeldBack) return
    const { isProven, limit } = this.#standings.get(claim.key) ?? unknown
    const isQuick = durationMs < SLOW_MS
    const left = isQuick ? Math.max(1, Math.floor(limit / 2)) : 1
    const isSuccess = reason === ''
    this.#standings.set(claim.key, {
      isProven: isSuccess ? isQuick : isProven && left > 1,
      limit: isSuccess ? Math.min(limit * 2, LIMIT_MAX) : left,
    })
  }
}

function poolsOf(isProven: boolean): readonly Pool[] {
  return isProven ? ['all'] : ['all', 'unproven']
}

export function keyOf({ storeId, webhookId }: WebhookKey): string {
  return `${storeId}/${webhookId}`
}

function storeOf({ storeId }: DueWebhook): string {
  return `store ${storeId}`
}

export function slotsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SLOT_BYTES))
}
