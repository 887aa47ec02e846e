import { expect } from 'vitest'
import { registerApplication } from '../../../../src/access/applications/applications.ts'
import { subscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import type { Access } from '../../../../src/engine/caller.ts'
import { eventKind, eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { sampleOf } from '../../../../src/shop/webhooks/samples.ts'
import { operator } from '../../../support/actors.ts'
import type { CallOptions, Method, TestServer, TestStore } from '../../../support/store.ts'

/** All kinds of event, as refusals list them. */
export const kindsInWords = eventKinds.map(({ type, name }) => `${type} (${name})`).join(', ')

/** What a new webhook needs. */
export function webhookBody(others: Record<string, unknown> = {}) {
  return { Name: 'Desk', Url: 'https://desk.example/orders', EventType: 1, Enabled: true, ...others }
}

export async function newWebhook(call: TestStore['call'], others: Record<string, unknown> = {}): Promise<number> {
  const answer = await call('POST', '/Webhooks', { body: webhookBody(others) })
  expect(answer.statusCode, answer.body).toBe(201)
  return Number(answer.json()[0].Value)
}

/** The same store, called by another application of these privileges; absent: everything. */
export async function otherApplication(
  { services }: TestServer,
  shop: TestStore,
  privileges?: Record<string, string[]>,
): Promise<TestStore['call'] & { readonly subscriptionId: number }> {
  const application = await registerApplication(services, {
    Name: 'Other application',
    Throttle: { capacity: 1_000_000, leakPerSecond: 10_000 },
    ...(privileges && { Privileges: privileges as Record<string, Access[]> }),
  })
  const storeId = shop.store.id
  const { token } = await subscribe(services, { storeId, publicKey: application.publicKey, actor: operator })
  const { id } = await services.db.subscription.findFirstOrThrow({ where: { storeId, applicationId: application.id } })
  const headers = { privatekey: application.privateKey, token }
  const call = (method: Method, path: string, options: CallOptions = {}) =>
    shop.call(method, path, { ...options, headers: { ...headers, ...options.headers } })
  return Object.assign(call, { subscriptionId: id })
}

export interface NumberedEvent {
  readonly sequence: number
  readonly eventType?: number
  readonly recordId?: number
  readonly body?: string
  readonly createdAt?: Date
}

/** An event as numbering leaves it; its id. */
export async function numberedEvent(
  { services: { db, now } }: TestServer,
  { store }: TestStore,
  { sequence, eventType = 1, recordId = 1, body, createdAt = now() }: NumberedEvent,
): Promise<bigint> {
  const kind = eventKind(eventType)
  if (kind === null) throw new Error(`There is no kind ${eventType}`)
  const { id } = await db.event.create({
    data: { storeId: store.id, sequence, eventType, recordId, body: body ?? sampleOf(kind).body, createdAt },
  })
  await db.eventFeed.upsert({
    where: { storeId: store.id },
    create: { storeId: store.id, lastSequence: sequence },
    update: { lastSequence: sequence },
  })
  return id
}

export interface KnownDelivery {
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts?: number
  readonly status?: number | null
  readonly reason?: string
  readonly endedAt?: Date
}

/** A delivery of an event as the dispatcher leaves it; its id. */
export async function delivery(
  { services: { db, now } }: TestServer,
  { store }: TestStore,
  webhookId: number,
  eventId: bigint,
  { state, attempts = 1, status = null, reason = '', endedAt = now() }: KnownDelivery,
): Promise<number> {
  const over = state === 'pending' ? { dueAt: now() } : { endedAt }
  const data = { storeId: store.id, webhookId, eventId, state, attempts, status, reason, createdAt: now(), ...over }
  const { id } = await db.delivery.create({ data })
  return Number(id)
}

/** What the database has of a webhook. */
export function stored({ services: { db } }: TestServer, { store }: TestStore, id: number) {
  return db.webhook.findUniqueOrThrow({ where: { storeId_id: { storeId: store.id, id } } })
}

/** What the database has of a webhook's deliveries, the oldest first. */
export function storedDeliveries({ services: { db } }: TestServer, { store }: TestStore, webhookId: number) {
  return db.delivery.findMany({ where: { storeId: store.id, webhookId }, orderBy: { id: 'asc' } })
}
