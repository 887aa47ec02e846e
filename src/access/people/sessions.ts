import type { CallerStore, Privileges } from '../../engine/caller.ts'
import { type DataServices, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import type { Session as SessionRow } from '../../foundation/database/generated/client.ts'
import { passOverReadOnly } from '../../foundation/database/outage.ts'
import { identifier, type Sql, sql } from '../../foundation/database/sql.ts'
import type { Locale } from '../../foundation/texts/language.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { callerStoreJson } from '../stores/caller-store.ts'
import { hasFactor } from './factors/in-force.ts'
import { newToken } from './links.ts'

/** People with an e-mail address, a password and second factors (the table Identity). */
export type AccountKind = 'developer' | 'merchant' | 'operator'

export type SessionKind = AccountKind | 'customer'

/** Where the pages of each kind of person lie. */
export const areaPaths = {
  merchant: '/admin',
  developer: '/developers',
  operator: '/operator',
  customer: '/account',
} as const satisfies Record<SessionKind, string>

/** A merchant's account in another store that the session is open for too. */
export interface OtherAccount {
  readonly userId: number
  readonly storeId: number
  /** The store's name. */
  readonly name: string
  readonly secureUrl: string
}

interface WithIdentity {
  readonly identityId: number
  /** How pages are to be written for them, by a BCP 47 tag; null: as the browser says. */
  readonly locale: string | null
}

interface AskedForFactor extends WithIdentity {
  /** From when on a second factor is required that the person has not got, in Unix milliseconds; null: nothing is missing. */
  readonly factorMissingFromMs: number | null
}

/** A merchant as somebody of a store's people, of whom the store may require a second factor. */
interface Merchant extends AskedForFactor {
  readonly kind: 'merchant'
  readonly store: CallerStore
  /** Since when the store is closed, in Unix milliseconds; null: it is open. */
  readonly closedMs: number | null
  readonly others: readonly OtherAccount[]
  /** The name of the role in the store (src/shop/staff/roles.ts). */
  readonly role: string
  /** What a role of the store's own may do; null: the role is one of every store. */
  readonly ownPrivileges: Privileges
}

interface Developer extends WithIdentity {
  readonly kind: 'developer'
  /** Whether the operator lets developers have test stores; null: nobody has said. */
  readonly testStores: boolean | null
}

/** A merchant's `id` is that of the account in `store`. An empty `email`: a customer without one. */
export type Person = { readonly id: number; readonly email: string } & (
  | Developer
  | Merchant
  // Somebody who runs the installation, and always needs a second factor.
  | (AskedForFactor & { readonly kind: 'operator' })
  | { readonly kind: 'customer'; readonly store: CallerStore; readonly name: string }
)

/** It ends at `expiresAt`, whatever its activity. */
export type Session = Pick<SessionRow, 'id' | 'createdAt' | 'expiresAt' | 'provedAt'> & { readonly person: Person }

export type SessionServices = DataServices

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A session ends after `idleMs` without a request, and after `wholeMs` in any case. */
const staffLimits = { idleMs: 12 * HOUR_MS, wholeMs: 7 * 24 * HOUR_MS }
const customerLimits = { idleMs: HOUR_MS, wholeMs: 12 * HOUR_MS }
const limits = { developer: staffLimits, merchant: staffLimits, operator: staffLimits, customer: customerLimits }

/** The minimum interval between updates of `seenAt`. */
const SEEN_EVERY_MS = MINUTE_MS
const SESSIONS_MAX = 50
const USER_AGENT_LENGTH_MAX = 200
const ADDRESS_LENGTH_MAX = 100

/**
 * Returns the session of a cookie's token. Null: no session of that kind, signed out, idle or too old, or of a customer
 * who is disabled or whose store is closed. Requests update `seenAt` once a minute, so an idle session may end a minute early.
 */
export async function findSession({ db, secrets, now }: SessionServices, kind: SessionKind, token: string) {
  const at = now()
  const { person, from } = persons[kind](at)
  const [found] = await db.$queryRaw<(Session & { seenAt: Date })[]>`
    SELECT "Session"."id", "Session"."createdAt", "Session"."expiresAt", "Session"."provedAt", "Session"."seenAt", ${person} AS "person"
    FROM "Session" ${from}
    WHERE "Session"."tokenHash" = ANY (${secrets.lookups(token)}) AND ${isLive(kind, at)}`
  if (!found) return null
  const { seenAt, ...session } = found
  const seenUntil = new Date(at.getTime() - SEEN_EVERY_MS)
  if (seenAt <= seenUntil) {
    // Of concurrent requests, one writes.
    const seen = { where: { id: session.id, seenAt: { lte: seenUntil } }, data: { seenAt: at } }
    await db.session.updateMany(seen).catch(passOverReadOnly)
  }
  return session
}

function isLive(kind: SessionKind, at: Date): Sql {
  const idleSince = new Date(at.getTime() - limits[kind].idleMs)
  return sql`"Session"."expiresAt" > ${at} AND "Session"."seenAt" > ${idleSince}`
}

function localeOf(table: 'Developer' | 'Operator' | 'StoreUser'): Sql {
  return sql`(SELECT "locale" FROM "Identity" WHERE "Identity"."id" = ${identifier(table)}."identityId")`
}

/** Each kind joins only its own table, so a token of another kind finds nothing. */
export const persons: Readonly<Record<SessionKind, (at: Date) => { person: Sql; from: Sql }>> = {
  developer: () => ({
    person: sql`json_build_object('kind', 'developer', 'id', "Developer"."id", 'email', "email", 'identityId', "identityId",
      'locale', ${localeOf('Developer')}, 'testStores', (SELECT "isOn" FROM "Switch" WHERE "name" = 'test-stores'))`,
    from: sql`JOIN "Developer" ON "Developer"."id" = "Session"."developerId"`,
  }),
  operator: (at) => ({
    person: sql`json_build_object('kind', 'operator', 'id', "Operator"."id", 'email', "email", 'identityId', "identityId",
      'locale', ${localeOf('Operator')}, 'factorMissingFromMs', CASE WHEN NOT (
        SELECT ${hasFactor(at)} FROM "Identity" WHERE "Identity"."id" = "Operator"."identityId") THEN 0 END)`,
    from: sql`JOIN "Operator" ON "Operator"."id" = "Session"."operatorId"`,
  }),
  merchant: (at) => ({
    person: sql`json_build_object('kind', 'merchant', 'id', "StoreUser"."id", 'email', "StoreUser"."email",
      'identityId', "StoreUser"."identityId", 'locale', ${localeOf('StoreUser')}, 'role', coalesce("StoreUser"."role", "StoreRole"."name"),
      'ownPrivileges', "StoreRole"."privileges", 'store', ${callerStoreJson}, 'closedMs', extract(epoch FROM "Store"."closedAt") * 1000,
      'factorMissingFromMs', CASE WHEN "Store"."factorRequiredFrom" IS NOT NULL AND NOT (
        SELECT ${hasFactor(at)} FROM "Identity" WHERE "Identity"."id" = "StoreUser"."identityId")
        THEN extract(epoch FROM "Store"."factorRequiredFrom") * 1000 END, 'others', (
        SELECT coalesce(json_agg(json_build_object('userId', "other"."id", 'storeId', "other"."storeId",
          'name', "otherStore"."name", 'secureUrl', "otherStore"."secureUrl") ORDER BY "otherStore"."name", "other"."id"), '[]')
        FROM "StoreUser" "other" JOIN "Store" "otherStore" ON "otherStore"."id" = "other"."storeId"
        WHERE "other"."id" = ANY ("Session"."otherUserIds")
      ))`,
    from: sql`JOIN "StoreUser" ON "StoreUser"."id" = "Session"."storeUserId"
      JOIN "Store" ON "Store"."id" = "StoreUser"."storeId"
      LEFT JOIN "StoreRole" ON "StoreRole"."storeId" = "StoreUser"."storeId" AND "StoreRole"."id" = "StoreUser"."roleId"`,
  }),
  customer: () => ({
    person: sql`json_build_object('kind', 'customer', 'id', "Customer"."id", 'email', coalesce("email", ''),
      'name', trim("firstName" || ' ' || "lastName"), 'store', ${callerStoreJson})`,
    from: sql`JOIN "Customer" ON "Customer"."storeId" = "Session"."storeId" AND "Customer"."id" = "Session"."customerId"
        AND "Customer"."enabled"
      JOIN "Store" ON "Store"."id" = "Customer"."storeId" AND "Store"."closedAt" IS NULL`,
  }),
}

/** The browser that signs in. */
export interface Client {
  readonly address: string
  /** As sent by the browser. 200 characters are kept. */
  readonly userAgent: string | undefined
  /** How pages are written for it. */
  readonly locale?: Locale | undefined
  /** Its device cookie. */
  readonly devices?: string | undefined
}

type SessionAccount =
  | { readonly kind: AccountKind; readonly id: number }
  | { readonly kind: 'customer'; readonly id: number; readonly storeId: number }

export interface OpenedSession {
  /** For the cookie. The server stores only its hash. */
  readonly token: string
  readonly expiresAt: Date
}

/**
 * Opens a session, and ends the account's oldest beyond 50. `tx` must have locked the account, and the others of a merchant's
 * session, so that no other session opens meanwhile.
 */
export async function openSession(
  tx: Transaction,
  services: Pick<SessionServices, 'secrets' | 'now'>,
  account: SessionAccount,
  { address, userAgent = '' }: Client,
  otherUserIds: readonly number[] = [],
): Promise<OpenedSession> {
  const { token, ...stored } = newToken(services, limits[account.kind].wholeMs)
  const printable = userAgent.replace(/\p{Cc}/gu, ' ')
  await tx.session.create({
    data: {
      ...stored,
      ...columnsOf(account),
      otherUserIds: [...otherUserIds],
      provedAt: stored.createdAt,
      seenAt: stored.createdAt,
      address: address.slice(0, ADDRESS_LENGTH_MAX),
      userAgent: printable.slice(0, USER_AGENT_LENGTH_MAX).toWellFormed(),
    },
  })
  for (const id of [account.id, ...otherUserIds]) {
    await tx.$executeRaw`
      DELETE FROM "Session" WHERE "id" IN (
        SELECT "id" FROM "Session" WHERE ${isOf({ ...account, id })} ORDER BY "id" DESC OFFSET ${SESSIONS_MAX})`
  }
  return { token, expiresAt: stored.expiresAt }
}

function columnsOf(account: SessionAccount) {
  const { kind, id } = account
  if (kind === 'customer') return { storeId: account.storeId, customerId: id }
  return { developer: { developerId: id }, merchant: { storeUserId: id }, operator: { operatorId: id } }[kind]
}

/** Matches all sessions with an account. A merchant's may be one of the others, which share its e-mail address. */
function isOf(account: SessionAccount): Sql {
  const { kind, id } = account
  if (kind === 'developer') return sql`"developerId" = ${id}`
  if (kind === 'operator') return sql`"operatorId" = ${id}`
  if (kind === 'customer') return sql`"storeId" = ${account.storeId} AND "customerId" = ${id}`
  return sql`"storeUserId" IN (
      SELECT "namesake"."id" FROM "StoreUser" JOIN "StoreUser" "namesake" ON lower("namesake"."email") = lower("StoreUser"."email")
      WHERE "StoreUser"."id" = ${id})
    AND ("storeUserId" = ${id} OR ${id} = ANY ("otherUserIds"))`
}

/** Matches all sessions with any account of an identity. Its accounts and the others of a session share the e-mail address. */
function isOfIdentity(identityId: number): Sql {
  const users = sql`SELECT "id" FROM "StoreUser" WHERE "identityId" = ${identityId}`
  return sql`"id" IN (
    SELECT "id" FROM "Session" WHERE "developerId" IN (SELECT "id" FROM "Developer" WHERE "identityId" = ${identityId})
    UNION ALL
    SELECT "id" FROM "Session" WHERE "operatorId" IN (SELECT "id" FROM "Operator" WHERE "identityId" = ${identityId})
    UNION ALL
    SELECT "id" FROM "Session" WHERE "storeUserId" IN (
        SELECT "namesake"."id" FROM "Identity" JOIN "StoreUser" "namesake" ON lower("namesake"."email") = lower("Identity"."email")
        WHERE "Identity"."id" = ${identityId})
      AND ("storeUserId" IN (${users}) OR "otherUserIds" && ARRAY(${users})))`
}

export async function endSessions(tx: Transaction, account: SessionAccount): Promise<void> {
  await tx.$executeRaw`DELETE FROM "Session" WHERE ${isOf(account)}`
}

/**
 * Ends all sessions with any account of an identity except `exceptId`, and the tokens of all of its accounts. Returns how many sessions
 * and tokens ended.
 */
export async function endSessionsOfIdentity(tx: Transaction, identityId: number, exceptId: number | null = null) {
  const sessions =
    await tx.$executeRaw`DELETE FROM "Session" WHERE ${isOfIdentity(identityId)} AND "id" IS DISTINCT FROM ${exceptId}::int`
  const ofIdentity = { is: { identityId } }
  const { count: tokens } = await tx.personToken.deleteMany({
    where: { OR: [{ developer: ofIdentity }, { storeUser: ofIdentity }] },
  })
  return { sessions, tokens }
}

/** Signs out: ends the caller's own session. Recorded in the audit log under `actor`, which customers do not have. */
export async function endSession({ db, now }: SessionServices, sessionId: number, actor?: Actor | null): Promise<void> {
  await inTransaction(db, async (tx) => {
    const [ended] = await tx.$queryRaw<{ developerId: number | null; storeId: number | null; target: string }[]>`
      DELETE FROM "Session" WHERE "Session"."id" = ${sessionId}
      RETURNING "developerId", (SELECT "storeId" FROM "StoreUser" WHERE "StoreUser"."id" = "storeUserId"), coalesce(
        (SELECT "email" FROM "Developer" WHERE "Developer"."id" = "developerId"),
        (SELECT "email" FROM "Operator" WHERE "Operator"."id" = "operatorId"),
        (SELECT "email" FROM "StoreUser" WHERE "StoreUser"."id" = "storeUserId"), '') AS "target"`
    if (ended && actor) await recordAudit(tx, now, { actor, action: 'account.signed-out', ...ended })
  })
}

/** Ends a person's other sessions, and all tokens. Returns how many sessions ended. */
export async function endOtherSessions({ db, now }: SessionServices, session: Session, actor: Actor): Promise<number> {
  const { person } = session
  if (person.kind === 'customer') throw new Error('A customer has no account to end sessions of')
  return inTransaction(db, async (tx) => {
    const { sessions, tokens } = await endSessionsOfIdentity(tx, person.identityId, session.id)
    const details = { sessions, ...(tokens > 0 && { tokens }) }
    const about = { target: person.email, ...ownerOf(person), details }
    if (sessions + tokens > 0) await recordAudit(tx, now, { actor, action: 'account.sessions-ended', ...about })
    return sessions
  })
}

/** Returns the owner of the audit log that records a person's actions on the account. An operator's is that of all; customers have none. */
export function ownerOf(person: Person) {
  if (person.kind === 'developer') return { developerId: person.id }
  return person.kind === 'merchant' ? { storeId: person.store.id } : {}
}

/** `seenAt` is exact to the minute. */
export type ListedSession = Pick<SessionRow, 'id' | 'createdAt' | 'seenAt' | 'address' | 'userAgent'> & {
  readonly isThis: boolean
}

/** Lists a person's sessions, last used first, at most 50. */
export async function listSessions({ db, now }: SessionServices, session: Session): Promise<ListedSession[]> {
  const { person, id } = session
  const isOwn =
    person.kind === 'customer' ? isOf({ ...person, storeId: person.store.id }) : isOfIdentity(person.identityId)
  return db.$queryRaw`
    SELECT "id", "createdAt", "seenAt", "address", "userAgent", "id" = ${id} AS "isThis"
    FROM "Session" WHERE ${isOwn} AND ${isLive(person.kind, now())}
    ORDER BY "seenAt" DESC, "id" DESC LIMIT ${SESSIONS_MAX}`
}

/** Makes `userId` of `person.others` the current account; the former joins the others. Throws for other ids (404). */
export async function changeStore({ db }: SessionServices, session: Session, userId: number): Promise<void> {
  // A repeated request finds the account current and changes nothing.
  const changed = await db.$executeRaw`
    UPDATE "Session" SET "storeUserId" = "StoreUser"."id",
      "otherUserIds" = array_remove(array_append("otherUserIds", "storeUserId"), "StoreUser"."id")
    FROM "StoreUser"
    WHERE "Session"."id" = ${session.id} AND "StoreUser"."id" = ${userId}
      AND ("StoreUser"."id" = ANY ("otherUserIds") OR "StoreUser"."id" = "storeUserId")`
  if (changed > 0) return
  throw new StoreFailure('not-found', 'This session is not for that store: sign in there', { field: String(userId) })
}
