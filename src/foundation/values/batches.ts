/** How much goes on at a time for one key. */
interface BatchBounds {
  readonly underWayMax: number
  /** Items of a batch. */
  readonly togetherMax: number
}

interface Lane<Item> {
  underWay: number
  waiting: Item[]
}

/**
 * Returns a function that hands items over to `run`, by key: at once while fewer than `underWayMax` batches are under way, and
 * otherwise together with all others that wait. So every batch begins after its items have come. `run` must not throw.
 */
export function createBatches<Item>(
  { underWayMax, togetherMax }: BatchBounds,
  run: (items: readonly Item[]) => Promise<void>,
): (key: string, item: Item) => void {
  const lanes = new Map<string, Lane<Item>>()
  const work = async (key: string, lane: Lane<Item>) => {
    lane.underWay++
    while (lane.waiting.length > 0) await run(lane.waiting.splice(0, togetherMax))
    lane.underWay--
    if (lane.underWay === 0) lanes.delete(key)
  }
  return (key, item) => {
    const lane = lanes.get(key) ?? { underWay: 0, waiting: [] }
    lanes.set(key, lane)
    lane.waiting.push(item)
    if (lane.underWay < underWayMax) void work(key, lane)
  }
}
