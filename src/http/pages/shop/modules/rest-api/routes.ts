import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { lastCalls } from '../../../../../access/applications/calls/call-log.ts'
import { allows, beyond, bothOf, exceeds } from '../../../../../access/applications/privileges.ts'
import {
  findApplicationToSubscribe,
  listSubscriptions,
  type Subscription,
  subscriptionById,
} from '../../../../../access/applications/subscriptions/subscription-rows.ts'
import {
  type Subscribing,
  subscribe,
  unsubscribe,
} from '../../../../../access/applications/subscriptions/subscriptions.ts'
import { boundOrders, keepBodies, ORDERS_PER_HOUR_MAX } from '../../../../../access/applications/subscriptions/terms.ts'
import type { Privileges } from '../../../../../engine/caller.ts'
import { t } from '../../../../../foundation/texts/text.ts'
import type { StoreFailure } from '../../../../../foundation/values/failure.ts'
import { namedObject, readInput, text } from '../../../../../foundation/values/input.ts'
import { KEY_LENGTH_MAX } from '../../../../../foundation/values/key-strength.ts'
import { grantableBy } from '../../../../../shop/staff/roles.ts'
import { callsShown } from '../../../../html/calls.ts'
import { adviseMerchant } from '../../../../html/errors.ts'
import { type HtmlPage, sendPage } from '../../../../html/page.ts'
import { adminPages, orShowAgain } from '../../../../html/page-routes.ts'
import { actorOf, formOf, merchantOf, textIn, wantsHtml } from '../../../../html/request.ts'
import { readIds, wholeNumber } from '../../../../server/json/parameters.ts'

const home = '/admin/modules/rest-api'
const LISTED_MAX = 100
const CALLS_SHOWN_MAX = 20
const PRIVILEGES_LENGTH_MAX = 2_000

const privilegesShape = z.record(z.string(), z.array(z.enum(['read', 'write']))).nullable()
const asShown = 'is not what the page showed; load it again'
/** The privileges shown to the merchant, as JSON in the form. */
const shownPrivileges = z
  .string(asShown)
  .max(PRIVILEGES_LENGTH_MAX, asShown)
  .transform((json, context): Privileges => {
    try {
      return privilegesShape.parse(JSON.parse(json))
    } catch {
      context.addIssue({ code: 'custom', message: asShown })
      return null
    }
  })

const publicKeyOnly = namedObject({ PublicKey: text(KEY_LENGTH_MAX) })
const agreement = namedObject({ PublicKey: text(KEY_LENGTH_MAX), Privileges: shownPrivileges })
const furtherAgreement = namedObject({ Privileges: shownPrivileges })
const keeping = namedObject({
  Keep: z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }),
})
const ordersBound = namedObject({ OrdersPerHour: wholeNumber(0, ORDERS_PER_HOUR_MAX) })
const removal = namedObject({ Force: z.literal('true', 'must be true or absent').optional() })

/** Adds the pages of a store's applications: adding one, its privileges and calls, removing it (contract §3). */
export function restApiPages(app: FastifyInstance, services: Subscribing): void {
  const { page } = adminPages(app, ['Keys', 'read'])
  const { get, form } = adminPages(app, ['Keys', 'write'])
  const one = `${home}/:subscriptionId`
  const shown = (request: FastifyRequest) => applicationPage(services, request)
  page(home, (request) => listPage(services, request))
  page(one, shown)
  get(`${home}/subscribe`, (request, reply) => offer(services, request, reply))
  const offerAgain = (request: FastifyRequest, _reply: FastifyReply, { field }: StoreFailure) => {
    const publicKey = textIn(formOf(request), 'PublicKey').trim()
    return field === 'PublicKey' ? listPage(services, request, publicKey) : subscribePage(services, publicKey)
  }
  form(`${home}/subscribe`, offerAgain, async (request) => {
    const { PublicKey, Privileges: agreed } = readInput(agreement, formOf(request))
    const { id, postBackUrl } = await agreeTo(services, request, PublicKey, agreed)
    const location = `${home}/${id}?notice=subscribed`
    if (wantsHtml(request)) return location
    return { ...(postBackUrl !== null && { PostBackURL: postBackUrl }), Location: location }
  })
  form(`${one}/agree`, shown, async (request) => {
    const { publicKey } = await subscriptionById(services, ofOne(request))
    const { Privileges: agreed } = readInput(furtherAgreement, formOf(request))
    const { id } = await agreeTo(services, request, publicKey, agreed)
    return `${home}/${id}?notice=agreed`
  })
  form(`${one}/bodies`, shown, async (request) => {
    const subscription = ofOne(request)
    const { Keep: isKept } = readInput(keeping, formOf(request))
    await keepBodies(services, { ...subscription, isKept })
    return `${home}/${subscription.subscriptionId}?notice=${isKept ? 'bodies-kept' : 'bodies-deleted'}`
  })
  form(`${one}/orders`, shown, async (request) => {
    const subscription = ofOne(request)
    const { OrdersPerHour: ordersPerHour } = readInput(ordersBound, formOf(request))
    await boundOrders(services, { ...subscription, ordersPerHour })
    return `${home}/${subscription.subscriptionId}?notice=orders-bounded`
  })
  removalPages(app, services)
}

function removalPages(app: FastifyInstance, services: Subscribing): void {
  const { page, form } = adminPages(app, ['Keys', 'write'])
  const address = `${home}/:subscriptionId/unsubscribe`
  page(address, (request) => unsubscribePage(services, request, false))
  const again = (request: FastifyRequest, _reply: FastifyReply, { code }: StoreFailure) =>
    unsubscribePage(services, request, code === 'bad-gateway')
  form(address, again, async (request) => {
    await subscriptionById(services, ofOne(request))
    const { Force } = readInput(removal, formOf(request))
    await unsubscribe(services, { ...ofOne(request), force: Force === 'true' }).catch(adviseMerchant)
    return `${home}?notice=unsubscribed`
  })
}

/** The subscription that the address names, in the store of whoever asks. */
function ofOne(request: FastifyRequest) {
  const { subscriptionId } = readIds(request.params, 'subscriptionId')
  return { storeId: merchantOf(request).store.id, subscriptionId, actor: actorOf(request) }
}

/** Shows what an application asks for, or leads to one that the store has. */
function offer(services: Subscribing, request: FastifyRequest, reply: FastifyReply) {
  const { PublicKey: given } = request.query as { PublicKey?: unknown }
  const work = async () => {
    const { PublicKey } = readInput(publicKeyOnly, { PublicKey: given })
    const existing = await services.db.subscription.findFirst({
      where: { storeId: merchantOf(request).store.id, application: { publicKey: PublicKey, openToMerchants: true } },
      select: { id: true },
    })
    if (existing) return reply.redirect(`${home}/${existing.id}`, 303)
    return sendPage(reply, await subscribePage(services, PublicKey))
  }
  return orShowAgain(reply, work, () => listPage(services, request, textIn(request.query, 'PublicKey')))
}

function agreeTo(services: Subscribing, request: FastifyRequest, publicKey: string, agreed: Privileges) {
  const merchant = merchantOf(request)
  const by = { storeId: merchant.store.id, actor: actorOf(request), grantable: grantableBy(merchant) }
  return subscribe(services, { ...by, publicKey, agreed }).catch(adviseMerchant)
}

async function listPage(services: Subscribing, request: FastifyRequest, publicKey = ''): Promise<HtmlPage> {
  const storeId = merchantOf(request).store.id
  const offset = Number(/^\d{1,6}$/.exec(textIn(request.query, 'offset'))?.[0] ?? 0)
  const found = await listSubscriptions(services, { storeId, limit: LISTED_MAX + 1, offset })
  const applications = found.slice(0, LISTED_MAX).map(withRights)
  const nextOffset = found.length > LISTED_MAX ? offset + LISTED_MAX : null
  const data = { applications, offset, nextOffset, now: services.now() }
  const values = { PublicKey: publicKey }
  return { template: '/pages/shop/modules/rest-api/applications', title: t('REST API'), data, values }
}

async function subscribePage(services: Subscribing, publicKey: string): Promise<HtmlPage> {
  const application = await findApplicationToSubscribe(services, publicKey)
  const title = t('Let {name} in?', { name: application.name })
  const data = { application, askedHost: hostOf(application.callbackUrl) }
  return { template: '/pages/shop/modules/rest-api/subscribe', title, data }
}

async function applicationPage(services: Subscribing, request: FastifyRequest): Promise<HtmlPage> {
  const { storeId, subscriptionId } = ofOne(request)
  const application = await subscriptionById(services, { storeId, subscriptionId })
  const shown = withRights(application)
  const { calls, refusals } = await lastCalls(services, { subscriptionId, limit: CALLS_SHOWN_MAX })
  return {
    template: '/pages/shop/modules/rest-api/application',
    title: application.name,
    values: { OrdersPerHour: application.ordersPerHour, ...formOf(request) },
    data: {
      application: shown,
      placesOrders: allows(shown.rights, 'Checkout', 'write'),
      ordersPerHourMax: ORDERS_PER_HOUR_MAX,
      setUpHost: hostOf(application.postBackUrl),
      isNew: textIn(request.query, 'notice') === 'subscribed',
      webhookCount: await services.db.webhook.count({ where: { storeId, subscriptionId } }),
      calls: callsShown(calls),
      refusals: callsShown(refusals),
      now: services.now(),
    },
  }
}

async function unsubscribePage(services: Subscribing, request: FastifyRequest, isRefused: boolean): Promise<HtmlPage> {
  const application = await subscriptionById(services, ofOne(request))
  const title = t('Remove {name}?', { name: application.name })
  const data = { application, askedHost: hostOf(application.calledUrl), isRefused }
  return { template: '/pages/shop/modules/rest-api/unsubscribe', title, data }
}

/** Adds the privileges the application has, and those it requests in addition. */
function withRights(subscription: Subscription) {
  const { askedPrivileges: asked, privileges: agreed } = subscription
  return {
    ...subscription,
    rights: bothOf(asked, agreed),
    asksForMore: exceeds(asked, agreed),
    more: beyond(asked, agreed),
  }
}

function hostOf(url: string | null): string | null {
  return url && (URL.parse(url)?.host ?? null)
}
