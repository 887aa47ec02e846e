import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Stops } from './bench.ts'
import type { BenchServer } from './bench-server.ts'
import { startChild } from './child.ts'
import type { Load, Measurement } from './load.ts'
import type { BaselineSettings } from './rest-baselines.ts'
import type { RestCase } from './rest-cases.ts'
import type { BenchStores } from './rest-stores.ts'

/** Our server, and the two baselines that it is measured against (rest-baselines.ts). */
export const targets = ['ours', 'memory', 'pg'] as const
export type Target = (typeof targets)[number]

export interface RestTargets {
  /** One measurement, begun when nothing of the one before is left to do. */
  readonly shoot: (one: RestCase, target: Target, how: Pick<Load, 'connections' | 'seconds'>) => Promise<Measurement>
  /** Length of our answer to a case's first request. */
  readonly answerBytes: (one: RestCase) => number
  readonly baselinesPid: number
}

/** As many as the server has (src/database/client.ts). */
const POOL_MAX = 10

/** Starts the load generator and the baselines, each in a process of its own. */
export async function openRestTargets(
  server: BenchServer,
  stores: BenchStores,
  cases: readonly RestCase[],
  stops: Stops,
): Promise<RestTargets> {
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const recorded = new Map<string, Buffer>()
  for (const one of cases) await record(server, stores, one, recorded)
  const child = startChild('rest-baselines.ts')
  await stops.add(child.stop)
  const settings: BaselineSettings = { databaseUrl: server.databaseUrl, poolMax: POOL_MAX, recorded }
  const baselines = await child.ask<string>(settings)
  return {
    shoot: async ({ store, requests }, target, how) => {
      const { id, headers } = stores[store]
      const url = target === 'ours' ? restUrl(server) : `${baselines}/${target}/${id}`
      const wanted: Load = { url, headers, ...requests(stores[store]), ...how }
      const measurement = await load.ask<Measurement>(wanted)
      await untilIdle(server)
      return measurement
    },
    answerBytes: ({ store, requests }) => {
      const { paths, stock } = requests(stores[store])
      return recorded.get(keyOf(stores[store].id, paths[0] ?? '', stock))?.length ?? 0
    },
    baselinesPid: child.pid,
  }
}

/** Our answers to the requests of a case, under the keys by which the baseline finds them. */
async function record(
  server: BenchServer,
  stores: BenchStores,
  { store, requests }: RestCase,
  into: Map<string, Buffer>,
): Promise<void> {
  const { id, headers } = stores[store]
  const { method, paths, stock } = requests(stores[store])
  for (const path of paths) {
    const body = stock?.productIds.slice(0, stock.records).map((CatalogID) => ({ SKUInfo: { CatalogID, Stock: 1 } }))
    const answer = await fetch(`${restUrl(server)}${path}`, {
      method,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    into.set(keyOf(id, path, stock), Buffer.from(await answer.arrayBuffer()))
  }
}

export function restUrl({ baseUrl }: BenchServer): string {
  // By number: the name may be looked up anew for every connection.
  return `${baseUrl.replace('localhost', '127.0.0.1')}/StoreWebAPI/v1`
}

function keyOf(storeId: number, path: string, stock: Load['stock']): string {
  return `/${storeId}${path}${stock ? ` ${stock.records}` : ''}`
}

const IDLE_LOOKS = 5
const IDLE_LOOK_MS = 10

/** A request that was cut off is still worked on to its end; that work must not burden the next measurement. */
export async function untilIdle({ databaseUrl }: BenchServer): Promise<void> {
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
