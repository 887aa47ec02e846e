import { StoreFailure } from './failure.ts'

const WAITING_MAX = 200
const WAITING_OF_KEY_MAX = 20

/**
 * Runs heavy work one after another: side by side it would end no sooner, and take the memory of all. The keys, such as
 * applications, take turns; within one it is first come, first served.
 */
export class Lane {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isRunning = false
  #count = 0

  /** Throws `unavailable` if 20 of the key or 200 in all are waiting. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) await this.#wait(key)
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  #wait(key: string): Promise<void> {
    const ofKey = this.#waiting.get(key) ?? []
    if (ofKey.length >= WAITING_OF_KEY_MAX || this.#count >= WAITING_MAX) {
      const message = 'Too many large bodies are waiting to be read; try again in a moment'
      throw new StoreFailure('unavailable', message, { retryAfterSeconds: 1 })
    }
    this.#waiting.set(key, ofKey)
    this.#count++
    const { promise, resolve } = Promise.withResolvers<void>()
    ofKey.push(resolve)
    return promise
  }

  /** Hands the place to the next key, which then goes to the end. */
  #release(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#isRunning = false
      return
    }
    const [key, ofKey] = first
    const start = ofKey.shift()
    this.#waiting.delete(key)
    if (ofKey.length > 0) this.#waiting.set(key, ofKey)
    this.#count--
    start?.()
  }
}
