import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/startup-error.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { type CpuProfile, openInspector } from './inspector.ts'
import { chosenCases, prepareRest, type Target } from './rest.ts'
import { openBenchStores } from './rest-stores.ts'

const CONNECTIONS = 16

/**
 * Prints the processor time of a request: how much our server and PostgreSQL spend on it, beside what the `pg` baseline
 * and PostgreSQL spend, and how our server's share divides. Linux alone tells the time of other processes.
 */
export async function profileRest(options: BenchOptions, stops: Stops): Promise<void> {
  if (process.platform !== 'linux') throw new StartupError('The profile reads /proc, which Linux alone has')
  const server = await startBenchServer(stops, ['--inspect=127.0.0.1:0'])
  const stores = await openBenchStores(server, options.file)
  const cases = chosenCases(stores, options)
  const { shoot, baselinesPid } = await prepareRest(server, stores, cases, stops)
  const inspector = await openInspector(server.inspectorUrl ?? '')
  await stops.add(inspector.close)

  const progress = createProgress({ label: 'Profiling', total: cases.length })
  const rows: string[][] = []
  for (const one of cases) {
    const measure = async (target: Target, pid: number): Promise<[node: number, postgres: number]> => {
      const how = { connections: CONNECTIONS, seconds: options.seconds }
      await shoot(one, target, how)
      const [node, postgres] = [processorTimes(threadsOf(pid)), processorTimes(await backendsOf(server))]
      const { requests } = await shoot(one, target, how)
      return [spentMs(node, threadsOf(pid)) / requests, spentMs(postgres, await backendsOf(server)) / requests]
    }
    const ours = await measure('ours', server.pid)
    const baseline = await measure('pg', baselinesPid)
    const profile = await inspector.profile(() =>
      shoot(one, 'ours', { connections: CONNECTIONS, seconds: options.seconds }),
    )
    const shares = sharesOf(profile)
    rows.push([
      one.title,
      ...[...ours, ...baseline].map((ms) => ms.toFixed(2)),
      ...parts.map(({ name }) => `${Math.round((shares.get(name) ?? 0) * 100)} %`),
    ])
    progress.advance(1)
  }
  progress.done()
  const head = [
    'request',
    'server ms',
    'PostgreSQL ms',
    'baseline ms',
    'its PostgreSQL ms',
    ...parts.map(({ name }) => name),
  ]
  const table = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
  process.stdout.write(table.map((cells) => `| ${cells.join(' | ')} |\n`).join(''))
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
}

async function backendsOf({ databaseUrl }: BenchServer): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  await client.end()
  return rows.map(({ pid }) => `/proc/${pid}`)
}

/** Milliseconds on a processor so far, by the task's folder. */
function processorTimes(tasks: readonly string[]): Map<string, number> {
  return new Map(tasks.map((task) => [task, processorMs(task)]))
}

/** What tasks have spent since `before`; those that have ended meanwhile are background work of no request. */
function spentMs(before: ReadonlyMap<string, number>, tasks: readonly string[]): number {
  return tasks.reduce((sum, task) => sum + processorMs(task) - (before.get(task) ?? 0), 0)
}

function processorMs(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

/** What a time is spent on: decided by the innermost function on the stack that one of these patterns knows. */
const parts: readonly { name: string; places: RegExp }[] = [
  { name: 'compose', places: /\/src\/engine\/reader\.ts$/ },
  { name: 'read, parse', places: /\/src\/engine\// },
  { name: 'rest', places: /\/src\// },
  { name: 'Prisma', places: /\/@prisma\/|^wasm:|\/src\/database\/generated\// },
  { name: 'pg', places: /\/node_modules\/pg/ },
  { name: 'HTTP, log', places: /\/node_modules\/|^node:_?http/ },
  { name: 'garbage', places: /^\(garbage collector\)$/ },
]

/** The parts' shares of the time that was not idle; what no pattern knows (sockets, the event loop) makes up the rest. */
function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const partOf = (id: number | undefined): string => {
    if (id === undefined) return 'rest of Node'
    const { functionName, url } = byId.get(id)?.callFrame ?? { functionName: '', url: '' }
    return parts.find(({ places }) => places.test(url) || places.test(functionName))?.name ?? partOf(parents.get(id))
  }
  const times = new Map<string, number>()
  let total = 0
  samples.forEach((id, index) => {
    if (byId.get(id)?.callFrame.functionName === '(idle)') return
    const time = timeDeltas[index] ?? 0
    const part = partOf(id)
    times.set(part, (times.get(part) ?? 0) + time)
    total += time
  })
  return new Map([...times].map(([part, time]) => [part, time / total]))
}
