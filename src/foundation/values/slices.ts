/** Work that yields wherever it may pause. */
export type Steps<T> = Generator<void, T, void>

/** The longest that sliced work holds the event loop before others get a turn. Other requests wait this long for each turn. */
const SLICE_MS = 5

/** The pieces that a text is read in, between pauses. */
export const PIECE_LENGTH = 16_384

/** Runs the steps, and lets the event loop go on between slices of 5 ms. All sliced work of the process shares one slice a turn. */
export async function runInSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (isSliceOver()) await nextTurn()
  }
}

/** Runs the steps in one go, for input that is short. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** When this turn of the event loop began its first slice; null: there was none yet. */
let startedAt: number | null = null

function isSliceOver(): boolean {
  if (startedAt !== null) return performance.now() - startedAt >= SLICE_MS
  startedAt = performance.now()
  setImmediate(() => {
    startedAt = null
  })
  return false
}

const waiting: (() => void)[] = []

/** Resolves in a later turn of the event loop, first come first served, one caller a turn. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(resolve)
  if (waiting.length === 1) setImmediate(serveNext)
  return promise
}

function serveNext(): void {
  startedAt = null
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(serveNext)
}
