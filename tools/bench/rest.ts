import { createProgress } from '../../src/cli/progress.ts'
import { mostResidentMb } from '../../test/support/resident-memory.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import type { Load, Measurement } from './load.ts'
import { chosenCases, type RestCase } from './rest-cases.ts'
import { openBenchStores } from './rest-stores.ts'
import { type CaseMeasurements, type Round, restTable } from './rest-table.ts'
import { openRestTargets, type Target } from './rest-targets.ts'

export const CONNECTIONS = [1, 16, 64]
/** Each request twice: records are kept at their second reading. */
export const WARM_UP = { connections: 16, seconds: 1, turns: 2 }

/**
 * Measures the REST interface against its baselines (rest-baselines.ts) and prints the table. All are measured in turn,
 * round after round, so that whatever else the machine does befalls all of them.
 */
export async function benchRest(options: BenchOptions, stops: Stops): Promise<void> {
  const cases = chosenCases(options)
  const server = await startBenchServer(stops)
  const stores = await openBenchStores(server, options.file)
  const { shoot, answerBytes } = await openRestTargets(server, stores, cases, stops)

  const targetsOf = ({ baselines }: RestCase): Target[] => ['ours', ...baselines]
  const progress = createProgress({
    label: 'Measuring',
    total: cases.flatMap(targetsOf).length * (1 + CONNECTIONS.length * options.rounds),
  })
  const results: CaseMeasurements[] = []
  for (const one of cases) {
    const measure = async (target: Target, how: Pick<Load, 'connections' | 'seconds' | 'turns'>) => {
      const measurement = await shoot(one, target, how)
      progress.advance(1)
      return [target, measurement] as const
    }
    for (const target of targetsOf(one)) await measure(target, WARM_UP)
    for (const connections of CONNECTIONS) {
      const rounds: Round[] = []
      for (let round = 0; round < options.rounds; round++) {
        const measured: (readonly [Target, Measurement])[] = []
        for (const target of targetsOf(one))
          measured.push(await measure(target, { connections, seconds: options.seconds }))
        rounds.push(Object.fromEntries(measured))
      }
      results.push({ title: one.title, bytes: answerBytes(one), connections, rounds })
    }
  }
  progress.done()
  process.stdout.write(
    `${restTable(results)}\nThe server had at most ${Math.round(mostResidentMb(server.pid))} MB of memory.\n`,
  )
}
