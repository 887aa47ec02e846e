import {
  type CallbackAction,
  type CallbackReceiver,
  callbackBody,
  postCallback,
  sendCallback,
} from '../applications/callback.ts'
import { samePrivileges } from '../applications/privileges.ts'
import { type Actor, type AuditAction, recordAudit } from '../audit/audit.ts'
import { type Db, databaseError, inTransaction, type Transaction } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import type { Privileges } from '../engine/caller.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { noSuchStore, storeById } from '../stores/stores.ts'
import { StoreFailure } from '../values/failure.ts'
import { generateKey, type Secrets } from '../values/secrets.ts'
import { type AccessChange, changeAccess } from './access-changes.ts'
import {
  abandonHandshake,
  awaitHandshake,
  claimHandshake,
  endHandshake,
  findHandshake,
  type Handshake,
  inProgress,
  newMessageId,
  newPatience,
  type Pair,
  type Patience,
} from './handshakes.ts'
import { addRemovalNotice } from './removal-notices.ts'

export interface Subscribing extends AccessChange {
  secrets: Secrets
  now: () => Date
  outbound: Outbound
}

export interface Subscribed {
  readonly id: number
  readonly token: string
  /** False: the store used the application before; the token is the one it has. */
  readonly created: boolean
  /** Where the application asks the merchant to go on, http or https; null: nowhere. */
  readonly postBackUrl: string | null
}

export interface ApplicationToSubscribe {
  readonly id: number
  readonly name: string
  readonly publicKey: string
  /** What it asks for. */
  readonly privileges: Privileges
  /** Asked before it gets a token; null: nobody is. */
  readonly callbackUrl: string | null
}

/** What a merchant is to see before agreeing. Refuses a key that is no application's public key (400). */
export async function findApplicationToSubscribe(
  { db }: { db: Db | Transaction },
  publicKey: string,
): Promise<ApplicationToSubscribe> {
  return (await findApplication(db, publicKey)).shown
}

export interface SubscribeRequest {
  storeId: number
  publicKey: string
  actor: Actor
  /** The privileges that the merchant was shown; absent: whatever the application asks for. */
  agreed?: Privileges
}

/**
 * Lets the application with `publicKey` work for a store (contract §3). One with a CallBackURL is asked before, and only
 * its status 200 subscribes: otherwise nothing is kept, and the refusal is a 502 `Server not Responding`. However many at
 * once, in however many processes: one callback, one subscription, one token, and the same answer for all.
 *
 * A store that uses the application already keeps its token, and agrees to what is asked for now; nobody is asked.
 * Refuses an unknown store (404), an unknown public key (400), an application that asks for other privileges than were
 * `agreed` to (409), and after half a minute of waiting for others (409).
 */
export async function subscribe(services: Subscribing, request: SubscribeRequest): Promise<Subscribed> {
  const { db } = services
  const patience = newPatience()
  let isRefused = false
  while (patience.leftMs > 0) {
    const parties = await findParties(db, request)
    const { pair } = parties
    refuseOthersThan(request.agreed, parties.application.privileges)
    const existing = await findSubscription(db, pair)
    // One that is being removed is waited for: its token may be about to end.
    const stays = existing && (await findHandshake(db, pair))?.action !== 'REMOVE'
    if (!existing && isRefused) throw notResponding(REFUSED_TO_ANOTHER)
    const subscribed = await (stays ? agree(services, request, parties, existing) : ask(services, request, parties))
    if (subscribed) return subscribed
    isRefused = await isRefusedMeanwhile(services, pair, 'AUTHORIZE', patience)
  }
  throw inProgress()
}

const REFUSED_TO_ANOTHER = 'another request asked at the same time, and was refused'

interface Parties {
  readonly pair: Pair
  readonly secureUrl: string
  readonly application: ApplicationToSubscribe
  readonly receiver: CallbackReceiver | null
}

async function findParties(db: Db, { storeId, publicKey }: SubscribeRequest): Promise<Parties> {
  const { secureUrl } = await storeById(db, storeId)
  const { shown, receiver } = await findApplication(db, publicKey)
  return { pair: { storeId, applicationId: shown.id }, secureUrl, application: shown, receiver }
}

async function findApplication(db: Db | Transaction, publicKey: string) {
  const row = await db.application.findUnique({
    where: { publicKey },
    select: { id: true, name: true, privileges: true, ...receiverColumns },
  })
  if (!row) throw noSuchPublicKey()
  const { id, name, privileges, callbackUrl } = row
  const shown = { id, name, publicKey, privileges: privileges as Privileges, callbackUrl }
  return { shown, receiver: receiverOf(row) }
}

const receiverColumns = {
  publicKey: true,
  callbackUrl: true,
  callbackSecretVersion: true,
  callbackSecretRotatedAt: true,
} as const

/** Null: the application wants not to be asked. */
function receiverOf(
  row: Omit<CallbackReceiver, 'callbackUrl'> & { callbackUrl: string | null },
): CallbackReceiver | null {
  const { callbackUrl } = row
  return callbackUrl === null ? null : { ...row, callbackUrl }
}

function noSuchPublicKey(): StoreFailure {
  return new StoreFailure('bad-request', 'PublicKey is not the public key of an application', { field: 'PublicKey' })
}

function refuseOthersThan(agreed: Privileges | undefined, asked: Privileges): void {
  if (agreed === undefined || samePrivileges(agreed, asked)) return
  const message = 'The application asks for other privileges by now; look at them, and agree again'
  throw new StoreFailure('conflict', message, { field: 'Privileges' })
}

interface Existing {
  readonly id: number
  readonly tokenSealed: string
  readonly privileges: Privileges
  readonly postBackUrl: string | null
}

async function findSubscription(db: Db, { storeId, applicationId }: Pair): Promise<Existing | null> {
  const row = await db.subscription.findUnique({
    where: { storeId_applicationId: { storeId, applicationId } },
    select: { id: true, tokenSealed: true, privileges: true, postBackUrl: true },
  })
  return row && { ...row, privileges: row.privileges as Privileges }
}

function subscribedOf({ secrets }: { secrets: Secrets }, existing: Existing, created: boolean): Subscribed {
  const { id, tokenSealed, postBackUrl } = existing
  return { id, token: secrets.open(tokenSealed), created, postBackUrl }
}

/** How far back a refusal of a moment ago is looked for in the store's audit log. */
const RECENT_MAX = 200

/** Waits for what another asks, and tells whether that was refused: then so is everybody who waited for it. */
async function isRefusedMeanwhile(
  services: Subscribing,
  pair: Pair,
  asked: CallbackAction,
  patience: Patience,
): Promise<boolean> {
  const messageId = await awaitHandshake(services, pair, patience)
  if (messageId === null) return false
  const found = await services.db.$queryRaw<unknown[]>`
    SELECT 1 FROM (
      SELECT "action", "details" FROM "AuditEntry" WHERE "storeId" = ${pair.storeId} ORDER BY "id" DESC LIMIT ${RECENT_MAX}
    ) AS "recent"
    WHERE "action" = 'subscription.refused' AND "details"->>'asked' = ${asked} AND "details"->>'messageId' = ${messageId}`
  return found.length > 0
}

/** What goes wrong inside leaves no other waiting: whoever asks next takes over what the application may have been told. */
async function orLetTakeOver<T>({ db, now }: Subscribing, handshake: Handshake, work: Promise<T>): Promise<T> {
  return work.catch(async (error) => {
    if (!(error instanceof StoreFailure)) await abandonHandshake(db, now, handshake).catch(() => undefined)
    throw error
  })
}

/** Null: another asks, or something changed in between; look again. */
async function ask(services: Subscribing, request: SubscribeRequest, parties: Parties): Promise<Subscribed | null> {
  const claimed = { ...parties.pair, action: 'AUTHORIZE', token: generateKey() } as const
  const handshake = await claimHandshake(services, claimed)
  return handshake && orLetTakeOver(services, handshake, authorize(services, request, parties, handshake))
}

/** Null: something changed before the handshake was claimed, or another has taken over; look again. */
async function authorize(
  services: Subscribing,
  request: SubscribeRequest,
  { pair, secureUrl, application, receiver }: Parties,
  handshake: Handshake,
): Promise<Subscribed | null> {
  const { db, secrets, now } = services
  const existing = await findSubscription(db, pair)
  // A removal that was not finished: the application may have been told that a token which works has ended.
  const isTakenBack = handshake.action === 'REMOVE'
  if ((existing !== null) !== isTakenBack) {
    await endHandshake(db, handshake)
    return null
  }
  const { token } = handshake
  const messageId = isTakenBack ? newMessageId() : handshake.messageId
  const result =
    receiver &&
    (await sendCallback(services, { application: receiver, action: 'AUTHORIZE', token, secureUrl, messageId }))
  if (result?.ok === false) {
    return refuse(services, handshake, { actor: request.actor, asked: 'AUTHORIZE', messageId, reason: result.reason })
  }

  const postBackUrl = result?.postBackUrl ?? null
  return inTransaction(db, async (tx) => {
    const locked = await lockParties(tx, pair)
    if (!locked || !(await endHandshake(tx, handshake))) return null
    if (existing) {
      await tx.subscription.updateMany({ where: { id: existing.id }, data: { postBackUrl } })
      return null
    }
    const privileges = request.agreed === undefined ? locked.privileges : application.privileges
    const row = await insertSubscription(tx, { ...pair, token, privileges, postBackUrl, secrets, now })
    // Sent after this, it would end what has just begun, for an application that goes by the store's address.
    await tx.removalNotice.deleteMany({ where: pair })
    await audit(tx, now, request.actor, 'subscription.created', locked, {
      privileges: privileges as Prisma.InputJsonValue,
    })
    return subscribedOf(services, row, row.created)
  })
}

/** What only a transaction knows for sure. */
interface Locked extends Pair {
  readonly name: string
  readonly developerId: number | null
  readonly privileges: Privileges
}

/** The order of locks is store and application, then handshake, then subscription. Null: one of the two is gone. */
async function lockParties(tx: Transaction, { storeId, applicationId }: Pair): Promise<Locked | null> {
  const [row] = await tx.$queryRaw<Omit<Locked, keyof Pair>[]>`
    SELECT "Application"."name", "developerId", "privileges" FROM "Store", "Application"
    WHERE "Store"."id" = ${storeId} AND "Application"."id" = ${applicationId}
    FOR KEY SHARE OF "Store" FOR SHARE OF "Application"`
  return row ? { storeId, applicationId, ...row } : null
}

function audit(
  tx: Transaction,
  now: () => Date,
  actor: Actor,
  action: AuditAction,
  { storeId, applicationId, name, developerId }: Locked,
  details: Prisma.InputJsonObject,
): Promise<void> {
  return recordAudit(tx, now, { actor, action, target: name, storeId, applicationId, developerId, details })
}

/** Null: another has taken over, and decides. */
async function refuse(
  { db, now }: Subscribing,
  handshake: Handshake,
  { actor, ...said }: { actor: Actor; asked: CallbackAction; messageId: string; reason: string },
): Promise<null> {
  const isOver = await inTransaction(db, async (tx) => {
    const locked = await lockParties(tx, handshake)
    // What an earlier one may have told the application stays uncertain, as long as nobody is heard.
    const isCertain = handshake.action === said.asked
    const isOurs = isCertain ? await endHandshake(tx, handshake) : await abandonHandshake(tx, now, handshake)
    if (!locked || !isOurs) return false
    await audit(tx, now, actor, 'subscription.refused', locked, said)
    return true
  })
  if (isOver) throw notResponding(said.reason)
  return null
}

/** The merchant learns no more than contract §6 says; the log and the audit have the reason. */
function notResponding(logDetail: string): StoreFailure {
  return new StoreFailure('bad-gateway', 'Server not Responding', { logDetail })
}

/** The store agrees to what the application asks for now, if that is not what it agreed to. Null: the subscription is gone. */
async function agree(
  services: Subscribing,
  { agreed, actor }: SubscribeRequest,
  { pair, application }: Parties,
  existing: Existing,
): Promise<Subscribed | null> {
  const { db, now } = services
  const answer = subscribedOf(services, existing, false)
  if (samePrivileges(existing.privileges, application.privileges)) return answer
  return changeAccess(services, () =>
    inTransaction(db, async (tx) => {
      const locked = await lockParties(tx, pair)
      const [row] = await tx.$queryRaw<{ privileges: Privileges }[]>`
        SELECT "privileges" FROM "Subscription" WHERE "id" = ${existing.id} FOR UPDATE`
      if (!locked || !row) return null
      const privileges = agreed === undefined ? locked.privileges : application.privileges
      if (samePrivileges(row.privileges, privileges)) return answer
      await tx.$executeRaw`
        UPDATE "Subscription" SET "privileges" = ${jsonOf(privileges)}::jsonb WHERE "id" = ${existing.id}`
      await audit(tx, now, actor, 'subscription.agreed', locked, { privileges: privileges as Prisma.InputJsonValue })
      return answer
    }),
  )
}

function jsonOf(privileges: Privileges): string | null {
  return privileges && JSON.stringify(privileges)
}

/**
 * A subscription that nobody is asked about and that no log tells of, for what the platform itself sets up: in the
 * caller's transaction, or by itself. A store that uses the application already keeps its token. Refuses an unknown store
 * (404) and an unknown public key (400).
 */
export async function addSubscription(
  { db, secrets, now }: { db: Db | Transaction; secrets: Secrets; now: () => Date },
  { storeId, publicKey }: { storeId: number; publicKey: string },
): Promise<Subscribed> {
  await storeById(db, storeId)
  const { shown } = await findApplication(db, publicKey)
  const row = await insertSubscription(db, {
    storeId,
    applicationId: shown.id,
    token: generateKey(),
    privileges: shown.privileges,
    postBackUrl: null,
    secrets,
    now,
  }).catch((error) => refuseVanished(error, storeId))
  return subscribedOf({ secrets }, row, row.created)
}

/** Store or application went between the look-up and the insertion. */
function refuseVanished(error: unknown, storeId: number): never {
  const constraint = databaseError(error)?.constraint ?? ''
  if (/_storeId_fkey$/.test(constraint)) throw noSuchStore(storeId)
  if (/_applicationId_fkey$/.test(constraint)) throw noSuchPublicKey()
  throw error
}

interface NewSubscription extends Pair {
  token: string
  privileges: Privileges
  postBackUrl: string | null
  secrets: Secrets
  now: () => Date
}

/** One statement, so that of two at once the second gets the first one's row, and never none. The update changes nothing. */
async function insertSubscription(
  db: Db | Transaction,
  { storeId, applicationId, token, privileges, postBackUrl, secrets, now }: NewSubscription,
): Promise<Existing & { created: boolean }> {
  const tokenHash = secrets.lookup(token)
  const [row] = await db.$queryRaw<(Existing & { created: boolean })[]>`
    INSERT INTO "Subscription"
      ("storeId", "applicationId", "tokenHash", "tokenSealed", "privileges", "postBackUrl", "createdAt")
    VALUES (${storeId}, ${applicationId}, ${tokenHash}, ${secrets.seal(token)}, ${jsonOf(privileges)}::jsonb,
      ${postBackUrl}, ${now()})
    ON CONFLICT ("storeId", "applicationId") DO UPDATE SET "storeId" = EXCLUDED."storeId"
    RETURNING "id", "tokenSealed", "privileges", "postBackUrl", "tokenHash" = ${tokenHash} AS "created"`
  if (!row) throw new Error('INSERT … RETURNING gave no row')
  return row
}

export interface UnsubscribeRequest {
  storeId: number
  subscriptionId: number
  actor: Actor
  /** Remove it even if the application refuses to be told; it is told again in the background. */
  force?: boolean
}

/**
 * Ends a subscription (contract §3) with its codes and access tokens. An application with a CallBackURL is told before, and
 * only its status 200 removes: otherwise the subscription stays, and the refusal is a 502 `Server not Responding`; with
 * `force` it is removed all the same. When the promise is fulfilled, the tokens are refused in this process, and within
 * moments in the others. However many at once: one callback, and the same answer for all. Refuses an id that the store
 * has no subscription of (404), and after half a minute of waiting for others (409).
 */
export async function unsubscribe(services: Subscribing, request: UnsubscribeRequest): Promise<void> {
  const { db, secrets } = services
  const patience = newPatience()
  let isSeen = false
  let isRefused = false
  while (patience.leftMs > 0) {
    const removable = await findRemovable(db, request)
    if (!removable && isSeen) return
    if (!removable) throw noSuchSubscription(request.subscriptionId)
    if (isRefused && !request.force) throw notResponding(REFUSED_TO_ANOTHER)
    isSeen = true
    const { storeId, applicationId, tokenSealed } = removable
    const token = secrets.open(tokenSealed)
    const handshake = await claimHandshake(services, { storeId, applicationId, action: 'REMOVE', token })
    if (handshake && (await orLetTakeOver(services, handshake, remove(services, request, removable, handshake)))) return
    isRefused = await isRefusedMeanwhile(services, removable, 'REMOVE', patience)
  }
  throw inProgress()
}

function findRemovable(db: Db, { storeId, subscriptionId }: UnsubscribeRequest) {
  return db.subscription.findFirst({
    where: { id: subscriptionId, storeId },
    select: {
      id: true,
      storeId: true,
      applicationId: true,
      tokenSealed: true,
      store: { select: { secureUrl: true } },
      application: { select: receiverColumns },
    },
  })
}

type Removable = NonNullable<Awaited<ReturnType<typeof findRemovable>>>

function noSuchSubscription(id: number): StoreFailure {
  return new StoreFailure('not-found', `The store has no subscription with the id ${id}`, { field: String(id) })
}

/** False: something changed before the handshake was claimed, or another has taken over; look again. */
async function remove(
  services: Subscribing,
  request: UnsubscribeRequest,
  removable: Removable,
  handshake: Handshake,
): Promise<boolean> {
  const { db, secrets, now } = services
  const isThere = (await db.subscription.count({ where: { id: removable.id } })) > 0
  if (!isThere || handshake.action !== 'REMOVE') {
    await endHandshake(db, handshake)
    return false
  }
  const receiver = receiverOf(removable.application)
  const notice = receiver && noticeFor(receiver, removable, handshake, now())
  const result = receiver && notice && (await postCallback(services, receiver, notice))
  const refusal = result?.ok === false ? result.reason : null
  if (refusal !== null && !request.force) {
    const { messageId } = handshake
    await refuse(services, handshake, { actor: request.actor, asked: 'REMOVE', messageId, reason: refusal })
    return false
  }
  return changeAccess(services, () =>
    inTransaction(db, async (tx) => {
      const locked = await lockParties(tx, handshake)
      if (!locked || !(await endHandshake(tx, handshake))) return false
      await tx.subscription.deleteMany({ where: { id: removable.id } })
      if (notice && refusal !== null) {
        await addRemovalNotice(tx, { secrets, now }, { ...handshake, ...notice, reason: refusal })
      }
      const details = refusal === null ? {} : { forced: true, reason: refusal }
      await audit(tx, now, request.actor, 'subscription.removed', locked, details)
      return true
    }),
  )
}

function noticeFor(receiver: CallbackReceiver, { store }: Removable, { token, messageId }: Handshake, at: Date) {
  const body = callbackBody(at, { application: receiver, action: 'REMOVE', token, secureUrl: store.secureUrl })
  return { url: receiver.callbackUrl, body, messageId }
}

export interface Subscription {
  readonly id: number
  readonly applicationId: number
  /** The application's. */
  readonly name: string
  readonly publicKey: string
  readonly token: string
  /** What the store agreed to; the application may do what stands here and in what it asks for. */
  readonly privileges: Privileges
  /** What the application asks for by now. */
  readonly askedPrivileges: Privileges
  /** Where the application asked the merchant to go on, http or https; null: nowhere. */
  readonly postBackUrl: string | null
  readonly lastUsedAt: Date | null
  readonly createdAt: Date
}

/** A store's subscriptions by ascending id. Refuses an unknown store (404). */
export async function listSubscriptions(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { storeId, limit, offset }: { storeId: number; limit: number; offset: number },
): Promise<Subscription[]> {
  await storeById(db, storeId)
  const rows = await db.subscription.findMany({
    where: { storeId },
    include: asked,
    orderBy: { id: 'asc' },
    take: limit,
    skip: offset,
  })
  return rows.map((row) => subscriptionOf(row, secrets))
}

/** Refuses an id that the store has no subscription of (404). */
export async function subscriptionById(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { storeId, subscriptionId }: { storeId: number; subscriptionId: number },
): Promise<Subscription> {
  const row = await db.subscription.findFirst({ where: { id: subscriptionId, storeId }, include: asked })
  if (!row) throw noSuchSubscription(subscriptionId)
  return subscriptionOf(row, secrets)
}

const asked = { application: { select: { name: true, publicKey: true, privileges: true } } } as const

function subscriptionOf(row: Prisma.SubscriptionGetPayload<{ include: typeof asked }>, secrets: Secrets): Subscription {
  const { id, applicationId, application, tokenSealed, privileges, postBackUrl, lastUsedAt, createdAt } = row
  return {
    id,
    applicationId,
    name: application.name,
    publicKey: application.publicKey,
    token: secrets.open(tokenSealed),
    privileges: privileges as Privileges,
    askedPrivileges: application.privileges as Privileges,
    postBackUrl,
    lastUsedAt,
    createdAt,
  }
}
