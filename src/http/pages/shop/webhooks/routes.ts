import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { eventKind, eventKinds } from '../../../../engine/definition/event-kinds.ts'
import type { Resource } from '../../../../engine/definition/resource.ts'
import type { DataServices } from '../../../../foundation/database/client.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import {
  deliveryStates,
  getDelivery,
  listDeliveries,
  redeliver,
  sendTest,
} from '../../../../shop/webhooks/deliveries.ts'
import { namesMembers } from '../../../../shop/webhooks/members.ts'
import { webhookSecret } from '../../../../shop/webhooks/secret.ts'
import { COUNTED_MAX, listWebhooks, type WebhookSummary, webhookStatus } from '../../../../shop/webhooks/status.ts'
import { resourceOf } from '../../../../shop/webhooks/told.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import {
  actorOf,
  type Form,
  formOf,
  merchantCaller,
  merchantOf,
  requirePrivileges,
  textIn,
} from '../../../html/request.ts'
import { readIds, wholeNumber } from '../../../server/json/parameters.ts'
import { readTitles } from '../../records/names.ts'
import { mayRead, seenBy, textSeenBy } from '../../records/seen.ts'
import { targetService } from '../../records/services.ts'
import {
  type By,
  canDirect,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  hostAndPath,
  rotateSecret,
  switchOn,
  toldOf,
} from './changes.ts'

const home = '/admin/webhooks'
const LISTED_MAX = 100
const DELIVERIES_SHOWN = 50

/** How often a page reloads, once a second, after its user requested an attempt. Longer than an attempt can take. */
const LOOKS_MAX = 20
/** The page truncates a larger body. */
const BODY_SHOWN_MAX = 100_000

const deliveryIds = namedObject({
  id: wholeNumber(1, INT32_MAX),
  deliveryId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
})

const listed = namedObject({ offset: wholeNumber(0, INT32_MAX).default(0), notice: z.string().optional() })
const shown = namedObject({
  state: z.enum(deliveryStates, `must be one of ${deliveryStates.join(', ')}`).optional(),
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  notice: z.string().optional(),
})

/** Adds the pages of a store's webhooks, including those of applications: add, status, change, resume, delete. */
export function webhookPages(app: FastifyInstance, services: DataServices): void {
  const reading = adminPages(app, ['Webhooks', 'read'])
  const { post, page, form } = adminPages(app, ['Webhooks', 'write'])
  const secrets = adminPages(app, ['Webhooks', 'write'], ['Keys', 'write'])
  const by = (request: FastifyRequest): By => ({ caller: merchantCaller(request, services), actor: actorOf(request) })
  const again = (request: FastifyRequest) => webhookPage(services, request)

  reading.page(home, (request) => listPage(services, request))
  page(`${home}/new`, (request) => newPage(merchantCaller(request, services), { Format: 'JSON', Enabled: 'true' }))
  reading.page(`${home}/:id`, again)
  page(`${home}/:id/delete`, (request) => deletePage(services, request))

  const create = async (request: FastifyRequest) => {
    const id = await createWebhook(by(request), newWebhook(formOf(request))).catch(sayBesideField)
    return `${home}/${id}?notice=webhook-added`
  }
  form(home, create, (request) => newPage(merchantCaller(request, services), formOf(request)))

  const change = async (request: FastifyRequest) => {
    await changeWebhook(by(request), idIn(request), changedIn(formOf(request))).catch(sayBesideField)
    return doneAddress(request, 'webhook-saved')
  }
  form(`${home}/:id`, change, (request) => webhookPage(services, request, changedIn(formOf(request))))

  const disable = async (request: FastifyRequest) => {
    await changeWebhook(by(request), idIn(request), { Enabled: false })
    return doneAddress(request, 'webhook-off')
  }
  form(`${home}/:id/disable`, disable, again)

  const resume = async (request: FastifyRequest) => {
    const catchUp = textIn(formOf(request), 'CatchUp') === 'true'
    await switchOn(by(request), idIn(request), { catchUp })
    return doneAddress(request, catchUp ? 'webhook-caught-up' : 'webhook-resumed')
  }
  form(`${home}/:id/resume`, resume, again)

  const rotate = async (request: FastifyRequest) => {
    const replaced = textIn(formOf(request), 'Secret')
    await rotateSecret(by(request), idIn(request), { secrets: services.secrets, replaced })
    return doneAddress(request, 'webhook-secret')
  }
  secrets.form(`${home}/:id/secret`, rotate, again)

  post(`${home}/:id/delete`, async (request, reply) => {
    await deleteWebhook(by(request), idIn(request))
    return reply.redirect(`${home}?notice=webhook-deleted`, 303)
  })
  deliveryPages(app, services)
}

/** Adds the pages of a delivery: its details, redelivery, and sending a test event, which is also a delivery. */
function deliveryPages(app: FastifyInstance, services: DataServices): void {
  const reading = adminPages(app, ['Webhooks', 'read'])
  const { post, form } = adminPages(app, ['Webhooks', 'write'])
  const show = (request: FastifyRequest, reply: FastifyReply) => deliveryPage(services, request, reply)

  post(`${home}/:id/test`, async (request, reply) => {
    const deliveryId = await sendTest(merchantCaller(request, services), idIn(request))
    return reply.redirect(deliveryAddress(idIn(request), deliveryId, LOOKS_MAX), 303)
  })

  reading.page(`${home}/:id/deliveries/:deliveryId`, show)

  const sendAgain = async (request: FastifyRequest) => {
    const { id, deliveryId } = readInput(deliveryIds, request.params)
    await redeliver(merchantCaller(request, services), id, deliveryId)
    return deliveryAddress(id, deliveryId, LOOKS_MAX)
  }
  form(`${home}/:id/deliveries/:deliveryId/redeliver`, sendAgain, show)
}

async function listPage(services: DataServices, request: FastifyRequest): Promise<HtmlPage> {
  const { offset } = readInput(listed, request.query, 'The query')
  const found = await listWebhooks(merchantCaller(request, services), { limit: LISTED_MAX + 1, offset })
  const webhooks = found
    .slice(0, LISTED_MAX)
    .map((each) => ({ ...each, state: webhookState(each), address: hostAndPath(each.url) }))
  const nextOffset = found.length > LISTED_MAX ? offset + LISTED_MAX : null
  const data = { webhooks, offset, nextOffset, now: services.now() }
  return { template: '/pages/shop/webhooks/list', title: t('Webhooks'), data }
}

/** `values`: the submitted form of the webhook. */
async function webhookPage(services: DataServices, request: FastifyRequest, values?: Form): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const id = idIn(request)
  const { state = null, before = null } = readInput(shown, request.query, 'The query')
  const webhook = await webhookStatus(caller, id)
  const { name, url, format, members } = webhook
  const kind = eventKind(webhook.eventType)
  const resource = toldOf(webhook.eventType)
  const { deliveries, next } = await listDeliveries(caller, id, {
    states: state === null ? [] : [state],
    limit: DELIVERIES_SHOWN,
    before,
  })
  return {
    template: '/pages/shop/webhooks/webhook',
    title: name,
    values: values ?? { Name: name, Url: url, Format: format, Members: members ?? '' },
    data: {
      webhook,
      state: webhookState(webhook),
      countedMax: COUNTED_MAX,
      // Hidden for an application's webhook: anyone with the secret can forge notifications to it.
      secret:
        webhook.application === null && allows(caller.privileges, 'Keys', 'read')
          ? await webhookSecret(caller, services.secrets, id)
          : null,
      address: hostAndPath(url),
      hasMembers: kind !== null && namesMembers(kind),
      canOpenDeliveries: resource === null || mayRead(caller.privileges, resource),
      canChange: resource === null || canDirect(caller, resource),
      deliveries,
      recordNames: await recordNames(caller, resource, deliveries),
      shownState: state,
      isNewest: before === null,
      older: next === null ? null : addressOf(id, state, next),
      now: services.now(),
      isEdited: values !== undefined,
    },
  }
}

/** What the records of deliveries are called, for those who may read them. Records without a name, and those that are gone, are missing. */
async function recordNames(
  caller: Caller,
  resource: Resource | null,
  deliveries: readonly { readonly recordId: number; readonly isTest: boolean }[],
): Promise<ReadonlyMap<number, string>> {
  if (resource === null || !mayRead(caller.privileges, resource)) return new Map()
  const ids = deliveries.filter(({ isTest }) => !isTest).map(({ recordId }) => recordId)
  return readTitles(caller, seenBy(caller.privileges, targetService(resource)), [...new Set(ids)])
}

function deliveryAddress(id: number, deliveryId: number, looks: number): string {
  return `${home}/${id}/deliveries/${deliveryId}?looks=${looks}`
}

async function deliveryPage(services: DataServices, request: FastifyRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { id, deliveryId } = readInput(deliveryIds, request.params)
  const caller = merchantCaller(request, services)
  const webhook = await webhookStatus(caller, id)
  const resource = toldOf(webhook.eventType)
  // It shows the record that it carries.
  if (resource !== null) requirePrivileges(merchantOf(request), [[resource.privilege, 'read']])
  const delivery = await getDelivery(caller, id, deliveryId)
  const asked = Number(/^\d{1,2}$/.exec(textIn(request.query, 'looks'))?.[0] ?? 0)
  const looks = delivery.state === 'pending' ? Math.min(asked, LOOKS_MAX) : 0
  if (looks > 0) reply.header('refresh', `1; url=${deliveryAddress(id, deliveryId, looks - 1)}`)
  const seen = resource === null ? delivery.body : textSeenBy(caller.privileges, resource)(delivery.body)
  const body = JSON.stringify([JSON.parse(seen)], null, 2)
  return {
    template: '/pages/shop/webhooks/delivery',
    title: t('{event}, delivery {id}', { event: t(delivery.eventName), id: String(deliveryId) }),
    data: {
      webhook,
      delivery,
      recordName: (await recordNames(caller, resource, [delivery])).get(delivery.recordId) ?? null,
      recordPath: resource === null ? null : targetService(resource).path,
      isLooking: looks > 0,
      body: body.slice(0, BODY_SHOWN_MAX).toWellFormed(),
      isBodyCut: body.length > BODY_SHOWN_MAX,
      now: services.now(),
    },
  }
}

async function deletePage(services: DataServices, request: FastifyRequest): Promise<HtmlPage> {
  const webhook = await webhookStatus(merchantCaller(request, services), idIn(request))
  const data = { webhook, address: hostAndPath(webhook.url), countedMax: COUNTED_MAX }
  return { template: '/pages/shop/webhooks/delete', title: t('Delete {name}?', { name: webhook.name }), data }
}

/** `paused`: by the platform; `off`: by a person or program. */
function webhookState({ enabled, failingSince, pauseReason }: WebhookSummary): 'on' | 'failing' | 'paused' | 'off' {
  if (enabled) return failingSince === null ? 'on' : 'failing'
  return pauseReason === null ? 'off' : 'paused'
}

function idIn({ params }: FastifyRequest): number {
  return readIds(params, 'id').id
}

function doneAddress(request: FastifyRequest, notice: string): string {
  return `${home}/${idIn(request)}?notice=${notice}`
}

function addressOf(id: number, state: string | null, before: number): string {
  const query = new URLSearchParams({ ...(state !== null && { state }), before: String(before) })
  return `${home}/${id}?${query}#deliveries`
}

function newPage(caller: Caller, values: Form): HtmlPage {
  const offered = eventKinds.filter((kind) => canDirect(caller, resourceOf(kind)))
  return {
    template: '/pages/shop/webhooks/new',
    title: t('New webhook'),
    values,
    data: { eventKinds: offered, hasMembers: true },
  }
}

/** Returns the REST body: a number for the event type (other text unchanged, to be rejected), a boolean for a box. */
function newWebhook(form: Form) {
  const type = textIn(form, 'EventType')
  return {
    ...changedIn(form),
    ...(type !== '' && { EventType: /^\d{1,3}$/.test(type) ? Number(type) : type }),
    Enabled: textIn(form, 'Enabled') !== '',
  }
}

function changedIn(form: Form) {
  const [Name, Url, Format] = [textIn(form, 'Name'), textIn(form, 'Url'), textIn(form, 'Format')]
  return { Name, Url, Format, ...('Members' in form && { Members: textIn(form, 'Members') }) }
}

/** Removes the field's name from the start of the engine's message, because the page shows it beside the field. */
function sayBesideField(error: unknown): never {
  if (!(error instanceof StoreFailure) || !error.message.startsWith(`${error.field} `)) throw error
  const { kind, field, message } = error
  throw new StoreFailure(kind, message, { field, faults: [{ field, problem: message.slice(field.length + 1) }] })
}
