import type { Db, Transaction } from '../database/client.ts'
import type { AuditEntry as AuditRow, Prisma } from '../database/generated/client.ts'
import type { Actor, AuditAction } from './audit.ts'

export interface AuditEntry {
  readonly id: number
  readonly at: Date
  readonly actorKind: Actor['kind']
  /** The e-mail address, or the application's name. Empty: the operator, or a name hidden from the reader. */
  readonly actor: string
  readonly action: AuditAction
  readonly target: string
  readonly storeId: number | null
  readonly applicationId: number | null
  readonly developerId: number | null
  readonly details: Prisma.JsonObject
  /** The client's IP address. Empty: hidden from the reader. */
  readonly address: string
}

/** The log to read: a store's for its merchants, a developer's for the developer, all of it for the operator. */
export type AuditOf = { readonly storeId: number } | { readonly developerId: number } | 'all'

export interface AuditPage {
  readonly limit: number
  /** The id of the last entry of the previous page. Omitted: the newest entries. */
  readonly before?: number | undefined
}

/**
 * Lists entries, newest first. A store and the developer of its application see each other's actions, but neither names
 * nor addresses.
 */
export async function listAudit(
  { db }: { db: Db | Transaction },
  of: AuditOf,
  { limit, before }: AuditPage,
): Promise<AuditEntry[]> {
  const rows = await db.auditEntry.findMany({
    where: { ...(of !== 'all' && of), ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take: limit,
  })
  return rows.map((row) => shownTo(of, row))
}

function shownTo(of: AuditOf, { id, details, actorKind, action, actor, address, ...row }: AuditRow): AuditEntry {
  const isOwn = of === 'all' || actorKind === ('storeId' in of ? 'merchant' : 'developer')
  return {
    id: Number(id),
    ...row,
    actorKind: actorKind as Actor['kind'],
    actor: isOwn || actorKind === 'application' ? actor : '',
    action: action as AuditAction,
    details: details as Prisma.JsonObject,
    address: isOwn ? address : '',
  }
}
