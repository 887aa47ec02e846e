import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, PRIVATE } from '../../../foundation/process/data-folder.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { keyFingerprints } from './key.ts'

/** The backups of one installation in a folder. Their names tell the installation, by its key, and the time. */
export interface BackupFolder {
  /** The time of the newest backup that is not of the future; null: there is none. */
  readonly newest: (now: Date) => Promise<Date | null>
  readonly pathOf: (createdAt: Date) => string
  /** Deletes all but the newest `keep`, and what an interrupted backup left. */
  readonly prune: (keep: number, now: Date) => Promise<void>
}

const FINGERPRINT_LENGTH = 8

/** Makes the folder if it is missing. */
export async function openBackupFolder(folder: string, secrets: Secrets): Promise<BackupFolder> {
  await makeFolder(folder, PRIVATE)
  // While a key is replaced, those under the former one count too.
  const fingerprints = keyFingerprints(secrets).map((fingerprint) => fingerprint.slice(0, FINGERPRINT_LENGTH))
  const prefix = `store-platform-${fingerprints[0]}-`
  const pattern = new RegExp(
    `^store-platform-(?:${fingerprints.join('|')})-(\\d{4})(\\d\\d)(\\d\\d)T(\\d\\d)(\\d\\d)(\\d\\d)Z\\.backup(\\.part)?$`,
  )

  /** The newest first. */
  async function list(now: Date) {
    const files = (await readdir(folder)).flatMap((name) => {
      const [, year, month, day, hour, minute, second, part] = pattern.exec(name) ?? []
      if (year === undefined) return []
      const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
      return { path: join(folder, name), at, isWhole: part === undefined }
    })
    // A clock that was ahead must neither stop the backups nor push out those of the right time.
    const backups = files
      .filter(({ at, isWhole }) => isWhole && at <= now)
      .toSorted((a, b) => Number(b.at) - Number(a.at))
    return { backups, parts: files.filter(({ isWhole }) => !isWhole) }
  }

  return {
    newest: async (now) => (await list(now)).backups[0]?.at ?? null,
    pathOf: (createdAt) => join(folder, `${prefix}${createdAt.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`),
    prune: async (keep, now) => {
      const { backups, parts } = await list(now)
      for (const { path } of [...backups.slice(keep), ...parts]) await rm(path, { force: true })
    },
  }
}
