import type { Privileges } from '../../../engine/caller.ts'
import type { Remember } from '../../../engine/changing/idempotency.ts'
import { type Db, inTransaction, type Transaction } from '../../../foundation/database/client.ts'
import type { Application, Prisma } from '../../../foundation/database/generated/client.ts'
import type { Outbound } from '../../../foundation/outbound/outbound.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { generateKey, isOneOf } from '../../../foundation/values/secrets.ts'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { type AccessServices, announceAccess, changeAccess } from '../../stores/access-changes.ts'
import { requireFreeKeys } from '../../stores/brought-keys.ts'
import { storeById } from '../../stores/caller-store.ts'
import { privilegesColumn } from '../applications.ts'
import { mayGive, samePrivileges } from '../privileges.ts'
import { type CallbackAction, newMessageId, sendCallback } from './callback.ts'
import {
  abandonHandshake,
  awaitHandshake,
  claimHandshake,
  endHandshake,
  type Handshake,
  type Pair,
  WAIT_MS,
} from './handshakes.ts'
import { addRemovalNotice } from './removal-notices.ts'
import {
  insertSubscription,
  lockParties,
  noSuchPublicKey,
  noSuchSubscription,
  type Parties,
  type Subscribed,
  subscribedOf,
} from './subscription-rows.ts'

/*
 * Subscribes a store to an application, and ends that: a state machine over the rows in Subscription and Handshake.
 *
 * | Subscription | Handshake of a killed process | subscribe                          | unsubscribe                |
 * | ------------ | ----------------------------- | ---------------------------------- | -------------------------- |
 * | no           | none, or AUTHORIZE            | AUTHORIZE, then a subscription     | 404                        |
 * | yes          | none                          | agrees to the current request      | REMOVE, then none          |
 * | yes          | REMOVE: the token is in doubt | AUTHORIZE, then the same as before | REMOVE again, then none    |
 *
 * A callback is sent under a handshake, which one request holds at a time. The transaction of the change ends the
 * handshake first, so that a holder presumed dead changes nothing. All other requests wait and then start over.
 * Reasons: docs/decisions/subscriptions.md.
 */

export type Subscribing = AccessServices & { outbound: Outbound }

interface SubscribeRequest {
  readonly storeId: number
  readonly publicKey: string
  readonly actor: Actor
  /** Whether its developer lets it into an own test store, also where it is closed to merchants. */
  readonly isOwn?: boolean
  /** A token that was made elsewhere. Omitted: a new one. */
  readonly token?: string | undefined
  readonly agreed?: Privileges
  /** What the one who lets the application in may do: nobody grants more. Omitted: everything. */
  readonly grantable?: Privileges
  /** Runs in the transaction that makes the subscription. */
  readonly remember?: Remember<Subscribed> | undefined
}

interface UnsubscribeRequest {
  readonly storeId: number
  readonly subscriptionId: number
  readonly actor: Actor
  readonly force?: boolean
  /** Runs in the transaction that ends the subscription. */
  readonly remember?: Remember<void> | undefined
}

/**
 * Subscribes a store to the application with `publicKey` (contract §3). An application with a CallBackURL is called
 * first, and only its status 200 subscribes; otherwise nothing is stored, and this throws a 502 `Server not
 * Responding`. Any number of concurrent calls, in any number of processes, send one callback, create one subscription
 * and one token, and get the same result.
 *
 * A store that already uses the application keeps its token and agrees to the privileges requested now, without a
 * callback. `agreed` are the privileges that the merchant saw on the consent page; omitted: all that are requested.
 * The operator may bring a token along: no callback is sent then, and the store keeps that token. An application that is closed
 * to merchants is let in by the operator, and into test stores by its developer, without a callback; for others its public key is unknown.
 * Throws for a `token` from anyone but the operator (403), for one that cannot be used here (400), and for one other than that
 * of the existing subscription (409). Throws for an unknown store (404), for an unknown public key (400), for an application that requests more than is grantable
 * (403) or other privileges than `agreed` (409), and after waiting 30 s for other requests (409).
 */
export function subscribe(services: Subscribing, request: SubscribeRequest): Promise<Subscribed> {
  const { db } = services
  const { storeId, publicKey, actor, token: brought, agreed, grantable = null, isOwn = false } = request
  const isOperator = actor.kind === 'operator'
  if (brought !== undefined && !isOperator) {
    throw new StoreFailure('forbidden', 'Only the operator can set Token', { field: 'Token' })
  }
  const found = { publicKey, ...(!isOperator && !isOwn && { openToMerchants: true }) }
  const include = { handshakes: { where: { storeId } }, subscriptions: { where: { storeId } } } as const
  return negotiate(services, 'AUTHORIZE', actor, async (isRefused) => {
    const { secureUrl } = await storeById(db, storeId)
    const application = await db.application.findUnique({ where: found, include })
    if (!application) throw noSuchPublicKey()
    const pair = { storeId, applicationId: application.id }
    const asked = application.privileges as Privileges
    const privilegesOf = ({ privileges }: Parties) => grantedBy(grantable, agreed === undefined ? privileges : asked)
    grantedBy(grantable, asked)
    const [existing] = application.subscriptions
    const [held] = application.handshakes
    if (brought !== undefined) await requireUsable(services, brought, existing)
    if (agreed !== undefined && !samePrivileges(agreed, asked)) {
      const message = 'The application has changed the privileges it asks for; review them, and agree again'
      throw new StoreFailure('invalid-state', message, { field: 'Privileges' })
    }
    if (!existing && isRefused) throw notResponding(REFUSED_TO_ANOTHER)
    if (existing && held?.action !== 'REMOVE') {
      const result = subscribedOf(services, existing, false)
      if (samePrivileges(existing.privileges as Privileges, asked)) return { result }
      if (await agree(services, pair, existing.id, actor, privilegesOf)) return { result }
    }
    return {
      subject: pair,
      secureUrl,
      application,
      token: generateKey(),
      isSilent: brought !== undefined,
      apply: async (tx, parties, { token, action }, reply) => {
        const postBackUrl = reply?.ok ? reply.postBackUrl : null
        if (action === 'REMOVE') {
          await tx.subscription.updateMany({ where: pair, data: { postBackUrl } })
          return null
        }
        const created = { ...pair, token: brought ?? token, privileges: privilegesOf(parties), postBackUrl }
        return insert(tx, services, request, { ...created, isTokenBrought: brought !== undefined }, parties)
      },
    }
  })
}

/** Throws for a token that is not that of the existing subscription, or that a new one cannot have. */
async function requireUsable({ db, secrets }: Subscribing, token: string, existing: { tokenHash: string } | undefined) {
  // Before anything is claimed. The transaction that stores it looks again.
  if (!existing) return inTransaction(db, (tx) => requireFreeKeys(tx, secrets, { Token: token }))
  if (isOneOf(existing.tokenHash, secrets.lookups(token))) return
  const message = 'Token is not that of the subscription that exists; end that one first'
  throw new StoreFailure('not-unique', message, { field: 'Token' })
}

async function insert(
  tx: Transaction,
  services: Subscribing,
  { actor, token, remember }: SubscribeRequest,
  created: Parameters<typeof insertSubscription>[1],
  { about }: Parties,
): Promise<Subscribed> {
  const { secrets, now } = services
  await requireFreeKeys(tx, secrets, { Token: token })
  const subscribed = await insertSubscription({ ...services, db: tx }, created)
  const { storeId, applicationId, isTokenBrought } = created
  // A later retry of REMOVE would end the new subscription, if the application identifies stores by address.
  await tx.removalNotice.deleteMany({ where: { storeId, applicationId, action: 'REMOVE' } })
  const details = { privileges: created.privileges as Prisma.InputJsonValue }
  await recordAudit(tx, now, { actor, action: 'subscription.created', ...about, details })
  if (isTokenBrought) await recordAudit(tx, now, { actor, action: 'token.brought', ...about })
  await remember?.({ db: tx, now }, subscribed)
  return subscribed
}

/** Returns the privileges, if nobody grants more than they have themselves. */
function grantedBy(grantable: Privileges, asked: Privileges): Privileges {
  if (mayGive(grantable, asked)) return asked
  const message = 'The application asks for more than your role in this store may do: an owner can let it in'
  throw new StoreFailure('forbidden', message)
}

/**
 * Ends a subscription (contract §3) with its codes and access tokens. An application with a CallBackURL is called
 * first, and only its status 200 ends the subscription; otherwise the subscription stays, and this throws a 502 `Server
 * not Responding`. With `force` the subscription ends even then, and the callback is retried in the background. Once
 * this resolves, the tokens are refused in this process, and within moments in the others. Any number of concurrent
 * calls send one callback and get the same result.
 * Throws for an id that is not one of the store's subscriptions (404), and after waiting 30 s for other requests (409).
 */
export async function unsubscribe(
  services: Subscribing,
  { storeId, subscriptionId: id, actor, force = false, remember }: UnsubscribeRequest,
): Promise<void> {
  const { db, secrets, now } = services
  const include = { store: { select: { secureUrl: true } }, application: true } as const
  let isSeen = false
  const look = async (isRefused: boolean): Promise<Next<true>> => {
    const existing = await db.subscription.findFirst({ where: { id, storeId }, include })
    if (!existing && isSeen) return { result: true }
    if (!existing) throw noSuchSubscription(id)
    if (isRefused && !force) throw notResponding(REFUSED_TO_ANOTHER)
    isSeen = true
    const { applicationId, application, store, tokenSealed } = existing
    return {
      subject: { storeId, applicationId, id },
      secureUrl: store.secureUrl,
      application,
      token: secrets.open(tokenSealed),
      isForced: force,
      apply: async (tx, parties, { messageId }, reply) => {
        await tx.subscription.deleteMany({ where: { id } })
        const refused = reply?.ok === false ? reply : null
        if (refused) {
          const url = application.callbackUrl ?? ''
          const notice = { storeId, applicationId, url, body: refused.sent, messageId, reason: refused.reason }
          await addRemovalNotice(tx, services, notice)
        }
        const details = refused ? { forced: true, reason: refused.reason } : {}
        await recordAudit(tx, now, { actor, action: 'subscription.removed', ...parties.about, details })
        await remember?.({ db: tx, now })
        return true
      },
    }
  }
  await announceAccess(services, () => negotiate(services, 'REMOVE', actor, look))
}

type Next<T> = { readonly result: T } | Step<T>

/** A change about which the application is called first. */
interface Step<T> {
  /** The subscription to create or end. An id restricts the change to that subscription. */
  readonly subject: Pair & { readonly id?: number }
  readonly secureUrl: string
  readonly application: Application
  /** The token to send, unless a killed process may have sent another. */
  readonly token: string
  /** Sends no callback. */
  readonly isSilent?: boolean
  /** Makes the change even if the application refuses. */
  readonly isForced?: boolean
  /** Makes the change, in the transaction that ends the handshake. Null: start over. No callback: `answer` is null. */
  readonly apply: (
    tx: Transaction,
    parties: Parties,
    handshake: Handshake,
    answer: Awaited<ReturnType<typeof sendCallback>> | null,
  ) => Promise<T | null>
}

const REFUSED_TO_ANOTHER = 'another request asked at the same time and was refused'

/** Calls `look` until there is a result. `isRefused`: the handshake that this request waited for was refused. */
async function negotiate<T>(
  services: Subscribing,
  action: CallbackAction,
  actor: Actor,
  look: (isRefused: boolean) => Promise<Next<T>>,
): Promise<T> {
  const { db, now } = services
  const wait = { leftMs: WAIT_MS }
  for (let isRefused = false; wait.leftMs > 0; ) {
    const found = await look(isRefused)
    if ('result' in found) return found.result
    const { subject, token } = found
    const handshake = await claimHandshake(services, { ...subject, action, token })
    const result =
      handshake &&
      (await ask(services, action, actor, found, handshake).catch(async (error) => {
        // Releases the claim, if it is still held, so that the next request goes on without waiting.
        await abandonHandshake(db, now, handshake).catch(() => undefined)
        throw error
      }))
    if (result) return result
    const messageId = await awaitHandshake(services, subject, wait)
    isRefused = messageId !== null && (await wasRefused(db, subject.storeId, action, messageId))
  }
  const message = 'The application is being asked by another request; try again in a moment'
  throw new StoreFailure('in-progress', message, { retryAfterSeconds: 5 })
}

/** Calls the application, if it has a CallBackURL, and makes the change that the response allows. Null: start over. */
async function ask<T>(
  services: Subscribing,
  action: CallbackAction,
  actor: Actor,
  { subject, secureUrl, application, isSilent = false, isForced = false, apply }: Step<T>,
  handshake: Handshake,
): Promise<T | null> {
  const { db, now } = services
  const isThere = (await db.subscription.count({ where: subject })) > 0
  const isInState = isThere ? handshake.action === 'REMOVE' : handshake.action === 'AUTHORIZE' && action === 'AUTHORIZE'
  if (!isInState) {
    await endHandshake(db, handshake)
    return null
  }
  const isRepeated = handshake.action === action
  const messageId = isRepeated ? handshake.messageId : newMessageId()
  const callbackUrl = application.openToMerchants && !isSilent ? application.callbackUrl : null
  const callback = { action, token: handshake.token, secureUrl, messageId }
  const receiver = callbackUrl === null ? null : { ...application, callbackUrl }
  const answer = receiver && (await sendCallback(services, { ...callback, application: receiver }))
  if (answer === null || answer.ok || isForced) {
    return inTransaction(db, async (tx) => {
      const parties = await lockParties(tx, handshake)
      return parties && (await endHandshake(tx, handshake)) ? apply(tx, parties, handshake, answer) : null
    })
  }
  const { reason } = answer
  const isRefused = await inTransaction(db, async (tx) => {
    const parties = await lockParties(tx, handshake)
    // What a killed process may have sent stays in doubt until the application accepts a callback.
    const isOurs = isRepeated ? await endHandshake(tx, handshake) : await abandonHandshake(tx, now, handshake)
    if (!parties || !isOurs) return false
    const details = { asked: action, messageId, reason }
    await recordAudit(tx, now, { actor, action: 'subscription.refused', ...parties.about, details })
    return true
  })
  if (isRefused) throw notResponding(reason)
  return null
}

/** Tells the merchant only what contract §6 says. The log and the audit log have the reason. */
function notResponding(logDetail: string): StoreFailure {
  return new StoreFailure('bad-gateway', 'Server not Responding', { logDetail })
}

/** The number of entries of the store's audit log that are searched for a recent refusal. */
const RECENT_MAX = 200

async function wasRefused(db: Db, storeId: number, asked: CallbackAction, messageId: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM (
      SELECT "action", "details" FROM "AuditEntry" WHERE "storeId" = ${storeId} ORDER BY "id" DESC LIMIT ${RECENT_MAX}
    ) AS "recent"
    WHERE "action" = 'subscription.refused' AND "details"->>'asked' = ${asked} AND "details"->>'messageId' = ${messageId}`
  return found.length > 0
}

/** Stores the privileges of `privilegesOf` unless already agreed to. False: the subscription no longer exists. */
function agree(
  services: Subscribing,
  pair: Pair,
  id: number,
  actor: Actor,
  privilegesOf: (parties: Parties) => Privileges,
): Promise<boolean> {
  return changeAccess(services, async (tx) => {
    const parties = await lockParties(tx, pair)
    const [row] = await tx.$queryRaw<{ privileges: Privileges }[]>`
      SELECT "privileges" FROM "Subscription" WHERE "id" = ${id} FOR UPDATE`
    if (!parties || !row) return false
    const privileges = privilegesOf(parties)
    if (samePrivileges(row.privileges, privileges)) return true
    await tx.subscription.update({ where: { id }, data: { privileges: privilegesColumn(privileges) } })
    const details = { privileges: privileges as Prisma.InputJsonValue }
    await recordAudit(tx, services.now, { actor, action: 'subscription.agreed', ...parties.about, details })
    return true
  })
}
