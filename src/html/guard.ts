import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Throttle, tooMany } from '../applications/throttle.ts'
import type { Actor } from '../audit/audit.ts'
import type { Db } from '../database/client.ts'
import { findSession, type Person, type Session, type SessionKind } from '../people/sessions.ts'
import { plainHttpFault } from '../server/plain-http.ts'
import { bearerToken } from '../values/bearer.ts'
import { StoreFailure } from '../values/failure.ts'
import { type Secrets, sameSecret } from '../values/secrets.ts'
import { type SessionCookies, sessionCookies } from './cookies.ts'
import { isForm, isJson } from './forms.ts'
import { type Role, roles } from './roles.ts'
import { wantsHtml } from './wants-html.ts'

export interface GuardServices {
  config: { readonly publicUrl: string }
  operatorKey: string
  throttle: Throttle
  db: Db
  secrets: Secrets
  now: () => Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in, where the route is theirs; null: the operator, or anyone. */
    session: Session | null
    /** Who does what this request does, for the audit log; null: anyone. */
    actor: Actor | null
  }
  interface FastifyInstance {
    sessionCookies: SessionCookies
  }
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Of every page, also where nobody is kept out. */
export const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': `${CONTENT_SECURITY_POLICY}; form-action 'self'`,
  'referrer-policy': 'same-origin',
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Lets into this scope who roles.ts names for the route, and nobody else: the operator by `Authorization: Bearer
 * OPERATOR_KEY`, others by their session. A person who has to sign in is sent there; a program gets a 401. Requests that a
 * page of another site makes a browser send change nothing (403), and neither do those by session that carry no proof that
 * no other site made them. Runs before a body is read.
 */
export function installGuard(app: FastifyInstance, services: GuardServices): void {
  const { publicUrl } = services.config
  const cookies = sessionCookies(publicUrl)
  const admitOperator = operatorGuard(services)
  app.decorate('sessionCookies', cookies)
  app.decorateRequest('session', null)
  app.decorateRequest('actor', null)
  refuseUnlisted(app)

  app.addHook('onRequest', async (request, reply) => {
    setHeaders(request, reply)
    const plainHttp = plainHttpFault(publicUrl, request)
    if (plainHttp !== null) {
      // Behind a proxy that ends TLS and is not trusted, a redirect would come back here for ever.
      const isFromProxy = request.headers['x-forwarded-proto'] !== undefined
      if (isSafe(request) && wantsHtml(request) && !isFromProxy) return reply.redirect(publicUrl + request.url)
      const advice = isFromProxy ? '. If a proxy ended TLS, its address belongs into TRUST_PROXY' : ''
      throw new StoreFailure('insecure-transport', plainHttp + advice)
    }
    const allowed = rolesOf(request)
    const isForOperator = allowed.includes('operator')
    if (isForOperator && request.headers.authorization !== undefined) return admitOperator(request, reply)
    const session = await sessionOf(request, allowed)
    if (session) admitPerson(request, session)
    else if (!allowed.includes('anyone')) {
      if (wantsHtml(request) && !allowed.every((role) => role === 'operator'))
        return sendToSignIn(request, reply, allowed)
      if (isForOperator) return admitOperator(request, reply)
      throw new StoreFailure('unauthorized', 'Sign in first: there is no session, or it has ended')
    }
    if (!isSafe(request) && isFromElsewhere(request))
      throw new StoreFailure('forbidden', 'Refused: the request comes from a page of another site')
    // Where anyone may come in, it is not the session that lets the request in.
    if (session && !allowed.includes('anyone') && !isSafe(request)) requireProofOfOrigin(request)
  })

  async function sessionOf(request: FastifyRequest, allowed: readonly Role[]): Promise<Session | null> {
    const kind = allowed.find((role): role is SessionKind => role !== 'anyone' && role !== 'operator')
    const token = kind && cookies.read(request, kind)
    return kind && token ? findSession(services, kind, token) : null
  }
}

/** On the way to OAuth's consent, which applications open in a window of their own and wait to hear from. */
const openedByOthers = ['/oauth/authorize', '/admin/sign-in', '/admin/change-store']

/** One content policy for all pages; what they hold is not kept by anybody on the way. */
function setHeaders({ routeOptions }: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    ...pageHeaders,
    'cross-origin-opener-policy': openedByOthers.includes(routeOptions.url ?? '') ? 'unsafe-none' : 'same-origin',
  })
}

/** Browsers hold a form's redirects against `form-action` too: a page whose form leads on to `source`, such as `https:`, says so. */
export function allowFormTarget(reply: FastifyReply, source: string): void {
  reply.header('content-security-policy', `${CONTENT_SECURITY_POLICY}; form-action 'self' ${source}`)
}

function refuseUnlisted(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) {
      if (each !== 'HEAD' && !Object.hasOwn(roles, `${each} ${url}`)) {
        throw new Error(`${each} ${url} is not in roles.ts: nobody has said who may use it`)
      }
    }
  })
}

function rolesOf({ method, routeOptions }: FastifyRequest): readonly Role[] {
  return roles[`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`] ?? []
}

function isSafe({ method }: FastifyRequest): boolean {
  return SAFE_METHODS.includes(method)
}

/** Browsers say where a request comes from; programs do not, and no other site can make them send anything. */
function isFromElsewhere({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && URL.parse(headers.origin)?.host !== host
}

/**
 * A change that a session cookie allows needs what no other site can make a browser send: a form its token (forms.ts), every
 * other request, with or without a body, a header that browsers ask about first (CORS), which this server never allows here.
 */
function requireProofOfOrigin(request: FastifyRequest): void {
  if (isForm(request) || isJson(request) || request.headers['x-requested-with']) return
  throw new StoreFailure(
    'forbidden',
    'A change by a session cookie needs Content-Type: application/json, or the header X-Requested-With with any value',
    { field: 'X-Requested-With' },
  )
}

function admitPerson(request: FastifyRequest, session: Session): void {
  const { person } = session
  const { id = '' } = request.params as { id?: string }
  const isOfStore = request.routeOptions.url?.startsWith('/admin/stores/:id')
  if (person.kind === 'merchant' && isOfStore && !(/^\d+$/.test(id) && Number(id) === person.store.id)) {
    throw new StoreFailure('not-found', 'You are signed in to no store with this id', { field: 'id' })
  }
  request.session = session
  request.actor = actorOf(person, request.ip)
}

function actorOf(person: Person, address: string): Actor | null {
  return person.kind === 'customer' ? null : { kind: person.kind, name: person.email, address }
}

function sendToSignIn(request: FastifyRequest, reply: FastifyReply, allowed: readonly Role[]) {
  const area = allowed.includes('merchant') ? 'admin' : allowed.includes('developer') ? 'developers' : 'account'
  const next = isSafe(request) ? `?next=${encodeURIComponent(request.url)}` : ''
  return reply.redirect(`/${area}/sign-in${next}`, 303)
}

/**
 * Others than the operator get a 401, and a 429 when too many came from their address. The right key is never locked out:
 * behind a proxy, strangers may share the operator's address, and a key of random characters needs no lock against guessing.
 */
function operatorGuard({ operatorKey, throttle }: GuardServices) {
  return async function admitOperator(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = bearerToken(request.headers.authorization)
    if (key !== null && sameSecret(key, operatorKey)) {
      request.actor = { kind: 'operator', name: '', address: request.ip }
      return
    }
    const reading = throttle.takeRefused(request.ip)
    if (!reading.accepted) throw tooMany(reading)
    reply.header('www-authenticate', key === null ? 'Bearer' : 'Bearer error="invalid_token"')
    throw new StoreFailure('unauthorized', 'Authentication failed: Authorization must be Bearer and the operator key', {
      field: 'Authorization',
      logDetail: key === null ? 'no operator key' : 'wrong operator key',
    })
  }
}
