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

/**
 * A weighted semaphore. Keys take turns, so that one key with many requests delays another by one of them.
 * A turn that has to wait too long, or that finds too many waiting, throws `unavailable`.
 */
export class Semaphore {
  readonly #bounds: SemaphoreBounds
  /** By key, in the order of their next turn. */
  readonly #waiting = new Map<string, Waiter[]>()
  readonly #usedByKey = new Map<string, number>()
  #used = 0
  #waitingCount = 0

  constructor(bounds: SemaphoreBounds) {
    this.#bounds = bounds
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waitingCount
  }

  /** Waits for a turn. The caller must end it. `isFree`: another condition; call `recheck` when it may have become true. */
  async acquire(key: string, weight: number, isFree = () => true): Promise<EndTurn> {
    const isUncontended = this.#waitingCount === 0 && fits(this.#used, weight, this.#bounds.capacity)
    if (isUncontended && this.#mayStart(key, { weight, isFree })) return this.#begin(key, weight)
    return this.#wait(key, weight, isFree)
  }

  #wait(key: string, weight: number, isFree: () => boolean): Promise<EndTurn> {
    const queue = this.#waiting.get(key) ?? []
    const { waitingMax, waitingOfKeyMax, waitMs } = this.#bounds
    if (this.#waitingCount >= waitingMax || queue.length >= waitingOfKeyMax) return Promise.reject(this.#unavailable())
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>()
    const timer = setTimeout(() => {
      this.#remove(key, waiter)
      reject(this.#unavailable())
      this.recheck()
    }, waitMs)
    const waiter: Waiter = { weight, isFree, start: resolve, timer }
    this.#waiting.set(key, queue)
    queue.push(waiter)
    this.#waitingCount++
    // Those before it may all wait for their own keys.
    this.recheck()
    return promise
  }

  /** Runs `work` in a turn. */
  async run<T>(key: string, weight: number, work: () => Promise<T>): Promise<T> {
    const end = await this.acquire(key, weight)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Starts what may start. */
  recheck(): void {
    if (this.#waitingCount > 0) this.#startWaiting()
  }

  /** The first that only lacks capacity holds up the others, so that it is not overtaken forever. */
  #startWaiting(): void {
    for (const [key, queue] of [...this.#waiting]) {
      const [first] = queue
      if (first === undefined || !this.#mayStart(key, first)) continue
      if (!fits(this.#used, first.weight, this.#bounds.capacity)) return
      this.#remove(key, first)
      const rest = this.#waiting.get(key)
      if (rest !== undefined) {
        this.#waiting.delete(key)
        this.#waiting.set(key, rest)
      }
      first.start(this.#begin(key, first.weight))
    }
  }

  #mayStart(key: string, { weight, isFree }: Pick<Waiter, 'weight' | 'isFree'>): boolean {
    return fits(this.#usedByKey.get(key) ?? 0, weight, this.#bounds.capacityOfKey) && isFree()
  }

  #begin(key: string, weight: number): EndTurn {
    let isOver = false
    this.#used += weight
    this.#usedByKey.set(key, (this.#usedByKey.get(key) ?? 0) + weight)
    return () => {
      if (isOver) return
      isOver = true
      this.#used -= weight
      const left = (this.#usedByKey.get(key) ?? 0) - weight
      if (left > 0) this.#usedByKey.set(key, left)
      else this.#usedByKey.delete(key)
      this.recheck()
    }
  }

  #remove(key: string, waiter: Waiter): void {
    const queue = this.#waiting.get(key) ?? []
    queue.splice(queue.indexOf(waiter), 1)
    if (queue.length === 0) this.#waiting.delete(key)
    clearTimeout(waiter.timer)
    this.#waitingCount--
  }

  #unavailable(): StoreFailure {
    return new StoreFailure('unavailable', this.#bounds.message, { retryAfterSeconds: 1 })
  }
}

function fits(held: number, weight: number, most: number): boolean {
  return held === 0 || held + weight <= most
}
