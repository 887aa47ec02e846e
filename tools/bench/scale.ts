import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { openClient } from '../../test/support/client.ts'
import type { StoreSize } from '../../test/support/large-store/statements.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { openLargeServer } from './large-server.ts'
import { type BenchPostgres, startPostgres, versions } from './postgres-versions.ts'
import { scaleCases } from './scale-cases.ts'
import { measureInTurns, type ScaleRow, type ScaleStore, scaleTable } from './scale-table.ts'

/** Records of the other kinds, where one kind is many. */
const OTHERS = 100_000

/** Prints how long requests take in stores of several sizes, side by side, on the versions of PostgreSQL that are there. */
export async function benchScale({ rounds, cases, sizes, postgres: only }: BenchOptions, stops: Stops): Promise<void> {
  const asked = sizes.map((text) => ({ text, size: readSize(text) }))
  if (only !== null && !versions.includes(only)) {
    throw new StartupError(
      `--postgres takes ${versions.join(' or ')}, of those that are installed; "${only}" was given`,
    )
  }
  const columns: { version: string; rows: readonly ScaleRow[] }[] = []
  for (const version of versions.filter((one) => only === null || one === only)) {
    columns.push({ version, rows: await measureOn(version, asked, { rounds, cases }, stops) })
  }
  process.stdout.write(
    scaleTable(
      asked.map(({ text }) => text),
      columns,
    ),
  )
}

/** Such as 10k or 1M of each kind, or orders=10M. */
export function readSize(text: string): StoreSize {
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
): Promise<ScaleRow[]> {
  const { createDatabase } = await startPostgres(version, stops)
  const stores: ScaleStore[] = []
  for (const { size } of asked) stores.push(await openStore(createDatabase, `store${stores.length}`, size, stops))
  const titles = [...(stores.at(-1)?.cases.keys() ?? [])].filter(
    (title) => cases.length === 0 || cases.some((text) => title.includes(text)),
  )
  const progress = createProgress({ label: `PostgreSQL ${version}`, total: titles.length * rounds })
  const rows: ScaleRow[] = []
  for (const title of titles) rows.push(await measureInTurns(title, stores, rounds, () => progress.advance(1)))
  progress.done()
  return rows
}

async function openStore(
  createDatabase: BenchPostgres['createDatabase'],
  name: string,
  size: StoreSize,
  stops: Stops,
): Promise<ScaleStore> {
  const url = await createDatabase(name)
  const server = await openLargeServer(url, size)
  await stops.add(server.close)
  const cases = await scaleCases(server, url, size)
  // It must not happen in the middle of a measurement.
  const client = await openClient(url)
  await client.query('CHECKPOINT').finally(() => client.end())
  return { server, cases: new Map(cases.map((each) => [each.title, each])) }
}
