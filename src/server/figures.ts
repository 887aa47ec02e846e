import type { Registry } from 'prom-client'
import type { Db } from '../database/client.ts'
import { askDatabase } from '../database/figures.ts'
import { serverFigures } from '../database/server-figures.ts'
import { ageFigures } from '../installation/age-figures.ts'
import { backupFolderFigures, createScheduleMetrics } from '../installation/backup/folder-figures.ts'
import { backupFigures } from '../installation/backup/made.ts'
import { sizeFigures } from '../installation/size-figures.ts'
import { mailFigures } from '../mail/figures.ts'
import { showSampled } from '../process/sampled-figures.ts'
import type { Config } from '../process/settings.ts'
import type { Secrets } from '../values/secrets.ts'
import { dispatchFigures } from '../webhooks/dispatch/figures.ts'

interface FigureServices {
  /** The client for the background. */
  readonly db: Db
  readonly secrets: Secrets
  readonly now: () => Date
  readonly log: { warn(details: object, message: string): void }
  readonly config: Pick<Config, 'backupDir' | 'backupHours'>
}

/**
 * Registers what the database and BACKUP_DIR know, sampled when somebody scrapes. Each process shows the same figures of a
 * shared database. Returns a function to call when a scheduled backup has failed.
 */
export function showShared(registry: Registry, { db, secrets, now, log, config }: FigureServices): () => void {
  const onFailure = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `figures of ${what} are missing in /metrics`)
  const parts = [serverFigures, dispatchFigures, mailFigures, backupFigures, ageFigures, sizeFigures]
  showSampled(askDatabase({ db, now }, parts), { registry, onFailure: onFailure('the database') })
  const { backupDir: dir, backupHours } = config
  if (dir === null) return () => {}
  showSampled(backupFolderFigures({ dir, secrets, now }), { registry, onFailure: onFailure('BACKUP_DIR') })
  return createScheduleMetrics(registry, backupHours)
}
