import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { bearerToken } from '../../../access/applications/authenticate.ts'
import type { DatabaseHealth } from '../../../foundation/database/health.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { isLoopback, isLoopbackHost } from '../../../foundation/values/loopback.ts'
import { isOperatorKey } from '../../../foundation/values/secrets.ts'
import {
  type ApiPart,
  closedObject,
  errorCode,
  jsonAnswer,
  type Operation,
  openOperation,
  query,
  ref,
  requestId,
  retryAfter,
} from '../json/openapi.ts'
import type { Metrics } from './metrics.ts'

export interface ProcessServices {
  readonly databaseHealth: Pick<DatabaseHealth, 'fault'>
  readonly metrics: Metrics
  readonly operatorKey: string
  readonly previousOperatorKey?: string | null
  /** Whether the process has been told to stop. Omitted: until the application closes, it has not. */
  readonly isStopping?: () => boolean
}

const readinessQuery = z.object({ for: z.enum(['reads', 'changes'], 'must be reads or changes').default('changes') })

export function processRoutes(app: FastifyInstance, services: ProcessServices): void {
  const { databaseHealth, metrics, isStopping } = services
  let isClosing = false
  app.decorate('requestKind', 'health')
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.get('/healthz', async () => ({ status: 'alive' }))

  app.get('/readyz', async (request, reply) => {
    const { for: of } = readInput(readinessQuery, request.query, 'The query')
    const reason = isClosing || isStopping?.() ? 'the server is stopping' : await databaseHealth.fault(of)
    if (reason === null) return { status: 'ready' }
    reply.code(503).header('retry-after', '1')
    return { status: 'unavailable', reason }
  })

  app.get('/metrics', async (request, reply) => {
    if (!isDirectFromHere(request) && !hasOperatorKey(request, services)) {
      reply.header('www-authenticate', 'Bearer')
      throw new StoreFailure(
        'unauthorized',
        'Send Authorization: Bearer with the operator key. Without it, ask on this machine by a loopback address, such as http://127.0.0.1',
      )
    }
    reply.type(metrics.registry.contentType)
    return metrics.text()
  })
}

/**
 * Whether the request comes directly from this machine. A proxy here also connects from loopback, but adds a forwarding
 * header. A page of another site in a browser here sends that site's name in Host, even if the name resolves to
 * loopback (DNS rebinding).
 */
function isDirectFromHere({ headers, socket }: FastifyRequest): boolean {
  const isForwarded = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'].some((name) => headers[name] !== undefined)
  const host = URL.parse(`http://${headers.host}`)?.hostname ?? ''
  return !isForwarded && isLoopback(socket.remoteAddress ?? '') && isLoopbackHost(host)
}

function hasOperatorKey({ headers }: FastifyRequest, services: ProcessServices): boolean {
  const given = bearerToken(headers.authorization)
  return given !== null && isOperatorKey(services, given)
}

const alive = closedObject({ status: { const: 'alive', description: 'The process answers.' } })
const ready = closedObject({ status: { const: 'ready', description: 'Requests may be sent here.' } })
const purposes = { enum: ['reads', 'changes'], default: 'changes' }
const readiness: Operation = {
  ...openOperation(
    'isReady',
    'Whether requests can be answered',
    'Looks at the database, too: send requests only to processes that answer 200.',
    {
      200: jsonAnswer('They can.', ready),
      400: jsonAnswer('`for` has another value.', ref('schemas', 'ArrayOfResponseInfo'), errorCode),
      503: jsonAnswer(
        'They cannot.',
        closedObject({
          status: { const: 'unavailable', description: 'Send requests elsewhere.' },
          reason: { type: 'string', description: 'The cause, for operators.' },
        }),
        retryAfter,
      ),
    },
  ),
  parameters: [query('for', '`reads`: also ready while the database answers only reads, as a standby does.', purposes)],
}

export function describeProcess(): ApiPart {
  const figures = { 'text/plain': { schema: { type: 'string' } } }
  return {
    tags: [{ name: 'Server', description: 'Health, readiness and metrics of the process.' }],
    paths: {
      '/healthz': {
        get: openOperation(
          'isAlive',
          'Whether the process is alive',
          'Looks at nothing but the process: start it anew when this does not answer.',
          { 200: jsonAnswer('It is.', alive) },
        ),
      },
      '/readyz': { get: readiness },
      '/metrics': {
        get: {
          operationId: 'showFigures',
          summary: 'Figures for Prometheus',
          tags: ['Server'],
          security: [{ OperatorKey: [] }, {}],
          description: 'From this machine directly, or with the operator key.',
          responses: {
            200: { description: 'The figures.', headers: requestId, content: figures },
            401: ref('responses', 'OperatorRefusal401'),
          },
        },
      },
    },
    components: {},
  }
}
