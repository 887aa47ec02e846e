import { createHash } from 'node:crypto'
import type { Transaction } from '../../foundation/database/client.ts'
import { identifier, sql } from '../../foundation/database/sql.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type MailServices, writeMail } from '../mail/write.ts'
import { browserName } from './browser-name.ts'
import { hasFactor } from './factors/in-force.ts'
import { deleteFactors, keepFactors } from './factors/removal.ts'
import { type AccountKind, type Client, type OpenedSession, openSession, type SessionServices } from './sessions.ts'
import { withDevice } from './sign-in-delay.ts'

// The end of every sign-in by password, factor or passkey: what it opens, under the locks of the identities.

export type EnterServices = SessionServices & MailServices

/** A session opened by a sign-in, and the browser's new device cookie. */
export type EnteredSession = OpenedSession & { readonly email: string; readonly devices: string }

/** How a person showed who they are beside the password; null: not at all. */
export type ShownFactor = 'authenticator' | 'recovery code' | 'passkey'

/** What a sign-in asks to be opened. */
export interface Entry {
  readonly kind: AccountKind
  /** The current account first. */
  readonly accountIds: readonly number[]
  /** Digests of the stored passwords that were looked at; null: a passkey alone signs in. */
  readonly passwords: readonly string[] | null
  readonly shown: ShownFactor | null
}

interface LockedAccount {
  readonly id: number
  readonly identityId: number
  readonly email: string
  readonly lowered: string
  readonly passwordHash: string
  readonly hasFactor: boolean
  readonly factorsEndAt: Date | null
  /** Null: not a merchant's. */
  readonly storeId: number | null
}

export interface LockedEntry extends Entry {
  readonly first: LockedAccount
  /** Other accounts that the session is open for. */
  readonly others: readonly LockedAccount[]
}

/** What stands for a stored password while a second factor is waited for. */
export function digestOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url')
}

/** The table of the accounts of a kind. */
export function tableOf(kind: AccountKind) {
  return identifier({ developer: 'Developer', merchant: 'StoreUser', operator: 'Operator' }[kind])
}

/**
 * Locks the identities of a sign-in and returns the accounts that it opens: those whose password is still the one that was looked at,
 * because no session may outlive a change of the password. Of another identity than the first account's, only those without a second
 * factor, because none was shown for it. Null: none is left.
 */
export async function lockEntry(tx: Transaction, { now }: Pick<EnterServices, 'now'>, entry: Entry) {
  const { kind, accountIds, passwords } = entry
  const table = tableOf(kind)
  const locked = await tx.$queryRaw<LockedAccount[]>`
    SELECT ${table}."id", "identityId", "Identity"."email", lower("Identity"."email") AS "lowered", "passwordHash",
      ${hasFactor(now())} AS "hasFactor", "factorsEndAt", ${kind === 'merchant' ? sql`"storeId"` : sql`NULL::int`} AS "storeId"
    FROM ${table} JOIN "Identity" ON "Identity"."id" = "identityId"
    WHERE ${table}."id" = ANY (${accountIds}) ORDER BY "identityId" FOR NO KEY UPDATE OF "Identity"`
  const isOpen = ({ passwordHash }: LockedAccount) => passwords?.includes(digestOf(passwordHash)) ?? true
  const ordered = accountIds.flatMap((id) => locked.filter((each) => each.id === id && isOpen(each)))
  const [first] = ordered
  if (!first) return null
  const others = ordered.filter((each) => each !== first && (each.identityId === first.identityId || !each.hasFactor))
  return { ...entry, first, others }
}

/** Opens the session, and mails the person of a browser that is not known: its device cookie lacks the account. */
export async function enter(
  tx: Transaction,
  services: EnterServices,
  { kind, first, others, shown }: LockedEntry,
  { address, userAgent, locale, devices, isKnown }: Client & { readonly isKnown: boolean },
): Promise<EnteredSession> {
  const { secrets, now } = services
  const actor: Actor = { kind, name: first.email, address }
  if (first.factorsEndAt !== null) {
    if (shown === null) await deleteFactors(tx, now, first.identityId)
    else await keepFactors(tx, now, first.identityId, actor)
  }
  const otherIds = others.map(({ id }) => id)
  const session = await openSession(tx, services, { kind, id: first.id }, { address, userAgent }, otherIds)
  const details = shown === null ? {} : { factor: shown }
  for (const { id, email, storeId } of [first, ...others]) {
    const developerId = kind === 'developer' ? id : null
    await recordAudit(tx, now, { actor, action: 'account.signed-in', target: email, storeId, developerId, details })
  }
  if (!isKnown) {
    await writeMail(tx, services, {
      kind: 'new-browser',
      to: first.email,
      identityId: first.identityId,
      storeId: first.storeId,
      // Beyond the bounds of mails, somebody signs in all the same.
      causedBy: null,
      locale,
      data: { at: now(), address, userAgent: browserName(userAgent ?? '') },
    })
  }
  const account = { kind, email: first.lowered }
  return { ...session, email: first.email, devices: withDevice(secrets, devices, account) }
}
