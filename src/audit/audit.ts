import type { Transaction } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import { type Sql, sql } from '../database/sql.ts'

/** The principal of an action in the audit log. */
export interface Actor {
  readonly kind: 'operator' | 'developer' | 'merchant' | 'application'
  /** The e-mail address, or the application's name. Empty for the operator. */
  readonly name: string
  /** The client's IP address. */
  readonly address: string
}

/** The server itself, which sets up the sandbox on behalf of the operator. */
export const installation: Actor = { kind: 'operator', name: '', address: '' }

/** All actions in the audit log. The pages have a text for each. */
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
  /** What the action applies to, in words. At most 300 characters are kept. */
  readonly target: string
  readonly storeId?: number | null
  readonly applicationId?: number | null
  /** The developer: the owner of the application, or the account itself. */
  readonly developerId?: number | null
  /** Further details, never a secret. */
  readonly details?: Prisma.InputJsonObject
}

const TARGET_LENGTH_MAX = 300

/** Records an action in the transaction that performs it, so that the log has exactly the committed actions. */
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
  /** Restricts the subscriptions to the application. Omitted: all. */
  readonly where?: Sql
}

/** Records an action in the log of each store that uses an application. One statement: there may be thousands. */
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
