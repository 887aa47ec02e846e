import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import { openInspector } from './inspector.ts'
import { markdownTable } from './markdown-table.ts'
import { type ProcessorTime, processorTimeOf } from './processor-time.ts'
import { partNames, sharesOf } from './profile-shares.ts'
import { chosenCases } from './rest-cases.ts'
import { openBenchStores } from './rest-stores.ts'
import { openRestTargets, type Target } from './rest-targets.ts'

const CONNECTIONS = 16

/**
 * Prints the processor time of a request: how much our server and PostgreSQL spend on it, beside what the `pg` baseline
 * (of orders the operator's route) and PostgreSQL spend, and how our server's own share divides.
 */
export async function profileRest(options: BenchOptions, stops: Stops): Promise<void> {
  if (process.platform !== 'linux') throw new StartupError('The profile reads /proc, which Linux alone has')
  const cases = chosenCases(options)
  const server = await startBenchServer(stops, ['--inspect=127.0.0.1:0'])
  const stores = await openBenchStores(server, options.file)
  const { shoot, baselinesPid } = await openRestTargets(server, stores, cases, stops)
  const inspector = await openInspector(server.inspectorUrl ?? '')
  await stops.add(inspector.close)

  const how = { connections: CONNECTIONS, seconds: options.seconds }
  const progress = createProgress({ label: 'Profiling', total: cases.length })
  const rows: string[][] = []
  for (const one of cases) {
    const timeOf = async (target: Target, pid: number) => {
      await shoot(one, target, how)
      let requests = 0
      const time = await processorTimeOf({ pid, databaseUrl: server.databaseUrl }, async () => {
        requests = (await shoot(one, target, how)).requests
      })
      return perRequest(time, requests)
    }
    const ours = await timeOf('ours', server.pid)
    const baseline = await (one.baselines.includes('pg') ? timeOf('pg', baselinesPid) : timeOf('operator', server.pid))
    const shares = sharesOf(await inspector.profile(() => shoot(one, 'ours', how)))
    const percents = partNames.map((name) => `${Math.round((shares.get(name) ?? 0) * 100)} %`)
    rows.push([one.title, ...ours, ...baseline, ...percents])
    progress.advance(1)
  }
  progress.done()
  const columns = ['request', 'server ms', 'PostgreSQL ms', 'baseline ms', 'its PostgreSQL ms']
  process.stdout.write(markdownTable([...columns, ...partNames], rows))
}

function perRequest({ node, postgres }: ProcessorTime, requests: number): string[] {
  return [node, postgres].map((ms) => (ms / requests).toFixed(2))
}
