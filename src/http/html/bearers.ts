import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerToken } from '../../access/applications/authenticate.ts'
import { tooMany } from '../../access/applications/limits/throttle.ts'
import { findPersonByToken, TOKEN_PREFIX } from '../../access/people/person-tokens.ts'
import { areaPaths, type Person, type SessionKind } from '../../access/people/sessions.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOperatorKey } from '../../foundation/values/secrets.ts'
import type { GuardServices } from './guard.ts'
import { wantsHtml } from './request.ts'

// Who sends a request by `Authorization: Bearer`: the operator, or a person's program.

export const NO_TOKEN = 'A token does not reach this'

/** Whether a request has something that begins as a person's token does. */
export function hasPersonToken({ headers }: FastifyRequest): boolean {
  return bearerToken(headers.authorization)?.startsWith(TOKEN_PREFIX) === true
}

/**
 * Returns whose token a request has, where its route names tokens, at JSON alone (403), and without a session beside it (400). A wrong
 * one gets a 401, or a 429 after too many from its network.
 */
export async function personByToken(
  services: GuardServices,
  request: FastifyRequest,
  reply: FastifyReply,
  kind: SessionKind,
): Promise<Person> {
  const field = 'Authorization'
  if (!request.routeOptions.config.tokens || wantsHtml(request)) {
    throw new StoreFailure('forbidden', `${NO_TOKEN}: sign in instead`, { field })
  }
  const { sessionCookies } = request.server
  const kinds = Object.keys(areaPaths) as SessionKind[]
  if (kinds.some((each) => sessionCookies.read(request, each) !== undefined)) {
    throw new StoreFailure('malformed-request', 'Send a token or the cookie of a session, and not both', { field })
  }
  const token = bearerToken(request.headers.authorization) ?? ''
  const person = await findPersonByToken(services, kind, token)
  if (person) return person
  const message = 'The token is none of this part of the server, or it has ended'
  return refuseBearer(services, request, reply, { message, logDetail: 'wrong token' })
}

/**
 * Admits the operator. Anyone else gets a 401, or a 429 after too many requests from their network. The correct key is
 * never locked out: behind a proxy, strangers may share the operator's address, and a random key needs no lock against
 * guessing.
 */
export async function admitOperator(
  services: GuardServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const key = bearerToken(request.headers.authorization)
  if (key !== null && isOperatorKey(services, key)) {
    request.actor = { kind: 'operator', name: '', address: request.ip }
    return
  }
  const message = 'Authentication failed: Authorization must be Bearer and the operator key'
  const logDetail = key === null ? 'no operator key' : 'wrong operator key'
  return refuseBearer(services, request, reply, { message, logDetail })
}

async function refuseBearer(
  { throttle }: GuardServices,
  { ip, headers }: FastifyRequest,
  reply: FastifyReply,
  { message, logDetail }: { message: string; logDetail: string },
): Promise<never> {
  const reading = await throttle.takeRefused(ip)
  if (!reading.accepted) throw tooMany(reading)
  const isMissing = bearerToken(headers.authorization) === null
  reply.header('www-authenticate', isMissing ? 'Bearer' : 'Bearer error="invalid_token"')
  throw new StoreFailure('unauthorized', message, { field: 'Authorization', logDetail })
}
