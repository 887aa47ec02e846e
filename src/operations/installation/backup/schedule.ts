import { stat } from 'node:fs/promises'
import type { Log } from '../../../engine/definition/endpoints.ts'
import { locks } from '../../../foundation/database/advisory-locks.ts'
import { openSnapshot, type Snapshot } from '../../../foundation/database/snapshot.ts'
import type { Files } from '../../../foundation/files/files.ts'
import { makePrivateFolder } from '../../../foundation/process/data-folder.ts'
import { createLoop } from '../../../foundation/process/loop.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import type { Part } from '../../../foundation/process/shutdown.ts'
import { writeWholeFile } from '../../../foundation/process/whole-file.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { openBackupFolder } from './files.ts'
import { noteBackup } from './made.ts'
import { writeBackup } from './write.ts'

/** How often it looks whether a backup is due. */
const EVERY_MS = 60_000
/** After a failure. Each attempt may read the whole database. */
const RETRY_MS = 600_000
const HOUR_MS = 3_600_000

interface BackupScheduleOptions {
  readonly url: string
  readonly secrets: Secrets
  readonly files: Files
  readonly now: () => Date
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly dir: string
  readonly hours: number
  /** How many backups stay. */
  readonly keep: number
  /** Called when a backup has failed. */
  readonly onFailure?: () => void
}

/** The backups into BACKUP_DIR; without that folder there are none. */
export async function scheduledBackups(
  services: Pick<BackupScheduleOptions, 'url' | 'secrets' | 'files' | 'now' | 'log' | 'onFailure'>,
  { backupDir: dir, backupHours: hours, backupKeep: keep }: Pick<Config, 'backupDir' | 'backupHours' | 'backupKeep'>,
): Promise<Part> {
  if (dir === null) return { stop: async () => {} }
  await makePrivateFolder(dir, 'BACKUP_DIR', (message) => services.log.warn({}, message))
  return createBackupSchedule({ ...services, dir, hours, keep })
}

/**
 * Backs up the database into a folder when its newest backup is as old as `hours`. Any number of processes may do so: one at a
 * time makes a backup, and those that share the folder make one together.
 */
export function createBackupSchedule(options: BackupScheduleOptions) {
  const { now, log, dir, onFailure = () => {} } = options
  const stopping = new AbortController()
  let retryAt = Number.NEGATIVE_INFINITY

  /** Makes a backup if one is due. A failure is logged, and tried again after ten minutes. Never rejects. */
  async function runDue(): Promise<void> {
    if (now().getTime() < retryAt) return
    try {
      await backUpIfDue(options, stopping.signal)
    } catch (error) {
      if (stopping.signal.aborted) return
      retryAt = now().getTime() + RETRY_MS
      onFailure()
      log.error({ err: error, folder: dir }, 'the database could not be backed up')
    }
  }

  const loop = createLoop(runDue, { log, complaint: 'the database could not be backed up', everyMs: EVERY_MS })

  return {
    runDue,
    start: loop.start,
    /** Breaks off a backup that is being made; nothing of it stays. */
    stop(): Promise<void> {
      stopping.abort()
      return loop.stop()
    },
  }
}

async function backUpIfDue(options: BackupScheduleOptions, signal: AbortSignal): Promise<void> {
  const { url, secrets, files, now, log, dir, hours, keep } = options
  const folder = await openBackupFolder(dir, secrets)
  const isDue = async () => {
    const newest = await folder.newest(now())
    return newest === null || now().getTime() - newest.getTime() >= hours * HOUR_MS
  }
  if (!(await isDue())) return
  const snapshot = await openSnapshot(url)
  try {
    // Another process may have made one before it released the lock.
    if (!(await tryLock(snapshot)) || !(await isDue())) return
    const createdAt = now()
    const startedMs = performance.now()
    const path = folder.pathOf(createdAt)
    const written = await writeWholeFile(path, (target) =>
      writeBackup(snapshot, target, { secrets, createdAt, files, signal }),
    )
    log.info({ file: path, ...written }, 'the database was backed up')
    const seconds = (performance.now() - startedMs) / 1_000
    await stat(path)
      .then(({ size: bytes }) => noteBackup(url, { by: 'schedule', createdAt, bytes, seconds }))
      .catch((error) =>
        log.warn({ err: error, file: path }, 'a backup was made, but could not be noted in the database'),
      )
    await folder.prune(keep, now())
  } finally {
    await snapshot.close()
  }
}

/** The lock ends with the snapshot. */
async function tryLock({ query }: Snapshot): Promise<boolean> {
  const [lock] = await query<{ isOurs: boolean }>('SELECT pg_try_advisory_xact_lock($1, 0) AS "isOurs"', [locks.backup])
  return lock?.isOurs === true
}
