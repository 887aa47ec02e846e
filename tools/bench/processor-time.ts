import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Processor time of a Node process and of the sessions of a database, in milliseconds. */
export interface ProcessorTime {
  readonly node: number
  readonly postgres: number
}

/** What `work` costs both of them; what else they do meanwhile counts too. From /proc, which Linux alone has. */
export async function processorTimeOf(
  { pid, databaseUrl }: { pid: number; databaseUrl: string },
  work: () => Promise<unknown>,
): Promise<ProcessorTime> {
  const before = [timesOf(threadsOf(pid)), timesOf(await sessionsOf(databaseUrl))] as const
  await work()
  return { node: spent(before[0], threadsOf(pid)), postgres: spent(before[1], await sessionsOf(databaseUrl)) }
}

/** What the running threads of a process have cost so far, in milliseconds. */
export function processorMsOf(pid: number): number {
  return threadsOf(pid).reduce((sum, thread) => sum + processorMs(thread), 0)
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
}

async function sessionsOf(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
  )
  await client.end()
  return rows.map(({ pid }) => `/proc/${pid}`)
}

/** Milliseconds on a processor so far, by the task's folder. */
function timesOf(tasks: readonly string[]): Map<string, number> {
  return new Map(tasks.map((task) => [task, processorMs(task)]))
}

function spent(before: ReadonlyMap<string, number>, tasks: readonly string[]): number {
  return tasks.reduce((sum, task) => sum + processorMs(task) - (before.get(task) ?? 0), 0)
}

function processorMs(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    // It has ended.
    return 0
  }
}
