import { StoreFailure } from '../values/failure.ts'
import { type EndTurn, Semaphore } from '../values/semaphore.ts'

// What requests and answers may hold of the process's memory (docs/decisions/limits.md). Callers are named by a key: an
// application in a store, or the client's network where nobody has signed in.

const KILOBYTE = 1024
const MEGABYTE = 1024 * KILOBYTE

const defaults = {
  /** For the bodies and answers in flight of all callers. */
  processMax: 26 * MEGABYTE,
  /** For those of one caller. */
  callerMax: 24 * MEGABYTE,
  /** A body or an answer up to this size is not counted, because the number of connections bounds them. */
  uncountedMax: 64 * KILOBYTE,
  /** A body or an answer above this size is large. */
  largeMin: MEGABYTE,
  /** For the large ones that are parsed, read or composed at once, which takes several times their bytes. */
  largeMax: 12 * MEGABYTE,
}

type BytesBounds = Readonly<typeof defaults>

/** How long a large request waits for others. Proxies and HTTP clients give up after 60 s or more. */
const WAIT_MS = 30_000
const WAITING_MAX = 500
const WAITING_OF_CALLER_MAX = 50

/** The bytes that one request and its answer hold. */
export type Holding = ReturnType<BytesInFlight['open']>

/** Counts the bytes in flight of one process. */
export class BytesInFlight {
  readonly bounds: BytesBounds
  readonly #large: Semaphore
  readonly #uploads: Semaphore
  readonly #byCaller = new Map<string, number>()
  #total = 0

  constructor(bounds: Partial<BytesBounds> = {}) {
    this.bounds = { ...defaults, ...bounds }
    const { processMax, callerMax, largeMax } = this.bounds
    const waits = { waitingMax: WAITING_MAX, waitingOfKeyMax: WAITING_OF_CALLER_MAX, waitMs: WAIT_MS, message: BUSY }
    this.#large = new Semaphore({ ...waits, capacity: largeMax, capacityOfKey: (largeMax * 2) / 3 })
    // More than half of all would be refused while it arrives.
    const ofUploads = { capacity: Number.POSITIVE_INFINITY, capacityOfKey: Math.min(callerMax, processMax / 2) }
    this.#uploads = new Semaphore({ ...waits, ...ofUploads })
  }

  get total(): number {
    return this.#total
  }

  open(caller: string) {
    let held = 0
    let isClosed = false
    const turns: EndTurn[] = []
    const keep = (end: EndTurn) => void (isClosed ? end() : turns.push(end))
    const send = (bytes: number) => {
      // What was received before the connection was lost may still be read.
      if (isClosed) return
      held += bytes
      this.#add(caller, bytes)
    }
    const drop = () => {
      this.#add(caller, -held)
      held = 0
      for (const end of turns.splice(0)) end()
      this.#large.recheck()
    }
    return {
      /** Counts the bytes of an answer, which exists already. */
      send,
      /** Counts nothing any more, until something is received or sent. Ends the turns. */
      drop,
      /** Counts received bytes. Throws `rate-limited` beyond the caller's bound, `unavailable` beyond the process's. */
      receive: (bytes: number) => {
        const refused = this.#fault(caller, bytes)
        if (refused !== null) throw refused
        send(bytes)
      },
      /** Waits until the caller's uploads leave room for one of this size. Throws `rate-limited` after 30 s. */
      waitForUpload: async (bytes: number) =>
        keep(await this.#uploads.acquire(caller, bytes).catch(() => Promise.reject(tooMuch()))),
      /** Waits for a turn to work on a large body. It ends with the request. Throws `unavailable` after 30 s, or if nobody waits for the answer any more. */
      waitForWork: async (bytes: number) => {
        keep(await this.#large.acquire(caller, bytes))
        if (isClosed) throw leftEarly()
      },
      /** As `drop`, for good. */
      close: () => {
        isClosed = true
        drop()
      },
    }
  }

  /** Throws `rate-limited` if the caller holds as much as it may. */
  admit(caller: string): void {
    if (this.#heldBy(caller) >= this.bounds.callerMax) throw tooMuch()
  }

  /**
   * Runs `read`, which reads an answer of this size, when there is room for it. Throws `rate-limited` or `unavailable` when
   * there is none within 30 s, or if nobody waits for the answer any more (`isGone`).
   */
  async readLarge<T>(
    caller: string,
    { bytes, isGone = () => false }: { bytes: number; isGone?: (() => boolean) | undefined },
    read: () => Promise<T>,
  ): Promise<T> {
    const end = await this.#large
      .acquire(caller, bytes, () => this.#fault(caller, bytes) === null)
      .catch((busy) => {
        throw this.#fault(caller, bytes) ?? busy
      })
    try {
      if (isGone()) throw leftEarly()
      return await read()
    } finally {
      end()
    }
  }

  /** Why the caller may not hold these bytes too; null: it may. */
  #fault(caller: string, bytes: number): StoreFailure | null {
    const held = this.#heldBy(caller) + bytes
    if (held > this.bounds.callerMax) return tooMuch()
    // No caller may hold more than it leaves free, so that those that hold much cannot shut out one that holds little.
    return held > this.bounds.processMax - this.#total
      ? new StoreFailure('unavailable', BUSY, { retryAfterSeconds: 1 })
      : null
  }

  #heldBy(caller: string): number {
    return this.#byCaller.get(caller) ?? 0
  }

  #add(caller: string, bytes: number): void {
    this.#total += bytes
    const held = this.#heldBy(caller) + bytes
    if (held > 0) this.#byCaller.set(caller, held)
    else this.#byCaller.delete(caller)
  }
}

const BUSY = 'The server is busy with other large requests; try again in a moment'

function leftEarly(): StoreFailure {
  return new StoreFailure('unavailable', 'The client closed the connection while its request waited')
}

function tooMuch(): StoreFailure {
  const message =
    'Too many bytes of this application are in flight; read the answers, and send fewer large requests at the same time'
  return new StoreFailure('rate-limited', message, { retryAfterSeconds: 1 })
}

/** The count of this process. */
export const bytesInFlight = new BytesInFlight()
