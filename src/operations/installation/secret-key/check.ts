import type { Db } from '../../../foundation/database/client.ts'
import { identifier, join, type Sql, sql } from '../../../foundation/database/sql.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import { type Secrets, sealedBy } from '../../../foundation/values/secrets.ts'
import { sealedTables } from './sealed-tables.ts'

/** Throws `StartupError` when something is sealed under another key: its owners would be refused. Reads each table once. */
export async function checkSecretKey(db: Db, secrets: Secrets): Promise<void> {
  const known = secrets.keyIds.map((id) => `${sealedBy(id)}%`)
  const samples = sealedTables.flatMap(({ table, sealed }) => sealed.map((column) => sampleOf(table, column, known)))
  const found = await db.$queryRaw<{ sealed: string }[]>`${join(samples, ' UNION ALL ')}`
  for (const { sealed } of found) {
    try {
      secrets.open(sealed)
    } catch {
      throw new StartupError(wrongKey)
    }
  }
}

/** One value is enough: of the versions that name no key, a database has values of a single key. */
function sampleOf(table: string, column: string, known: readonly string[]): Sql {
  const sealed = identifier(column)
  return sql`(SELECT ${sealed} AS "sealed" FROM ${identifier(table)}
    WHERE ${sealed} ~ '^v[12][.]' AND NOT ${sealed} LIKE ANY (${known}) LIMIT 1)`
}

const wrongKey =
  'SECRET_KEY (without it: keys.json in DATA_DIR) is not the key that the secrets in this database were stored under, and neither is SECRET_KEY_PREVIOUS or SECRET_KEY_NEXT, if given. Give the former key back: as SECRET_KEY, or as SECRET_KEY_PREVIOUS beside the one that replaces it'
