import { expect } from 'vitest'
import { eventKind, eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { sampleOf } from '../../../../src/shop/webhooks/samples.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'

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
