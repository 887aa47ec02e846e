import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from '../../test/support/resident-memory.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { processorMsOf } from './processor-time.ts'
import { number } from './rest-table.ts'

const head = ['start', 'processor s', 'ready after s', 'RSS MB', 'RSS MB at rest']

/**
 * Prints what a start on an existing database costs until the server is ready, and the memory then and after so many seconds.
 * One before has migrated, made the sandbox store, and kept what Node compiles.
 */
export async function benchStart({ seconds, rounds }: BenchOptions, stops: Stops): Promise<void> {
  const { startAnother } = await startBenchServer(stops)
  const rows: string[][] = []
  for (let round = 1; round <= rounds; round++) {
    const startedAt = performance.now()
    const { pid, end } = await startAnother()
    const readyMs = performance.now() - startedAt
    const figures = [processorMsOf(pid) / 1_000, readyMs / 1_000, residentMb(pid)]
    await sleep(seconds * 1_000)
    rows.push([String(round), ...[...figures, residentMb(pid)].map(number)])
    await end()
  }
  process.stdout.write(`${markdownTable(head, rows)}\n`)
}
