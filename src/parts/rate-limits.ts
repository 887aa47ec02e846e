import { BucketTable } from '../applications/bucket-table.ts'
import { createThrottle, type Throttle } from '../applications/throttle.ts'
import type { Db } from '../database/client.ts'
import { ProcessRegistry } from '../database/process-registry.ts'
import { createSweeper } from '../database/sweeper.ts'
import type { Log } from '../process/log.ts'
import type { Shutdown } from '../process/shutdown.ts'

/** Counts requests together with all processes on the database. Resolves when none of them counts for itself any more. */
export async function shareRateLimits(
  { db, requestDb, log }: { db: Db; requestDb: Db; log: Log },
  parts: Shutdown,
): Promise<Throttle> {
  const processes = new ProcessRegistry({ db, log })
  const { isAlone } = processes
  const table = new BucketTable(db, { requestDb })
  const throttle = createThrottle(() => new Date(), { table, isAlone })
  parts.add('the shared rate limits', { stop: () => processes.leave() })
  await processes.join(throttle)
  const sweep = async (isStopping: () => boolean) => (isAlone() ? undefined : table.deleteEmpty(isStopping))
  parts.add(
    'the deletion of empty buckets',
    createSweeper({ log, sweeps: { 'empty buckets': sweep }, everyMs: 10_000 }),
  )
  return throttle
}
