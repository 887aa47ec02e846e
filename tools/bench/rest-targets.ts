import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Stops } from './bench.ts'
import type { BenchServer } from './bench-server.ts'
import { type Change, changeBody, changeHeaders } from './change-body.ts'
import { startChild } from './child.ts'
import type { Load, Measurement } from './load.ts'
import type { BaselineSettings } from './rest-baselines.ts'
import type { Baseline, RestCase } from './rest-cases.ts'
import type { BenchStore, BenchStores } from './rest-stores.ts'

/** Our server, or a baseline that it is measured against. */
export type Target = 'ours' | Baseline

export interface RestTargets {
  /** One measurement, begun when nothing of the one before is left to do. */
  readonly shoot: (
    one: RestCase,
    target: Target,
    how: Pick<Load, 'connections' | 'seconds' | 'turns'>,
  ) => Promise<Measurement>
  /** Length of our answer to a case's first request. */
  readonly answerBytes: (one: RestCase) => number
  readonly baselinesPid: number
}

/** As many as the server has (src/foundation/database/client.ts). */
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
  const { databaseUrl, secretKey } = server
  const settings: BaselineSettings = { databaseUrl, secretKey, poolMax: POOL_MAX, recorded }
  const baselinesUrl = await child.ask<string>(settings)
  return {
    shoot: async ({ store, requests }, target, how) => {
      const { id, headers } = stores[store]
      const url = target === 'ours' ? restUrl(server) : `${baselinesUrl}/${target}/${id}`
      const ours: Load = { url, headers, ...requests(stores[store]), ...how }
      const wanted = target === 'operator' || target === 'keyless' ? byOperator(server, id, ours, target) : ours
      const measurement = await load.ask<Measurement>(wanted)
      await untilIdle(server)
      return measurement
    },
    answerBytes: ({ store, requests }) => {
      const { paths, change } = requests(stores[store])
      return recorded.get(keyOf(stores[store].id, paths[0] ?? '', change))?.length ?? 0
    },
    baselinesPid: child.pid,
  }
}

/** Our answers to the requests of a case, under the keys by which the baselines find them. */
async function record(server: BenchServer, stores: BenchStores, one: RestCase, into: Map<string, Buffer>) {
  const store = stores[one.store]
  const { method, paths, change } = one.requests(store)
  // Where no baseline answers them from memory, only the length of the first is asked for.
  for (const path of one.baselines.includes('memory') ? paths : paths.slice(0, 1)) {
    const answer = await ask(server, store, { method, path, change })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${bytes}`)
    into.set(keyOf(store.id, path, change), bytes)
  }
}

interface One {
  readonly method: Load['method']
  readonly path: string
  readonly change: Change | undefined
}

/** One request of a case. */
export function ask(server: BenchServer, { headers }: BenchStore, { method, path, change }: One): Promise<Response> {
  return fetch(`${restUrl(server)}${path}`, {
    method,
    headers: { ...headers, ...(change && changeHeaders(change)) },
    ...(change && { body: changeBody(change) }),
  })
}

export function restUrl(server: Pick<BenchServer, 'baseUrl'>): string {
  return `${origin(server)}/StoreWebAPI/v1`
}

/** By number: the name may be looked up anew for every connection. */
function origin({ baseUrl }: Pick<BenchServer, 'baseUrl'>): string {
  return baseUrl.replace('localhost', '127.0.0.1')
}

/** The same orders at the operator's route. */
function byOperator(server: BenchServer, storeId: number, { change, ...load }: Load, target: Target): Load {
  const headers = { authorization: `Bearer ${server.operatorKey}` }
  const url = `${origin(server)}/admin/stores/${storeId}`
  return {
    ...load,
    url,
    headers,
    paths: ['/orders'],
    ...(change && { change: { ...change, isKeyless: target === 'keyless' } }),
  }
}

function keyOf(storeId: number, path: string, change: Change | undefined): string {
  return `/${storeId}${path}${change ? ` ${change.records}` : ''}`
}

const IDLE_LOOKS = 5
const IDLE_LOOK_MS = 10

/** A request that was cut off is still worked on to its end; that work must not burden the next measurement. */
export async function untilIdle({ databaseUrl }: Pick<BenchServer, 'databaseUrl'>): Promise<void> {
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
