import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/process/startup-error.ts'
import { openClient } from '../support/client.ts'
import type { StoreSize } from '../support/large-store/statements.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type LargeServer, openLargeServer } from './large-server.ts'
import { markdownTable } from './markdown-table.ts'
import { startPostgres, versions } from './postgres-versions.ts'
import { median, number } from './rest-table.ts'
import { type ScaleCase, scaleCases } from './scale-cases.ts'

/** Requests of a case in a round, one after another. */
const REQUESTS = 5
/** Before the first round: PostgreSQL chooses the plan of a prepared statement for good at its sixth execution. */
const WARM_UP = 7
/** Records of the other kinds, where one kind is many. */
const OTHERS = 100_000

interface Store {
  readonly server: LargeServer
  readonly cases: ReadonlyMap<string, ScaleCase>
}

interface Row {
  readonly title: string
  /** By store. */
  readonly matches: readonly (number | null)[]
  readonly times: readonly number[]
}

/** Prints how long requests take in stores of several sizes, side by side, on the versions of PostgreSQL that are there. */
export async function benchScale({ rounds, cases, sizes, only }: BenchOptions, stops: Stops): Promise<void> {
  const asked = sizes.map((text) => ({ text, size: readSize(text) }))
  const columns: { version: string; rows: readonly Row[] }[] = []
  for (const version of versions.filter((one) => only === null || one === only)) {
    columns.push({ version, rows: await measureOn(version, asked, { rounds, cases }, stops) })
  }
  process.stdout.write(
    tableOf(
      asked.map(({ text }) => text),
      columns,
    ),
  )
}

/** Such as 10k or 1M of each kind, or orders=10M. */
function readSize(text: string): StoreSize {
  const [, kind, digits = '', unit = ''] = /^(?:(products|customers|orders)=)?([1-9]\d{0,7})(k|M)?$/.exec(text) ?? []
  const count = Number(digits) * { '': 1, k: 1_000, M: 1_000_000 }[unit as '' | 'k' | 'M']
  if (!(count >= 100 && count <= 20_000_000)) {
    throw new StartupError(`--sizes takes numbers from 100 to 20M, such as 10k,1M,orders=10M; "${text}" was given`)
  }
  if (kind === undefined) return { products: count, customers: count, orders: count }
  return { products: OTHERS, customers: OTHERS, orders: OTHERS, [kind]: count }
}

async function measureOn(
  version: string,
  asked: readonly { text: string; size: StoreSize }[],
  { rounds, cases }: Pick<BenchOptions, 'rounds' | 'cases'>,
  stops: Stops,
): Promise<Row[]> {
  const postgres = await startPostgres(version, stops)
  const stores: Store[] = []
  for (const { text, size } of asked) stores.push(await openStore(postgres, text, size, stops))
  const titles = [...(stores.at(-1)?.cases.keys() ?? [])].filter(
    (title) => cases.length === 0 || cases.some((text) => title.includes(text)),
  )
  const progress = createProgress({ label: `PostgreSQL ${version}`, total: titles.length * rounds })
  const rows: Row[] = []
  for (const title of titles) rows.push(await measure(title, stores, rounds, () => progress.advance(1)))
  progress.done()
  return rows
}

async function openStore(
  { createDatabase }: Awaited<ReturnType<typeof startPostgres>>,
  text: string,
  size: StoreSize,
  stops: Stops,
): Promise<Store> {
  const { url } = await createDatabase(`store ${text}`)
  const server = await openLargeServer(url, size)
  await stops.add(server.close)
  const cases = await scaleCases(server, url, size)
  // It must not happen in the middle of a measurement.
  const client = await openClient(url)
  await client.query('CHECKPOINT').finally(() => client.end())
  return { server, cases: new Map(cases.map((each) => [each.title, each])) }
}

/** In turns, so that other programs of the machine disturb all stores alike. */
async function measure(title: string, stores: readonly Store[], rounds: number, onRound: () => void): Promise<Row> {
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
  return { title, matches, times: times.map(median) }
}

async function matchesOf({ server, cases }: Store, title: string): Promise<number | null> {
  const countUrl = cases.get(title)?.countUrl
  if (countUrl === undefined) return null
  const { TotalCount } = (await server.ask({ url: countUrl, headers: server.application })) as { TotalCount: number }
  return TotalCount
}

async function runs({ server, cases }: Store, title: string, count: number, from: number): Promise<number[]> {
  const one = cases.get(title)
  if (one === undefined) throw new Error(`One of the stores has no case ${title}`)
  const times: number[] = []
  for (let run = from; run < from + count; run++) times.push(await server.timeOf(one.request(run)))
  return times
}

function tableOf(sizes: readonly string[], columns: readonly { version: string; rows: readonly Row[] }[]): string {
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
