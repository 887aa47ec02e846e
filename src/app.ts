import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import type { CallLog } from './applications/call-log.ts'
import type { Db } from './database/client.ts'
import type { Caller } from './engine/caller.ts'
import { answerUnknownAddress, sendErrorPage } from './html/errors.ts'
import { openPages } from './html/scope.ts'
import { wantsHtml } from './html/wants-html.ts'
import { describeOAuth } from './oauth/openapi.ts'
import { type OAuthServices, oauth } from './oauth/routes.ts'
import { describeAdmin } from './operator/openapi.ts'
import { type OperatorServices, operatorRoutes } from './operator/routes.ts'
import type { Outbound } from './outbound/outbound.ts'
import { describeDevelopers } from './pages/developers/openapi.ts'
import { type PagesServices, pages } from './pages/routes.ts'
import type { Config } from './process/settings.ts'
import { assembleDocument, type DocumentOptions } from './reference/assemble.ts'
import { describeReference } from './reference/describe.ts'
import { examples } from './reference/examples.ts'
import { type ReferenceServices, reference } from './reference/routes.ts'
import { servedResources } from './registry.ts'
import { describeRest } from './rest/openapi/describe.ts'
import { type RestServices, rest } from './rest/routes.ts'
import { installCompression } from './server/compression.ts'
import { anyOrigin } from './server/cors.ts'
import { createReadiness } from './server/health.ts'
import { loggablePath } from './server/loggable-path.ts'
import type { Metrics } from './server/metrics.ts'
import type { OpenApiDocument } from './server/openapi.ts'
import { type SoapServices, soap } from './soap/routes.ts'
import type { Authenticator } from './subscriptions/authenticate.ts'
import { bearerToken } from './values/bearer.ts'
import { StoreFailure } from './values/failure.ts'
import { isLoopback, isLoopbackHost } from './values/loopback.ts'
import { resultItem } from './values/result-item.ts'
import { sameSecret } from './values/secrets.ts'

/** What the parts are made of; each part declares which of these it needs. */
export interface Services
  extends OperatorServices,
    PagesServices,
    OAuthServices,
    RestServices,
    SoapServices,
    ReferenceServices {
  readonly config: Config
  readonly authenticator: Authenticator
  readonly callLog: CallLog
  readonly outbound: Outbound
  readonly db: Db
  readonly metrics: Metrics
  readonly log: Logger
  readonly now: () => Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the part that authenticates; the log and the figures name it. */
    caller: Caller | null
    /** What was called at an address that serves several operations, such as cartAPI's; the log names it. Empty: none that is known. */
    operation: string
  }
  interface FastifyContextConfig {
    /** The body is read as a stream, of any length and at any pace. */
    streamed?: boolean
  }
  interface FastifyInstance {
    /** Resolves as soon as no request is in hand. */
    drained(): Promise<void>
  }
}

/** A hundred full products fit (rest-protocol 5.2). */
const BODY_LIMIT_BYTES = 10 * 1024 * 1024
/** How long a sender may take over a body, `streamed` routes aside. */
const BODY_TIMEOUT_MS = 60_000
/** A connection on which nothing moves is closed. */
const CONNECTION_TIMEOUT_MS = 120_000
const PARAM_LENGTH_MAX = 2_048
/** How long a browser that came by https once goes on to use nothing else. */
const HSTS_SECONDS = 15_552_000
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The whole application over `services`. It never listens, and never reads the environment. */
export function buildApp(services: Services): FastifyInstance {
  const { config } = services
  const app: FastifyInstance = Fastify({
    loggerInstance: services.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    https: config.tls,
    bodyLimit: BODY_LIMIT_BYTES,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    // While stopping, what still comes on open connections is answered, and the connection closed after it.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => answerUnroutable(config, error, request, reply),
    clientErrorHandler: (error, socket) => answerUnreadable(services, error, socket),
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: PARAM_LENGTH_MAX,
    },
  })
  app.decorateRequest('caller', null)
  app.decorateRequest('operation', '')
  setCommonHeaders(app, config)
  countRequests(app, services.metrics)
  logRequests(app)
  refuseExpectations(app)
  limitBodyTime(app)
  installCompression(app)
  answerErrors(app)
  app.register(async (scope) => addOperatorRoutes(scope, services))
  app.register(async (scope) => {
    await openPages(scope, services)
    scope.register(operatorRoutes, services)
    scope.register(pages, services)
  })
  app.register(async (scope) => oauth(scope, services))
  app.register(async (scope) => rest(scope, services))
  app.register(async (scope) => soap(scope, services))
  app.register(async (scope) => reference(scope, services, () => openApiDocument(config)))
  return app
}

/** The description of everything that the application answers, as `/openapi.json` gives it. */
export function openApiDocument(options: DocumentOptions): OpenApiDocument {
  const services = servedResources.map(({ service }) => service)
  return assembleDocument(options, [
    describeRest(examples),
    describeAdmin(services),
    describeDevelopers(services),
    describeOAuth(),
    describeReference(),
  ])
}

/** A caller's own id is taken when it is short and plain, so that it cannot break the log. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Headers of every answer, by whatever part of the server; `protocol` is how the request came. */
function commonHeaders({ publicUrl }: Pick<Config, 'publicUrl'>, id: string, protocol: string): Record<string, string> {
  const isHttps = publicUrl.startsWith('https:') && protocol === 'https'
  return {
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    ...(isHttps && { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}` }),
  }
}

function setCommonHeaders(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(config, request.id, request.protocol))
    done()
  })
}

/** Node would answer these by itself, without an id and without a line in the log. */
function refuseExpectations(app: FastifyInstance): void {
  const refused = new WeakSet<IncomingMessage>()
  app.server.on('checkExpectation', (request, response) => {
    refused.add(request)
    app.routing(request, response)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!refused.has(request.raw)) return done()
    reply.code(417).header('connection', 'close').send(errorBody(417, 'Expect may only be 100-continue'))
  })
}

function countRequests(app: FastifyInstance, { requestSeconds, requestsInHand }: Metrics): void {
  let inHand = 0
  let waiting: (() => void)[] = []
  app.decorate('drained', () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (inHand === 0) resolve()
    else waiting.push(resolve)
    return promise
  })
  app.addHook('onRequest', (_request, reply, done) => {
    requestsInHand.set(++inHand)
    reply.raw.once('close', () => {
      requestsInHand.set(--inHand)
      if (inHand > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const labels = { method: request.method, route: routeOf(request), status: reply.statusCode }
    requestSeconds.observe(labels, reply.elapsedTime / 1_000)
    done()
  })
}

/** The pattern, which is one of few; an address that fits none must not become a label of its own. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched'
}

/** One line per request. Of the address only what cannot be secret (`loggablePath`): query strings hold e-mail addresses and tokens. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info({ ...lineOf(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
    done()
  })
  app.addHook('onRequestAbort', (request, done) => {
    if (!cutOff.has(request.raw)) request.log.info(lineOf(request), 'request aborted by the client')
    done()
  })
}

function lineOf(request: FastifyRequest) {
  const { caller, operation } = request
  return {
    method: request.method,
    path: loggablePath(request),
    route: routeOf(request),
    // A trusted proxy may hand on anything.
    ip: isIP(request.ip) === 0 ? '' : request.ip,
    ...(operation !== '' && { operation }),
    ...(caller && { storeId: caller.store.id }),
    ...(caller?.application && { applicationId: caller.application.id }),
  }
}

/** Answered requests whose connection was closed because the rest of the body did not come: no client aborted them. */
const cutOff = new WeakSet<IncomingMessage>()

/**
 * Limits the time for a body, because Node's requestTimeout is one figure for all routes, and an import may take an hour.
 * Without a limit, slow senders would hold connections and memory without end.
 */
function limitBodyTime(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw, routeOptions } = request
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.streamed) {
      const timer = setTimeout(() => {
        // Refused before its body was read: the answer is sent, and Node still throws away what comes of the body.
        if (reply.raw.headersSent) {
          cutOff.add(raw)
          return void raw.destroy()
        }
        reply.code(408).header('connection', 'close').send(errorBody(408, 'The body was not sent in time'))
      }, BODY_TIMEOUT_MS)
      raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    }
    done()
  })
}

/** For everything outside the protocol folders, which answer in forms of their own. */
function answerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler(answerUnknownAddress)
  app.setErrorHandler<FastifyError | StoreFailure>((error, request, reply) => {
    if (error instanceof StoreFailure) {
      if (error.logDetail) request.log.info({ detail: error.logDetail }, error.message)
      return reply.code(error.status).send(errorBody(error.status, error.message, error.field))
    }
    const { statusCode = 500 } = error
    if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send(errorBody(statusCode, error.message))
    request.log.error({ err: error }, 'request failed')
    return reply.code(500).send(errorBody(500, 'Internal server error'))
  })
}

function errorBody(status: number, message: string, field = '') {
  return [resultItem('Error', field, status, message)]
}

/**
 * An address whose percent-encoding is broken, or of which a segment is too long; no hook has run for it, and Fastify does
 * not look at TRUST_PROXY: `request` is as the proxy sent it.
 */
function answerUnroutable(
  config: Config,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = error.statusCode ?? 400
  const message = status === 414 ? 'The address is too long' : 'The address is not validly encoded'
  request.log.info({ method: request.method, status }, 'request')
  reply.headers({ ...commonHeaders(config, request.id, request.protocol), ...anyOrigin })
  if (wantsHtml(request)) return sendErrorPage(reply, status, message)
  return reply.code(status).send(errorBody(status, message))
}

/** Answers connections that fail before a request exists: malformed, oversized or timed-out headers. */
function answerUnreadable({ config, log }: Services, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, reason] = unreadable[error.code ?? ''] ?? [400, 'Bad Request']
  const id = randomUUID()
  log.info({ requestId: id, status, code: error.code }, 'request')
  const body = JSON.stringify(errorBody(status, reason))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...commonHeaders(config, id, socket instanceof TLSSocket ? 'https' : 'http'),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`)
}

const unreadable: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
}

function addOperatorRoutes(app: FastifyInstance, { db, metrics, operatorKey }: Services): void {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.get('/healthz', async () => ({ status: 'alive' }))

  const readiness = createReadiness(db)
  app.get('/readyz', async (_request, reply) => {
    const reason = isStopping ? 'the server is stopping' : await readiness()
    if (reason === null) return { status: 'ready' }
    reply.code(503).header('retry-after', '1')
    return { status: 'unavailable', reason }
  })

  app.get('/metrics', async (request, reply) => {
    if (!isDirectFromHere(request) && !hasBearer(request, operatorKey)) {
      reply.header('www-authenticate', 'Bearer')
      throw new StoreFailure(
        'unauthorized',
        'Send Authorization: Bearer with the operator key. Without it, ask on this machine by a loopback address, such as http://127.0.0.1',
      )
    }
    reply.type(metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}

/**
 * From this machine, and not on behalf of another: a proxy here also connects from loopback, but says for whom. A page of
 * another site in a browser here sends that site's name in Host, also when the site had the name lead to loopback (DNS
 * rebinding).
 */
function isDirectFromHere({ headers, socket }: FastifyRequest): boolean {
  const isForwarded = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'].some((name) => headers[name] !== undefined)
  const host = URL.parse(`http://${headers.host}`)?.hostname ?? ''
  return !isForwarded && isLoopback(socket.remoteAddress ?? '') && isLoopbackHost(host)
}

function hasBearer({ headers }: FastifyRequest, key: string): boolean {
  const given = bearerToken(headers.authorization)
  return given !== null && sameSecret(given, key)
}
