import { readdirSync } from 'node:fs'
import type { Db } from '../database/client.ts'

/** How long the database may take to answer. */
const DATABASE_TIMEOUT_MS = 2_000

const migrationsFolder = new URL('../../prisma/migrations/', import.meta.url)

/** Null: ready to serve; else the reason why not, without inner detail. */
export type Readiness = () => Promise<string | null>

/** Ready means: the database answers within 2 s, and has every migration that this program brings. */
export function createReadiness(db: Db): Readiness {
  const wanted = migrationNames()
  let asked: Promise<string | null> | undefined
  return () => {
    // Probes that come while one is under way share its answer, so that a hanging database does not gather them.
    asked ??= ask(db, wanted).finally(() => {
      asked = undefined
    })
    return asked
  }
}

function migrationNames(): string[] {
  const entries = readdirSync(migrationsFolder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}

async function ask(db: Db, wanted: readonly string[]): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, 'the database does not answer in time')
  try {
    return await Promise.race([late, missingMigrations(db, wanted)])
  } catch {
    return 'the database does not answer'
  } finally {
    clearTimeout(timer)
  }
}

async function missingMigrations(db: Db, wanted: readonly string[]): Promise<string | null> {
  const rows = await db.$queryRaw<{ name: string }[]>`
    select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null`
  const applied = new Set(rows.map(({ name }) => name))
  return wanted.every((name) => applied.has(name)) ? null : 'migrations are not applied'
}
