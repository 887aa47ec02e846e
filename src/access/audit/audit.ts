import type { Db, PageBefore, Transaction } from '../../foundation/database/client.ts'
import type { AuditEntry as AuditRow, Prisma } from '../../foundation/database/generated/client.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import type { Locale } from '../../foundation/texts/language.ts'
import type { AuditAction } from './actions.ts'

/** The principal of an action in the audit log. */
export interface Actor {
  readonly kind: 'operator' | 'developer' | 'merchant' | 'application'
  /** The e-mail address, or the application's name. Empty for the operator. */
  readonly name: string
  /** The client's IP address. */
  readonly address: string
  /** How pages are written for them, and mails that they cause. Absent: nobody knows. */
  readonly locale?: Locale
}

/** The server itself, which sets up the sandbox on behalf of the operator. */
export const installation: Actor = { kind: 'operator', name: '', address: '' }

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

/** What an entry says of the application that an action applies to. */
export function aboutApplication({ id, name, developerId }: { id: number; name: string; developerId: number | null }) {
  return { target: name, applicationId: id, developerId }
}

/** Records an action in the transaction that performs it, so that the log has exactly the committed actions. */
export async function recordAudit(tx: Transaction, now: () => Date, input: AuditInput): Promise<void> {
  const { actor, target, details = {}, ...others } = input
  const by = { actorKind: actor.kind, actor: actor.name, address: actor.address }
  await tx.auditEntry.create({ data: { at: now(), ...by, ...others, target: kept(target), details } })
}

/** Records an action in the log of each store that uses an application. One statement: there may be thousands. */
export async function recordAuditInStores(
  tx: Transaction,
  now: () => Date,
  input: Omit<AuditInput, 'storeId'> & { readonly applicationId: number; readonly where?: Sql },
): Promise<void> {
  const { actor, action, target, applicationId, developerId = null, details = {}, where = sql`true` } = input
  await tx.$executeRaw`
    INSERT INTO "AuditEntry"
      ("at", "actorKind", "actor", "address", "action", "target", "storeId", "applicationId", "developerId", "details")
    SELECT ${now()}, ${actor.kind}, ${actor.name}, ${actor.address}, ${action}, ${kept(target)}, "storeId", "applicationId",
      ${developerId}::int, ${JSON.stringify(details)}::json
    FROM "Subscription" WHERE "applicationId" = ${applicationId} AND ${where} ORDER BY "storeId"`
}

function kept(target: string): string {
  return target.slice(0, 300).toWellFormed()
}

/** The log to read: a store's for its merchants, a developer's for the developer, all of it for the operator. */
export type AuditOf = { readonly storeId: number } | { readonly developerId: number } | 'all'

/**
 * Lists the newest entries before the entry `before`, newest first. A store and the developer of its application see
 * each other's actions, but neither names nor addresses.
 */
export async function listAudit({ db }: { db: Db | Transaction }, of: AuditOf, { limit, before }: PageBefore) {
  const rows = await db.auditEntry.findMany({
    where: { ...(of !== 'all' && of), ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take: limit,
  })
  return rows.map((row) => shownTo(of, row))
}

export type AuditEntry = ReturnType<typeof shownTo>

function shownTo(of: AuditOf, { id, details, actorKind, action, actor, address, ...row }: AuditRow) {
  const isOwn = of === 'all' || actorKind === ('storeId' in of ? 'merchant' : 'developer')
  return {
    id: Number(id),
    ...row,
    actorKind: actorKind as Actor['kind'],
    /** The e-mail address, or the application's name. Empty: the operator, or a name hidden from the reader. */
    actor: isOwn || actorKind === 'application' ? actor : '',
    action: action as AuditAction,
    details: details as Prisma.JsonObject,
    /** The client's IP address. Empty: hidden from the reader. */
    address: isOwn ? address : '',
  }
}
