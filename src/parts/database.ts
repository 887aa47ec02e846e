import { forgetRepresentations } from '../engine/reading/representations.ts'
import { connect, connectBeside, type Db } from '../foundation/database/client.ts'
import { requireDirect } from '../foundation/database/direct.ts'
import { DatabaseHealth } from '../foundation/database/health.ts'
import { backgroundLimits, requestLimits } from '../foundation/database/limits.ts'
import { createDatabaseMetrics } from '../foundation/database/metrics.ts'
import { migrate } from '../foundation/database/migrations.ts'
import type { createOutageLines } from '../foundation/database/outage-lines.ts'
import { startEmbedded } from '../foundation/embedded/embedded.ts'
import { installationKeys, makeDataFolder } from '../foundation/process/data-folder.ts'
import type { Log } from '../foundation/process/log.ts'
import type { Config } from '../foundation/process/settings.ts'
import type { Shutdown } from '../foundation/process/shutdown.ts'
import { say } from '../foundation/process/welcome.ts'
import { createSecrets } from '../foundation/values/secrets.ts'
import type { Metrics } from '../http/server/figures/metrics.ts'
import { takeErasures } from '../operations/installation/backup/replay.ts'
import { checkSecretKey } from '../operations/installation/secret-key/check.ts'

export interface DatabaseServices {
  readonly log: Log
  readonly outageLines: ReturnType<typeof createOutageLines>
  readonly metrics: Metrics
}

/** Starts the embedded database if none is given, migrates, and connects. Throws `StartupError` when SECRET_KEY does not fit. */
export async function openDatabase(config: Config, { log, outageLines, metrics }: DatabaseServices, parts: Shutdown) {
  if (config.databaseUrl === null || config.sandbox) await makeDataFolder(config.dataDir)
  const url = config.databaseUrl ?? (await openEmbedded(config, parts))
  const directUrl = config.databaseDirectUrl ?? url
  parts.checkpoint()
  // Only now, because the embedded database lets one process at a time into the data folder.
  const { keys, keep: keepKeys } = await installationKeys(config)
  await migrateDatabase({ url, directUrl }, log)
  parts.checkpoint()

  const databaseHealth = parts.add('the health of the database', new DatabaseHealth(url, log))
  outageLines.watch(databaseHealth)
  const clients = connectAll(url, config, { databaseHealth, metrics }, parts)
  const { db } = clients
  const secrets = createSecrets(keys.secretKey, keys.otherSecretKeys)
  await checkSecretKey(db, secrets)
  // Not before the check, because a file with new keys would prevent giving the former one back.
  await keepKeys()
  const hasStore = (await db.store.findFirst({ select: { id: true } })) !== null
  return {
    /** Past a pooler. */
    directUrl,
    databaseHealth,
    ...clients,
    secrets,
    operatorKey: keys.operatorKey,
    hasStore,
  }
}

async function openEmbedded({ dataDir }: Config, parts: Shutdown): Promise<string> {
  say(`Starting PostgreSQL in ${dataDir} …`)
  return parts.add('the embedded database', await startEmbedded({ dataDir })).url
}

async function migrateDatabase({ url, directUrl }: { url: string; directUrl: string }, log: Log): Promise<void> {
  say('Applying migrations …')
  if (directUrl !== url) await requireDirect(url, directUrl)
  const applied = await migrate(directUrl, (message) => log.warn(message))
  // Where a kill ended a restore.
  await takeErasures(directUrl)
  if (applied.length > 0) log.info({ count: applied.length, last: applied.at(-1) }, 'migrations applied')
}

function connectAll(
  url: string,
  config: Config,
  { databaseHealth: health, metrics }: { databaseHealth: DatabaseHealth; metrics: Metrics },
  parts: Shutdown,
) {
  const figures = createDatabaseMetrics(metrics.registry, health)
  const options = { isPreparing: config.databasePreparedStatements, health }
  const db: Db = connect(url, {
    ...options,
    onLost: () => forgetRepresentations(db),
    poolMax: config.databaseConnections,
    limits: requestLimits,
    observer: figures.pool('requests'),
  })
  parts.add('the database client', { stop: () => db.$disconnect() })
  const backgroundDb = connectBeside(db, url, {
    ...options,
    poolMax: config.databaseBackgroundConnections,
    limits: backgroundLimits,
    observer: figures.pool('background'),
  })
  parts.add('the background database client', { stop: () => backgroundDb.$disconnect() })
  return {
    /** For requests. */
    db,
    /** For everything else, so that neither takes the connections of the other. */
    backgroundDb,
  }
}
