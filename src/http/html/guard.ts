import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Throttle } from '../../access/applications/limits/throttle.ts'
import type { Actor } from '../../access/audit/audit.ts'
import { WAIT_SECONDS } from '../../access/people/factors/challenges.ts'
import {
  type AccountKind,
  areaPaths,
  findSession,
  type Person,
  type Session,
  type SessionKind,
} from '../../access/people/sessions.ts'
import { closedMessage } from '../../access/stores/caller-store.ts'
import { requireOpen } from '../../access/stores/closing.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { type ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { Semaphore } from '../../foundation/values/semaphore.ts'
import type { Need, Role } from '../server/json/roles.ts'
import { plainHttpOfPages } from '../server/requests/plain-http.ts'
import { admitOperator, hasPersonToken, NO_TOKEN, personByToken } from './bearers.ts'
import { isByToken, isForm, isJson, isUpload, localeOf, requirePrivileges, wantsHtml } from './request.ts'

export interface GuardServices extends DataServices {
  config: { readonly publicUrl: string; readonly trustProxy: readonly string[]; readonly sandbox: boolean }
  operatorKey: string
  /** Admits the operator too, while programs are given the new one. */
  previousOperatorKey?: string | null
  throttle: Throttle
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it, by a session or a token. Null: the operator, or anyone. */
    person: Person | null
    /** The session, on routes for persons. Null: there is none, also where a token says who sends it. */
    session: Session | null
    /** The principal of the request, for the audit log. Null: anyone. */
    actor: Actor | null
    /** Whether the person of the session has shown a password or a passkey in the last 15 minutes. */
    isProved: boolean
  }
  interface FastifyInstance {
    sessionCookies: ReturnType<typeof sessionCookies>
    /** Admits who sends a request once more, as if it came now, where it has waited since. Throws what refuses it. */
    admitAgain: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
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

/** The headers of every page, including those outside the guard. */
export const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': `${CONTENT_SECURITY_POLICY}; form-action 'self'`,
  'referrer-policy': 'same-origin',
}

/**
 * Admits to this scope only the principals in the route's `roles`: programs of the operator by `Authorization: Bearer
 * OPERATOR_KEY`, people by their session, or by a token where the route says so (bearers.ts). Without a session, a browser is
 * redirected to sign-in; a program gets a 401. So is one who has to show a password again first, or to set up the second factor that the store requires, and operators need
 * outside the sandbox; a program gets a 403.
 * Nobody of a closed store reaches more than its account and the page of the closed store; the operator may read, and changes nothing (409).
 * Rejects (403) changes that a page of another site makes a browser send, and changes by session without proof that no
 * other site sent them. Counts what nobody signed in sends, by network (429). Runs before the body is read, and again for a request
 * that has waited since; for a file, receiveFile does that.
 */
export function installGuard(app: FastifyInstance, services: GuardServices): void {
  const { throttle, config } = services
  const plainHttpOf = plainHttpOfPages(config)
  app.decorate('sessionCookies', sessionCookies(config.publicUrl))
  for (const [name, value] of Object.entries(nobody)) app.decorateRequest(name, value)
  app.addHook('onRoute', requireRoles)
  app.addHook('onRequest', admit)
  app.decorate('admitAgain', async (request, reply) => {
    if (request.hasWaited) await admit(Object.assign(request, nobody), reply)
  })
  app.addHook('preValidation', async (request, reply) => {
    if (!isUpload(request)) await app.admitAgain(request, reply)
  })

  async function admit(request: FastifyRequest, reply: FastifyReply) {
    const answered = await identify(request, reply)
    if (answered === undefined) await refuseClosed(services, request)
    return answered
  }

  async function identify(request: FastifyRequest, reply: FastifyReply) {
    const opener = openedByOthers.includes(request.routeOptions.url ?? '') ? 'unsafe-none' : 'same-origin'
    reply.headers({ ...pageHeaders, 'cross-origin-opener-policy': opener })
    const plainHttp = plainHttpOf(request)
    if (plainHttp?.canLeadOn && isForBrowsers(request)) return reply.redirect(config.publicUrl + request.url)
    if (plainHttp) throw new StoreFailure('insecure-transport', plainHttp.fault)
    const allowed: readonly Role[] = request.routeOptions.config.roles ?? []
    const isForOperator = allowed.includes('operator-key')
    const kind = allowed.find((role): role is SessionKind => role !== 'anyone' && role !== 'operator-key')
    if (kind && request.headers.authorization !== undefined && hasPersonToken(request) && !allowed.includes('anyone')) {
      admitPerson(request, await personByToken(services, request, reply, kind), null)
      return askFirst(request, { ...config, at: services.now() })
    }
    if (isForOperator && request.headers.authorization !== undefined) return admitOperator(services, request, reply)
    const token = kind && app.sessionCookies.read(request, kind)
    const session = kind && token ? await findSession(services, kind, token) : null
    if (session) admitPerson(request, session.person, session)
    else if (!allowed.includes('anyone')) {
      if (!kind || (isForOperator && !wantsHtml(request))) return admitOperator(services, request, reply)
      const message = 'Sign in first: there is no session, or it has ended'
      throw new LedOn('unauthorized', message, `${areaPaths[kind]}/sign-in${isSafe(request) ? nextOf(request) : ''}`)
    }
    if (!isSafe(request) && isFromElsewhere(request))
      throw new StoreFailure('forbidden', 'Refused: the request comes from a page of another site')
    if (!isSafe(request) && !session && !request.hasWaited) throttle.requireAnonymous(request.ip)
    // On a route for anyone, the session is not what admits the request.
    if (session && !allowed.includes('anyone') && !isSafe(request)) requireProofOfOrigin(request)
    askFirst(request, { ...config, at: services.now() })
  }
}

function requireRoles({ method, url, config }: RouteOptions): void {
  if (config?.roles === undefined) throw new Error(`${method} ${url} has no roles: nobody has said who may use it`)
  const isUnclear = config.roles.includes('merchant') && config.needs === undefined
  if (isUnclear) throw new Error(`${method} ${url} has no needs: nobody has said which of a store's people may use it`)
}

/** Throws (409) where the operator would change something of a closed store. */
async function refuseClosed({ db }: GuardServices, request: FastifyRequest): Promise<void> {
  const { id = '' } = request.params as { id?: string }
  const { url = '', config } = request.routeOptions
  const isOperator = request.person === null || request.person.kind === 'operator'
  if (!isOperator || isSafe(request) || config.whenClosed || !/^\/(admin|operator)\/stores\/:id/.test(url)) return
  if (/^\d{1,9}$/.test(id)) await requireOpen(db, Number(id))
}

/** What a request says of who sends it, until it is admitted. */
const nobody = { person: null, session: null, actor: null, isProved: false }

/** A refusal that leads a browser to another page, from where it may come back. */
export class LedOn extends StoreFailure {
  readonly address: string
  constructor(code: ErrorCode, message: string, address: string) {
    super(code, message)
    this.address = address
  }
}

const PROOF_MS = 15 * 60_000

/** What would hurt most in the hands of somebody who finds a browser signed in. */
const sensitive = ['Keys', 'People']

/** Whether a route asks for a recent proof of who is there. */
export function asksProof({ proof, needs = [] }: { proof?: boolean; needs?: readonly Need[] }): boolean {
  return proof ?? needs.some(([privilege]) => sensitive.includes(privilege))
}

/**
 * Asks a person for what a route needs beyond a session or token: that the store is open, the second factor that the store requires, and a recent proof of who
 * is there. A browser is led to the page for it, and from there back; a program gets a 403.
 */
function askFirst(request: FastifyRequest, { at, sandbox }: { at: Date; sandbox: boolean }): void {
  const { person, session } = request
  if (person === null) return
  request.isProved = session !== null && at.getTime() - session.provedAt.getTime() <= PROOF_MS
  const { config } = request.routeOptions
  const needsProof = asksProof(config)
  const isClosed = person.kind === 'merchant' && person.closedMs !== null
  if (isClosed && !config.ofPerson && !config.whenClosed && !config.roles?.includes('anyone')) {
    throw new LedOn('forbidden', closedMessage, '/admin/closed')
  }
  const isOfWork = config.ofPerson !== true && (needsProof || !config.roles?.includes('anyone'))
  const isAsked = person.kind === 'merchant' || (person.kind === 'operator' && !sandbox)
  const missingFromMs = isAsked ? person.factorMissingFromMs : null
  if (isOfWork && missingFromMs !== null && missingFromMs <= at.getTime()) {
    const page = `${areaPaths[person.kind]}/account/factors`
    // The pages of a store say by themselves what it requires, and from when on.
    const isOfStore = person.kind === 'merchant'
    const who = isOfStore ? 'The store requires' : 'Operators need'
    const message = `${who} a second factor, and you have none: set one up at ${page}`
    throw new LedOn('forbidden', message, isOfStore ? page : `${page}?notice=factor-needed`)
  }
  if (needsProof && !(isByToken(request) && config.tokens)) requireProof(request)
}

/** Throws where a person has shown neither password nor passkey in the last 15 minutes, and for every token. */
export function requireProof(request: FastifyRequest): void {
  const { person, isProved } = request
  if (person === null || isProved) return
  if (isByToken(request)) throw new StoreFailure('forbidden', `${NO_TOKEN}: it needs the password of who is there`)
  const page = `${areaPaths[person.kind]}/prove`
  const message = `This needs your password again, because you showed it more than 15 minutes ago: POST ${page} with Password`
  throw new LedOn('forbidden', message, page + nextOf(request))
}

/** Encoded, a longer address would exceed what browsers and proxies accept as a header. */
const NEXT_LENGTH_MAX = 2_000

/** The page to come back to: the one that is asked for, or the one with the form that was sent. */
function nextOf(request: FastifyRequest): string {
  const { headers, host } = request
  const from = URL.parse(headers.referer ?? '')
  const address = isSafe(request) ? request.url : from?.host === host ? from.pathname + from.search : ''
  return address === '' || address.length > NEXT_LENGTH_MAX ? '' : `?next=${encodeURIComponent(address)}`
}

/** What a person's requests hold at a time, since no bucket counts them: one person's windows, and programs with the session. */
const REQUESTS_OF_PERSON_MAX = 4

/** Lets the others of a person's requests wait, until the answers are sent. Call it before the guard, which looks at them again. */
export function limitPersons(app: FastifyInstance): void {
  const requests = new Semaphore({
    capacity: Number.POSITIVE_INFINITY,
    capacityOfKey: REQUESTS_OF_PERSON_MAX,
    waitingMax: 1_000,
    waitingOfKeyMax: 100,
    waitMs: 10_000,
    message: 'Too many of your requests are under way; try again in a moment',
  })
  app.addHook('preValidation', async (request, { raw }) => {
    if (request.person === null) return
    const { kind, id } = request.person
    const before = requests.waiting
    const turn = requests.acquire(`${kind} ${id}`, 1)
    request.hasWaited ||= requests.waiting > before
    const end = await turn
    if (raw.closed) end()
    else raw.once('close', end)
  })
}

/** The pages before OAuth's consent. Applications open them in a window of their own and wait for its result. */
const openedByOthers = [
  '/oauth/authorize',
  '/admin/sign-in',
  '/admin/sign-in/factor',
  '/admin/sign-in/passkey',
  '/admin/prove',
  '/admin/prove/passkey',
  '/admin/change-store',
]

/** Lets a page's form redirect to `source`, such as `https:`. Browsers apply `form-action` to redirects too. */
export function allowFormTarget(reply: FastifyReply, source: string): void {
  reply.header('content-security-policy', `${CONTENT_SECURITY_POLICY}; form-action 'self' ${source}`)
}

/** Lets a page show images of these origins, such as `https://cdn.example`. */
export function allowImages(reply: FastifyReply, origins: readonly string[]): void {
  const policy = CONTENT_SECURITY_POLICY.replace("img-src 'self' data:", (own) => [own, ...origins].join(' '))
  reply.header('content-security-policy', `${policy}; form-action 'self'`)
}

/** Lets a page show frames of this server, beside what it may show already. */
export function allowFrames(reply: FastifyReply): void {
  reply.header('content-security-policy', `${reply.getHeader('content-security-policy')}; frame-src 'self'`)
}

function isSafe({ method }: FastifyRequest): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** Pages and their files, but no routes of programs. */
function isForBrowsers(request: FastifyRequest): boolean {
  return wantsHtml(request) || request.routeOptions.url?.startsWith('/assets/') === true
}

/** Browsers declare where a request comes from. Programs do not, but other sites cannot make them send one. */
function isFromElsewhere({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && URL.parse(headers.origin)?.host !== host
}

/**
 * Requires proof of origin for a change by session cookie: something that no other site can make a browser send. A form
 * needs its token (page-routes.ts, upload.ts). Every other request, with or without a body, needs a header that triggers a CORS
 * preflight, which this server never allows here.
 */
function requireProofOfOrigin(request: FastifyRequest): void {
  if (isForm(request) || isUpload(request) || isJson(request) || request.headers['x-requested-with']) return
  const field = 'X-Requested-With'
  const message = `A change with a session cookie needs Content-Type: application/json, or the header ${field} with any value`
  throw new StoreFailure('forbidden', message, { field })
}

function admitPerson(request: FastifyRequest, person: Person, session: Session | null): void {
  const { id = '' } = request.params as { id?: string }
  const isOfStore = request.routeOptions.url?.startsWith('/admin/stores/:id')
  if (person.kind === 'merchant' && isOfStore && !(/^\d+$/.test(id) && Number(id) === person.store.id)) {
    throw new StoreFailure('not-found', 'You are not signed in to a store with this id', { field: 'id' })
  }
  Object.assign(request, { person, session })
  if (person.kind === 'merchant') {
    const { needs = [], forOwners } = request.routeOptions.config
    requirePrivileges(person, needs)
    if (forOwners && person.role !== 'owner') {
      throw new StoreFailure('forbidden', 'Only an owner of the store may do this')
    }
  }
  const { kind, email: name } = person
  request.actor = kind === 'customer' ? null : { kind, name, address: request.ip, locale: localeOf(request) }
}

/** With https, browsers accept `__Host-` cookies from this host only, for all of its paths, and never over http. */
export function cookieName(name: string, isHttps: boolean): string {
  return isHttps ? `__Host-${name}` : name
}

/** SameSite is Lax, so that a link from another site, such as an application's to OAuth, keeps the session. */
export function cookieOptions(isHttps: boolean): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps }
}

/** A year, within the 400 days that browsers allow. */
const DEVICES_SECONDS = 365 * 24 * 60 * 60

/** The cookies of sign-ins that wait for a second factor, and the device cookie (src/access/people/sign-in-delay.ts). */
type KeptCookie = `${AccountKind}-factor` | 'devices'

/** Reads and sets the cookies of sessions and of signing in. */
function sessionCookies(publicUrl: string) {
  const isHttps = publicUrl.startsWith('https:')
  const options = cookieOptions(isHttps)
  return {
    read: ({ cookies }: FastifyRequest, name: SessionKind | KeptCookie) => cookies[cookieName(name, isHttps)],
    set: (reply: FastifyReply, kind: SessionKind, { token, expiresAt }: { token: string; expiresAt: Date }) => {
      reply.setCookie(cookieName(kind, isHttps), token, { ...options, expires: expiresAt })
    },
    keep: (reply: FastifyReply, name: KeptCookie, value: string) => {
      const maxAge = name === 'devices' ? DEVICES_SECONDS : WAIT_SECONDS
      reply.setCookie(cookieName(name, isHttps), value, { ...options, maxAge })
    },
    clear: (reply: FastifyReply, name: SessionKind | KeptCookie) => {
      reply.clearCookie(cookieName(name, isHttps), options)
    },
  }
}
