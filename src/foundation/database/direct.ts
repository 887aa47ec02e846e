import { StartupError } from '../process/startup-error.ts'
import { hasOwnSession, withConnection } from './connection.ts'
import { asStartupError } from './migrations.ts'

/**
 * Throws `StartupError` unless `directUrl` leads to the same database as `url`, a standby of it included, and past every
 * pooler: through one, what listens would hear nothing, and locks would belong to others.
 */
export async function requireDirect(url: string, directUrl: string): Promise<void> {
  const pooled = await look(url)
  const direct = await look(directUrl)
  if (direct.database !== pooled.database) {
    throw new StartupError(
      'DATABASE_DIRECT_URL leads to a different database than DATABASE_URL. Name the same one in both',
    )
  }
  if (!direct.hasOwnSession) {
    throw new StartupError(
      'DATABASE_DIRECT_URL leads through a pooler. Name PostgreSQL itself there, or a balancer that passes connections on',
    )
  }
}

function look(url: string) {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<{ database: string }>(
      `SELECT "system_identifier" || ' ' || "oid" AS "database"
       FROM pg_control_system(), pg_database WHERE "datname" = current_database()`,
    )
    return { database: rows[0]?.database, hasOwnSession: await hasOwnSession(client) }
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}
