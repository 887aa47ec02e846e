import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, PRIVATE } from '../../../foundation/process/data-folder.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { keyFingerprints } from './key.ts'

const FINGERPRINT_LENGTH = 8

/** What the names of an installation's files tell of its keys, the current one first: while a key is replaced, those under the former one count too. */
export function keyNames(secrets: Secrets): string[] {
  return keyFingerprints(secrets).map((fingerprint) => fingerprint.slice(0, FINGERPRINT_LENGTH))
}

/** The backups of one installation in a folder, made if it is missing. Their names tell the installation, by its key, and the time. */
export async function openBackupFolder(folder: string, secrets: Secrets) {
  await makeFolder(folder, PRIVATE)
  const fingerprints = keyNames(secrets)
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
    /** The time of the newest backup that is not of the future; null: there is none. */
    newest: async (now: Date) => (await list(now)).backups[0]?.at ?? null,
    pathOf: (createdAt: Date) => join(folder, `${prefix}${createdAt.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`),
    /** Deletes all but the newest `keep`, and what an interrupted backup left. */
    prune: async (keep: number, now: Date) => {
      const { backups, parts } = await list(now)
      for (const { path } of [...backups.slice(keep), ...parts]) await rm(path, { force: true })
    },
  }
}
