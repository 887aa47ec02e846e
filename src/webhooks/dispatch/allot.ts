import type { DueWebhook } from './claim.ts'

/** Whether a webhook's answers promise that its next attempt ends soon: yes, nothing is known, or no. */
export type Grade = 'proven' | 'new' | 'suspect'

/**
 * The pools of slots that an attempt uses, by its webhook's grade; a pool's name is its size. Suspect webhooks leave slots
 * for new ones, and both leave slots for proven ones. The difference between two pools exceeds the slots of a large
 * record, because an attempt begins when one slot is free.
 */
const pools = { suspect: [150, 325, 500], new: [325, 500], proven: [500] } as const
/** A record uses a slot for each of these bytes begun, so that the slots also bound the memory: 32 MB and one record. */
export const SLOT_BYTES = 65_536
const EVERYBODY = 'everybody'
/** The highest limit of a webhook. */
const LIMIT_MAX = 20
/** An answer that takes this long makes a webhook suspect, even a success. */
const SLOW_MS = 2_000

/** What a webhook has earned by its answers. */
export interface Standing {
  readonly grade: Grade
  /** The slots it may use. */
  readonly limit: number
}

export const unknown: Standing = { grade: 'new', limit: 1 }
export const failing: Standing = { grade: 'suspect', limit: 1 }

/** Returns the standing after one more answer: a success doubles the limit, a failure halves it, a slow one leaves one slot. */
export function afterAnswer({ grade, limit }: Standing, isSuccess: boolean, durationMs: number): Standing {
  const isSlow = durationMs >= SLOW_MS
  if (isSuccess) return { grade: isSlow ? 'suspect' : 'proven', limit: Math.min(limit * 2, LIMIT_MAX) }
  const left = isSlow ? 1 : Math.max(1, Math.floor(limit / 2))
  return { grade: left === 1 ? 'suspect' : grade, limit: left }
}

/** The slots of an attempt, or of several. */
export interface Usage {
  /** `keyOf` the webhook. */
  readonly key: string
  /** The webhook's when the attempt began. */
  readonly grade: Grade
  /** The store, the receiver and the application: each has one bound for all its webhooks. */
  readonly sharers: readonly string[]
  readonly slots: number
}

/** What a webhook with due deliveries may claim now; nothing, until `allot` adds to it. */
export interface Allotment extends DueWebhook, Usage {
  readonly limit: number
  /** When its last attempt began, and the last one of its store, as numbers that grow with each attempt; 0: not known. */
  readonly turn: number
  readonly storeTurn: number
  slots: number
  deliveries: number
  /** Whether others use the slots that it could have. False: it uses all of its own limit. */
  isShort: boolean
}

/**
 * Adds the free slots to the allotments of webhooks. An attempt may begin if its webhook uses fewer slots than its limit,
 * and if neither the store, nor the receiver, nor the application uses as many slots as are free, in its pool and each
 * wider one. So one of these uses half of a pool at most, two use a third each, and another one always finds slots.
 *
 * Stores take turns, and within a store its webhooks: first the one whose last attempt began the longest ago.
 */
export function allot(allotments: readonly Allotment[], underWay: Iterable<Usage>): void {
  const used = new Map<string, number>()
  const usedBy = (user: string, pool: number = pools.proven[0]) => used.get(`${user} ${pool}`) ?? 0
  for (const usage of underWay) use(usage)
  const inTurn = allotments.toSorted((a, b) => a.storeTurn - b.storeTurn || a.turn - b.turn)
  let queues = [...Map.groupBy(inTurn, ({ storeId }) => storeId).values()]
  while (queues.length > 0) {
    for (const queue of queues) {
      const [next] = queue.splice(0, 1)
      if (next && grant(next)) queue.push(next)
    }
    queues = queues.filter(({ length }) => length > 0)
  }

  function use({ key, grade, sharers, slots }: Usage): void {
    for (const pool of pools[grade]) {
      for (const user of [key, ...sharers, EVERYBODY]) used.set(`${user} ${pool}`, usedBy(user, pool) + slots)
    }
  }

  function hasRoom({ grade, sharers }: Usage): boolean {
    return pools[grade].every((pool) => {
      const free = pool - usedBy(EVERYBODY, pool)
      return sharers.every((sharer) => usedBy(sharer, pool) < free)
    })
  }

  /** Adds one more delivery. False: it may not begin. */
  function grant(allotment: Allotment): boolean {
    if (usedBy(allotment.key) >= allotment.limit) return false
    allotment.isShort = !hasRoom(allotment)
    if (allotment.isShort) return false
    const slots = allotment.deliveries === 0 ? slotsOf(allotment.bytes) : 1
    use({ ...allotment, slots })
    allotment.deliveries += 1
    allotment.slots += slots
    return true
  }
}

export function slotsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / SLOT_BYTES))
}
