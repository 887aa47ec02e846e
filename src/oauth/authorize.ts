import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findOAuthClient } from '../applications/oauth-clients.ts'
import { exceeds } from '../applications/privileges.ts'
import type { CallerStore, Privileges } from '../engine/caller.ts'
import { formOf, orShowAgain, textIn } from '../html/forms.ts'
import { allowFormTarget } from '../html/guard.ts'
import { type Page, sendPage } from '../html/page.ts'
import { actorOf, merchantOf } from '../html/principals.ts'
import { sayWhatIsLeft } from '../html/say-what-is-left.ts'
import { findStoreAt } from '../stores/stores.ts'
import { createAuthorizationCode, denyAuthorization } from '../subscriptions/authorization-codes.ts'
import type { Subscribed } from '../subscriptions/subscription-rows.ts'
import { type Subscribing, subscribe } from '../subscriptions/subscriptions.ts'
import { StoreFailure } from '../values/failure.ts'
import { answerAddress, findTarget, readWish, type Target, type Wish } from './authorization-request.ts'
import { queryOf, readParameters } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

const address = '/oauth/authorize'

export interface AuthorizeServices extends Subscribing {
  config: { readonly publicUrl: string }
}

/** An authorization request that may be answered to, and its text. */
interface Asked extends Target, Wish {
  readonly query: string
}

/**
 * Where an application sends the merchant for a code (contract §4.3): says which store, signs in, and allows or denies.
 * Nothing is kept between the pages: the request stands in the address of each, and is read and checked anew by each.
 */
export async function authorizePages(app: FastifyInstance, services: AuthorizeServices): Promise<void> {
  const { db } = services

  app.get(address, (request, reply) => {
    return answered(request, reply, async (asked) => {
      const store = asked.storeUrl === null ? null : await findStoreAt(db, asked.storeUrl)
      if (store === null) return sendPage(reply, storePage(request, asked))
      if (storeAtWork(request)?.id !== store.id) return reply.redirect(signInAddress(store, asked), 302)
      return sendPage(reply, await consentPage(request, asked))
    })
  })

  app.post(address, (request, reply) => {
    return answered(request, reply, async (asked) => {
      const store = asked.storeUrl === null ? null : await findStoreAt(db, asked.storeUrl)
      // Another tab signed in elsewhere: that the button was pressed says nothing about this store.
      if (store?.id !== merchantOf(request).store.id) return reply.redirect(`${address}?${asked.query}`, 303)
      const form = formOf(request)
      switch (textIn(form, 'decision')) {
        case 'allow':
          return orShowAgain(
            reply,
            () => allow(reply, asked, textIn(form, 'privileges')),
            () => consentPage(request, asked),
          )
        case 'deny':
          return deny(reply, asked)
        default:
          throw new StoreFailure('bad-request', 'decision must be allow or deny', { field: 'decision' })
      }
    })
  })

  /** Answers a wrong request: on a page, where it is not safe to lead on from here; else to the application. */
  async function answered(request: FastifyRequest, reply: FastifyReply, work: (asked: Asked) => Promise<unknown>) {
    const query = requestIn(queryOf(request))
    const parameters = readParameters(query)
    const target = await findTarget(db, parameters).catch(notSafe)
    if (target instanceof StoreFailure) {
      request.log.info({ field: target.field, detail: target.message }, 'authorization request refused')
      return sendPage(reply, refusalPage(request, target))
    }
    // By its scheme alone: applications lead on from there, perhaps to another host, and Chromium counts that too.
    allowFormTarget(reply, new URL(target.redirectUri).protocol)
    try {
      return await work({ ...target, ...readWish(parameters), query })
    } catch (error) {
      if (!(error instanceof OAuthRefusal)) throw error
      request.log.info({ error: error.error, detail: error.message }, 'authorization request refused')
      return leadOn(reply, target, { error: error.error, error_description: error.message })
    }
  }

  async function consentPage(request: FastifyRequest, { client, redirectUri, query }: Asked): Promise<Page> {
    const { store } = merchantOf(request)
    const [current, subscription] = await Promise.all([
      findOAuthClient(db, client.publicKey),
      db.subscription.findUnique({
        where: { storeId_applicationId: { storeId: store.id, applicationId: client.id } },
        select: { privileges: true },
      }),
    ])
    const { name, privileges, callbackUrl } = current ?? client
    return {
      template: '/oauth/consent',
      title: `Let ${name} in?`,
      data: {
        action: `${address}?${query}`,
        application: { name, privileges },
        store,
        redirectHost: hostOf(redirectUri),
        askedHost: subscription === null && callbackUrl !== null ? hostOf(callbackUrl) : null,
        isSubscribed: subscription !== null,
        asksForMore: subscription !== null && exceeds(privileges, subscription.privileges as Privileges),
      },
    }
  }

  /** `shown`: the privileges that the page told of. */
  async function allow(reply: FastifyReply, asked: Asked, shown: string) {
    const { request } = reply
    const { client, redirectUri, challenge } = asked
    const { id: storeUserId, store } = merchantOf(request)
    const actor = actorOf(request)
    const subscribed = await subscribeAsShown(asked, shown, { storeId: store.id, actor })
    const code = await createAuthorizationCode(services, {
      client,
      storeId: store.id,
      subscriptionId: subscribed.id,
      storeUserId,
      redirectUri,
      challenge,
      actor,
    })
    return leadOn(reply, asked, { code }, subscribed.created ? subscribed.postBackUrl : null)
  }

  async function subscribeAsShown(
    { client: { publicKey, privileges } }: Asked,
    shown: string,
    by: { storeId: number; actor: ReturnType<typeof actorOf> },
  ): Promise<Subscribed> {
    if (shown !== JSON.stringify(privileges)) {
      throw new StoreFailure(
        'conflict',
        'The application asks for other privileges by now; look at them, and allow it again',
      )
    }
    return subscribe(services, { ...by, publicKey, agreed: privileges }).catch(sayWhatIsLeft)
  }

  async function deny(reply: FastifyReply, asked: Asked) {
    const { request } = reply
    const { client, redirectUri } = asked
    const { store } = merchantOf(request)
    await denyAuthorization(services, { client, storeId: store.id, redirectUri, actor: actorOf(request) })
    return leadOn(reply, asked, { error: 'access_denied', error_description: 'The merchant did not allow it' })
  }

  /** To the application. The pages' own script asks for JSON, to open `postBackUrl` beside it. */
  function leadOn(
    reply: FastifyReply,
    target: Target,
    answer: Readonly<Record<string, string>>,
    postBackUrl: string | null = null,
  ) {
    const location = answerAddress(target, services.config.publicUrl, answer)
    if (!asksForJson(reply.request)) return reply.redirect(location, 302)
    return reply.send({ ...(postBackUrl !== null && { PostBackURL: postBackUrl }), Location: location })
  }
}

function notSafe(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  throw error
}

const CARRIED = 'authorization_request'

/** The request: the query itself, or, from the page that asks for the store, what that carried along, with the store. */
function requestIn(query: string): string {
  const form = new URLSearchParams(query)
  const carried = form.get(CARRIED)
  if (carried === null || form.has('client_id') || !/^[!-"$-~]*$/.test(carried)) return query
  return `${carried}&store_url=${encodeURIComponent(form.get('store_url') ?? '')}`
}

function withoutStore(query: string): string {
  return query
    .split('&')
    .filter((parameter) => !/^store_url(=|$)/i.test(parameter))
    .join('&')
}

function storeAtWork({ session }: FastifyRequest): CallerStore | null {
  return session?.person.kind === 'merchant' ? session.person.store : null
}

/** Whoever is signed in elsewhere is asked there what to do. */
function signInAddress({ secureUrl }: CallerStore, { query }: Asked): string {
  return `/admin/sign-in?${new URLSearchParams({ store: secureUrl, next: `${address}?${query}` })}`
}

function storePage(request: FastifyRequest, { client, query, storeUrl }: Asked): Page {
  const page: Page = {
    template: '/oauth/ask-store',
    title: 'Which store?',
    data: { action: address, application: client.name, carried: { name: CARRIED, value: withoutStore(query) } },
    values: { store_url: storeUrl ?? storeAtWork(request)?.secureUrl ?? '' },
  }
  if (storeUrl === null) return page
  return {
    ...page,
    failure: new StoreFailure('bad-request', 'No store here has this address. Look how it is written.'),
  }
}

function refusalPage({ id }: FastifyRequest, { status, message }: StoreFailure): Page {
  return { template: '/oauth/refused', title: 'This cannot go on', status, data: { message, requestId: id } }
}

function hostOf(url: string): string {
  return new URL(url).host
}

/** Whoever takes anything is led on. */
function asksForJson({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().startsWith('application/json') ?? false
}
