import type { AuditAction } from '../../../../access/audit/actions.ts'
import { type Actor, recordAudit } from '../../../../access/audit/audit.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { createRecord, deleteRecord, updateRecord } from '../../../../engine/changing/change.ts'
import { lockRecord } from '../../../../engine/changing/write.ts'
import { eventKind } from '../../../../engine/definition/event-kinds.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import type { Resource } from '../../../../engine/definition/resource.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { announce, deliveriesChannel } from '../../../../engine/recording/events.ts'
import { inStoreTransaction } from '../../../../foundation/database/client.ts'
import type { Prisma } from '../../../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { type Secrets, sameSecret } from '../../../../foundation/values/secrets.ts'
import { neededFor, seesAll } from '../../../../shop/staff/roles.ts'
import { resourceOf } from '../../../../shop/webhooks/notified.ts'
import { rotateWebhookSecret } from '../../../../shop/webhooks/secret.ts'
import { resumeWebhook } from '../../../../shop/webhooks/status.ts'
import { webhooks } from '../../../../shop/webhooks/webhooks.ts'
import { refusedFields } from '../../../html/page-routes.ts'

// Changes webhooks and records each change in the audit log, in the same transaction.

export interface By {
  readonly caller: Caller
  readonly actor: Actor
}

/** The definition of `Url` is that of any value. */
type WebhookRecord = RecordOf<typeof webhooks> & { readonly Url: string }

/** What a change did: the webhook's name, and details for the audit log. Null details: nothing, and no entry. */
type Done = { readonly target: string; readonly details?: Prisma.InputJsonObject | null }

async function recorded<T extends Done>(
  { caller, actor }: By,
  action: AuditAction,
  change: (tx: Caller) => Promise<T>,
): Promise<T> {
  return inStoreTransaction(caller, async (db) => {
    const done = await change({ ...caller, db })
    const { target, details = {} } = done
    if (details !== null) {
      await recordAudit(db, caller.now, { actor, action, target, details, storeId: caller.store.id })
    }
    return done
  })
}

/** The service whose records the notifications of this kind carry; null: there is no such kind. */
export function notifiedResource(eventType: number): Resource | null {
  const kind = eventKind(eventType)
  return kind && resourceOf(kind)
}

/** Whether somebody may choose where these records are sent. A notification carries the whole record. */
export function canDirect({ privileges }: Caller, resource: Resource): boolean {
  return seesAll(privileges, resource)
}

function refuseDirecting(caller: Caller, eventType: number, field: 'EventType' | 'Url'): void {
  const resource = notifiedResource(eventType)
  if (resource === null || canDirect(caller, resource)) return
  const problem = `needs a role that shows ${neededFor(resource).join(' and ')}: a notification carries the whole record`
  throw refusedFields([{ field, problem }], { code: 'forbidden', status: 403 })
}

/**
 * Creates a webhook without an application from a REST body, and returns its id. Throws (403) for events with records that the caller
 * is not shown in full.
 */
export async function createWebhook(by: By, input: { readonly EventType?: unknown }): Promise<number> {
  refuseDirecting(by.caller, Number(input.EventType), 'EventType')
  const { id } = await recorded(by, 'webhook.created', async (tx) => {
    const created = await createRecord(tx, webhooks, input)
    const { Name, Url, EventType } = await recordOf(tx, created)
    const details = { event: eventKind(EventType)?.name ?? EventType, address: hostAndPath(Url) }
    return { id: created, target: Name, details }
  })
  return id
}

/**
 * Changes the fields in `input`. Throws `not-found`, a 400 that names the field, and `forbidden` for another address to which
 * records would go that the caller is not shown in full.
 */
export async function changeWebhook(by: By, id: number, input: unknown): Promise<void> {
  await recorded(by, 'webhook.changed', async (tx) => {
    await lockRecord(tx, webhooks, id, [])
    const before = await recordOf(tx, id)
    await updateRecord(tx, webhooks, id, input)
    const after = await recordOf(tx, id)
    if (after.Url !== before.Url) refuseDirecting(by.caller, before.EventType, 'Url')
    return { target: after.Name, details: differences(before, after) }
  })
}

/** Deletes a webhook with its deliveries. Throws `not-found`. */
export async function deleteWebhook(by: By, id: number): Promise<void> {
  await recorded(by, 'webhook.deleted', async (tx) => {
    await lockRecord(tx, webhooks, id, [], 'delete')
    const { Name: target } = await recordOf(tx, id)
    await deleteRecord(tx, webhooks, id)
    return { target }
  })
}

/**
 * Replaces the secret `replaced`, so that a repeated request disables no secret in use. Throws `not-found`, and
 * a 409 for a secret that was already replaced.
 */
export async function rotateSecret(
  by: By,
  id: number,
  { secrets, replaced }: { secrets: Secrets; replaced: string },
): Promise<void> {
  await recorded(by, 'webhook.secret-rotated', async (tx) => {
    const { formerSecret } = await rotateWebhookSecret(tx, secrets, id)
    if (formerSecret === null || !sameSecret(formerSecret, replaced)) {
      const message = 'There is a newer secret than the one you wanted to replace; nothing was changed'
      throw new StoreFailure('invalid-state', message)
    }
    return { target: (await recordOf(tx, id)).Name }
  })
}

/** Re-enables a webhook, and with `catchUp` sends what it missed. Throws `not-found`. */
export async function switchOn(by: By, id: number, { catchUp }: { catchUp: boolean }): Promise<void> {
  await recorded(by, 'webhook.resumed', async (tx) => {
    const { caughtUp } = await resumeWebhook(tx, id, { catchUp })
    return { target: (await recordOf(tx, id)).Name, details: catchUp ? { caughtUp } : {} }
  })
  announce(by.caller.db, deliveriesChannel)
}

async function recordOf(tx: Caller, id: number): Promise<WebhookRecord> {
  return JSON.parse(await getRecord(tx, webhooks, id))
}

/** Null: none. */
function differences(before: WebhookRecord, after: WebhookRecord): Prisma.InputJsonObject | null {
  const shown = { Name: 'name', Url: 'address', Format: 'format', Enabled: 'enabled', Members: 'members' } as const
  const changed = Object.entries(shown).flatMap(([field, name]) => {
    const [from, to] = [before, after].map((record) => record[field as keyof typeof shown] ?? '')
    if (from === to) return []
    return [[name, field === 'Url' ? { from: hostAndPath(before.Url), to: hostAndPath(after.Url) } : { from, to }]]
  })
  return changed.length > 0 ? Object.fromEntries(changed) : null
}

const SHOWN_LENGTH_MAX = 80

/** Returns a webhook's address for lists, without the query, which often holds a token. At most 80 characters. */
export function hostAndPath(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return ''
  const whole = parsed.host + (parsed.pathname === '/' ? '' : parsed.pathname) + (parsed.search && '?…')
  return whole.length > SHOWN_LENGTH_MAX ? `${whole.slice(0, SHOWN_LENGTH_MAX - 1)}…` : whole
}
