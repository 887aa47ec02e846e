import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerToken } from '../../access/bearer.ts'
import { sameSecret } from '../../access/secrets.ts'
import { StoreFailure } from '../../failure.ts'
import type { Throttle } from '../../throttle.ts'

export interface OperatorGuard {
  config: { publicUrl: string }
  operatorKey: string
  throttle: Throttle
}

/**
 * Lets a request through that has `Authorization: Bearer OPERATOR_KEY`. Others get a 401, and a 429 when too many came
 * from their address; plain http where PUBLIC_URL is https gets a 403. Runs before the body is read.
 * The right key is never locked out: behind a proxy, strangers may share the operator's address, and a key of random
 * characters needs no lock against guessing.
 */
export function operatorGuard({ config, operatorKey, throttle }: OperatorGuard) {
  const isHttpsOnly = config.publicUrl.startsWith('https:')
  return async function guardOperator(request: FastifyRequest, reply: FastifyReply) {
    // Answers behind this guard hold keys.
    reply.header('cache-control', 'no-store')
    if (isHttpsOnly && request.protocol !== 'https') {
      throw new StoreFailure('insecure-transport', `Use ${config.publicUrl}: plain http is refused`)
    }
    const key = bearerToken(request.headers.authorization)
    if (key !== null && sameSecret(key, operatorKey)) return
    const { accepted, retryAfterSeconds } = throttle.takeRefused(request.ip)
    if (!accepted) {
      reply.header('retry-after', retryAfterSeconds)
      throw new StoreFailure('throttled', `Too many requests; come back in ${retryAfterSeconds} s`)
    }
    reply.header('www-authenticate', key === null ? 'Bearer' : 'Bearer error="invalid_token"')
    throw new StoreFailure('unauthorized', 'Authentication failed: Authorization must be Bearer and the operator key', {
      field: 'Authorization',
      logDetail: key === null ? 'no operator key' : 'wrong operator key',
    })
  }
}
