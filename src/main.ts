import { createAuthenticator } from './access/applications/authenticate.ts'
import { createCallLog } from './access/applications/calls/call-log.ts'
import { SharedBuckets } from './access/applications/limits/shared-buckets.ts'
import { createThrottle } from './access/applications/limits/throttle.ts'
import { createRemovalNotices } from './access/applications/subscriptions/removal-notices.ts'
import { createMailMetrics } from './access/mail/metrics.ts'
import { createMails } from './access/mail/send.ts'
import { mailsAre } from './access/mail/write.ts'
import { buildApp } from './app.ts'
import { createOutageLines } from './foundation/database/outage-lines.ts'
import { createSweeper } from './foundation/database/sweeper.ts'
import { openFiles } from './foundation/files/files.ts'
import { createOutbound } from './foundation/outbound/outbound.ts'
import { createDecoder } from './foundation/pictures/decoder.ts'
import { createLog, type Log } from './foundation/process/log.ts'
import { misspeltSettings } from './foundation/process/misspelt-settings.ts'
import { findPort } from './foundation/process/port.ts'
import { createRestingCollector } from './foundation/process/resting-memory.ts'
import { type Config, readConfig } from './foundation/process/settings.ts'
import { handleShutdown, type Shutdown } from './foundation/process/shutdown.ts'
import { StartupError } from './foundation/process/startup-error.ts'
import { say, welcome } from './foundation/process/welcome.ts'
import { recordsToXml } from './http/rest/xml.ts'
import { showShared } from './http/server/figures/figures.ts'
import { createMetrics } from './http/server/figures/metrics.ts'
import { showProcess } from './http/server/figures/process-figures.ts'
import { webServer } from './http/server/requests/listen.ts'
import { createErasedIds } from './operations/installation/backup/erased.ts'
import { scheduledBackups } from './operations/installation/backup/schedule.ts'
import { createErasures } from './operations/installation/erasures.ts'
import { storeDerivedSecrets } from './operations/installation/secret-key/store-derived.ts'
import { createUpgrades } from './operations/installation/upgrades.ts'
import { ensureSandbox } from './operations/sandbox/create.ts'
import { fillSandbox } from './operations/sandbox/records.ts'
import { createTestStores } from './operations/sandbox/runner.ts'
import { type DatabaseServices, openDatabase } from './parts/database.ts'
import { listenToDatabase } from './parts/listener.ts'
import { archivedSweeps, sweepsByAge } from './parts/retention.ts'
import { createAlerts } from './shop/alerts/loop.ts'
import { createCsvImports } from './shop/csv/apply/runner.ts'
import { createPictureFetches } from './shop/pictures/fetches.ts'
import { pictureSweep } from './shop/pictures/sweep.ts'
import { resourceNamed } from './shop/registry.ts'
import { createOrderMails } from './shop/resources/order-mails/send.ts'
import { Dispatcher } from './shop/webhooks/dispatch/dispatcher.ts'
import { createDispatcherMetrics } from './shop/webhooks/dispatch/metrics.ts'

await main(process.env)

/** Runs the server until a signal. Progress goes to standard output for people, the log to standard error. */
async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  // A closed standard output must not stop the server.
  process.stdout.on('error', () => {})
  let log: Log | undefined
  let parts: Shutdown | undefined
  for (const warning of misspeltSettings(environment)) say(`Warning: ${warning}`)
  try {
    const config = await readConfigWithPort(environment)
    const outageLines = createOutageLines()
    log = await createLog(config.logLevel, outageLines.fateOf)
    const starting = Promise.withResolvers<void>()
    parts = handleShutdown(log, starting.promise, config.drainSeconds * 1_000)
    await start(config, { log, outageLines }, parts).finally(starting.resolve)
  } catch (error) {
    // A signal during the start: the shutdown continues by itself.
    if (parts?.isRequested()) return
    log?.debug({ err: error }, 'start failed')
    await parts?.stop()
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

type Logging = Pick<DatabaseServices, 'log' | 'outageLines'>

/** What sends mails to people, and to customers of their orders, which a sandbox shows alone. */
function mailsOf(sending: Parameters<typeof createMails>[0] & Parameters<typeof createOrderMails>[0]) {
  const fate = mailsAre(sending.config)
  return {
    mails: fate === 'sent' ? createMails(sending) : null,
    orderMails: fate === 'none' ? null : createOrderMails(sending),
  }
}

/** The parts of the process, in the order in which they start; they stop in reverse order. */
async function start(config: Config, logging: Logging, parts: Shutdown): Promise<void> {
  const { database, basis, background, sandbox, metrics } = await open(config, logging, parts)
  const { directUrl, databaseHealth } = database
  const { db, secrets, now, log } = basis
  const authenticator = createAuthenticator(basis)
  const outbound = createOutbound({ allow: config.outboundAllow, log })
  const dispatcher = new Dispatcher({
    ...background,
    outbound,
    metrics: createDispatcherMetrics(metrics.registry),
    toXml: (service, record) => recordsToXml([record], resourceNamed(service)),
  })
  const { mails, orderMails } = mailsOf({ ...background, config, metrics: createMailMetrics(metrics.registry) })
  const erasedIds = createErasedIds({ url: directUrl, secrets, log }, config)
  const listener = await listenToDatabase(directUrl, { authenticator, dispatcher, mails, erasedIds, secrets, log })
  parts.add('the listening connection', listener)
  await storeDerivedSecrets(background)
  const callLog = parts.add('the call log', createCallLog(background))
  parts.add('the outbound requests', { stop: () => outbound.close() })
  parts.add('the removal notices', createRemovalNotices({ ...background, outbound }))
  parts.add('the fetching of pictures', createPictureFetches({ ...background, outbound, config, resourceNamed }))
  parts.add('the webhook dispatcher', dispatcher)
  if (mails) parts.add('the mails', mails)
  if (orderMails) parts.add('the mails of orders', orderMails)
  const sweeps = await sweepsOf(background, config, directUrl)
  parts.add('the deletion of what is old', createSweeper({ log, sweeps }))
  const csvImports = parts.add('the CSV imports', createCsvImports(background))
  const testStores = parts.add('the test stores', createTestStores({ ...background, authenticator }))
  parts.add('the upgrades', createUpgrades(background))
  parts.add('the alerts', createAlerts({ ...background, config }))
  showProcess(metrics.registry, { databaseHealth, isStopping: parts.isRequested, tls: config.tls })
  const onFailure = showShared(metrics.registry, { ...background, config })
  parts.add('the backups', await scheduledBackups({ ...background, url: directUrl, onFailure }, config))
  parts.add('the file of erasures', erasedIds)
  parts.add('the erasures', createErasures({ ...background, url: directUrl, config }))
  const buckets = parts.add('the shared rate limits', new SharedBuckets({ db, now, log }))
  const made = {
    authenticator,
    callLog,
    csvImports,
    testStores,
    outbound,
    throttle: createThrottle(now, buckets),
    metrics,
  }
  const app = buildApp({ ...basis, ...database, config, ...made, isStopping: parts.isRequested })
  parts.add('the server', webServer(app, config, { log, drain: parts.drain }))
  await parts.start()
  say(welcome(config, sandbox, database.hasStore || sandbox !== null, process.stdout.isTTY))
}

/** Everything that is deleted by and by. */
async function sweepsOf(background: Sweeping, config: Config, url: string) {
  const archived = await archivedSweeps({ ...background, url }, config)
  return { ...sweepsByAge(background, config), ...archived, 'pictures that no text says': pictureSweep(background) }
}

type Sweeping = Omit<Parameters<typeof archivedSweeps>[0], 'url'> & Parameters<typeof pictureSweep>[0]

/** Opens the database, and the sandbox if there is to be one: what all parts stand on. */
async function open(config: Config, logging: Logging, parts: Shutdown) {
  parts.add('the memory at rest', createRestingCollector(logging.log))
  const metrics = createMetrics()
  const database = await openDatabase(config, { ...logging, metrics }, parts)
  const basis = {
    db: database.db,
    secrets: database.secrets,
    now: () => new Date(),
    log: logging.log,
    files: openFiles(config),
    decoder: parts.add('the reading of pictures', createDecoder()),
    operatorKey: database.operatorKey,
    previousOperatorKey: config.operatorKeyPrevious,
    defaultTimeZone: config.timeZone,
  }
  const background = { ...basis, db: database.backgroundDb }
  const sandbox = await ensureSandbox({
    ...background,
    wanted: config.sandbox,
    baseUrl: config.publicUrl,
    dataDir: config.dataDir,
    fill: fillSandbox,
    onCreate: () => say('Creating the sandbox store …'),
  })
  parts.checkpoint()
  return { database, basis, background, sandbox, metrics }
}

/** Never a stack: who starts a server cannot use it. */
function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const message = error instanceof Error ? error.message : String(error)
  return `${message} (an unforeseen error; LOG_LEVEL=debug logs more of it)`
}
