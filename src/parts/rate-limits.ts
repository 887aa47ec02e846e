import { BucketTable } from '../applications/bucket-table.ts'
import { createThrottle, type Throttle } from '../applications/throttle.ts'
import type { Db } from '../database/client.ts'
import { ProcessRegistry } from '../database/process-registry.ts'
import type { Log } from '../process/log.ts'
import type { Shutdown } from '../process/shutdown.ts'

/** Counts requests together with all processes on the database. Resolves when none of them counts for itself any more. */
export async function shareRateLimits(db: Db, log: Log, parts: Shutdown): Promise<Throttle> {
  const processes = new ProcessRegistry({ db, log })
  const throttle = createThrottle(() => new Date(), { table: new BucketTable(db), isAlone: processes.isAlone })
  parts.add('the shared rate limits', { stop: () => processes.leave() })
  await processes.join(throttle)
  return throttle
}
