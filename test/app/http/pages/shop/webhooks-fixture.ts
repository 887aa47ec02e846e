import { expect } from 'vitest'
import type { Prisma } from '../../../../../src/foundation/database/generated/client.ts'
import { newSealedSecret } from '../../../../../src/shop/webhooks/secret.ts'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'

/** What a page says, without its elements. Words of two lines stay two. */
export function wordsOf(page: string): string {
  return page
    .slice(Math.max(0, page.indexOf('<main')))
    .replaceAll('<br>', ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
}

/** A page that must be there. */
export async function pageAt(person: TestPerson, address: string): Promise<string> {
  const { statusCode, body } = await person.open(address)
  expect(statusCode).toBe(200)
  return body
}

let serial = 0

/** A webhook as the database has it; without `changes` it is on, in the administration's name, and was never sent anything. */
export async function storedWebhook(
  { services }: TestServer,
  { store }: TestStore,
  changes: Partial<Prisma.WebhookUncheckedCreateInput> = {},
) {
  const at = services.now()
  return services.db.webhook.create({
    data: {
      storeId: store.id,
      id: ++serial,
      name: 'Warehouse',
      url: 'https://hooks.example/orders?token=s3cret',
      eventType: 1,
      format: 'JSON',
      enabled: true,
      createdAt: at,
      updatedAt: at,
      updatedBy: '',
      secretSealed: newSealedSecret(services.secrets),
      ...changes,
    },
  })
}

export interface StoredDelivery extends Partial<Omit<Prisma.DeliveryUncheckedCreateInput, 'log' | 'event'>> {
  readonly event?: Partial<Prisma.EventUncheckedCreateInput>
  readonly log?: readonly Partial<Prisma.DeliveryAttemptUncheckedCreateInput>[]
}

/** A delivery as the database has it, with its event and its attempts; its id. Without `changes` it was delivered at once. */
export async function storedDelivery(
  { services: { db, now } }: TestServer,
  webhook: { storeId: number; id: number; eventType: number },
  { event = {}, log = [], ...changes }: StoredDelivery = {},
): Promise<number> {
  const at = now()
  const { id: eventId } = await db.event.create({
    data: {
      storeId: webhook.storeId,
      sequence: ++serial,
      eventType: webhook.eventType,
      recordId: 17,
      body: '{"OrderID":17}',
      createdAt: at,
      ...event,
    },
  })
  const { id } = await db.delivery.create({
    data: {
      storeId: webhook.storeId,
      webhookId: webhook.id,
      eventId,
      state: 'delivered',
      attempts: 1,
      status: 200,
      createdAt: at,
      endedAt: at,
      ...changes,
    },
  })
  for (const [index, attempt] of log.entries()) {
    await db.deliveryAttempt.create({
      data: {
        deliveryId: id,
        number: index + 1,
        at,
        status: 200,
        reason: '',
        durationMs: 12,
        answer: '',
        ...attempt,
      },
    })
  }
  return Number(id)
}
