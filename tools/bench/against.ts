import { StartupError } from '../../src/foundation/process/startup-error.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer, startBenchServerBeside } from './bench-server.ts'
import { type Child, startChild } from './child.ts'
import { type Comparison, compare, type Side } from './compare.ts'
import { freshComparisons } from './fresh.ts'
import type { Load, Measurement } from './load.ts'
import { processComparisons } from './memory.ts'
import { checkOut } from './other-tree.ts'
import { CONNECTIONS, WARM_UP } from './rest.ts'
import { chosenOf, type RestCase, restCases } from './rest-cases.ts'
import { type BenchStore, openBenchStores } from './rest-stores.ts'
import { ask, restUrl, untilIdle } from './rest-targets.ts'

/** Prints the cases of `rest`, first readings after a start, and what a process takes, of this working tree beside a commit, on the same PostgreSQL. */
export async function benchAgainst(options: BenchOptions, stops: Stops): Promise<void> {
  if (options.commit === null)
    throw new StartupError('`against` needs a COMMIT: npm run bench -- against COMMIT [FILE]')
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const comparisons = chosenOf(
    [
      ...restCases.flatMap((one) => CONNECTIONS.map((connections) => restComparison(one, connections, load, options))),
      ...(await freshComparisons(options, stops)),
      ...processComparisons(load),
    ],
    options,
  )
  const { commit, root } = await checkOut(options.commit, stops)
  const server = await startBenchServer(stops)
  const beside = await startBenchServerBeside(server, root, stops)
  const sides: [Side, Side] = [
    { name: 'this tree', server, stores: await openBenchStores(server, options.file) },
    { name: commit, server: beside, stores: await openBenchStores(beside, options.file) },
  ]
  process.stdout.write(await compare(comparisons, sides, options.rounds))
}

function restComparison(one: RestCase, connections: number, load: Child, { seconds }: BenchOptions): Comparison {
  const warm = new Set<Side>()
  const shoot = async ({ server, stores }: Side, how: Pick<Load, 'connections' | 'seconds' | 'turns'>) => {
    const { [one.store]: store } = stores
    const wanted: Load = { url: restUrl(server), headers: store.headers, ...one.requests(store), ...how }
    const { perSecond } = await load.ask<Measurement>(wanted)
    await untilIdle(server)
    return perSecond
  }
  const rate = async (side: Side): Promise<number> => {
    if (!(await isAnswered(one, side))) return Number.NaN
    if (!warm.has(side)) await shoot(side, WARM_UP)
    warm.add(side)
    return shoot(side, { connections, seconds })
  }
  return { title: one.title, connections, rate }
}

/** An older commit may not know the address. */
async function isAnswered(one: RestCase, { server, stores }: Side): Promise<boolean> {
  const store: BenchStore = stores[one.store]
  const { method, paths, change } = one.requests(store)
  const answer = await ask(server, store, { method, path: paths[0] ?? '', change })
  await answer.arrayBuffer()
  return answer.ok
}
