import { createProgress } from '../../src/cli/progress.ts'
import type { BenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import type { BenchStores } from './rest-stores.ts'
import { median, number, share } from './rest-table.ts'

/** One of two servers that are compared. */
export interface Side {
  readonly name: string
  readonly server: BenchServer
  readonly stores: BenchStores
}

export interface Comparison {
  readonly title: string
  readonly connections: number
  /** Of the side, a second unless the title has another unit; NaN: it cannot answer. */
  readonly rate: (side: Side) => Promise<number>
}

/**
 * Measures two sides in turn, round after round, so that whatever else the machine does befalls both, and returns a Markdown
 * table. The ratio is the median of the rounds' own.
 */
export async function compare(
  comparisons: readonly Comparison[],
  sides: readonly [Side, Side],
  rounds: number,
): Promise<string> {
  const [one, other] = sides
  const progress = createProgress({ label: 'Measuring', total: comparisons.length * rounds * sides.length })
  const rows: string[][] = []
  for (const { title, connections, rate } of comparisons) {
    const measured: { one: number; other: number }[] = []
    for (let round = 0; round < rounds; round++) {
      measured.push({ one: await rate(one), other: await rate(other) })
      progress.advance(sides.length)
    }
    rows.push([
      title,
      String(connections),
      number(median(measured.map((round) => round.one))),
      number(median(measured.map((round) => round.other))),
      share(median(measured.map((round) => round.one / round.other))),
    ])
  }
  progress.done()
  const head = ['requests a second, or figure', 'at once', one.name, other.name, `of ${other.name}`]
  return markdownTable(head, rows)
}
