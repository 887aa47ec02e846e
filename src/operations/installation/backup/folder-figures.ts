import { Counter, Gauge, type Registry } from 'prom-client'
import type { SampledFigures } from '../../../foundation/process/sampled-figures.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { openBackupFolder } from './files.ts'

interface FolderOptions {
  readonly dir: string
  readonly secrets: Secrets
  readonly now: () => Date
}

/** The newest backup that is really in BACKUP_DIR: somebody may have deleted or moved what was made. */
export function backupFolderFigures({ dir, secrets, now }: FolderOptions): SampledFigures {
  return {
    gauges: {
      backup_newest_file_timestamp_seconds: {
        help: 'The moment that the newest backup in BACKUP_DIR shows; 0: the folder has none. Absent: the folder cannot be read, or there is no such setting',
      },
    },
    sample: async (show) => {
      const newest = await (await openBackupFolder(dir, secrets)).newest(now())
      show('backup_newest_file_timestamp_seconds', (newest?.getTime() ?? 0) / 1_000)
    },
  }
}

/** Registers what a process with BACKUP_DIR tells of its schedule. Returns a function to call when a backup has failed. */
export function createScheduleMetrics(registry: Registry, hours: number): () => void {
  new Gauge({
    name: 'backup_interval_seconds',
    help: 'The age at which the newest backup is followed by another (BACKUP_HOURS)',
    registers: [registry],
  }).set(hours * 3_600)
  const failures = new Counter({
    name: 'backup_failures_total',
    help: 'Scheduled backups of this process that failed; each is tried again after ten minutes',
    registers: [registry],
  })
  return () => failures.inc()
}
