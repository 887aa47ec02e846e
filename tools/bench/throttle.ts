import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchProcess, type BenchServer, startBenchServer } from './bench-server.ts'
import { startChild } from './child.ts'
import { type Comparison, compare, type Side } from './compare.ts'
import type { Load, Measurement } from './load.ts'
import { markdownTable } from './markdown-table.ts'
import { CONNECTIONS, WARM_UP } from './rest.ts'
import { chosenOf, restCases } from './rest-cases.ts'
import { type BenchStores, openBenchStores } from './rest-stores.ts'
import { restUrl, untilIdle } from './rest-targets.ts'

const titles = ['GET Products/{id}', 'PUT Products, 1 stock']

/**
 * Prints what a request costs in a process that shares its rate limits beside one that counts alone, and then what a client
 * gets from three processes: of 200 requests at once, and of more than its rate for a minute.
 */
export async function benchThrottle(options: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const stores = await openBenchStores(server, options.file)
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  await stops.add(() => client.end())
  process.stdout.write(`${await costs(options, server, stores, client, stops)}\n`)
  process.stdout.write(await answersOfThree(server, stores))
}

const names = ['shared', 'alone'] as const

/** One server, which believes in turn that another runs beside it, and that none does. */
async function costs(options: BenchOptions, server: BenchServer, stores: BenchStores, client: pg.Client, stops: Stops) {
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const [shared, alone] = names.map((name): Side => ({ name, server, stores, settings: {} })) as [Side, Side]
  const chosen = chosenOf(
    restCases.filter(({ title }) => titles.includes(title)),
    options,
  )
  const warm = new Set<string>()
  const comparisons = chosen.flatMap((one) =>
    CONNECTIONS.map((connections): Comparison => {
      const store = stores[one.store]
      const shoot = async (how: Pick<Load, 'connections' | 'seconds' | 'turns'>) => {
        const wanted: Load = { url: restUrl(server), headers: store.headers, ...one.requests(store), ...how }
        const { perSecond } = await load.ask<Measurement>(wanted)
        await untilIdle(server)
        return perSecond
      }
      const rate = async ({ name }: Side) => {
        await letShare(client, name === 'shared')
        if (!warm.has(one.title)) await shoot(WARM_UP)
        warm.add(one.title)
        return shoot({ connections, seconds: options.seconds })
      }
      return { title: one.title, connections, rate }
    }),
  )
  const table = await compare(comparisons, [shared, alone], options.rounds)
  await letShare(client, false)
  return table
}

/** Adds or removes the row of another process, and waits until the server has noticed. */
async function letShare(client: pg.Client, isShared: boolean): Promise<void> {
  await client.query(
    isShared
      ? `INSERT INTO "ServerProcess" VALUES ('bench', now() + interval '1 day') ON CONFLICT DO NOTHING`
      : `DELETE FROM "ServerProcess" WHERE "id" = 'bench'`,
  )
  // It looks every second.
  await sleep(1_500)
}

const BURST = 200
const EVERY_MS = 50
const SECONDS = 60

async function answersOfThree(server: BenchServer, { sandbox }: BenchStores): Promise<string> {
  const processes: Pick<BenchProcess, 'baseUrl'>[] = [server]
  while (processes.length < 3) processes.push(await server.startAnother())
  const { PublicKey, PrivateKey } = await server.post('/admin/applications', { Name: 'Of the contract' })
  const { Token } = await server.post(`/admin/stores/${sandbox.id}/subscriptions`, { PublicKey: String(PublicKey) })
  const headers = { ...sandbox.headers, PrivateKey: String(PrivateKey), Token: String(Token) }
  let sent = 0
  const ask = async () => {
    const process = processes[sent++ % processes.length] as BenchProcess
    const answer = await fetch(`${restUrl(process)}/Products?countonly=1`, { headers })
    await answer.arrayBuffer()
    return { status: answer.status, remaining: Number(answer.headers.get('x-ratelimit-remaining')) }
  }
  const startedAt = performance.now()
  const burst = await Promise.all(Array.from({ length: BURST }, ask))
  const burstMs = performance.now() - startedAt
  const accepted = burst.filter(({ status }) => status === 200)
  const differing = new Set(accepted.map(({ remaining }) => remaining)).size

  const asked: ReturnType<typeof ask>[] = []
  const sinceMs = performance.now()
  while (performance.now() - sinceMs < SECONDS * 1_000) {
    asked.push(ask())
    await sleep(EVERY_MS)
  }
  const sustained = (await Promise.all(asked)).filter(({ status }) => status === 200).length
  const row = (what: string, count: number, taken: number, text: string) => [what, String(count), String(taken), text]
  return markdownTable(
    ['three processes', 'requests', 'answered', ''],
    [
      row(`at once (in ${Math.round(burstMs)} ms)`, BURST, accepted.length, `${differing} different remaining counts`),
      row(`in the next ${SECONDS} s`, asked.length, sustained, `${(sustained / SECONDS).toFixed(2)} a second`),
    ],
  )
}
