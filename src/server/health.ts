import { readdirSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Db } from '../database/client.ts'
import { bearerToken } from '../values/bearer.ts'
import { StoreFailure } from '../values/failure.ts'
import { isLoopback, isLoopbackHost } from '../values/loopback.ts'
import { sameSecret } from '../values/secrets.ts'
import type { Metrics } from './metrics.ts'
import { type ApiPart, closedObject, jsonAnswer, openOperation, ref, requestId, retryAfter } from './openapi.ts'

interface ProcessServices {
  readonly db: Db
  readonly metrics: Metrics
  readonly operatorKey: string
  /** Whether the process has been told to stop. Omitted: until the application closes, it has not. */
  readonly isStopping?: () => boolean
}

export function processRoutes(app: FastifyInstance, { db, metrics, operatorKey, isStopping }: ProcessServices): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.get('/healthz', async () => ({ status: 'alive' }))

  const readiness = createReadiness(db)
  app.get('/readyz', async (_request, reply) => {
    const reason = isClosing || isStopping?.() ? 'the server is stopping' : await readiness()
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
 * Whether the request comes directly from this machine. A proxy here also connects from loopback, but adds a forwarding
 * header. A page of another site in a browser here sends that site's name in Host, even if the name resolves to
 * loopback (DNS rebinding).
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

export function describeProcess(): ApiPart {
  const figures = { 'text/plain': { schema: { type: 'string' } } }
  const unavailable = closedObject({ status: { const: 'unavailable' }, reason: { type: 'string' } })
  return {
    tags: [{ name: 'Server', description: 'The process, and what it says of itself.' }],
    paths: {
      '/healthz': {
        get: openOperation('isAlive', 'Whether the process lives', {
          200: jsonAnswer('It does.', closedObject({ status: { const: 'alive' } })),
        }),
      },
      '/readyz': {
        get: openOperation('isReady', 'Whether requests can be answered', {
          200: jsonAnswer('They can.', closedObject({ status: { const: 'ready' } })),
          503: jsonAnswer('They cannot.', unavailable, retryAfter),
        }),
      },
      '/metrics': {
        get: {
          operationId: 'showFigures',
          summary: 'Figures for Prometheus',
          tags: ['Server'],
          security: [{ OperatorKey: [] }, {}],
          description: 'From this machine directly, or with the key of the operator.',
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

/** The time limit for the database's response. */
const DATABASE_TIMEOUT_MS = 2_000

const migrationsFolder = new URL('../../prisma/migrations/', import.meta.url)

/** Null when ready: the database responds within 2 s and has every migration. Otherwise the reason, without internals. */
function createReadiness(db: Db): () => Promise<string | null> {
  const entries = readdirSync(migrationsFolder, { withFileTypes: true })
  const wanted = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  let asked: Promise<string | null> | undefined
  return () => {
    // Concurrent probes share one query, so that queries do not pile up while the database hangs.
    asked ??= ask(db, wanted).finally(() => {
      asked = undefined
    })
    return asked
  }
}

async function ask(db: Db, wanted: readonly string[]): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, 'the database does not answer in time')
  try {
    return await Promise.race([late, missingMigrations(db, wanted)])
  } catch {
    return 'the database does not answer'
  } finally {
    clearTimeout(timer)
  }
}

async function missingMigrations(db: Db, wanted: readonly string[]): Promise<string | null> {
  const rows = await db.$queryRaw<{ name: string }[]>`
    select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null`
  const applied = new Set(rows.map(({ name }) => name))
  return wanted.every((name) => applied.has(name)) ? null : 'migrations are not applied'
}
