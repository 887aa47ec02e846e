import Fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify'
import pg from 'pg'
import { createAuthenticator } from '../../src/access/applications/authenticate.ts'
import { connect } from '../../src/foundation/database/client.ts'
import { createSecrets } from '../../src/foundation/values/secrets.ts'
import { answerMessages } from './child.ts'
import { answerChanges } from './rest-baseline-changes.ts'
import { answerFromRows } from './rest-baseline-reads.ts'

/*
 * What our answers are measured against: the same addresses, answered by a bare Fastify server without throttle, log or
 * checks.
 * - `/memory/{store}/…`: the very bytes that our server answered, from memory: what HTTP alone costs.
 * - `/authenticated/{store}/…`: the same, after our server's own check of the three headers.
 * - `/pg/{store}/…`: plain statements of `pg` (rest-baseline-reads.ts, rest-baseline-changes.ts).
 * - `/set/{store}/…`: a list of changes as one transaction (rest-baseline-changes.ts).
 */

export interface BaselineSettings {
  readonly databaseUrl: string
  readonly secretKey: string
  readonly poolMax: number
  /** Our answers: of a GET by path, with the store; of a PUT by store and number of records. */
  readonly recorded: ReadonlyMap<string, Buffer>
}

answerMessages<BaselineSettings>(async (settings) => {
  const app = Fastify({ bodyLimit: 10 * 1024 * 1024 })
  const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.poolMax })
  answerFromMemory(app, settings.recorded, '/memory')
  answerFromMemory(app, settings.recorded, '/authenticated', { onRequest: authentication(settings) })
  answerFromRows(app, pool)
  await answerChanges(app, pool)
  return await app.listen({ host: '127.0.0.1', port: 0 })
})

function answerFromMemory(
  app: FastifyInstance,
  recorded: ReadonlyMap<string, Buffer>,
  prefix: string,
  options: RouteShorthandOptions = {},
): void {
  const keyOf = (url: string, body: unknown) => {
    const path = url.slice(prefix.length)
    return Array.isArray(body) ? `${path} ${body.length}` : path
  }
  app.route({
    ...options,
    method: ['GET', 'PUT'],
    url: `${prefix}/*`,
    handler: async ({ url, body }, reply) => {
      const bytes = recorded.get(keyOf(url, body))
      if (!bytes) return reply.code(404).send()
      return reply.type('application/json; charset=utf-8').send(bytes)
    },
  })
}

/** As src/http/rest/admission.ts does it, before the body is read. */
function authentication({ databaseUrl, secretKey, poolMax }: BaselineSettings) {
  const { authenticate } = createAuthenticator({
    db: connect(databaseUrl, { poolMax }),
    secrets: createSecrets(secretKey),
    now: () => new Date(),
  })
  return async ({ headers }: { headers: NodeJS.Dict<string | string[]> }): Promise<void> => {
    const text = (name: string) => String(headers[name])
    await authenticate({ secureUrl: text('secureurl'), privateKey: text('privatekey'), token: text('token') })
  }
}
