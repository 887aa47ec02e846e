import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Db } from '../../../database/client.ts'
import { eventKinds } from '../../../engine/event-kinds.ts'
import { formOf, orShowAgain, textIn } from '../../../html/forms.ts'
import { type Page, sendPage } from '../../../html/page.ts'
import { actorOf, merchantCaller } from '../../../html/principals.ts'
import { readIds, wholeNumber } from '../../../server/parameters.ts'
import { routesFor } from '../../../server/roles.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { namedObject, readInput } from '../../../values/input.ts'
import { INT32_MAX } from '../../../values/int32.ts'
import type { Secrets } from '../../../values/secrets.ts'
import { deliveryStates, listDeliveries } from '../../../webhooks/deliveries.ts'
import { webhookSecret } from '../../../webhooks/secret.ts'
import { listWebhooks, webhookStatus } from '../../../webhooks/status.ts'
import { type By, changeWebhook, createWebhook, deleteWebhook, rotateSecret, switchOn } from './changes.ts'
import { counted, hostAndPath, webhookState } from './in-words.ts'

const home = '/admin/webhooks'
const LISTED_MAX = 100
const DELIVERIES_SHOWN = 50

const listed = namedObject({ offset: wholeNumber(0, INT32_MAX).default(0), notice: z.string().optional() })
const shown = namedObject({
  state: z.enum(deliveryStates, `must be one of ${deliveryStates.join(', ')}`).optional(),
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  notice: z.string().optional(),
})

export interface WebhookPagesServices {
  db: Db
  secrets: Secrets
  now: () => Date
}

/** The webhooks of a merchant's store, whoever made them: adding one, how it does, changing, resuming and removing it. */
export async function webhookPages(app: FastifyInstance, services: WebhookPagesServices): Promise<void> {
  const { get, post } = routesFor(app, 'merchant')
  const { secrets, now } = services

  get(home, async (request, reply) => {
    const caller = merchantCaller(request, services)
    const { offset } = readInput(listed, request.query, 'The query')
    const found = await listWebhooks(caller, { limit: LISTED_MAX + 1, offset })
    const webhooks = found
      .slice(0, LISTED_MAX)
      .map((each) => ({ ...each, state: webhookState(each), address: hostAndPath(each.url) }))
    return sendPage(reply, {
      template: '/pages/admin/webhooks/list',
      title: 'Webhooks',
      data: {
        webhooks,
        offset,
        nextOffset: found.length > LISTED_MAX ? offset + LISTED_MAX : null,
        store: caller.store,
        now: now(),
      },
    })
  })

  get(`${home}/new`, async (_request, reply) => {
    return sendPage(reply, newPage({ Format: 'JSON', Enabled: 'true' }))
  })

  post(home, async (request, reply) => {
    const form = formOf(request)
    const work = async () => {
      const id = await createWebhook(by(request), newWebhook(form)).catch(sayBesideField)
      return reply.redirect(`${home}/${id}?notice=webhook-added`, 303)
    }
    return orShowAgain(reply, work, () => newPage(form))
  })

  get(`${home}/:id`, async (request, reply) => sendPage(reply, await webhookPage(request)))

  post(`${home}/:id`, async (request, reply) => {
    const form = formOf(request)
    const values = { Name: textIn(form, 'Name'), Url: textIn(form, 'Url'), Format: textIn(form, 'Format') }
    const work = async () => {
      await changeWebhook(by(request), idIn(request), values).catch(sayBesideField)
      return done(request, reply, 'webhook-saved')
    }
    return orShowAgain(reply, work, () => webhookPage(request, { values }))
  })

  post(`${home}/:id/disable`, async (request, reply) => {
    const work = async () => {
      await changeWebhook(by(request), idIn(request), { Enabled: false })
      return done(request, reply, 'webhook-off')
    }
    return orShowAgain(reply, work, () => webhookPage(request))
  })

  post(`${home}/:id/resume`, async (request, reply) => {
    const work = async () => {
      const catchUp = textIn(formOf(request), 'CatchUp') === 'true'
      await switchOn(by(request), idIn(request), { catchUp })
      return done(request, reply, catchUp ? 'webhook-caught-up' : 'webhook-resumed')
    }
    return orShowAgain(reply, work, () => webhookPage(request))
  })

  post(`${home}/:id/secret`, async (request, reply) => {
    const work = async () => {
      await rotateSecret(by(request), idIn(request), { secrets, replaced: textIn(formOf(request), 'Secret') })
      return done(request, reply, 'webhook-secret')
    }
    return orShowAgain(reply, work, () => webhookPage(request))
  })

  get(`${home}/:id/delete`, async (request, reply) => {
    const webhook = await webhookStatus(merchantCaller(request, services), idIn(request))
    return sendPage(reply, {
      template: '/pages/admin/webhooks/delete',
      title: `Delete ${webhook.name}?`,
      data: { webhook, address: hostAndPath(webhook.url), pending: counted(webhook.pending) },
    })
  })

  post(`${home}/:id/delete`, async (request, reply) => {
    await deleteWebhook(by(request), idIn(request))
    return reply.redirect(`${home}?notice=webhook-deleted`, 303)
  })

  async function webhookPage(request: FastifyRequest, { values }: { values?: Page['values'] } = {}): Promise<Page> {
    const caller = merchantCaller(request, services)
    const id = idIn(request)
    const { state = null, before = null } = readInput(shown, request.query, 'The query')
    const webhook = await webhookStatus(caller, id)
    const { deliveries, next } = await listDeliveries(caller, id, { state, limit: DELIVERIES_SHOWN, before })
    return {
      template: '/pages/admin/webhooks/webhook',
      title: webhook.name,
      values: values ?? { Name: webhook.name, Url: webhook.url, Format: webhook.format },
      data: {
        webhook,
        state: webhookState(webhook),
        counts: {
          pending: counted(webhook.pending),
          failed: counted(webhook.failed),
          missed: counted(webhook.missed),
        },
        // With it anyone can write notifications that the application believes.
        secret: webhook.application === null ? await webhookSecret(caller, secrets, id) : null,
        deliveries,
        deliveryStates,
        shownState: state,
        isNewest: before === null,
        older: next === null ? null : addressOf(id, state, next),
        store: caller.store,
        now: now(),
        isEdited: values !== undefined,
      },
    }
  }

  function by(request: FastifyRequest): By {
    return { caller: merchantCaller(request, services), actor: actorOf(request) }
  }
}

function idIn({ params }: FastifyRequest): number {
  return readIds(params, 'id').id
}

function done(request: FastifyRequest, reply: FastifyReply, notice: string) {
  return reply.redirect(`${home}/${idIn(request)}?notice=${notice}`, 303)
}

function addressOf(id: number, state: string | null, before: number): string {
  const query = new URLSearchParams({ ...(state !== null && { state }), before: String(before) })
  return `${home}/${id}?${query}#deliveries`
}

function newPage(values: Page['values']): Page {
  return { template: '/pages/admin/webhooks/new', title: 'New webhook', values: values ?? {}, data: { eventKinds } }
}

/** The body that REST takes: a number for the kind of event, true or false for a box. What is no number goes on, to be refused by name. */
function newWebhook(form: ReturnType<typeof formOf>) {
  const type = textIn(form, 'EventType')
  return {
    Name: textIn(form, 'Name'),
    Url: textIn(form, 'Url'),
    ...(type !== '' && { EventType: /^\d{1,3}$/.test(type) ? Number(type) : type }),
    Format: textIn(form, 'Format'),
    Enabled: textIn(form, 'Enabled') !== '',
  }
}

/** The engine's sentence begins with the field's name; beside the field it goes without. */
function sayBesideField(error: unknown): never {
  if (!(error instanceof StoreFailure) || !error.message.startsWith(`${error.field} `)) throw error
  const { kind, field, message } = error
  throw new StoreFailure(kind, message, { field, faults: [{ field, problem: message.slice(field.length + 1) }] })
}
