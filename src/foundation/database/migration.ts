import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { StartupError } from '../process/startup-error.ts'
import { programVersion } from '../process/version.ts'

// What a migration is, and which ones this version has. Which servers may run on it stands in its first line, because those of the version
// before go on while a new one starts beside them (docs/decisions/migrations.md).

const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

export interface Migration {
  readonly name: string
  readonly sql: string
  /** The oldest version whose servers may run on a database that has it; those of later versions start on it without knowing it. */
  readonly oldest: string
  /** The index that it builds, outside of a transaction and while its table is written. */
  readonly index: { readonly name: string; readonly table: string } | null
  /** What rewrites rows after the start. */
  readonly slices: Slices | null
  /** The migration whose rows must all be rewritten before. */
  readonly needs: string | null
}

/** A statement that rewrites the rows of a table in slices by its primary key. Written twice, a row stays as it was after the first time. */
export interface Slices {
  readonly table: string
  readonly key: readonly string[]
  /** With `$slice` for the condition that chooses the rows, which are called "r". */
  readonly sql: string
}

const OLDEST = /^-- Servers from (\d+\.\d+\.\d+) on may run on it\.$/m
const NEEDS = /^-- It needs the slices of (\w+)\.$/m
const INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "(\w+)" ON "(\w+)"/m
const SLICES = /^-- Slices of "(\w+)" by ("\w+"(?:, "\w+")*)\.$/m

/** The migrations of this version, in order. */
export function knownMigrations(): readonly string[] {
  return readdirSync(migrationsFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

export function readMigration(name: string): Migration {
  const sql = readFileSync(`${migrationsFolder}/${name}/migration.sql`, 'utf8')
  const slices = `${migrationsFolder}/${name}/slices.sql`
  const [, index = '', indexed = ''] = INDEX.exec(sql) ?? []
  return {
    name,
    sql,
    oldest: oldestIn(sql) ?? programVersion,
    index: index === '' ? null : { name: index, table: indexed },
    slices: existsSync(slices) ? readSlices(readFileSync(slices, 'utf8')) : null,
    needs: NEEDS.exec(sql)?.[1] ?? null,
  }
}

/** The migrations of this version that rewrite rows after the start, in order. */
export function slicedMigrations(): readonly Migration[] {
  return knownMigrations()
    .filter((name) => existsSync(`${migrationsFolder}/${name}/slices.sql`))
    .map(readMigration)
}

/** Null: no version before that of the migration. */
export function oldestIn(text: string): string | null {
  return OLDEST.exec(text)?.[1] ?? null
}

function readSlices(sql: string): Slices {
  const [, table = '', key = ''] = SLICES.exec(sql) ?? []
  return { table, key: key.replaceAll('"', '').split(', '), sql }
}

/** What the database keeps of a migration, for versions that do not know it. */
export function noteOf({ oldest }: Migration): string {
  return `-- Servers from ${oldest} on may run on it.`
}

/** Throws `StartupError` for a migration that this version does not know, unless it says that servers of this version may run on it. */
export function refuseUnknown(name: string, note: string | null): void {
  const oldest = oldestIn(note ?? '')
  if (oldest !== null && isAtMost(oldest, programVersion)) return
  const needed = oldest === null ? 'the newer version' : `version ${oldest} or a newer one`
  throw new StartupError(`The database has migration ${name}, which this version does not know: start ${needed}.`)
}

/** Compares two versions, such as `0.10.0` and `0.9.1`. */
export function isAtMost(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) <= 0
}
