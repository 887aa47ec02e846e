import type { FastifyReply, FastifyRequest } from 'fastify'
import { contractRateLimit, showBucket, type Throttle } from '../applications/throttle.ts'
import { accessOf, type Method } from '../engine/define.ts'
import type { Endpoint, Operations } from '../engine/endpoints.ts'
import { plainHttpFault } from '../server/plain-http.ts'
import {
  type Authenticated,
  type Authenticator,
  type Credentials,
  RefusedSubscription,
  requireAccess,
} from '../subscriptions/authenticate.ts'
import { bearerToken } from '../values/bearer.ts'
import { StoreFailure } from '../values/failure.ts'

export interface AdmissionServices {
  config: { readonly publicUrl: string }
  authenticator: Authenticator
  throttle: Throttle
}

/** Refuses plain http where PUBLIC_URL is https (contract §4.1). */
export function httpsRule({ config }: AdmissionServices) {
  return async function refusePlainHttp(request: FastifyRequest): Promise<void> {
    const fault = plainHttpFault(config.publicUrl, request)
    if (fault !== null) throw new StoreFailure('insecure-transport', fault)
  }
}

/**
 * Lets a request through to an endpoint, before its body is read: credentials, then the bucket, then the method, then the
 * privileges that it needs. `request.caller` is set as soon as it is known.
 */
export function admission({ authenticator, throttle }: AdmissionServices, { operations, privileges }: Endpoint) {
  return async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { caller, throttle: rateLimit } = await identify(request, reply)
    request.caller = caller
    showBucket(reply, rateLimit, throttle.take(rateLimit.key, rateLimit))
    const method = methodOf(request)
    if (operations[method] === undefined) {
      const allowed = allowedMethods(operations)
      reply.header('allow', allowed)
      throw new StoreFailure('method-not-allowed', `Method not allowed: this address takes ${allowed}`)
    }
    try {
      for (const privilege of privileges) requireAccess(caller, privilege, accessOf(method))
    } catch (error) {
      if (bearerToken(request.headers.authorization) !== null) {
        reply.header('www-authenticate', 'Bearer error="insufficient_scope"')
      }
      throw error
    }
  }

  async function identify(request: FastifyRequest, reply: FastifyReply): Promise<Authenticated> {
    const credentials = credentialsOf(request)
    try {
      return await authenticator.authenticate(credentials)
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.kind !== 'unauthorized') throw error
      const isKnown = error instanceof RefusedSubscription
      if (isKnown) request.refusedSubscriptionId = error.subscriptionId
      showBucket(reply, contractRateLimit, throttle.takeRefused(request.ip))
      if (isKnown) request.refusal = `Authentication failed: ${error.reason}`
      const challenge = challengeFor(credentials)
      if (challenge !== null) reply.header('www-authenticate', challenge)
      throw error
    }
  }
}

/**
 * RFC 6750 §3: for a Bearer token that was refused, for another Authorization, and for a request without any credentials. Null:
 * the three headers were sent, whose clients never saw a challenge.
 */
function challengeFor({ authorization, ...headers }: Credentials): string | null {
  if (bearerToken(authorization) !== null) return 'Bearer error="invalid_token"'
  const isAnonymous = Object.values(headers).every((header) => !header)
  return authorization !== undefined || isAnonymous ? 'Bearer' : null
}

/** HEAD is GET without the body of the answer. */
export function methodOf({ method }: FastifyRequest): Method {
  return (method === 'HEAD' ? 'GET' : method) as Method
}

export function allowedMethods(operations: Operations): string {
  return Object.keys(operations)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ')
}

function credentialsOf({ headers }: FastifyRequest): Credentials {
  return {
    secureUrl: single(headers.secureurl),
    privateKey: single(headers.privatekey),
    token: single(headers.token),
    authorization: headers.authorization,
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
