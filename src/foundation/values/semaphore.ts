import { StoreFailure } from './failure.ts'

interface SemaphoreBounds {
  /** The total weight of what runs at once. Anything heavier runs alone. */
  readonly capacity: number
  /** The same for one key. */
  readonly capacityOfKey: number
  /** How many may wait. */
  readonly waitingMax: number
  readonly waitingOfKeyMax: number
  readonly waitMs: number
  /** Says what is busy: the message of the 503. */
  readonly message: string
}

/** Ends a turn. Calls after the first have no effect. */
export type EndTurn = () => void

interface Waiter {
  readonly weight: number
  readonly isFree: () => boolean
  readonly start: (end: EndTurn) => void
  readonly timer: NodeJS.Timeout
}

export type Semaphore = ReturnType<typeof createSemaphore>

/**
 * Creates a weighted semaphore. Keys take turns, so that one key with many requests delays another by one of them.
 * A turn that has to wait too long, or that finds too many waiting, throws `unavailable`.
 */
export function createSemaphore(bounds: SemaphoreBounds) {
  const { capacity, capacityOfKey, waitingMax, waitingOfKeyMax, waitMs, message } = bounds
  /** By key, in the order of their next turn. */
  const waiting = new Map<string, Waiter[]>()
  const usedByKey = new Map<string, number>()
  let used = 0
  let waitingCount = 0

  const fits = (held: number, weight: number, most: number) => held === 0 || held + weight <= most
  const mayStart = (key: string, { weight, isFree }: Pick<Waiter, 'weight' | 'isFree'>) =>
    fits(usedByKey.get(key) ?? 0, weight, capacityOfKey) && isFree()
  const unavailable = () => new StoreFailure('unavailable', message, { retryAfterSeconds: 1 })

  function begin(key: string, weight: number): EndTurn {
    let isOver = false
    used += weight
    usedByKey.set(key, (usedByKey.get(key) ?? 0) + weight)
    return () => {
      if (isOver) return
      isOver = true
      used -= weight
      const left = (usedByKey.get(key) ?? 0) - weight
      if (left > 0) usedByKey.set(key, left)
      else usedByKey.delete(key)
      recheck()
    }
  }

  /** Starts what may start. The first that only lacks capacity holds up the others, so that it is not overtaken forever. */
  function recheck(): void {
    if (waitingCount === 0) return
    for (const [key, queue] of [...waiting]) {
      const [first] = queue
      if (first === undefined || !mayStart(key, first)) continue
      if (!fits(used, first.weight, capacity)) return
      remove(key, first)
      const rest = waiting.get(key)
      if (rest !== undefined) {
        waiting.delete(key)
        waiting.set(key, rest)
      }
      first.start(begin(key, first.weight))
    }
  }

  function remove(key: string, waiter: Waiter): void {
    const queue = waiting.get(key) ?? []
    queue.splice(queue.indexOf(waiter), 1)
    if (queue.length === 0) waiting.delete(key)
    clearTimeout(waiter.timer)
    waitingCount--
  }

  /** Waits for a turn. The caller must end it. `isFree`: another condition; call `recheck` when it may have become true. */
  async function acquire(key: string, weight: number, isFree = () => true): Promise<EndTurn> {
    const isUncontended = waitingCount === 0 && fits(used, weight, capacity)
    if (isUncontended && mayStart(key, { weight, isFree })) return begin(key, weight)
    const queue = waiting.get(key) ?? []
    if (waitingCount >= waitingMax || queue.length >= waitingOfKeyMax) throw unavailable()
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>()
    const timer = setTimeout(() => {
      remove(key, waiter)
      reject(unavailable())
      recheck()
    }, waitMs)
    const waiter: Waiter = { weight, isFree, start: resolve, timer }
    waiting.set(key, queue)
    queue.push(waiter)
    waitingCount++
    // Those before it may all wait for their own keys.
    recheck()
    return promise
  }

  return {
    acquire,
    recheck,
    /** Runs `work` in a turn. */
    run: async <T>(key: string, weight: number, work: () => Promise<T>): Promise<T> => {
      const end = await acquire(key, weight)
      try {
        return await work()
      } finally {
        end()
      }
    },
    waiting: () => waitingCount,
  }
}
