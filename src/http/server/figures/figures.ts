import type { Registry } from 'prom-client'
import { mailFigures } from '../../../access/mail/figures.ts'
import type { Db } from '../../../foundation/database/client.ts'
import { askDatabase } from '../../../foundation/database/figures.ts'
import { serverFigures } from '../../../foundation/database/server-figures.ts'
import { showSampled } from '../../../foundation/process/sampled-figures.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { ageFigures } from '../../../operations/installation/age-figures.ts'
import { backupFolderFigures, countFailures } from '../../../operations/installation/backup/folder-figures.ts'
import { backupFigures } from '../../../operations/installation/backup/made.ts'
import { sizeFigures } from '../../../operations/installation/size-figures.ts'
import { upgradeFigures } from '../../../operations/installation/upgrades.ts'
import { dispatchFigures } from '../../../shop/webhooks/dispatch/figures.ts'

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
  const parts = [serverFigures, dispatchFigures, mailFigures, backupFigures, ageFigures, sizeFigures, upgradeFigures]
  showSampled(askDatabase({ db, now }, parts), { registry, onFailure: onFailure('the database') })
  const { backupDir: dir, backupHours: hours } = config
  if (dir === null) return () => {}
  showSampled(backupFolderFigures({ secrets, now }, { dir, hours }), { registry, onFailure: onFailure('BACKUP_DIR') })
  return countFailures(registry)
}
