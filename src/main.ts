import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { accessChannel } from './applications/access-changes.ts'
import { type Authenticator, createAuthenticator } from './applications/authenticate.ts'
import { BucketTable } from './applications/bucket-table.ts'
import { createCallLog } from './applications/call-log.ts'
import { createRemovalNotices } from './applications/removal-notices.ts'
import { createThrottle, type Throttle } from './applications/throttle.ts'
import { oldEntries } from './audit/old-entries.ts'
import { createCsvImports, csvSweep } from './csv/runner.ts'
import { connect, type Db } from './database/client.ts'
import { listen } from './database/connection.ts'
import { requireDirect } from './database/direct.ts'
import { createHealth, type DatabaseHealth } from './database/health.ts'
import { backgroundLimits, bucketLimits, requestLimits } from './database/limits.ts'
import { createDatabaseMetrics } from './database/metrics.ts'
import { migrate } from './database/migrations.ts'
import { createOutageLines } from './database/outage-lines.ts'
import { Pool } from './database/pool.ts'
import { lockProcess, noteLostLock } from './database/process-lock.ts'
import { ProcessRegistry } from './database/process-registry.ts'
import { createSweeper, type Sweep } from './database/sweeper.ts'
import { startEmbedded } from './embedded/embedded.ts'
import { idempotencySweep } from './engine/changing/idempotency.ts'
import { forgetRepresentations } from './engine/definition/representations.ts'
import { deliveriesChannel, eventsChannel } from './engine/recording/announce.ts'
import { historySweep } from './engine/recording/history.ts'
import { type ArchiveServices, archivedSweep } from './installation/archive.ts'
import { type BackupScheduleOptions, createBackupSchedule } from './installation/backup/schedule.ts'
import { checkSecretKey } from './installation/secret-key/check.ts'
import { announceKeys, joinProcesses } from './installation/secret-key/keys-in-use.ts'
import { storeDerivedSecrets } from './installation/secret-key/store-derived.ts'
import { createOutbound } from './outbound/outbound.ts'
import { installationKeys, makeDataFolder, makePrivateFolder } from './process/data-folder.ts'
import { createLog, type Log } from './process/log.ts'
import { watchMemory, watchRest } from './process/memory-pressure.ts'
import { misspeltSettings } from './process/misspelt-settings.ts'
import { cannotListen, findPort } from './process/port.ts'
import { type Config, readConfig } from './process/settings.ts'
import { handleShutdown, type Shutdown, STOP_TIMEOUT_MS } from './process/shutdown.ts'
import { StartupError } from './process/startup-error.ts'
import { welcome } from './process/welcome.ts'
import { resourceNamed } from './registry.ts'
import { oldMovements } from './resources/products/carry-forward.ts'
import { recordsToXml } from './rest/xml.ts'
import { ensureSandbox } from './sandbox/create.ts'
import { fillSandbox } from './sandbox/records.ts'
import { showShared } from './server/figures.ts'
import { createMetrics, type Metrics } from './server/metrics.ts'
import { plainServer } from './server/plain-http.ts'
import { showProcess } from './server/process-figures.ts'
import { createSecrets, type Secrets } from './values/secrets.ts'
import { Dispatcher } from './webhooks/dispatch/dispatcher.ts'
import { createDispatcherMetrics } from './webhooks/dispatch/metrics.ts'

await main(process.env)

/** Runs the server until a signal. Progress goes to standard output for people, the log to standard error. */
async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  // A closed standard output must not stop the server.
  process.stdout.on('error', () => {})
  watchMemory()
  watchRest()
  let log: Log | undefined
  let shutdown: Shutdown | undefined
  for (const warning of misspeltSettings(environment)) say(`Warning: ${warning}`)
  try {
    const config = await readConfigWithPort(environment)
    const outageLines = createOutageLines()
    log = await createLog(config.logLevel, outageLines.fateOf)
    const starting = Promise.withResolvers<void>()
    shutdown = handleShutdown(log, starting.promise, config.drainMs)
    await start(config, { log, outageLines }, shutdown).finally(starting.resolve)
  } catch (error) {
    // A signal during the start: the shutdown continues by itself.
    if (shutdown?.isRequested()) return
    log?.debug({ err: error }, 'start failed')
    await shutdown?.stop()
    await log?.drained()
    process.stderr.write(`store-platform cannot start: ${reasonOf(error)}\n`, () => process.exit(1))
  }
}

/** Tries the ports first, so that a start fails at once at a taken port. */
async function readConfigWithPort(environment: NodeJS.ProcessEnv): Promise<Config> {
  const config = readConfig(environment)
  const port = await findPort(config.host, config.port)
  if (config.httpPort !== null) await findPort(config.host, config.httpPort, 'HTTP_PORT')
  return port === config.port ? config : readConfig({ ...environment, PORT: String(port) })
}

interface Logging {
  readonly log: Log
  readonly outageLines: ReturnType<typeof createOutageLines>
}

/** Starts the parts one after the other. Each is registered for shutdown as soon as it exists. */
async function start(config: Config, { log, outageLines }: Logging, shutdown: Shutdown): Promise<void> {
  const now = () => new Date()
  const warn = (message: string) => log.warn(message)
  const metrics = createMetrics()
  const { directUrl, databaseHealth, db, backgroundDb, bucketPool, secrets, operatorKey, hasStore } =
    await openDatabase(config, { log, outageLines, metrics }, shutdown)
  const { timeZone: defaultTimeZone } = config
  const { previousOperatorKey } = config
  const basis = { db, secrets, now, log, operatorKey, previousOperatorKey, defaultTimeZone }
  const background = { ...basis, db: backgroundDb }
  const sandbox = await ensureSandbox({
    ...background,
    wanted: config.sandbox,
    baseUrl: config.publicUrl,
    dataDir: config.dataDir,
    fill: fillSandbox,
    onCreate: () => say('Creating the sandbox store …'),
  })
  shutdown.checkpoint()

  const authenticator = createAuthenticator(basis)
  const outbound = createOutbound({ allow: config.outboundAllow, log })
  const dispatcher = new Dispatcher({
    ...background,
    outbound,
    metrics: createDispatcherMetrics(metrics.registry),
    toXml: (service, record) => recordsToXml([record], resourceNamed(service)),
  })
  await listenToDatabase(directUrl, { authenticator, dispatcher, secrets }, log, shutdown)
  await storeDerivedSecrets(backgroundDb, secrets)
  const callLog = createCallLog(background)
  shutdown.add('the call log', () => callLog.stop())
  shutdown.add('the outbound requests', () => outbound.close())
  const removalNotices = createRemovalNotices({ ...background, outbound })
  shutdown.add('the removal notices', () => removalNotices.stop())
  shutdown.add('the webhook dispatcher', () => dispatcher.stop())
  const sweeps = {
    'old idempotency keys': idempotencySweep(background),
    'old history': historySweep(background, config.historyDays),
    'old CSV imports': csvSweep(background),
    ...(await archivedSweeps(config, { ...background, url: directUrl, warn })),
  }
  const sweeper = createSweeper({ log, sweeps })
  shutdown.add('the deletion of what is old', () => sweeper.stop())
  const csvImports = createCsvImports(background)
  shutdown.add('the CSV imports', () => csvImports.stop())
  showProcess(metrics.registry, { databaseHealth, isStopping: shutdown.isRequested, tls: config.tls })
  const onFailure = showShared(metrics.registry, { ...background, config })
  const backups = await scheduleBackups(config, { url: directUrl, secrets, now, log, onFailure, warn })
  shutdown.add('the backups', () => backups.stop())
  const throttle = await shareRateLimits({ pool: bucketPool, requestDb: db }, log, shutdown)
  const app = buildApp({
    ...basis,
    databaseHealth,
    backgroundDb,
    config,
    authenticator,
    callLog,
    csvImports,
    outbound,
    throttle,
    metrics,
    isStopping: shutdown.isRequested,
  })
  await serve(app, config, log, shutdown)
  removalNotices.start()
  dispatcher.start()
  sweeper.start()
  csvImports.start()
  backups.start()
  say(welcome(config, sandbox, hasStore || sandbox !== null))
}

/** Counts requests together with all processes on the database. Resolves when none of them counts for itself any more. */
async function shareRateLimits(
  { pool, requestDb }: { pool: Pool; requestDb: Db },
  log: Log,
  shutdown: Shutdown,
): Promise<Throttle> {
  const processes = new ProcessRegistry({ db: pool, log })
  const { isAlone } = processes
  const table = new BucketTable(pool, { requestDb })
  const throttle = createThrottle(() => new Date(), { table, isAlone })
  shutdown.add('the shared rate limits', () => processes.leave())
  await processes.join(throttle)
  const sweep = async (isStopping: () => boolean) => (isAlone() ? undefined : table.deleteEmpty(isStopping))
  const sweeper = createSweeper({ log, sweeps: { 'empty buckets': sweep }, everyMs: 10_000 })
  shutdown.add('the deletion of empty buckets', () => sweeper.stop())
  sweeper.start()
  return throttle
}

interface Warning {
  readonly warn: (message: string) => void
}

/** Without a folder there are none. */
async function archivedSweeps(
  { archiveDir, ledgerDays, auditDays }: Config,
  services: Omit<ArchiveServices, 'dir'> & Warning,
): Promise<Record<string, Sweep>> {
  if (archiveDir === null) return {}
  await makePrivateFolder(archiveDir, 'ARCHIVE_DIR', services.warn)
  const archive = { ...services, dir: archiveDir }
  return {
    'old stock movements': archivedSweep(archive, ledgerDays, oldMovements),
    'old entries of the audit log': archivedSweep(archive, auditDays, oldEntries),
  }
}

/** Without a folder there are none. */
async function scheduleBackups(
  { backupDir, backupHours, backupKeep }: Config,
  services: Pick<BackupScheduleOptions, 'url' | 'secrets' | 'now' | 'log' | 'onFailure'> & Warning,
) {
  if (backupDir === null) return { start: () => {}, stop: async () => {} }
  await makePrivateFolder(backupDir, 'BACKUP_DIR', services.warn)
  return createBackupSchedule({ ...services, dir: backupDir, hours: backupHours, keep: backupKeep })
}

interface OpenDatabase {
  /** Past a pooler. */
  readonly directUrl: string
  readonly databaseHealth: DatabaseHealth
  /** For requests. */
  readonly db: Db
  /** For everything else, so that neither takes the connections of the other. */
  readonly backgroundDb: Db
  /** For the shared buckets: one connection, so that they wait for no other statement. */
  readonly bucketPool: Pool
  readonly secrets: Secrets
  readonly operatorKey: string
  readonly hasStore: boolean
}

/** Starts the embedded database if none is given, migrates, and connects. Throws `StartupError` when SECRET_KEY does not fit. */
async function openDatabase(
  config: Config,
  { log, outageLines, metrics }: Logging & { metrics: Metrics },
  shutdown: Shutdown,
): Promise<OpenDatabase> {
  if (config.databaseUrl === null || config.sandbox) await makeDataFolder(config.dataDir)
  const url = config.databaseUrl ?? (await startDatabase(config, shutdown))
  const directUrl = config.databaseDirectUrl ?? url
  shutdown.checkpoint()
  // Only now, because the embedded database lets one process at a time into the data folder.
  const { keys, keep: keepKeys } = await installationKeys(config)
  say('Applying migrations …')
  if (directUrl !== url) await requireDirect(url, directUrl)
  const applied = await migrate(directUrl, (message) => log.warn(message))
  if (applied.length > 0) log.info({ count: applied.length, last: applied.at(-1) }, 'migrations applied')
  shutdown.checkpoint()
  const databaseHealth = createHealth(url, log)
  outageLines.watch(databaseHealth)
  shutdown.add('the health of the database', () => databaseHealth.stop())
  const figures = createDatabaseMetrics(metrics.registry)
  figures.breaker(databaseHealth)
  const options = { isPreparing: config.databasePreparedStatements, health: databaseHealth }
  const onLost = () => forgetRepresentations(db)
  const db: Db = connect(url, {
    ...options,
    onLost,
    poolMax: config.databaseConnections,
    limits: requestLimits,
    observer: figures.pool('requests'),
  })
  shutdown.add('the database client', () => db.$disconnect())
  const poolMax = config.databaseBackgroundConnections
  const backgroundDb = connect(url, {
    ...options,
    poolMax,
    limits: backgroundLimits,
    observer: figures.pool('background'),
  })
  shutdown.add('the background database client', () => backgroundDb.$disconnect())
  const bucketPool = new Pool(url, { ...options, poolMax: 1, limits: bucketLimits })
  shutdown.add('the connection of the buckets', () => bucketPool.end())
  const secrets = createSecrets(keys.secretKey, keys.otherSecretKeys)
  await checkSecretKey(db, secrets)
  // Not before the check, because a file with new keys would prevent giving the former one back.
  await keepKeys()
  const hasStore = (await db.store.findFirst({ select: { id: true } })) !== null
  return { directUrl, databaseHealth, db, backgroundDb, bucketPool, secrets, operatorKey: keys.operatorKey, hasStore }
}

async function startDatabase({ dataDir }: Config, shutdown: Shutdown): Promise<string> {
  say(`Starting PostgreSQL in ${dataDir} …`)
  const embedded = await startEmbedded({ dataDir })
  shutdown.add('the embedded database', () => embedded.stop())
  return embedded.url
}

/** Lets other processes' changes of access and their events reach this one. */
async function listenToDatabase(
  url: string,
  { authenticator, dispatcher, secrets }: { authenticator: Authenticator; dispatcher: Dispatcher; secrets: Secrets },
  log: Log,
  shutdown: Shutdown,
): Promise<void> {
  const channels = {
    [accessChannel]: authenticator.invalidate,
    [eventsChannel]: () => dispatcher.eventsCommitted(),
    [deliveriesChannel]: (by: string) => dispatcher.deliveriesDue(by),
  }
  let hasJoined = false
  const listener = await listen(url, channels, {
    onConnect: async (client) => {
      authenticator.invalidate()
      await lockProcess(client)
      await (hasJoined ? announceKeys(client, secrets) : joinProcesses(client, secrets))
      hasJoined = true
    },
    onLost: (error) => {
      noteLostLock()
      log.warn({ err: error }, 'the listening connection was lost')
    },
  })
  shutdown.add('the listening connection', () => listener.stop())
}

async function serve(app: FastifyInstance, { host, port, httpPort }: Config, log: Log, shutdown: Shutdown) {
  const plain = plainServer(app)
  shutdown.add('the server', () => shutdown.drain().then(() => closeServers(app, plain, log)))
  await app.ready()
  await app.listen({ host, port }).catch((error) => {
    throw cannotListen({ host, port, setting: 'PORT' }, error)
  })
  if (httpPort === null) return
  await once(plain.listen({ host, port: httpPort }), 'listening').catch((error) => {
    throw cannotListen({ host, port: httpPort, setting: 'HTTP_PORT' }, error)
  })
  log.info({ host, port: httpPort }, 'Server listening by plain http too')
}

/** Accepts no more connections, closes idle ones, and waits a bounded time for requests in progress. */
async function closeServers(app: FastifyInstance, plain: Server, log: Log): Promise<void> {
  const closed = app.close()
  plain.close()
  while (app.server.listening || plain.listening) await immediate()
  const isDrained = await Promise.race([app.drained().then(() => true), delay(STOP_TIMEOUT_MS, false)])
  if (!isDrained) log.warn('requests were cut off that took longer than the time for stopping')
  // Includes connections that never sent a request.
  for (const server of [app.server, plain]) server.closeAllConnections()
  await closed
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Never a stack: who starts a server cannot use it. */
function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const message = error instanceof Error ? error.message : String(error)
  return `${message} (an unforeseen error; LOG_LEVEL=debug logs more of it)`
}
