interface Lane<Item, Result> {
  underWay: number
  waiting: { readonly item: Item; readonly settle: (result: Promise<Result | undefined>) => void }[]
}

/**
 * Returns a function that joins what comes at one moment: it hands items over to `run`, by key, at once while fewer than `underWayMax`
 * batches are under way, and otherwise together with all others that wait, up to `togetherMax` in one. So every batch begins after its
 * items have come. It returns what `run` has for its item, undefined for nothing, and throws what `run` throws.
 */
export function createBatches<Item, Result>(
  { underWayMax, togetherMax }: { readonly underWayMax: number; readonly togetherMax: number },
  run: (items: readonly Item[]) => Promise<ReadonlyMap<Item, Result | Promise<Result>>>,
): (key: string, item: Item) => Promise<Result | undefined> {
  const lanes = new Map<string, Lane<Item, Result>>()
  const work = async (key: string, lane: Lane<Item, Result>) => {
    lane.underWay++
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, togetherMax)
      const ran = run(batch.map(({ item }) => item))
      await ran.catch(() => {})
      for (const { item, settle } of batch) settle(ran.then((results) => results.get(item)))
    }
    lane.underWay--
    if (lane.underWay === 0) lanes.delete(key)
  }
  return (key, item) =>
    new Promise((settle) => {
      const lane = lanes.get(key) ?? { underWay: 0, waiting: [] }
      lanes.set(key, lane)
      lane.waiting.push({ item, settle })
      if (lane.underWay < underWayMax) void work(key, lane)
    })
}
