import { randomBytes } from 'node:crypto'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type DataServices, type Db, inTransaction, type Transaction } from '../database/client.ts'
import { deleteExpired } from '../database/delete-expired.ts'
import { type Sql, sql } from '../database/sql.ts'
import type { CallerStore } from '../engine/caller.ts'
import { StoreFailure } from '../values/failure.ts'

export type SessionKind = 'developer' | 'merchant' | 'customer'

/** A merchant's account in another store with the same e-mail address and password. */
export interface OtherAccount {
  readonly userId: number
  readonly storeId: number
  /** The store's name. */
  readonly name: string
  readonly secureUrl: string
}

export type Person =
  | { readonly kind: 'developer'; readonly id: number; readonly email: string }
  | {
      readonly kind: 'merchant'
      /** The id of the account in `store`. */
      readonly id: number
      readonly email: string
      readonly store: CallerStore
      readonly others: readonly OtherAccount[]
    }
  | {
      readonly kind: 'customer'
      readonly id: number
      /** Empty: the customer has none. */
      readonly email: string
      readonly name: string
      readonly store: CallerStore
    }

export interface Session {
  readonly id: number
  readonly person: Person
  readonly createdAt: Date
  /** The session ends at this time, whatever its activity. */
  readonly expiresAt: Date
}

export type SessionServices = DataServices

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Limits {
  /** The session ends after this time without a request. */
  readonly idleMs: number
  readonly wholeMs: number
}

const staffLimits: Limits = { idleMs: 12 * HOUR_MS, wholeMs: 7 * 24 * HOUR_MS }
const limits: Readonly<Record<SessionKind, Limits>> = {
  developer: staffLimits,
  merchant: staffLimits,
  customer: { idleMs: HOUR_MS, wholeMs: 12 * HOUR_MS },
}

/** The minimum interval between updates of `seenAt`. */
const SEEN_EVERY_MS = MINUTE_MS
const SESSIONS_MAX = 50
const TOKEN_BYTES = 32
const USER_AGENT_LENGTH_MAX = 200
const ADDRESS_LENGTH_MAX = 100

/**
 * Returns the session of a cookie's token. Null: no session of that kind, signed out, idle for 12 h (customers: 1 h), 7
 * days old (customers: 12 h), or of a disabled customer. Requests update `seenAt` once a minute, so an idle session may
 * end a minute early.
 */
export async function findSession(
  { db, secrets, now }: SessionServices,
  kind: SessionKind,
  token: string,
): Promise<Session | null> {
  const nowMs = now().getTime()
  const isLive = sql`"Session"."tokenHash" = ${secrets.lookup(token)}
    AND "Session"."expiresAt" > ${new Date(nowMs)} AND "Session"."seenAt" > ${idleSince(kind, nowMs)}`
  const [found] = await finders[kind](db, isLive)
  if (!found) return null
  const { id, createdAt, expiresAt, seenAt, ...person } = found
  if (seenAt.getTime() <= nowMs - SEEN_EVERY_MS) await noteSeen(db, id, nowMs)
  return { id, createdAt, expiresAt, person: personOf(kind, person) }
}

/** Returns the earliest last request of a session that is not idle. */
function idleSince(kind: SessionKind, nowMs: number): Date {
  return new Date(nowMs - limits[kind].idleMs)
}

interface FoundSession {
  id: number
  createdAt: Date
  expiresAt: Date
  seenAt: Date
  personId: number
  email: string
  name?: string
  store?: CallerStore
  others?: OtherAccount[]
}

const storeColumn = sql`json_build_object('id', "Store"."id", 'name', "Store"."name", 'secureUrl', "Store"."secureUrl",
  'currency', "Store"."currency", 'timeZone', "Store"."timeZone") AS "store"`
const sessionColumns = sql`"Session"."id", "Session"."createdAt", "Session"."expiresAt", "Session"."seenAt"`

/** Each query joins only its own table, so a token of another kind finds nothing. */
const finders: Readonly<Record<SessionKind, (db: Db, condition: Sql) => Promise<FoundSession[]>>> = {
  developer: (db, condition) => db.$queryRaw`
    SELECT ${sessionColumns}, "Developer"."id" AS "personId", "email"
    FROM "Session" JOIN "Developer" ON "Developer"."id" = "Session"."developerId"
    WHERE ${condition}`,
  merchant: (db, condition) => db.$queryRaw`
    SELECT ${sessionColumns}, "StoreUser"."id" AS "personId", "StoreUser"."email", ${storeColumn}, (
      SELECT coalesce(json_agg(json_build_object('userId', "other"."id", 'storeId', "other"."storeId",
        'name', "otherStore"."name", 'secureUrl', "otherStore"."secureUrl") ORDER BY "otherStore"."name", "other"."id"), '[]')
      FROM "StoreUser" "other" JOIN "Store" "otherStore" ON "otherStore"."id" = "other"."storeId"
      WHERE "other"."id" = ANY ("Session"."otherUserIds")
    ) AS "others"
    FROM "Session" JOIN "StoreUser" ON "StoreUser"."id" = "Session"."storeUserId"
    JOIN "Store" ON "Store"."id" = "StoreUser"."storeId"
    WHERE ${condition}`,
  customer: (db, condition) => db.$queryRaw`
    SELECT ${sessionColumns}, "Customer"."id" AS "personId", coalesce("email", '') AS "email",
      trim("firstName" || ' ' || "lastName") AS "name", ${storeColumn}
    FROM "Session" JOIN "Customer" ON "Customer"."storeId" = "Session"."storeId" AND "Customer"."id" = "Session"."customerId"
    JOIN "Store" ON "Store"."id" = "Customer"."storeId"
    WHERE "Customer"."enabled" AND ${condition}`,
}

function personOf(kind: SessionKind, found: Omit<FoundSession, 'id' | 'createdAt' | 'expiresAt' | 'seenAt'>): Person {
  const { personId, ...rest } = found
  return { kind, id: personId, ...rest } as Person
}

/** Of concurrent requests, one writes. */
async function noteSeen(db: Db, id: number, nowMs: number): Promise<void> {
  await db.session.updateMany({
    where: { id, seenAt: { lte: new Date(nowMs - SEEN_EVERY_MS) } },
    data: { seenAt: new Date(nowMs) },
  })
}

/** The browser that signs in. */
export interface Client {
  readonly address: string
  /** As sent by the browser. 200 characters are kept. */
  readonly userAgent: string | undefined
}

/** An account whose row the transaction has locked, so that no other session opens meanwhile. */
export type LockedAccount =
  | { readonly kind: 'developer'; readonly id: number }
  | { readonly kind: 'merchant'; readonly id: number; readonly otherIds: readonly number[] }
  | { readonly kind: 'customer'; readonly id: number; readonly storeId: number }

export interface OpenedSession {
  /** For the cookie. The server stores only its hash. */
  readonly token: string
  readonly expiresAt: Date
}

/** Opens a session, ends the account's oldest beyond 50, and deletes up to 100 expired sessions of any account. */
export async function openSession(
  tx: Transaction,
  { secrets, now }: Pick<SessionServices, 'secrets' | 'now'>,
  account: LockedAccount,
  { address, userAgent = '' }: Client,
): Promise<OpenedSession> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + limits[account.kind].wholeMs)
  await tx.session.create({
    data: {
      tokenHash: secrets.lookup(token),
      ...columnsOf(account),
      createdAt,
      seenAt: createdAt,
      expiresAt,
      address: address.slice(0, ADDRESS_LENGTH_MAX),
      userAgent: userAgent
        .replace(/\p{Cc}/gu, ' ')
        .slice(0, USER_AGENT_LENGTH_MAX)
        .toWellFormed(),
    },
  })
  const opened = account.kind === 'merchant' ? [account.id, ...account.otherIds] : [account.id]
  for (const id of opened) await endOldest(tx, { ...account, id })
  await deleteExpired(tx, { table: 'Session', key: 'id' }, createdAt)
  return { token, expiresAt }
}

function columnsOf(account: LockedAccount) {
  if (account.kind === 'developer') return { developerId: account.id }
  if (account.kind === 'merchant') return { storeUserId: account.id, otherUserIds: [...account.otherIds] }
  return { storeId: account.storeId, customerId: account.id }
}

async function endOldest(tx: Transaction, account: Account): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM "Session" WHERE "id" IN (
      SELECT "id" FROM "Session" WHERE ${isOpenIn(account)} ORDER BY "id" DESC OFFSET ${SESSIONS_MAX})`
}

type Account =
  | { readonly kind: 'developer' | 'merchant'; readonly id: number }
  | { readonly kind: 'customer'; readonly id: number; readonly storeId: number }

/** Matches all sessions with an account. A merchant's may be one of the others, which share its e-mail address. */
function isOpenIn(account: Account): Sql {
  const { kind, id } = account
  if (kind === 'developer') return sql`"developerId" = ${id}`
  if (kind === 'customer') return sql`"storeId" = ${account.storeId} AND "customerId" = ${id}`
  return sql`"storeUserId" IN (
      SELECT "namesake"."id" FROM "StoreUser" JOIN "StoreUser" "namesake" ON lower("namesake"."email") = lower("StoreUser"."email")
      WHERE "StoreUser"."id" = ${id})
    AND ("storeUserId" = ${id} OR ${id} = ANY ("otherUserIds"))`
}

function accountOf(person: Person): Account {
  const { kind, id } = person
  return kind === 'customer' ? { kind, id, storeId: person.store.id } : { kind, id }
}

/** Ends all sessions with an account except `exceptId`, and returns how many ended. */
export async function endSessions(
  tx: Transaction,
  account: { readonly kind: 'developer' | 'merchant'; readonly id: number },
  exceptId: number | null = null,
): Promise<number> {
  return tx.$executeRaw`DELETE FROM "Session" WHERE ${isOpenIn(account)} AND "id" IS DISTINCT FROM ${exceptId}::int`
}

/** Signs out: ends the caller's own session. Recorded in the audit log under `actor`, which customers do not have. */
export async function endSession({ db, now }: SessionServices, sessionId: number, actor?: Actor | null): Promise<void> {
  await inTransaction(db, async (tx) => {
    const session = await tx.session.findUnique({
      where: { id: sessionId },
      select: {
        developerId: true,
        developer: { select: { email: true } },
        storeUser: { select: { email: true, storeId: true } },
      },
    })
    const { count } = await tx.session.deleteMany({ where: { id: sessionId } })
    if (count === 0 || !session || !actor) return
    const { developerId, developer, storeUser } = session
    await recordAudit(tx, now, {
      actor,
      action: 'account.signed-out',
      target: developer?.email ?? storeUser?.email ?? '',
      developerId,
      storeId: storeUser?.storeId ?? null,
    })
  })
}

/** Ends a person's other sessions (a merchant's: those with the current store's account). Returns how many ended. */
export async function endOtherSessions({ db, now }: SessionServices, session: Session, actor: Actor): Promise<number> {
  const { person } = session
  if (person.kind === 'customer') throw new Error('A customer has no account to end sessions of')
  return inTransaction(db, async (tx) => {
    const count = await endSessions(tx, person, session.id)
    if (count > 0) {
      await recordAudit(tx, now, {
        actor,
        action: 'account.sessions-ended',
        target: person.email,
        ...ownerOf(person),
        details: { sessions: count },
      })
    }
    return count
  })
}

/** Returns the owner of the audit log that records a person's actions on the account. */
export function ownerOf(person: Exclude<Person, { kind: 'customer' }>) {
  return person.kind === 'developer' ? { developerId: person.id } : { storeId: person.store.id }
}

export interface ListedSession {
  readonly id: number
  readonly createdAt: Date
  /** To the minute. */
  readonly seenAt: Date
  readonly address: string
  readonly userAgent: string
  readonly isThis: boolean
}

/** Lists a person's sessions (a merchant's: those with the current store's account), last used first, at most 50. */
export async function listSessions({ db, now }: SessionServices, session: Session): Promise<ListedSession[]> {
  const { person, id } = session
  const nowMs = now().getTime()
  return db.$queryRaw<ListedSession[]>`
    SELECT "id", "createdAt", "seenAt", "address", "userAgent", "id" = ${id} AS "isThis"
    FROM "Session"
    WHERE ${isOpenIn(accountOf(person))} AND "expiresAt" > ${new Date(nowMs)} AND "seenAt" > ${idleSince(person.kind, nowMs)}
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
