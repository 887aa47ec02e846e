import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { exceeds } from '../../access/applications/privileges.ts'
import { type Subscribing, subscribe } from '../../access/applications/subscriptions/subscriptions.ts'
import {
  type CodeChallenge,
  createAuthorizationCode,
  denyAuthorization,
} from '../../access/applications/tokens/access-tokens.ts'
import { findOAuthClient, type OAuthClient } from '../../access/applications/tokens/oauth-clients.ts'
import { openStoreAt } from '../../access/stores/closing.ts'
import type { CallerStore, Privileges } from '../../engine/caller.ts'
import type { Db } from '../../foundation/database/client.ts'
import { t } from '../../foundation/texts/text.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { grantableBy } from '../../shop/staff/roles.ts'
import { adviseMerchant } from '../html/errors.ts'
import { allowFormTarget } from '../html/guard.ts'
import { type HtmlPage, sendPage } from '../html/page.ts'
import { adminPages, orShowAgain, pagesFor } from '../html/page-routes.ts'
import { actorOf, formOf, merchantOf, requirePrivileges, textIn } from '../html/request.ts'
import { noteRefusal } from '../server/requests/errors.ts'
import { Parameters, queryOf } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

const address = '/oauth/authorize'

export interface AuthorizeServices extends Subscribing {
  config: { readonly publicUrl: string; readonly sandbox: boolean }
}

/** Where the answer goes: a registered application, and an address that it registered. */
interface Target {
  readonly client: OAuthClient
  readonly redirectUri: string
  /** As it stood in the request, percent-encoded or not; null: absent. */
  readonly state: string | null
}

/** A valid authorization request. */
interface Asked extends Target {
  readonly challenge: CodeChallenge | null
  /** The address of a store, however it is written; null: the merchant is to say which. */
  readonly storeUrl: string | null
  /** Null: no store of this server has the address. */
  readonly store: CallerStore | null
  /** The text of the request. */
  readonly query: string
}

/**
 * The pages that an application sends the merchant to for a code (contract §4.3): which store, sign-in, allow or deny.
 * Nothing is kept between the pages: the request stands in the address of each, which reads and checks it anew.
 */
export async function authorizePages(app: FastifyInstance, services: AuthorizeServices): Promise<void> {
  const { db } = services

  pagesFor(app, 'anyone', 'merchant').proved.get(address, (request, reply) => {
    return answered(services, request, reply, async (asked) => {
      const { store } = asked
      if (store === null) return sendPage(reply, storePage(request, asked))
      if (currentStore(request)?.id !== store.id) return reply.redirect(signInAddress(store, asked), 302)
      return sendPage(reply, await consentPage(db, request, asked))
    })
  })

  adminPages(app, ['Keys', 'write']).post(address, (request, reply) => {
    return answered(services, request, reply, async (asked) => {
      // The merchant signed in to another store in another tab: the button says nothing about this store.
      if (asked.store?.id !== merchantOf(request).store.id) return reply.redirect(`${address}?${asked.query}`, 303)
      const form = formOf(request)
      const decision = textIn(form, 'decision')
      if (decision === 'allow') {
        const retry = () => consentPage(db, request, asked)
        return orShowAgain(reply, () => allow(services, reply, asked, textIn(form, 'privileges')), retry)
      }
      if (decision === 'deny') return deny(services, reply, asked)
      throw new StoreFailure('invalid-value', 'decision must be allow or deny', { field: 'decision' })
    })
  })
}

/** Answers a wrong request on a page, where a redirect is not safe; else by a redirect to the application. */
async function answered(
  services: AuthorizeServices,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (asked: Asked) => Promise<unknown>,
) {
  const query = requestIn(queryOf(request))
  const parameters = new Parameters(query)
  let target: Target | null = null
  try {
    target = await findTarget(services.db, parameters)
    // Only by its scheme: applications redirect further, perhaps to another host, and Chromium counts that too.
    allowFormTarget(reply, new URL(target.redirectUri).protocol)
    const wish = readWish(parameters, target.client.isNew && !services.config.sandbox)
    const store = wish.storeUrl === null ? null : await openStoreAt(services.db, wish.storeUrl)
    return await work({ ...target, ...wish, store, query })
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error
    noteRefusal(request, { error: error.error, reason: error.message })
    if (target === null) return sendPage(reply, refusalPage(request, error))
    return redirectBack(services, reply, target, { error: error.error, error_description: error.message })
  }
}

async function consentPage(db: Db, request: FastifyRequest, { client, redirectUri, query }: Asked): Promise<HtmlPage> {
  const merchant = merchantOf(request)
  const { store } = merchant
  // Also by the form; who may not let an application in learns it before reading what it asks for.
  requirePrivileges(merchant, [['Keys', 'write']])
  const where = { storeId_applicationId: { storeId: store.id, applicationId: client.id } }
  const [current, subscription] = await Promise.all([
    findOAuthClient(db, client.publicKey),
    db.subscription.findUnique({ where, select: { privileges: true } }),
  ])
  const { name, privileges, callbackUrl } = current ?? client
  return {
    template: '/oauth/consent',
    title: t('Let {name} in?', { name }),
    data: {
      action: `${address}?${query}`,
      application: { name, privileges },
      store,
      redirectHost: new URL(redirectUri).host,
      askedHost: subscription === null && callbackUrl !== null ? new URL(callbackUrl).host : null,
      isSubscribed: subscription !== null,
      asksForMore: subscription !== null && exceeds(privileges, subscription.privileges as Privileges),
    },
  }
}

/** `shown`: the privileges on the page. */
async function allow(services: AuthorizeServices, reply: FastifyReply, asked: Asked, shown: string) {
  const { request } = reply
  const { client, redirectUri, challenge } = asked
  const merchant = merchantOf(request)
  const { id: storeUserId, store } = merchant
  const by = { storeId: store.id, actor: actorOf(request) }
  if (shown !== JSON.stringify(client.privileges)) {
    const message = 'The application has changed the privileges it asks for; review them, and allow it again'
    throw new StoreFailure('invalid-state', message)
  }
  const wanted = { ...by, publicKey: client.publicKey, agreed: client.privileges, grantable: grantableBy(merchant) }
  const { id: subscriptionId, created, postBackUrl } = await subscribe(services, wanted).catch(adviseMerchant)
  const agreement = { ...by, client, subscriptionId, storeUserId, redirectUri, challenge }
  const code = await createAuthorizationCode(services, agreement)
  return redirectBack(services, reply, asked, { code }, created ? postBackUrl : null)
}

async function deny(services: AuthorizeServices, reply: FastifyReply, asked: Asked) {
  const { store } = merchantOf(reply.request)
  const { client, redirectUri } = asked
  await denyAuthorization(services, { client, storeId: store.id, redirectUri, actor: actorOf(reply.request) })
  const answer = { error: 'access_denied', error_description: 'The merchant did not allow it' }
  return redirectBack(services, reply, asked, answer)
}

/** Redirects to the application, which waits. The pages' own script asks for JSON, to open `postBackUrl` beside it; without script nothing opens it. */
function redirectBack(
  { config }: AuthorizeServices,
  reply: FastifyReply,
  target: Target,
  answer: Readonly<Record<string, string>>,
  postBackUrl: string | null = null,
) {
  const location = answerAddress(target, config.publicUrl, answer)
  const asksForJson = reply.request.headers.accept?.toLowerCase().startsWith('application/json') ?? false
  if (!asksForJson) return reply.redirect(location, 302)
  return reply.send({ ...(postBackUrl !== null && { PostBackURL: postBackUrl }), Location: location })
}

const CARRIED = 'authorization_request'

/** The query itself; or, from the page that asks for the store, the query which that carried along, with the store. */
function requestIn(query: string): string {
  const form = new URLSearchParams(query)
  const carried = form.get(CARRIED)
  if (carried === null || form.has('client_id') || !/^[!-"$-~]*$/.test(carried)) return query
  return `${carried}&store_url=${encodeURIComponent(form.get('store_url') ?? '')}`
}

function currentStore({ session }: FastifyRequest): CallerStore | null {
  return session?.person.kind === 'merchant' ? session.person.store : null
}

function signInAddress({ secureUrl }: CallerStore, { query }: Asked): string {
  return `/admin/sign-in?${new URLSearchParams({ store: secureUrl, next: `${address}?${query}` })}`
}

function storePage(request: FastifyRequest, { client, query, storeUrl }: Asked): HtmlPage {
  const withoutStore = query.split('&').filter((parameter) => !/^store_url(=|$)/i.test(parameter))
  const page: HtmlPage = {
    template: '/oauth/ask-store',
    title: t('Which store?'),
    data: { action: address, application: client.name, carried: { name: CARRIED, value: withoutStore.join('&') } },
    values: { store_url: storeUrl ?? currentStore(request)?.secureUrl ?? '' },
  }
  if (storeUrl === null) return page
  const message = 'No store here has this address. Check the spelling.'
  return { ...page, failure: new StoreFailure('invalid-value', message) }
}

function refusalPage({ id }: FastifyRequest, { status, message }: OAuthRefusal): HtmlPage {
  const data = { problem: message, requestId: id }
  return { template: '/oauth/refused', title: t('The request cannot continue'), status, data }
}

/**
 * Finds the target of an authorization request. Refuses an unknown client_id, and a redirect_uri that is absent or not exactly
 * one of the client's; nobody may be redirected then (RFC 6749 §4.1.2.1).
 */
async function findTarget(db: Db, parameters: Parameters): Promise<Target> {
  const client = await findOAuthClient(db, parameters.value('client_id') ?? '')
  if (!client) throw invalid('its client_id is not the public key of an application that is registered here')
  const redirectUri = parameters.value('redirect_uri')
  if (redirectUri === null) throw invalid('the redirect_uri that it wants you to be sent to is missing')
  if (!client.redirectUris.includes(redirectUri)) {
    throw invalid('its redirect_uri is not exactly one of those that it registered')
  }
  return { client, redirectUri, state: stateOf(parameters) }
}

/** A repeated state is none; readWish refuses it. */
function stateOf(parameters: Parameters): string | null {
  try {
    return parameters.raw('state')
  } catch {
    return null
  }
}

/** Throws an OAuthRefusal for the application. */
function readWish(parameters: Parameters, needsS256: boolean): Pick<Asked, 'challenge' | 'storeUrl'> {
  parameters.raw('state')
  const responseType = parameters.value('response_type')
  if (responseType === null) throw invalid('response_type is missing; the only allowed value is code')
  if (responseType !== 'code') throw new OAuthRefusal('unsupported_response_type', 'response_type must be code')
  const challenge = readChallenge(parameters)
  if (needsS256 && challenge?.method !== 'S256') {
    const problem = challenge === null ? 'code_challenge is missing' : 'code_challenge_method must be S256'
    throw invalid(`${problem}: a new application proves its codes by PKCE with S256`)
  }
  return { challenge, storeUrl: parameters.value('store_url') }
}

/** RFC 7636 §4.3 */
function readChallenge(parameters: Parameters): CodeChallenge | null {
  const text = parameters.value('code_challenge')
  const method = parameters.value('code_challenge_method')
  if (text === null) {
    if (method !== null) throw invalid('code_challenge is missing, though code_challenge_method is sent')
    return null
  }
  if (method !== null && method !== 'S256' && method !== 'plain') {
    throw invalid('code_challenge_method must be S256 or plain')
  }
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(text)) {
    throw invalid('code_challenge must have 43 to 128 letters, digits or any of - . _ ~')
  }
  return { text, method: method ?? 'plain' }
}

function invalid(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_request', description)
}

/** The redirect address with its own query, then `answer`, the state as it came, and `iss` (RFC 9207). */
function answerAddress({ redirectUri, state }: Target, issuer: string, answer: Readonly<Record<string, string>>) {
  const parts = Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  if (state !== null) parts.push(`state=${state}`)
  parts.push(`iss=${encodeURIComponent(issuer)}`)
  const joint = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?'
  return redirectUri + joint + parts.join('&')
}
