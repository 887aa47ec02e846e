import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runProgram } from '../../src/cli/run-program.ts'
import { startEmbedded } from '../../src/foundation/embedded/embedded.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { type Finding, type FuzzResult, fuzz, HEAP_GROWTH_MAX_MB, METRICS_MAX_KB, RSS_MAX_MB } from './run.ts'

/* `npm run fuzz -- --seed N --count M`: docs/decisions/tests.md. Ends with 1 when an answer was not as it must be. */

const usage = `Usage: npm run fuzz -- [--seed N] [--count N] [--concurrency N] [--only INDEX,…]
  --seed         what the requests are made from (default: another one each time)
  --count        how many (default 2000)
  --concurrency  how many at once (default 12)
  --only         these requests of the seed alone, one after the other`

/** A short run leaves most of them out. */
const UNANSWERED_SHOWN = 60

await runProgram(usage, async (given) => {
  const { values } = parseArgs({
    args: given,
    options: {
      seed: { type: 'string' },
      count: { type: 'string' },
      concurrency: { type: 'string' },
      only: { type: 'string' },
    },
  })
  const only = values.only?.split(',').map((text) => whole(text, 0)) ?? []
  const options = {
    seed: whole(values.seed ?? String(Date.now() % 1_000_000), 0),
    count: whole(values.count ?? '2000', 1),
    concurrency: only.length > 0 ? 1 : whole(values.concurrency ?? '12', 1),
    only,
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-fuzz-'))
  try {
    const { url, stop } = await startEmbedded({ dataDir, durable: false })
    try {
      const startedAt = performance.now()
      const onProgress = (done: number) =>
        process.stderr.write(
          `${done} of ${only.length || options.count} requests, ${Math.round((performance.now() - startedAt) / 1000)} s\n`,
        )
      const result = await fuzz({
        databaseUrl: url,
        ...options,
        onFinding: (finding) => process.stdout.write(findingText(options.seed, finding)),
        onProgress,
      })
      process.stdout.write(summary(options.seed, result))
      return isGood(result)
    } finally {
      await stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

function whole(text: string, min: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > 2 ** 30) throw new StartupError(usage)
  return value
}

function isGood({ findings, memory: { heapGrowthMb, rssPeakMb, metricsKb } }: FuzzResult): boolean {
  const isBounded = heapGrowthMb <= HEAP_GROWTH_MAX_MB && rssPeakMb <= RSS_MAX_MB && metricsKb <= METRICS_MAX_KB
  return findings.length === 0 && isBounded
}

function findingText(seed: number, { index, operation, mutations, fault, shell, status, answer }: Finding): string {
  const made = mutations.length > 0 ? ` (${mutations.join(', ')})` : ''
  return `\n--seed ${seed} --only ${index}: ${operation}${made}: ${fault}\n  ${status ?? 'no status'} ${answer}\n  ${shell.slice(0, 4_000)}\n`
}

function summary(seed: number, { findings, statuses, unanswered, memory, slowest }: FuzzResult): string {
  const total = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const shares = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${((count / total) * 100).toFixed(1)} %`)
  const lines = [
    `${total} requests of seed ${seed}, ${findings.length} findings`,
    `Answers: ${shares.join(', ')}`,
    `Operations without a success: ${unanswered.length > UNANSWERED_SHOWN ? unanswered.length : unanswered.join(', ') || 'none'}`,
    `Heap after a collection: ${memory.heapGrowthMb.toFixed(1)} MB more than after a quarter (at most ${HEAP_GROWTH_MAX_MB}); RSS at most ${memory.rssPeakMb.toFixed(0)} MB (of ${RSS_MAX_MB}); /metrics ${memory.metricsKb.toFixed(0)} kB (of ${METRICS_MAX_KB})`,
    `Slowest: ${slowest.ms.toFixed(0)} ms, ${slowest.operation} (${slowest.index})`,
  ]
  return `\n${lines.join('\n')}\n`
}
