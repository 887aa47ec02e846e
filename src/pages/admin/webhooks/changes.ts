import { type Actor, type AuditAction, recordAudit } from '../../../audit/audit.ts'
import { inTransaction } from '../../../database/client.ts'
import type { Prisma } from '../../../database/generated/client.ts'
import { announce, deliveriesChannel } from '../../../engine/announce.ts'
import type { Caller } from '../../../engine/caller.ts'
import { createRecord, deleteRecord, updateRecord } from '../../../engine/change.ts'
import { eventKind } from '../../../engine/event-kinds.ts'
import { getRecord } from '../../../engine/read.ts'
import { lockRecord } from '../../../engine/write.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { type Secrets, sameSecret } from '../../../values/secrets.ts'
import { rotateWebhookSecret } from '../../../webhooks/secret.ts'
import { resumeWebhook } from '../../../webhooks/status.ts'
import { webhooks } from '../../../webhooks/webhooks.ts'
import { hostAndPath } from './in-words.ts'

// Changes webhooks and records each change in the audit log, in the same transaction.

export interface By {
  readonly caller: Caller
  readonly actor: Actor
}

interface WebhookRecord {
  readonly Name: string
  readonly Url: string
  readonly EventType: number
  readonly Format: string
  readonly Enabled: boolean
}

/** Creates a webhook without an application from a REST body, and returns its id. */
export async function createWebhook({ caller, actor }: By, input: unknown): Promise<number> {
  return inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const id = await createRecord(tx, webhooks, input)
    const { Name, Url, EventType } = await recordOf(tx, id)
    const details = { event: eventKind(EventType)?.name ?? EventType, address: hostAndPath(Url) }
    await note(tx, { actor, action: 'webhook.created', target: Name, details })
    return id
  })
}

/** Changes the fields in `input`. Throws `not-found`, and `bad-request` that names the field. */
export async function changeWebhook({ caller, actor }: By, id: number, input: unknown): Promise<void> {
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    await lockRecord(tx, webhooks, id, [])
    const before = await recordOf(tx, id)
    await updateRecord(tx, webhooks, id, input)
    const after = await recordOf(tx, id)
    const details = differences(before, after)
    if (Object.keys(details).length === 0) return
    await note(tx, { actor, action: 'webhook.changed', target: after.Name, details })
  })
}

/** Deletes a webhook with its deliveries. Throws `not-found`. */
export async function deleteWebhook({ caller, actor }: By, id: number): Promise<void> {
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    await lockRecord(tx, webhooks, id, [], 'delete')
    const { Name: target } = await recordOf(tx, id)
    await deleteRecord(tx, webhooks, id)
    await note(tx, { actor, action: 'webhook.deleted', target })
  })
}

/**
 * Replaces the secret `replaced`, so that a repeated request disables no secret in use. Throws `not-found`, and
 * `conflict` for a secret that was already replaced.
 */
export async function rotateSecret(
  { caller, actor }: By,
  id: number,
  { secrets, replaced }: { secrets: Secrets; replaced: string },
): Promise<void> {
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const { formerSecret } = await rotateWebhookSecret(tx, secrets, id)
    if (formerSecret === null || !sameSecret(formerSecret, replaced)) {
      throw new StoreFailure(
        'conflict',
        'There is a newer secret than the one that was to be replaced; nothing was changed',
      )
    }
    await note(tx, { actor, action: 'webhook.secret-rotated', target: (await recordOf(tx, id)).Name })
  })
}

/** Re-enables a webhook, and with `catchUp` sends what it missed. Throws `not-found`. */
export async function switchOn({ caller, actor }: By, id: number, { catchUp }: { catchUp: boolean }): Promise<void> {
  await inTransaction(caller.db, async (db) => {
    const tx = { ...caller, db }
    const { caughtUp } = await resumeWebhook(tx, id, { catchUp })
    const details = catchUp ? { caughtUp } : {}
    await note(tx, { actor, action: 'webhook.resumed', target: (await recordOf(tx, id)).Name, details })
  })
  announce(caller.db, deliveriesChannel)
}

async function recordOf(tx: Caller, id: number): Promise<WebhookRecord> {
  return JSON.parse(await getRecord(tx, webhooks, id))
}

interface Entry {
  readonly actor: Actor
  readonly action: AuditAction
  readonly target: string
  readonly details?: Prisma.InputJsonObject
}

function note(tx: Caller, entry: Entry): Promise<void> {
  return recordAudit(tx.db, tx.now, { ...entry, storeId: tx.store.id })
}

function differences(before: WebhookRecord, after: WebhookRecord): Prisma.InputJsonObject {
  const all = {
    name: [before.Name, after.Name],
    address: [before.Url, after.Url],
    format: [before.Format, after.Format],
    enabled: [before.Enabled, after.Enabled],
  } as const
  const changed = Object.entries(all).filter(([, [from, to]]) => from !== to)
  return Object.fromEntries(
    changed.map(([name, [from, to]]) => {
      return [name, name === 'address' ? { from: hostAndPath(before.Url), to: hostAndPath(after.Url) } : { from, to }]
    }),
  )
}
