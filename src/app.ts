import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Authenticator } from './applications/authenticate.ts'
import type { CallLog } from './applications/call-log.ts'
import type { CsvImports } from './csv/runner.ts'
import type { Db } from './database/client.ts'
import type { DatabaseHealth } from './database/health.ts'
import { keepRepresentations } from './engine/reading/representations.ts'
import { answerFailure, answerUnknownAddress, sendErrorPage } from './html/errors.ts'
import { openPages } from './html/page-routes.ts'
import { wantsHtml } from './html/request.ts'
import { describeOAuth } from './oauth/openapi.ts'
import { type OAuthServices, oauth } from './oauth/routes.ts'
import { type OperatorServices, operatorRoutes, registerOperatorRoutes } from './operator/routes.ts'
import type { Outbound } from './outbound/outbound.ts'
import { type InboxDoorServices, inboxDoor } from './pages/developers/inbox-door.ts'
import { auditRoutes } from './pages/people/audit.ts'
import { developerRoutes, type PagesServices, pages } from './pages/routes.ts'
import type { Config } from './process/settings.ts'
import { assembleDocument, type DocumentOptions } from './reference/assemble.ts'
import { examples, samples } from './reference/examples.ts'
import { describeReference, type ReferenceServices, reference } from './reference/routes.ts'
import { describeRest } from './rest/openapi/describe.ts'
import { prefixAdvice, type RestServices, rest } from './rest/routes.ts'
import type { TestStores } from './sandbox/runner.ts'
import { countBytesInFlight } from './server/bytes-in-flight.ts'
import { installCompression } from './server/compression.ts'
import { limitConnections } from './server/connections.ts'
import { answerUnknown, answerUnreadable, answerUnroutable } from './server/errors.ts'
import { requestIdOf, setCommonHeaders } from './server/headers.ts'
import { describeProcess, processRoutes } from './server/health.ts'
import { describeRoutes } from './server/json-routes.ts'
import { answerInsteadOfNode, limits } from './server/limits.ts'
import type { Metrics } from './server/metrics.ts'
import { routableTarget } from './server/request-line.ts'
import { countRequests, logRequests } from './server/request-log.ts'
import { cutSlowPeers } from './server/slow-peers.ts'
import { countThrottled } from './server/throttled.ts'
import { type SoapServices, soap } from './soap/routes.ts'

/** The services of all parts. Each part declares which of these it needs. */
export interface Services
  extends OperatorServices,
    PagesServices,
    OAuthServices,
    RestServices,
    SoapServices,
    InboxDoorServices,
    ReferenceServices {
  readonly config: Config
  readonly authenticator: Authenticator
  readonly callLog: CallLog
  readonly csvImports: CsvImports
  readonly testStores: TestStores
  readonly outbound: Outbound
  readonly db: Db
  readonly databaseHealth: Pick<DatabaseHealth, 'fault'>
  readonly metrics: Metrics
  readonly log: Logger
  readonly now: () => Date
  /** Whether the process has been told to stop. */
  readonly isStopping?: () => boolean
}

/** Builds the whole application. Never listens and never reads the environment. */
export function buildApp(given: Services): FastifyInstance {
  const { config, log, metrics } = given
  const services = { ...given, throttle: countThrottled(given.throttle, metrics) }
  keepRepresentations(services.db, config.representationCacheMb)
  const names = new Set<string>()
  const app: FastifyInstance = Fastify({
    ...limits,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    rewriteUrl: routableTarget,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    https: config.tls,
    // While stopping, answers further requests on open connections and then closes each connection.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      answerUnroutable(config, error, { request, reply }, (status, message) =>
        wantsHtml(request) ? sendErrorPage(reply, status, message) : null,
      ),
    clientErrorHandler: (error, socket) => answerUnreadable({ ...services, names }, error, socket),
  })
  app.addHook('onRoute', ({ url }) => {
    for (const name of url.toLowerCase().split('/')) names.add(name)
  })
  limitConnections(app, services)
  setCommonHeaders(app, config)
  countRequests(app, metrics)
  logRequests(app)
  answerInsteadOfNode(app)
  cutSlowPeers(app, metrics)
  countBytesInFlight(app)
  installCompression(app)
  const advisePrefix = prefixAdvice(services)
  app.setErrorHandler(answerFailure)
  answerUnknown(app, (request, reply) => answerUnknownAddress(request, reply, advisePrefix(request)))
  app.register(async (scope) => processRoutes(scope, services))
  app.register(async (scope) => {
    await openPages(scope, services)
    scope.register(registerOperatorRoutes, services)
    scope.register(pages, services)
  })
  app.register(async (scope) => inboxDoor(scope, services))
  app.register(async (scope) => oauth(scope, services))
  app.register(async (scope) => rest(scope, services, advisePrefix))
  app.register(async (scope) => soap(scope, services))
  app.register(async (scope) => reference(scope, services, () => openApiDocument(config)))
  return app
}

/** Returns the OpenAPI document of the application, as in `/openapi.json`. */
export function openApiDocument(options: DocumentOptions) {
  return assembleDocument(options, samples, [
    describeRest(examples, samples),
    describeRoutes([...operatorRoutes, ...auditRoutes]),
    describeProcess(),
    describeRoutes(developerRoutes),
    describeOAuth(),
    describeReference(),
  ])
}
