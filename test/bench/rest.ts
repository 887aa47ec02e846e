import { createProgress } from '../../src/cli/progress.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import type { Measurement } from './load.ts'
import { chosenCases } from './rest-cases.ts'
import { openBenchStores } from './rest-stores.ts'
import { type CaseMeasurements, restTable } from './rest-table.ts'
import { openRestTargets, type Target, targets } from './rest-targets.ts'

const CONNECTIONS = [1, 16, 64]
const WARM_UP = { connections: 16, seconds: 1 }

/**
 * Measures the REST interface against both baselines (rest-baselines.ts) and prints the table. The three are measured in
 * turn, round after round, so that whatever else the machine does befalls all of them.
 */
export async function benchRest(options: BenchOptions, stops: Stops): Promise<void> {
  const cases = chosenCases(options)
  const server = await startBenchServer(stops)
  const stores = await openBenchStores(server, options.file)
  const { shoot, answerBytes } = await openRestTargets(server, stores, cases, stops)

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
      results.push({ title: one.title, bytes: answerBytes(one), connections, rounds })
    }
  }
  progress.done()
  process.stdout.write(restTable(results))
}
