import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { lastCalls } from '../../../../applications/call-log.ts'
import { bothOf, exceeds } from '../../../../applications/privileges.ts'
import type { Access, Privileges } from '../../../../engine/caller.ts'
import { formOf, orShowAgain, textIn } from '../../../../html/forms.ts'
import { type Page, sendPage } from '../../../../html/page.ts'
import { actorOf, merchantOf } from '../../../../html/principals.ts'
import { sayWhatIsLeft } from '../../../../html/say-what-is-left.ts'
import { wantsHtml } from '../../../../html/wants-html.ts'
import { readIds } from '../../../../server/parameters.ts'
import {
  findApplicationToSubscribe,
  listSubscriptions,
  type Subscription,
  subscriptionById,
} from '../../../../subscriptions/subscription-rows.ts'
import { type Subscribing, subscribe, unsubscribe } from '../../../../subscriptions/subscriptions.ts'
import { namedObject, readInput, text } from '../../../../values/input.ts'

const home = '/admin/modules/rest-api'
const LISTED_MAX = 100
const CALLS_SHOWN_MAX = 20
const PRIVILEGES_LENGTH_MAX = 2_000

const asShown = 'is not what the page showed; load it again'
/** The privileges that the merchant was shown, as the page carries them: JSON. */
const shownPrivileges = z
  .string(asShown)
  .max(PRIVILEGES_LENGTH_MAX, asShown)
  .transform((json, context): Privileges => {
    const parsed = privilegesIn(json)
    if (parsed === undefined) context.addIssue({ code: 'custom', message: asShown })
    return parsed ?? null
  })

const publicKeyOnly = namedObject({ PublicKey: text(100) })
const agreement = namedObject({ PublicKey: text(100), Privileges: shownPrivileges })
const furtherAgreement = namedObject({ Privileges: shownPrivileges })
const removal = namedObject({ Force: z.literal('true', 'must be true or absent').optional() })

/** The applications of a merchant's store: letting one in, what it may do and does, removing it (contract §3). */
export async function restApiRoutes(app: FastifyInstance, services: Subscribing) {
  const { db, now } = services

  app.get(home, async (request, reply) => sendPage(reply, await listPage(request)))

  app.get(`${home}/subscribe`, async (request, reply) => {
    const { PublicKey: given } = request.query as { PublicKey?: unknown }
    const work = async () => {
      const { PublicKey } = readInput(publicKeyOnly, { PublicKey: given })
      const existing = await subscriptionOf(merchantOf(request).store.id, PublicKey)
      if (existing) return reply.redirect(`${home}/${existing.id}`, 303)
      return sendPage(reply, await subscribePage(PublicKey))
    }
    return orShowAgain(reply, work, () => listPage(request, typeof given === 'string' ? given : ''))
  })

  app.post(`${home}/subscribe`, async (request, reply) => {
    const form = formOf(request)
    const work = async () => {
      const { PublicKey, Privileges } = readInput(agreement, form)
      const { store } = merchantOf(request)
      const asked = { storeId: store.id, publicKey: PublicKey, actor: actorOf(request), agreed: Privileges }
      const { id, postBackUrl } = await subscribe(services, asked).catch(sayWhatIsLeft)
      const location = `${home}/${id}?notice=subscribed`
      if (wantsHtml(request)) return reply.redirect(location, 303)
      return { ...(postBackUrl !== null && { PostBackURL: postBackUrl }), Location: location }
    }
    return orShowAgain(reply, work, (failure) => {
      const publicKey = textIn(form, 'PublicKey').trim()
      return failure.field === 'PublicKey' ? listPage(request, publicKey) : subscribePage(publicKey)
    })
  })

  app.get(`${home}/:subscriptionId`, async (request, reply) => sendPage(reply, await applicationPage(request)))

  app.post(`${home}/:subscriptionId/agree`, async (request, reply) => {
    const work = async () => {
      const { publicKey, storeId } = await subscriptionIn(request)
      const { Privileges } = readInput(furtherAgreement, formOf(request))
      const asked = { storeId, publicKey, actor: actorOf(request), agreed: Privileges }
      const { id } = await subscribe(services, asked).catch(sayWhatIsLeft)
      return reply.redirect(`${home}/${id}?notice=agreed`, 303)
    }
    return orShowAgain(reply, work, () => applicationPage(request))
  })

  app.get(`${home}/:subscriptionId/unsubscribe`, async (request, reply) => {
    return sendPage(reply, await unsubscribePage(request, false))
  })

  app.post(`${home}/:subscriptionId/unsubscribe`, async (request, reply) => {
    const { id: subscriptionId, storeId } = await subscriptionIn(request)
    const work = async () => {
      const { Force } = readInput(removal, formOf(request))
      const asked = { storeId, subscriptionId, actor: actorOf(request), force: Force === 'true' }
      await unsubscribe(services, asked).catch(sayWhatIsLeft)
      return reply.redirect(`${home}?notice=unsubscribed`, 303)
    }
    return orShowAgain(reply, work, ({ kind }) => unsubscribePage(request, kind === 'bad-gateway'))
  })

  async function listPage(request: FastifyRequest, publicKey = ''): Promise<Page> {
    const { store } = merchantOf(request)
    const offset = offsetIn(request)
    const found = await listSubscriptions(services, { storeId: store.id, limit: LISTED_MAX + 1, offset })
    const applications = found.slice(0, LISTED_MAX).map(withRights)
    const nextOffset = found.length > LISTED_MAX ? offset + LISTED_MAX : null
    return {
      template: '/pages/admin/modules/rest-api/applications',
      title: 'REST API',
      data: { applications, offset, nextOffset, store, now: now() },
      values: { PublicKey: publicKey },
    }
  }

  async function subscribePage(publicKey: string): Promise<Page> {
    const application = await findApplicationToSubscribe(services, publicKey)
    return {
      template: '/pages/admin/modules/rest-api/subscribe',
      title: `Let ${application.name} in?`,
      data: { application, askedHost: hostOf(application.callbackUrl) },
    }
  }

  async function applicationPage(request: FastifyRequest): Promise<Page> {
    const { store } = merchantOf(request)
    const application = await subscriptionIn(request)
    const webhookCount = await db.webhook.count({ where: { storeId: store.id, subscriptionId: application.id } })
    const { calls, refusals } = await lastCalls(db, { subscriptionId: application.id, limit: CALLS_SHOWN_MAX })
    return {
      template: '/pages/admin/modules/rest-api/application',
      title: application.name,
      data: {
        application: withRights(application),
        setUpHost: hostOf(application.postBackUrl),
        isNew: (request.query as { notice?: unknown }).notice === 'subscribed',
        webhookCount,
        calls,
        refusals,
        store,
        now: now(),
      },
    }
  }

  async function unsubscribePage(request: FastifyRequest, isRefused: boolean): Promise<Page> {
    const application = await subscriptionIn(request)
    const { callbackUrl } = await findApplicationToSubscribe(services, application.publicKey)
    return {
      template: '/pages/admin/modules/rest-api/unsubscribe',
      title: `Remove ${application.name}?`,
      data: { application, askedHost: hostOf(callbackUrl), isRefused },
    }
  }

  /** The subscription that the address names; another store's does not exist (404). */
  async function subscriptionIn(request: FastifyRequest): Promise<Subscription & { storeId: number }> {
    const storeId = merchantOf(request).store.id
    const { subscriptionId } = readIds(request.params, 'subscriptionId')
    return { ...(await subscriptionById(services, { storeId, subscriptionId })), storeId }
  }

  async function subscriptionOf(storeId: number, publicKey: string): Promise<{ id: number } | null> {
    return db.subscription.findFirst({ where: { storeId, application: { publicKey } }, select: { id: true } })
  }
}

/** What the application may do, and what it would like to do besides. */
function withRights(subscription: Subscription) {
  const { askedPrivileges: asked, privileges: agreed } = subscription
  return {
    ...subscription,
    rights: bothOf(asked, agreed),
    asksForMore: exceeds(asked, agreed),
    more: asked && agreed ? withoutThose(asked, agreed) : asked,
  }
}

function withoutThose(asked: NonNullable<Privileges>, agreed: NonNullable<Privileges>): Privileges {
  const more = Object.entries(asked).map(([service, accesses]) => {
    return [service, accesses.filter((access) => !agreed[service]?.includes(access))] as const
  })
  return Object.fromEntries(more.filter(([, accesses]) => accesses.length > 0))
}

const privilegesShape = z.record(z.string(), z.array(z.enum(['read', 'write']))).nullable()

/** Undefined: no privileges. */
function privilegesIn(json: string): Record<string, Access[]> | null | undefined {
  try {
    return privilegesShape.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

function hostOf(url: string | null): string | null {
  return url && (URL.parse(url)?.host ?? null)
}

function offsetIn({ query }: FastifyRequest): number {
  const { offset } = query as { offset?: unknown }
  return typeof offset === 'string' && /^\d{1,6}$/.test(offset) ? Number(offset) : 0
}
