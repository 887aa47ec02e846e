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
  const runs = runsOf(former.slice(start, formerEnd), next.slice(start, nextEnd))
  for (let run = runs; run !== null; run = run.before) {
    for (let at = run.from; at < run.to; at++) found[start + at - run.diagonal] = start + at
  }
  return found
}

/** Items of `former` that are alike with those of `next` so many places before, and the run that is matched before them. */
interface Run {
  readonly from: number
  readonly to: number
  readonly diagonal: number
  readonly before: Run | null
}

/** Follows the furthest places in `former` that so many differences lead to, on each diagonal, with the runs on the way there. */
function runsOf(former: readonly string[], next: readonly string[]): Run | null {
  const max = Math.min(former.length + next.length, DIFFERENCES_MAX)
  const centre = max + 1
  const reached: ({ readonly x: number; readonly run: Run | null } | undefined)[] = new Array(2 * max + 3)
  reached[centre + 1] = { x: 0, run: null }
  for (let count = 0; count <= max; count++) {
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const [one, other] = [reached[centre + diagonal - 1], reached[centre + diagonal + 1]]
      const added = other !== undefined && (one?.x ?? -1) < other.x ? other : null
      const before = (added ?? one)?.run ?? null
      const from = added?.x ?? (one?.x ?? 0) + 1
      let x = from
      while (x < former.length && x - diagonal < next.length && former[x] === next[x - diagonal]) x++
      const run = x === from ? before : { from, to: x, diagonal, before }
      reached[centre + diagonal] = { x, run }
      if (x >= former.length && x - diagonal >= next.length) return run
    }
  }
  return null
}
