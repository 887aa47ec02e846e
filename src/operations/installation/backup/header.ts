import { z } from 'zod'
import { knownMigrations } from '../../../foundation/database/migration.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { keyFingerprints } from './key.ts'

// A backup file (docs/decisions/backup.md):
//   the header, a line of JSON;
//   the rows, compressed by zstd: of each table the line COPY … FROM stdin;, a line for each row, and the line \.;
//     then the pictures' files in the same form (files.ts), of which format 1 has none;
//   the end, a line of JSON that follows a line break;
//   the SHA-256 of all bytes before it, as a line of hexadecimal digits.

const FORMAT = 'store-platform backup'
const FORMAT_VERSION = 2
const FORMATS_READ = [1, FORMAT_VERSION]

const Name = z.string().min(1).max(63)

export const Header = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.literal(FORMATS_READ),
  createdAt: z.iso.datetime(),
  /** The migrations that the database had, in order: the version of its schema. */
  migrations: z.array(z.string()).readonly(),
  /** Tells which SECRET_KEY the stored secrets need, and nothing else of that key. */
  keyFingerprint: z.string(),
  tables: z.array(z.object({ name: Name, columns: z.array(Name).readonly() })).readonly(),
  sequences: z.array(z.object({ name: Name, next: z.int() })).readonly(),
})
export type Header = z.infer<typeof Header>

/** The end: the numbers of rows, in the order of the header's tables. */
export const End = z.object({ rows: z.array(z.int().min(0)) })
export type End = z.infer<typeof End>

/** A line break, 64 digits and a line break follow the end. */
export const CHECKSUM_BYTES = 65

export function makeHeader(contents: Pick<Header, 'tables' | 'sequences'>, secrets: Secrets, createdAt: Date): Header {
  return {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    createdAt: createdAt.toISOString(),
    migrations: [...knownMigrations()],
    keyFingerprint: keyFingerprints(secrets)[0],
    ...contents,
  }
}

/** Throws `StartupError` for a file that does not begin as a backup of this format does. */
export function refuseOtherFormat(beginning: string, file: string): void {
  if (!beginning.startsWith(`{"format":"${FORMAT}",`)) throw new StartupError(`${file} is not a backup of this server`)
  const [, version] = /"formatVersion":(\d+)/.exec(beginning) ?? []
  if (version === undefined || FORMATS_READ.includes(Number(version))) return
  throw new StartupError(
    `${file} has format ${version}, and this version reads formats up to ${FORMAT_VERSION}. Restore it with the version of the server that wrote it`,
  )
}

/** Throws `StartupError` unless the backup has the schema of this version or of an older one, and secrets that `secrets` opens. */
export function refuseOther(header: Header, secrets: Secrets, file: string): void {
  const known = knownMigrations()
  const newer = header.migrations.find((name) => !known.includes(name))
  if (newer !== undefined) {
    throw new StartupError(
      `${file} is of a newer version, which has migration ${newer}. Restore it with that version of the server`,
    )
  }
  const missing = known.slice(0, header.migrations.length).find((name) => !header.migrations.includes(name))
  if (missing !== undefined) {
    throw new StartupError(
      `${file} lacks migration ${missing}, but has later ones. Restore it with the version that wrote it`,
    )
  }
  if (!keyFingerprints(secrets).includes(header.keyFingerprint)) {
    throw new StartupError(
      `${file} was made under another SECRET_KEY. Give the key of that time: SECRET_KEY, or the keys.json of that time in DATA_DIR`,
    )
  }
}
