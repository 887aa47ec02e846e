import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { allows, mayRead } from '../../../../access/applications/privileges.ts'
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
import { resourceOf } from '../../../../shop/webhooks/notified.ts'
import { webhookSecret } from '../../../../shop/webhooks/secret.ts'
import { COUNTED_MAX, listWebhooks, type WebhookSummary, webhookStatus } from '../../../../shop/webhooks/status.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type Form, merchantOf, requirePrivileges, textIn } from '../../../html/request.ts'
import { wholeNumber } from '../../../server/json/parameters.ts'
import { idIn, type PageRequest, storePages } from '../../frame/pages.ts'
import { readTitles } from '../../records/names.ts'
import { seenBy, textSeenBy } from '../../records/seen.ts'
import { targetService } from '../../records/services.ts'
import {
  type By,
  canDirect,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  hostAndPath,
  notifiedResource,
  rotateSecret,
  switchOn,
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
  const reading = storePages(adminPages(app, ['Webhooks', 'read']), services)
  const { page, form, pair } = storePages(adminPages(app, ['Webhooks', 'write']), services)
  const secrets = storePages(adminPages(app, ['Webhooks', 'write'], ['Keys', 'write']), services)
  const one = `${home}/:id`

  reading.page(home, listPage)
  page(`${home}/new`, newPage)
  reading.page(one, statusPage)
  form(home, newPage, async (asked, reply) => {
    const id = await createWebhook(by(asked, reply), newWebhook(asked.typed)).catch(sayBesideField)
    return `${home}/${id}?notice=webhook-added`
  })
  const asTyped = (asked: PageRequest) => webhookPage(asked, changedIn(asked.typed ?? {}))
  form(one, asTyped, async (asked, reply) => {
    await changeWebhook(by(asked, reply), idIn(asked), changedIn(asked.typed)).catch(sayBesideField)
    return doneAddress(asked, 'webhook-saved')
  })
  form(`${one}/disable`, statusPage, async (asked, reply) => {
    await changeWebhook(by(asked, reply), idIn(asked), { Enabled: false })
    return doneAddress(asked, 'webhook-off')
  })
  form(`${one}/resume`, statusPage, async (asked, reply) => {
    const catchUp = textIn(asked.typed, 'CatchUp') === 'true'
    await switchOn(by(asked, reply), idIn(asked), { catchUp })
    return doneAddress(asked, catchUp ? 'webhook-caught-up' : 'webhook-resumed')
  })
  secrets.form(`${one}/secret`, statusPage, async (asked, reply) => {
    const replaced = textIn(asked.typed, 'Secret')
    await rotateSecret(by(asked, reply), idIn(asked), { secrets: asked.caller.secrets, replaced })
    return doneAddress(asked, 'webhook-secret')
  })
  pair(`${one}/delete`, deletePage, async (asked, reply) => {
    await deleteWebhook(by(asked, reply), idIn(asked))
    return `${home}?notice=webhook-deleted`
  })
  form(`${one}/test`, statusPage, async (asked) => {
    const id = idIn(asked)
    return deliveryAddress(id, await sendTest(asked.caller, id), LOOKS_MAX)
  })
  reading.page(`${one}/deliveries/:deliveryId`, deliveryPage)
  form(`${one}/deliveries/:deliveryId/redeliver`, deliveryPage, async ({ caller, params }) => {
    const { id, deliveryId } = readInput(deliveryIds, params)
    await redeliver(caller, id, deliveryId)
    return deliveryAddress(id, deliveryId, LOOKS_MAX)
  })
}

function by({ caller }: PageRequest, { request }: FastifyReply): By {
  return { caller, actor: actorOf(request) }
}

async function listPage({ caller, query }: PageRequest): Promise<HtmlPage> {
  const { offset } = readInput(listed, query, 'The query')
  const found = await listWebhooks(caller, { limit: LISTED_MAX + 1, offset })
  const webhooks = found
    .slice(0, LISTED_MAX)
    .map((each) => ({ ...each, state: webhookState(each), address: hostAndPath(each.url) }))
  const nextOffset = found.length > LISTED_MAX ? offset + LISTED_MAX : null
  const data = { webhooks, offset, nextOffset, now: caller.now() }
  return { template: '/pages/shop/webhooks/list', title: t('Webhooks'), data }
}

const statusPage = (asked: PageRequest) => webhookPage(asked, null)

/** `values`: the submitted form of the webhook; null: it is not what was sent. */
async function webhookPage(asked: PageRequest, values: Form | null): Promise<HtmlPage> {
  const { caller, query } = asked
  const id = idIn(asked)
  const { state = null, before = null } = readInput(shown, query, 'The query')
  const webhook = await webhookStatus(caller, id)
  const { name, url, format, members } = webhook
  const kind = eventKind(webhook.eventType)
  const resource = notifiedResource(webhook.eventType)
  const wanted = { states: state === null ? [] : [state], limit: DELIVERIES_SHOWN, before }
  const { deliveries, next } = await listDeliveries(caller, id, wanted)
  const older = new URLSearchParams({ ...(state !== null && { state }), before: String(next) })
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
          ? await webhookSecret(caller, caller.secrets, id)
          : null,
      address: hostAndPath(url),
      hasMembers: kind !== null && namesMembers(kind),
      canOpenDeliveries: resource === null || mayRead(caller.privileges, resource),
      canChange: resource === null || canDirect(caller, resource),
      deliveries,
      recordNames: await recordNames(caller, resource, deliveries),
      shownState: state,
      isNewest: before === null,
      older: next === null ? null : `${home}/${id}?${older}#deliveries`,
      now: caller.now(),
      isEdited: values !== null,
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

async function deliveryPage({ caller, params, query }: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { id, deliveryId } = readInput(deliveryIds, params)
  const webhook = await webhookStatus(caller, id)
  const resource = notifiedResource(webhook.eventType)
  // It shows the record that it carries.
  if (resource !== null) requirePrivileges(merchantOf(reply.request), [[resource.privilege, 'read']])
  const delivery = await getDelivery(caller, id, deliveryId)
  const asked = Number(/^\d{1,2}$/.exec(textIn(query, 'looks'))?.[0] ?? 0)
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
      now: caller.now(),
    },
  }
}

async function deletePage(asked: PageRequest): Promise<HtmlPage> {
  const webhook = await webhookStatus(asked.caller, idIn(asked))
  const data = { webhook, address: hostAndPath(webhook.url), countedMax: COUNTED_MAX }
  return { template: '/pages/shop/webhooks/delete', title: t('Delete {name}?', { name: webhook.name }), data }
}

/** `paused`: by the platform; `off`: by a person or program. */
function webhookState({ enabled, failingSince, pauseReason }: WebhookSummary): 'on' | 'failing' | 'paused' | 'off' {
  if (enabled) return failingSince === null ? 'on' : 'failing'
  return pauseReason === null ? 'off' : 'paused'
}

function doneAddress(asked: PageRequest, notice: string): string {
  return `${home}/${idIn(asked)}?notice=${notice}`
}

function newPage({ caller, typed }: PageRequest): HtmlPage {
  const offered = eventKinds.filter((kind) => canDirect(caller, resourceOf(kind)))
  const title = t('New webhook')
  const data = { eventKinds: offered, hasMembers: true }
  return { template: '/pages/shop/webhooks/new', title, values: typed ?? { Format: 'JSON', Enabled: 'true' }, data }
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
  const { code, status, field, message } = error
  const faults = [{ code, field, problem: message.slice(field.length + 1) }]
  throw new StoreFailure(code, message, { field, faults, status })
}
