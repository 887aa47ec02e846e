import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { CallLog } from './access/applications/calls/call-log.ts'
import { keepRepresentations } from './engine/reading/representations.ts'
import type { Config } from './foundation/process/settings.ts'
import { answerFailure, answerUnknownAddress, sendErrorPage } from './http/html/errors.ts'
import { openPages } from './http/html/page-routes.ts'
import { wantsHtml } from './http/html/request.ts'
import { describeOAuth } from './http/oauth/openapi.ts'
import { type OAuthServices, oauth } from './http/oauth/routes.ts'
import { type OperatorServices, operatorRoutes, registerOperatorRoutes } from './http/operator/routes.ts'
import { type OrderPageDoorServices, orderPageDoor } from './http/pages/account/order-page.ts'
import { type InboxDoorServices, inboxDoor } from './http/pages/developers/inbox-door.ts'
import { auditRoutes } from './http/pages/people/audit.ts'
import { merchantTokenRoutes } from './http/pages/people/tokens.ts'
import { developerRoutes, type PagesServices, pages } from './http/pages/routes.ts'
import { assembleDocument, type DocumentOptions } from './http/reference/assemble.ts'
import { examples, samples, values } from './http/reference/examples.ts'
import { describeReference, type ReferenceServices, reference } from './http/reference/routes.ts'
import { describeRest } from './http/rest/openapi/describe.ts'
import { prefixAdvice, type RestServices, rest } from './http/rest/routes.ts'
import { describeProcess, type ProcessServices, processRoutes } from './http/server/figures/health.ts'
import { describeRoutes } from './http/server/json/json-routes.ts'
import { countBytesInFlight } from './http/server/requests/bytes-in-flight.ts'
import { installCompression } from './http/server/requests/compression.ts'
import { limitConnections } from './http/server/requests/connections.ts'
import { answerUnknown, answerUnreadable, answerUnroutable } from './http/server/requests/errors.ts'
import { requestIdOf, setCommonHeaders } from './http/server/requests/headers.ts'
import { answerInsteadOfNode, limits } from './http/server/requests/limits.ts'
import { routableTarget } from './http/server/requests/request-line.ts'
import { noteRequests } from './http/server/requests/request-log.ts'
import { cutSlowPeers } from './http/server/requests/slow-peers.ts'
import { countThrottled } from './http/server/requests/throttled.ts'
import { type SoapServices, soap } from './http/soap/routes.ts'
import type { TestStores } from './operations/sandbox/runner.ts'
import type { CsvImports } from './shop/csv/apply/runner.ts'

/** The services of all parts. Each part declares which of these it needs. */
export type Services = OperatorServices &
  PagesServices &
  OAuthServices &
  RestServices &
  SoapServices &
  InboxDoorServices &
  OrderPageDoorServices &
  ReferenceServices &
  ProcessServices & {
    readonly config: Config
    readonly callLog: CallLog
    readonly csvImports: CsvImports
    readonly testStores: TestStores
    readonly log: Logger
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
    // No route has a JSON schema: zod checks what comes in. Fastify's compilers would take 30 ms and 4 MB.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
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
  noteRequests(app, metrics)
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
  app.register(async (scope) => orderPageDoor(scope, services))
  app.register(async (scope) => oauth(scope, services))
  app.register(async (scope) => rest(scope, services, advisePrefix))
  app.register(async (scope) => soap(scope, services))
  app.register(async (scope) => reference(scope, services, () => openApiDocument(config)))
  return app
}

function noSchemas(): never {
  throw new Error('A route has a JSON schema, which nothing compiles')
}

/** Returns the OpenAPI document of the application, as in `/openapi.json`. */
export function openApiDocument(options: DocumentOptions) {
  return assembleDocument(options, { samples, values }, [
    describeRest(examples, samples),
    describeRoutes([...operatorRoutes, ...auditRoutes]),
    describeProcess(),
    describeRoutes([...developerRoutes, ...merchantTokenRoutes]),
    describeOAuth(),
    describeReference(),
  ])
}
