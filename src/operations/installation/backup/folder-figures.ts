import { Counter, type Registry } from 'prom-client'
import type { SealingServices } from '../../../foundation/database/client.ts'
import type { SampledFigures } from '../../../foundation/process/sampled-figures.ts'
import { openBackupFolder } from './files.ts'

/** The schedule, and the newest backup that is really in BACKUP_DIR: somebody may have deleted or moved what was made. */
export function backupFolderFigures(
  { secrets, now }: SealingServices,
  { dir, hours }: { dir: string; hours: number },
): SampledFigures {
  return {
    gauges: {
      backup_interval_seconds: { help: 'The age at which the newest backup is followed by another (BACKUP_HOURS)' },
      backup_newest_file_timestamp_seconds: {
        help: 'The moment that the newest backup in BACKUP_DIR shows; 0: the folder has none. Absent: the folder cannot be read, or there is no such setting',
      },
    },
    sample: async (show) => {
      show('backup_interval_seconds', hours * 3_600)
      const newest = await (await openBackupFolder(dir, secrets)).newest(now())
      show('backup_newest_file_timestamp_seconds', (newest?.getTime() ?? 0) / 1_000)
    },
  }
}

/** Registers a counter of scheduled backups that failed. Returns a function to call when one has. */
export function countFailures(registry: Registry): () => void {
  const failures = new Counter({
    name: 'backup_failures_total',
    help: 'Scheduled backups of this process that failed; each is tried again after ten minutes',
    registers: [registry],
  })
  return () => failures.inc()
}
