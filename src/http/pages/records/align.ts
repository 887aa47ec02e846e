/** Differences between the two that are looked for at most. */
const DIFFERENCES_MAX = 1_000

/**
 * Returns, for each item of `next`, the index of the item of `former` that it is, or -1 for a new one. The indexes ascend, and as many
 * items as possible are matched (Myers' algorithm). Of two lists with more than 1,000 differences, only what is alike at their beginnings
 * and ends is matched, so the time is bounded.
 */
export function align(former: readonly string[], next: readonly string[]): number[] {
  const found: number[] = new Array(next.length).fill(-1)
  let start = 0
  while (start < former.length && start < next.length && former[start] === next[start]) found[start] = start++
  let formerEnd = former.length
  let nextEnd = next.length
  while (formerEnd > start && nextEnd > start && former[formerEnd - 1] === next[nextEnd - 1])
    found[--nextEnd] = --formerEnd
  const pairs = pairsOf(former.slice(start, formerEnd), next.slice(start, nextEnd))
  for (const [one, other] of pairs) found[start + other] = start + one
  return found
}

type Pair = readonly [former: number, next: number]

/** The furthest places in `former` that so many differences lead to, on each diagonal; from these the way back is read. */
function pairsOf(former: readonly string[], next: readonly string[]): Pair[] {
  const max = Math.min(former.length + next.length, DIFFERENCES_MAX)
  const reached = new Int32Array(2 * max + 3)
  const steps: Int32Array[] = []
  const centre = max + 1
  const at = (places: Int32Array, diagonal: number) => places[centre + diagonal] ?? 0
  const isAdded = (places: Int32Array, diagonal: number, count: number) =>
    diagonal === -count || (diagonal !== count && at(places, diagonal - 1) < at(places, diagonal + 1))
  for (let count = 0; count <= max; count++) {
    steps.push(reached.slice(centre - count - 1, centre + count + 2))
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = isAdded(reached, diagonal, count) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1
      while (x < former.length && x - diagonal < next.length && former[x] === next[x - diagonal]) x++
      reached[centre + diagonal] = x
      if (x >= former.length && x - diagonal >= next.length) return wayBack(steps, former.length, next.length)
    }
  }
  return []
}

function wayBack(steps: readonly Int32Array[], formerLength: number, nextLength: number): Pair[] {
  const pairs: Pair[] = []
  let x = formerLength
  let y = nextLength
  for (let count = steps.length - 1; count >= 0; count--) {
    const places = steps[count] as Int32Array
    const at = (diagonal: number) => places[count + 1 + diagonal] ?? 0
    const diagonal = x - y
    const isAdded = diagonal === -count || (diagonal !== count && at(diagonal - 1) < at(diagonal + 1))
    const before = count === 0 ? 0 : isAdded ? diagonal + 1 : diagonal - 1
    const fromX = count === 0 ? 0 : at(before)
    const fromY = fromX - before
    const [toX, toY] = count === 0 ? [0, 0] : isAdded ? [fromX, fromY + 1] : [fromX + 1, fromY]
    while (x > toX && y > toY) pairs.push([--x, --y])
    x = fromX
    y = fromY
  }
  return pairs
}
