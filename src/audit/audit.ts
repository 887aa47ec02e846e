import type { Transaction } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import { type Sql, sql } from '../database/sql.ts'

/** Who does something, for the audit log. */
export interface Actor {
  readonly kind: 'operator' | 'developer' | 'merchant' | 'application'
  /** The e-mail address, or the application's name; empty for the operator. */
  readonly name: string
  /** The client's IP address. */
  readonly address: string
}

/** Who sets up the sandbox: the server itself, for the operator. */
export const installation: Actor = { kind: 'operator', name: '', address: '' }

/** What the log knows of; the pages say each in words. */
export const auditActions = [
  'application.created',
  'application.changed',
  'application.deleted',
  'application.key-rotated',
  'application.secret-rotated',
  'application.callback-tested',
  'subscription.created',
  'subscription.agreed',
  'subscription.refused',
  'subscription.removed',
  'token.issued',
  'token.revoked',
  'authorization.granted',
  'authorization.denied',
  'store.created',
  'store.changed',
  'store.user-key-rotated',
  'order-statuses.changed',
  'payment-methods.changed',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'webhook.secret-rotated',
  'webhook.resumed',
  'account.created',
  'account.signed-in',
  'account.signed-out',
  'account.deleted',
  'account.password-changed',
  'account.sessions-ended',
] as const

export type AuditAction = (typeof auditActions)[number]

export interface AuditInput {
  readonly actor: Actor
  readonly action: AuditAction
  /** What it was done to, in words. At most 300 characters are kept. */
  readonly target: string
  readonly storeId?: number | null
  readonly applicationId?: number | null
  /** The owner of the application, or the account. */
  readonly developerId?: number | null
  /** What else is worth telling; never a secret. */
  readonly details?: Prisma.InputJsonObject
}

const TARGET_LENGTH_MAX = 300

/** Writes who did what, in the transaction that does it: the log has what happened, and nothing else. */
export async function recordAudit(tx: Transaction, now: () => Date, input: AuditInput): Promise<void> {
  const { actor, action, target, storeId = null, applicationId = null, developerId = null, details = {} } = input
  await tx.auditEntry.create({
    data: {
      at: now(),
      actorKind: actor.kind,
      actor: actor.name,
      address: actor.address,
      action,
      target: kept(target),
      storeId,
      applicationId,
      developerId,
      details,
    },
  })
}

export interface InStores extends Omit<AuditInput, 'storeId' | 'applicationId'> {
  readonly applicationId: number
  /** Of the subscriptions to the application, which ones; absent: all. */
  readonly where?: Sql
}

/** Writes the same into the log of each store that uses an application. One statement: they may be thousands. */
export async function recordAuditInStores(tx: Transaction, now: () => Date, input: InStores): Promise<void> {
  const { actor, action, target, applicationId, developerId = null, details = {}, where = sql`true` } = input
  await tx.$executeRaw`
    INSERT INTO "AuditEntry"
      ("at", "actorKind", "actor", "address", "action", "target", "storeId", "applicationId", "developerId", "details")
    SELECT ${now()}, ${actor.kind}, ${actor.name}, ${actor.address}, ${action}, ${kept(target)}, "storeId", "applicationId",
      ${developerId}::int, ${JSON.stringify(details)}::json
    FROM "Subscription" WHERE "applicationId" = ${applicationId} AND ${where} ORDER BY "storeId"`
}

function kept(target: string): string {
  return target.slice(0, TARGET_LENGTH_MAX).toWellFormed()
}
