import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/startup-error.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { startChild } from './child.ts'
import type { Load, Measurement } from './load.ts'
import type { BaselineSettings } from './rest-baselines.ts'
import { type RestCase, restCases } from './rest-cases.ts'
import { type BenchStores, openBenchStores } from './rest-stores.ts'
import { type CaseMeasurements, restTable } from './rest-table.ts'

/** As many as the server has (src/database/client.ts). */
const POOL_MAX = 10
const CONNECTIONS = [1, 16, 64]
const WARM_UP = { connections: 16, seconds: 1 }

export const targets = ['ours', 'memory', 'pg'] as const
export type Target = (typeof targets)[number]

/**
 * Measures the REST interface against both baselines (rest-baselines.ts) and prints the table. The three are measured in
 * turn, round after round, so that whatever else the machine does befalls all of them.
 */
export async function benchRest(options: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const stores = await openBenchStores(server, options.file)
  const cases = chosenCases(stores, options)
  const { shoot, recorded } = await prepareRest(server, stores, cases, stops)

  const progress = createProgress({
    label: 'Measuring',
    total: cases.length * targets.length * (1 + CONNECTIONS.length * options.rounds),
  })
  const results: CaseMeasurements[] = []
  for (const one of cases) {
    for (const target of targets) {
      await shoot(one, target, WARM_UP)
      progress.advance(1)
    }
    for (const connections of CONNECTIONS) {
      const rounds: Record<Target, Measurement>[] = []
      for (let round = 0; round < options.rounds; round++) {
        const measured: Partial<Record<Target, Measurement>> = {}
        for (const target of targets) {
          measured[target] = await shoot(one, target, { connections, seconds: options.seconds })
          progress.advance(1)
        }
        rounds.push(measured as Record<Target, Measurement>)
      }
      results.push({ title: one.title, bytes: recorded.get(firstKey(stores, one))?.length ?? 0, connections, rounds })
    }
  }
  progress.done()
  process.stdout.write(restTable(results))
}

export function chosenCases(stores: BenchStores, { cases: wanted }: BenchOptions): RestCase[] {
  const all = restCases(stores)
  const chosen = all.filter(({ title }) => wanted.length === 0 || wanted.some((text) => title.includes(text)))
  if (chosen.length > 0) return chosen
  throw new StartupError(
    `No case is called ${wanted.join(' or ')}; there are: ${all.map(({ title }) => title).join('; ')}`,
  )
}

/** Starts the load generator and the baselines. `shoot` is one measurement of one target. */
export async function prepareRest(server: BenchServer, stores: BenchStores, cases: readonly RestCase[], stops: Stops) {
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const { child, url: baselines, recorded } = await startBaselines(server, stores, cases, stops)
  const shoot = async (
    { store, load: what }: RestCase,
    target: Target,
    how: Pick<Load, 'connections' | 'seconds'>,
  ): Promise<Measurement> => {
    const { id, headers } = stores[store]
    const url = target === 'ours' ? restUrl(server) : `${baselines}/${target}/${id}`
    const measurement = await load.ask<Measurement>({ url, headers, ...what, ...how } satisfies Load)
    await untilIdle(server)
    return measurement
  }
  return { shoot, recorded, baselinesPid: child.pid }
}

function restUrl({ baseUrl }: BenchServer): string {
  // By number: the name may be looked up anew for every connection.
  return `${baseUrl.replace('localhost', '127.0.0.1')}/StoreWebAPI/v1`
}

async function startBaselines(server: BenchServer, stores: BenchStores, cases: readonly RestCase[], stops: Stops) {
  const recorded = new Map<string, Buffer>()
  for (const one of cases) await record(server, stores, one, recorded)
  const child = startChild('rest-baselines.ts')
  await stops.add(child.stop)
  const settings: BaselineSettings = { databaseUrl: server.databaseUrl, poolMax: POOL_MAX, recorded }
  return { child, url: await child.ask<string>(settings), recorded }
}

/** Our answers to the requests of a case, under the keys by which the baseline finds them. */
async function record(server: BenchServer, stores: BenchStores, { store, load }: RestCase, into: Map<string, Buffer>) {
  const { id, headers } = stores[store]
  for (const path of load.paths) {
    const { stock } = load
    const body = stock?.productIds.slice(0, stock.records).map((CatalogID) => ({ SKUInfo: { CatalogID, Stock: 1 } }))
    const answer = await fetch(`${restUrl(server)}${path}`, {
      method: load.method,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${load.method} ${path} answered ${answer.status}: ${await answer.text()}`)
    into.set(keyOf(id, path, stock), Buffer.from(await answer.arrayBuffer()))
  }
}

function firstKey(stores: BenchStores, { store, load }: RestCase): string {
  return keyOf(stores[store].id, load.paths[0] ?? '', load.stock)
}

function keyOf(storeId: number, path: string, stock: Load['stock']): string {
  return `/${storeId}${path}${stock ? ` ${stock.records}` : ''}`
}

const IDLE_LOOKS = 5
const IDLE_LOOK_MS = 10

/** A request that was cut off is still worked on to its end; that work must not burden the next measurement. */
async function untilIdle({ databaseUrl }: BenchServer): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (let idle = 0; idle < IDLE_LOOKS; ) {
      const { rows } = await client.query<{ busy: boolean }>(
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND state <> 'idle') AS "busy"`,
      )
      idle = rows[0]?.busy ? 0 : idle + 1
      await sleep(IDLE_LOOK_MS)
    }
  } finally {
    await client.end()
  }
}
