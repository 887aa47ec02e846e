import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { createCallLog } from './applications/call-log.ts'
import { createThrottle } from './applications/throttle.ts'
import { connect, type Db } from './database/client.ts'
import { startEmbedded } from './database/embedded/embedded.ts'
import { listen } from './database/listen.ts'
import { migrate } from './database/migrations.ts'
import { deliveriesChannel, eventsChannel } from './engine/announce.ts'
import type { Caller } from './engine/caller.ts'
import { importRecords } from './engine/transfer/import.ts'
import { numberLines } from './engine/transfer/lines.ts'
import { createOutbound } from './outbound/outbound.ts'
import { installationKeys } from './process/keys.ts'
import { createLog, type Log } from './process/log.ts'
import { misspeltSettings } from './process/misspelt-settings.ts'
import { cannotListen, findPort } from './process/port.ts'
import { makeDataFolder } from './process/secret-file.ts'
import { type Config, readConfig } from './process/settings.ts'
import { handleShutdown, type Shutdown, STOP_TIMEOUT_MS } from './process/shutdown.ts'
import { StartupError } from './process/startup-error.ts'
import { welcome } from './process/welcome.ts'
import { resourceNamed, resources, servedResources } from './registry.ts'
import { recordsToXml } from './rest/xml-write.ts'
import { ensureSandbox } from './sandbox/create.ts'
import { generateSandbox } from './sandbox/generate.ts'
import { createMetrics } from './server/metrics.ts'
import { plainServer } from './server/plain-http.ts'
import { accessChannel } from './subscriptions/access-changes.ts'
import { createAuthenticator } from './subscriptions/authenticate.ts'
import { createRemovalNotices } from './subscriptions/removal-notices.ts'
import { createSecrets, type Secrets } from './values/secrets.ts'
import { Dispatcher } from './webhooks/dispatch/dispatcher.ts'
import { createDispatcherMetrics } from './webhooks/dispatch/metrics.ts'

await main(process.env)

/** Runs the server until a signal. How the start goes stands on standard output for people; the log is on standard error. */
async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  // Whoever reads the output may go away; that is no reason to stop.
  process.stdout.on('error', () => {})
  let log: Log | undefined
  let shutdown: Shutdown | undefined
  for (const warning of misspeltSettings(environment)) say(`Warning: ${warning}`)
  try {
    const config = await readConfigWithPort(environment)
    log = await createLog(config.logLevel)
    const starting = Promise.withResolvers<void>()
    shutdown = handleShutdown(log, starting.promise)
    await start(config, log, shutdown).finally(starting.resolve)
  } catch (error) {
    // Told to stop while it started: that goes on by itself.
    if (shutdown?.isRequested()) return
    log?.debug({ err: error }, 'start failed')
    await shutdown?.stop()
    await log?.drained()
    process.stderr.write(`store-platform cannot start: ${reasonOf(error)}\n`, () => process.exit(1))
  }
}

/** The ports are tried first: a start that could only end at a taken port should not take its time. */
async function readConfigWithPort(environment: NodeJS.ProcessEnv): Promise<Config> {
  const config = readConfig(environment)
  const port = await findPort(config.host, config.port)
  if (config.httpPort !== null) await findPort(config.host, config.httpPort, 'HTTP_PORT')
  return port === config.port ? config : readConfig({ ...environment, PORT: String(port) })
}

async function start(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  const now = () => new Date()
  if (config.databaseUrl === null || config.sandbox) await makeDataFolder(config.dataDir)
  const url = config.databaseUrl ?? (await startDatabase(config, shutdown))
  shutdown.checkpoint()
  // Only now: the embedded database lets one process at a time into the data folder.
  const { keys, keep: keepKeys } = await installationKeys(config)
  const { secretKey, operatorKey } = keys
  say('Applying migrations …')
  const applied = await migrate(url, (message) => log.warn(message))
  for (const name of applied) log.info({ migration: name }, 'migration applied')
  shutdown.checkpoint()

  const db = connect(url)
  shutdown.add('the database client', () => db.$disconnect())
  const secrets = createSecrets(secretKey)
  const hasStore = await checkSecretKey(db, secrets)
  // Not before the check: a file with new keys would stand in the way of the former one.
  await keepKeys()
  const services = servedResources.map(({ service }) => service)
  const sandbox = await ensureSandbox({
    wanted: config.sandbox,
    baseUrl: config.publicUrl,
    dataDir: config.dataDir,
    operatorKey,
    defaultTimeZone: config.timeZone,
    db,
    secrets,
    now,
    services,
    fill: fillSandbox,
    onCreate: () => say('Creating the sandbox store …'),
  })
  shutdown.checkpoint()

  const authenticator = createAuthenticator({ db, secrets, now })
  const metrics = createMetrics()
  const outbound = createOutbound({ allow: config.outboundAllow, log })
  const dispatcher = new Dispatcher({
    db,
    secrets,
    now,
    outbound,
    log,
    metrics: createDispatcherMetrics(metrics.registry),
    toXml: (service, record) => recordsToXml([record], resourceNamed(service)),
  })
  const listener = await listen(
    url,
    {
      [accessChannel]: authenticator.invalidate,
      [eventsChannel]: () => dispatcher.wake(),
      [deliveriesChannel]: () => dispatcher.wake(),
    },
    {
      onConnect: authenticator.invalidate,
      onLost: (error) => log.warn({ err: error }, 'the listening connection was lost'),
    },
  )
  shutdown.add('the listening connection', () => listener.stop())
  const callLog = createCallLog({ db, now, log })
  shutdown.add('the call log', () => callLog.stop())
  shutdown.add('the outbound requests', () => outbound.close())
  const removalNotices = createRemovalNotices({ db, secrets, now, outbound, log })
  shutdown.add('the removal notices', () => removalNotices.stop())
  shutdown.add('the webhook dispatcher', () => dispatcher.stop())
  const throttle = createThrottle(now)
  const defaultTimeZone = config.timeZone
  const app = buildApp({
    config,
    operatorKey,
    defaultTimeZone,
    services,
    db,
    secrets,
    authenticator,
    callLog,
    outbound,
    throttle,
    metrics,
    log,
    now,
  })
  const plain = plainServer(app)
  shutdown.add('the server', () => drain(app, plain, log))
  await app.ready()
  const { host, port, httpPort } = config
  await app.listen({ host, port }).catch((error) => {
    throw cannotListen({ host, port, setting: 'PORT' }, error)
  })
  if (httpPort !== null) {
    await once(plain.listen({ host, port: httpPort }), 'listening').catch((error) => {
      throw cannotListen({ host, port: httpPort, setting: 'HTTP_PORT' }, error)
    })
    log.info({ host, port: httpPort }, 'Server listening by plain http too')
  }
  removalNotices.start()
  dispatcher.start()
  say(welcome(config, sandbox, hasStore || sandbox !== null))
}

async function startDatabase({ dataDir }: Config, shutdown: Shutdown): Promise<string> {
  say(`Starting PostgreSQL in ${dataDir} …`)
  const embedded = await startEmbedded({ dataDir })
  shutdown.add('the embedded database', () => embedded.stop())
  return embedded.url
}

/**
 * Under another key no token would be accepted and no secret be readable; that must be known before the first request.
 * Returns whether there is a store.
 */
async function checkSecretKey(db: Db, secrets: Secrets): Promise<boolean> {
  const store = await db.store.findFirst({ select: { userKeySealed: true } })
  try {
    if (store) secrets.open(store.userKeySealed)
  } catch {
    throw new StartupError(
      'SECRET_KEY (without it: keys.json in DATA_DIR) is not the key that the secrets in this database were stored under. Give the former key back',
    )
  }
  return store !== null
}

async function fillSandbox(caller: Caller): Promise<void> {
  await importRecords(caller, resources, numberLines(generateSandbox()), {
    // In a transaction, as here, a refused record ends the import with its reason.
    refused: () => {},
  })
}

/** Accepts nothing more, closes idle connections, and gives what is in hand its time. */
async function drain(app: FastifyInstance, plain: Server, log: Log): Promise<void> {
  const closed = app.close()
  plain.close()
  while (app.server.listening || plain.listening) await immediate()
  const isDrained = await Promise.race([app.drained().then(() => true), delay(STOP_TIMEOUT_MS, false)])
  if (!isDrained) log.warn('requests were cut off that took longer than the time for stopping')
  // Also connections on which a request never came.
  for (const server of [app.server, plain]) server.closeAllConnections()
  await closed
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** No stack, even for what is not foreseen: whoever starts a server cannot mend it. */
function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const message = error instanceof Error ? error.message : String(error)
  return `${message} (an unforeseen error; LOG_LEVEL=debug logs more of it)`
}
