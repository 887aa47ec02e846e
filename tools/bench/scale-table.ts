import type { LargeServer } from './large-server.ts'
import { markdownTable } from './markdown-table.ts'
import { median, number } from './rest-table.ts'
import type { ScaleCase } from './scale-cases.ts'

/** Requests of a case in a round, one after another. */
const REQUESTS = 5
/** Before the first round: PostgreSQL chooses the plan of a prepared statement for good at its sixth execution. */
const WARM_UP = 7

/** A large store and the cases of it by title. */
export interface ScaleStore {
  readonly server: LargeServer
  readonly cases: ReadonlyMap<string, ScaleCase>
}

export interface ScaleRow {
  readonly title: string
  /** By store. */
  readonly matches: readonly (number | null)[]
  readonly times: readonly number[]
}

/** Measures a case in all stores. In turns, so that other programs of the machine disturb all stores alike. */
export async function measureInTurns(
  title: string,
  stores: readonly ScaleStore[],
  rounds: number,
  onRound: () => void,
): Promise<ScaleRow> {
  const times: number[][] = stores.map(() => [])
  const matches: (number | null)[] = []
  for (const store of stores) {
    matches.push(await matchesOf(store, title))
    await runs(store, title, WARM_UP, 0)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [place, store] of stores.entries()) {
      times[place]?.push(...(await runs(store, title, REQUESTS, WARM_UP + round * REQUESTS)))
    }
    onRound()
  }
  return { title, matches, times: times.map((each) => (each.some(Number.isNaN) ? Number.NaN : median(each))) }
}

async function matchesOf({ server, cases }: ScaleStore, title: string): Promise<number | null> {
  const countUrl = cases.get(title)?.countUrl
  if (countUrl === undefined) return null
  const { TotalCount } = (await server.ask({ url: countUrl, headers: server.application })) as { TotalCount: number }
  return TotalCount
}

async function runs({ server, cases }: ScaleStore, title: string, count: number, from: number): Promise<number[]> {
  const one = cases.get(title)
  if (one === undefined) throw new Error(`One of the stores has no case ${title}`)
  const times: number[] = []
  for (let run = from; run < from + count && !Number.isNaN(times.at(-1)); run++) {
    times.push(await server.timeOf(one.request(run)))
  }
  return times
}

/** A Markdown table: a row for each case, with the columns of each version of PostgreSQL. */
export function scaleTable(
  sizes: readonly string[],
  columns: readonly { version: string; rows: readonly ScaleRow[] }[],
): string {
  const head = [
    'one client, ms',
    ...sizes.map((size) => `matches: ${size}`),
    ...columns.flatMap(({ version }) => [...sizes.map((size) => `${version}: ${size}`), 'ratio']),
  ]
  const [first] = columns
  const rows = (first?.rows ?? []).map(({ title, matches }, row) => [
    title,
    ...matches.map((count) => (count === null ? '' : count.toLocaleString('en-US'))),
    ...columns.flatMap(({ rows }) => {
      const times = rows[row]?.times ?? []
      return [...times.map(number), number((times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN))]
    }),
  ])
  return markdownTable(head, rows)
}
