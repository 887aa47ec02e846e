import { expect, test } from 'vitest'
import { type Finding, fuzz, HEAP_GROWTH_MAX_MB, METRICS_MAX_KB, RSS_MAX_MB } from '../../fuzz/run.ts'
import { cloneDatabase } from '../../support/database.ts'
import { ofTest } from '../../support/shared.ts'

const SEED = 20_261_123
const COUNT = 2_000

// `npm run fuzz -- --seed N --count M` is the same with other requests.
test(`${COUNT} requests made of the reference and the WSDL find no defect, and leave the memory as it was`, async () => {
  const database = await ofTest(cloneDatabase())
  const options = { databaseUrl: database.url, seed: SEED, count: COUNT, concurrency: 8, only: [] }
  const { findings, statuses, memory } = await fuzz(options)

  expect(findings.map(described)).toEqual([])
  const successes = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0)
  expect(successes).toBeGreaterThan(COUNT / 4)
  expect(memory.heapGrowthMb).toBeLessThan(HEAP_GROWTH_MAX_MB)
  expect(memory.rssPeakMb).toBeLessThan(RSS_MAX_MB)
  expect(memory.metricsKb).toBeLessThan(METRICS_MAX_KB)
})

function described({ index, operation, mutations, fault, shell }: Finding): string {
  return `npm run fuzz -- --seed ${SEED} --only ${index}: ${operation} (${mutations.join(', ')}): ${fault}\n${shell}`
}
