import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Authenticated,
  type Authenticator,
  bearerToken,
  type Credentials,
  RefusedSubscription,
  requireAccess,
} from '../../access/applications/authenticate.ts'
import type { CallLog } from '../../access/applications/calls/call-log.ts'
import { contractRateLimit, type Throttle } from '../../access/applications/limits/throttle.ts'
import { accessOf, callerKey, type Method } from '../../engine/caller.ts'
import type { Endpoint, Operations } from '../../engine/definition/endpoints.ts'
import { bytesInFlight } from '../../foundation/process/bytes-in-flight.ts'
import { StoreFailure, withoutQuoted } from '../../foundation/values/failure.ts'
import { loggablePath } from '../server/requests/request-log.ts'
import { showBucket } from '../server/requests/throttled.ts'

export interface AdmissionServices {
  authenticator: Authenticator
  throttle: Throttle
}

/**
 * Checks credentials, bucket, method and privileges, before the body is read. Sets `request.caller` once it is known. A request that has
 * waited is checked again before it does anything, and counts once.
 */
export function admission(services: AdmissionServices, endpoint: Endpoint) {
  const { authenticator, throttle } = services
  return async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.isUnlogged = endpoint.isUnlogged ?? false
    const credentials = credentialsOf(request)
    const authenticated = await authenticator
      .authenticate(credentials)
      .catch((error) => refuse(services, error, credentials, reply))
    const { caller, throttle: rateLimit } = authenticated
    request.caller = caller
    request.isOfNewApplication = authenticated.isStrict
    request.keepsBody = authenticated.keepsBodies
    if (!request.hasWaited) {
      showBucket(reply, rateLimit, await throttle.take(rateLimit.key, rateLimit))
      bytesInFlight.admit(callerKey(caller))
    }
    check(endpoint, authenticated, reply)
  }
}

/** Counts refused credentials against the client's network, and notes of which subscription they are. Throws the error. */
async function refuse(
  { authenticator, throttle }: AdmissionServices,
  error: unknown,
  credentials: Credentials,
  reply: FastifyReply,
): Promise<never> {
  if (!(error instanceof StoreFailure) || error.code !== 'unauthorized') throw error
  const { request } = reply
  const isKnown = error instanceof RefusedSubscription
  if (isKnown) request.refusedSubscriptionId = error.subscriptionId
  showBucket(reply, contractRateLimit, await throttle.takeRefused(request.ip))
  const owner = isKnown ? error : await authenticator.attribute(credentials).catch(() => null)
  if (owner !== null) {
    request.refusedSubscriptionId = owner.subscriptionId
    request.refusal = `Authentication failed: ${owner.reason}`
  }
  const challenge = challengeFor(credentials)
  if (challenge !== null) reply.header('www-authenticate', challenge)
  throw error
}

function check(endpoint: Endpoint, { caller, isByBearer }: Authenticated, reply: FastifyReply): void {
  const method = methodOf(reply.request)
  const operation = endpoint.operations[method]
  if (operation === undefined) throw methodNotAllowed(endpoint, method, reply)
  try {
    for (const privilege of endpoint.privileges) requireAccess(caller, privilege, operation.access ?? accessOf(method))
  } catch (error) {
    if (isByBearer) reply.header('www-authenticate', 'Bearer error="insufficient_scope"')
    throw error
  }
}

function methodNotAllowed({ operations, createdBy }: Endpoint, method: Method, reply: FastifyReply): StoreFailure {
  const allowed = allowedMethods(operations)
  reply.header('allow', allowed)
  const hint = method === 'POST' && createdBy !== undefined ? `. ${createdBy}` : ''
  return new StoreFailure('method-not-allowed', `Method not allowed: this address takes ${allowed}${hint}`)
}

/**
 * The challenge of RFC 6750 §3 for a refused Bearer token, another Authorization, or no credentials at all. Null for requests with
 * the three headers, whose clients never got a challenge.
 */
function challengeFor({ authorization, ...headers }: Credentials): string | null {
  if (bearerToken(authorization) !== null) return 'Bearer error="invalid_token"'
  const isAnonymous = Object.values(headers).every((header) => !header)
  return authorization !== undefined || isAnonymous ? 'Bearer' : null
}

/** HEAD counts as GET. */
export function methodOf({ method }: FastifyRequest): Method {
  return (method === 'HEAD' ? 'GET' : method) as Method
}

export function allowedMethods(operations: Operations): string {
  return Object.keys(operations)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ')
}

function credentialsOf({ headers }: FastifyRequest): Credentials {
  const sent = (name: string) => {
    const text = headers[name]?.toString()
    return text?.includes(',') ? once(text) : text?.trim()
  }
  const { authorization } = headers
  return { secureUrl: sent('secureurl'), privateKey: sent('privatekey'), token: sent('token'), authorization }
}

/** Node joins the values of a header that is sent several times. A proxy may add one that the program sends as well. */
function once(joined: string): string | undefined {
  const values = joined.split(',').map((value) => value.trim())
  return new Set(values).size === 1 ? values[0] : values.join()
}

/** Returns the keys that the request carries. */
export function secretsOf(request: FastifyRequest): string[] {
  const { privateKey, token, authorization } = credentialsOf(request)
  return [privateKey, token, bearerToken(authorization)].flatMap((one) => one || [])
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The subscription that the refused credentials are proved to be of. */
    refusedSubscriptionId: number | null
    /** The reason for refusing the request or a part of it; empty: none, or unknown. */
    refusal: string
    /** Names of parameters and members that were ignored; at most 20. */
    ignored: readonly string[]
    /** Whether mistakes of its requests are refused unless it asks for tolerance. */
    isOfNewApplication: boolean
    /** Whether the body is kept if the request is refused. */
    keepsBody: boolean
    /** The body of a refused request, for the log of calls; null: it is not kept. */
    refusedBody: string | null
    /** Whether the log of calls leaves the request out. */
    isUnlogged: boolean
  }
}

/** Records every answered request with a subscription's token in the call log. */
export function logCalls(app: FastifyInstance, callLog: Pick<CallLog, 'record'>): void {
  app.decorateRequest('refusedSubscriptionId', null)
  app.decorateRequest('refusal', '')
  app.decorateRequest('ignored')
  app.decorateRequest('isOfNewApplication', false)
  app.decorateRequest('keepsBody', false)
  app.decorateRequest('refusedBody', null)
  app.decorateRequest('isUnlogged', false)
  app.addHook('onResponse', (request, { statusCode: status }, done) => {
    const { caller, refusedSubscriptionId, id: requestId, method, refusal, ignored = [], refusedBody: body } = request
    const subscriptionId = caller?.application?.subscriptionId ?? refusedSubscriptionId
    if (subscriptionId !== null && !request.isUnlogged) {
      const path = loggablePath(request)
      const message = withoutQuoted(refusal) || (status >= 400 ? (STATUS_CODES[status] ?? '') : '')
      callLog.record({ subscriptionId, method, path, status, message, requestId, ignored, body })
    }
    done()
  })
}
