import { BucketTable } from '../access/applications/limits/bucket-table.ts'
import { createThrottle, type Throttle } from '../access/applications/limits/throttle.ts'
import type { Db } from '../foundation/database/client.ts'
import { ProcessRegistry } from '../foundation/database/process-registry.ts'
import type { Log } from '../foundation/process/log.ts'
import type { Shutdown } from '../foundation/process/shutdown.ts'

/** Counts requests together with all processes on the database. Resolves when none of them counts for itself any more. */
export async function shareRateLimits(db: Db, log: Log, parts: Shutdown): Promise<Throttle> {
  const processes = new ProcessRegistry({ db, log })
  const throttle = createThrottle(() => new Date(), { table: new BucketTable(db), isAlone: processes.isAlone })
  parts.add('the shared rate limits', { stop: () => processes.leave() })
  await processes.join(throttle)
  return throttle
}
