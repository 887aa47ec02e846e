import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from '../../test/support/resident-memory.ts'
import type { BenchProcess } from './bench-server.ts'
import type { Child } from './child.ts'
import type { Comparison, Side } from './compare.ts'
import type { Measurement } from './load.ts'
import { processorMsOf } from './processor-time.ts'
import { restCases } from './rest-cases.ts'
import { restUrl, untilIdle } from './rest-targets.ts'

/** Longer than V8 waits before it gives memory back. */
const REST_MS = 12_000
const LOAD = { connections: 16, seconds: 1 }

/** What a start costs, and the memory of the server's process, each of a process that was just started. */
export function processComparisons(load: Child): Comparison[] {
  const figure = (title: string, measure: (of: Started, side: Side) => number | Promise<number>, isEmpty = false) => ({
    title,
    connections: title.includes('load') ? LOAD.connections : 0,
    rate: async (side: Side) => {
      const folder = isEmpty ? await mkdtemp(join(tmpdir(), 'store-platform-empty-')) : undefined
      const own = folder === undefined ? {} : { DATA_DIR: folder, DATABASE_URL: undefined }
      const startedAt = performance.now()
      const started = await side.server.startAnother(own)
      const seconds = (performance.now() - startedAt) / 1_000
      try {
        return await measure({ ...started, seconds, processor: processorMsOf(started.pid) / 1_000 }, side)
      } finally {
        await started.end()
        if (folder !== undefined) await rm(folder, { recursive: true })
      }
    },
  })
  const rested = async ({ pid }: Started) => sleep(REST_MS).then(() => residentMb(pid))
  const loaded = async ({ baseUrl, pid }: Started, { server, stores }: Side) => {
    for (const { store, requests } of restCases) {
      const { [store]: of } = stores
      await load.ask<Measurement>({ url: restUrl({ baseUrl }), headers: of.headers, ...requests(of), ...LOAD })
    }
    const mb = residentMb(pid)
    await untilIdle(server)
    return mb
  }
  return [
    figure('start with data: s of the processor', ({ processor }) => processor),
    figure('start with data: s until ready', ({ seconds }) => seconds),
    figure('start in an empty folder: s of the processor', ({ processor }) => processor, true),
    figure('start in an empty folder: s until ready', ({ seconds }) => seconds, true),
    figure('memory at rest: MB', rested),
    figure('memory right after a second of load of each request: MB', loaded),
  ]
}

type Started = BenchProcess & { readonly seconds: number; readonly processor: number }
