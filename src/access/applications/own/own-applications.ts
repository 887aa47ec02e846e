import type { z } from 'zod'
import {
  type DataServices,
  type Db,
  inTransaction,
  type SealingServices,
  type Transaction,
} from '../../../foundation/database/client.ts'
import type { Prisma } from '../../../foundation/database/generated/client.ts'
import { FORMER_SECRET_MS, newSigningSecret } from '../../../foundation/outbound/standard-webhooks.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { sameSecret } from '../../../foundation/values/secrets.ts'
import { type Actor, aboutApplication, recordAudit, recordAuditInStores } from '../../audit/audit.ts'
import type { MailServices } from '../../mail/write.ts'
import { type AccessServices, changeAccess } from '../../stores/access-changes.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { applicationOf, changedFields, newApplicationColumns, settingsColumns } from '../applications.ts'
import { tellOfDeprecation } from '../deprecations.ts'
import type { Throttle } from '../limits/throttle.ts'
import { type KeyRotation, replacedAlready, replacedInput, replacePrivateKey } from '../private-keys.ts'
import { type AddressRules, applicationName, type SettingsRules, settingsInput } from '../settings-input.ts'
import { type CallbackServices, newMessageId, sendCallback } from '../subscriptions/callback.ts'

// The applications of a developer: settings, keys, and the test of the CallBackURL.

/** The developer who asks. */
export interface Owner {
  readonly developerId: number
  /** By a token, which reaches applications for test stores alone. */
  readonly isByToken?: boolean
}

/** Identifies something of a developer, such as an application. For any other developer it does not exist: all functions throw (404). */
export interface OwnId extends Owner {
  readonly id: number
}

/**
 * The applications of a developer, of which a token reaches those that no real store can let in by itself, and none uses. An application
 * that a token makes is closed to merchants; only the operator opens it.
 */
export function ownedBy({ developerId, isByToken = false }: Owner): Prisma.ApplicationWhereInput {
  if (!isByToken) return { developerId }
  const isElsewhere = { NOT: { store: { testStore: { is: { developerId } } } } }
  return { developerId, openToMerchants: false, subscriptions: { none: isElsewhere } }
}

export type OwnApplicationServices = AccessServices & { outbound: AddressRules }

const APPLICATIONS_MAX = 100

/** The body of `POST /developers/applications` (contract §10.1). */
export function newOwnApplication(rules: SettingsRules) {
  return namedObject({ Name: text(200).describe(applicationName), ...settingsInput(rules) })
}

/** The body of `PUT /developers/applications/{id}`. */
export function changedOwnApplication(rules: SettingsRules) {
  return namedObject({ Name: text(200).optional().describe(applicationName), ...settingsInput(rules) })
}

/** The body of `POST /developers/applications/{id}/callback-secret`. */
export const secretRotation = namedObject({
  CallBackSecret: replacedInput.describe(
    'The secret to replace, so that a repeated request replaces nothing twice. Left out: the one of now.',
  ),
})

const withStoreCount = { include: { _count: { select: { subscriptions: true } } } } as const

/** An application with the number of its subscriptions. */
type OwnRow = Prisma.ApplicationGetPayload<typeof withStoreCount>

/**
 * Registers an application of a developer with a new key pair. CallBackURL omitted or null: no callbacks. RedirectURIs
 * omitted: none. Privileges omitted or null: all, including services added later. Kind omitted: existing, of which the
 * developer is told. Made by a token, it is for test stores alone. Throws for the 101st (409).
 */
export async function createOwnApplication(
  services: OwnApplicationServices & MailServices,
  { developerId, isByToken = false }: Owner,
  given: z.output<ReturnType<typeof newOwnApplication>>,
  actor: Actor,
): Promise<OwnApplication> {
  const { db, now } = services
  const data = { developerId, openToMerchants: !isByToken, ...newApplicationColumns(given, services) }
  return inTransaction(db, async (tx) => {
    // Serializes concurrent calls, so that each counts the applications the others created.
    await tx.$queryRaw`SELECT 1 FROM "Developer" WHERE "id" = ${developerId} FOR NO KEY UPDATE`
    if ((await tx.application.count({ where: { developerId } })) >= APPLICATIONS_MAX) {
      const message = `You have ${APPLICATIONS_MAX} applications, which is the most; delete one that is no longer used`
      throw new StoreFailure('limit-reached', message)
    }
    const row = await tx.application.create({ data, ...withStoreCount })
    await recordAudit(tx, now, { actor, action: 'application.created', ...aboutApplication(row) })
    if (given.Kind === undefined) await tellOfDeprecation(tx, services, developerId, 'application-without-kind')
    return ownApplicationOf(row, services)
  })
}

/** Lists a developer's applications, oldest first, at most 100. */
export async function listOwnApplications(services: DataServices, owner: Owner): Promise<OwnApplication[]> {
  const query = { where: ownedBy(owner), orderBy: { id: 'asc' }, ...withStoreCount } as const
  const rows = await services.db.application.findMany(query)
  return rows.map((row) => ownApplicationOf(row, services))
}

export async function findOwnApplication(services: DataServices, own: OwnId): Promise<OwnApplication> {
  return ownApplicationOf(await findOwnRow(services.db, own), services)
}

async function findOwnRow(db: Db | Transaction, { id, ...owner }: OwnId): Promise<OwnRow> {
  const row = await db.application.findFirst({ where: { id, ...ownedBy(owner) }, ...withStoreCount })
  if (row) return row
  const message = owner.isByToken
    ? `You have no application for test stores with the id ${id}; a token reaches no other`
    : `You have no application with the id ${id}`
  throw new StoreFailure('not-found', message, { field: String(id) })
}

async function lockOwnRow(tx: Transaction, own: OwnId): Promise<OwnRow> {
  await tx.$queryRaw`
    SELECT 1 FROM "Application" WHERE "id" = ${own.id} AND "developerId" = ${own.developerId} FOR UPDATE`
  return findOwnRow(tx, own)
}

/** An application of a developer, as its owner sees it. */
export type OwnApplication = ReturnType<typeof ownApplicationOf>

function ownApplicationOf(row: OwnRow, { secrets, now }: SealingServices) {
  const { callbackSecretRotatedAt: rotatedAt } = row
  return {
    ...applicationOf(row, secrets),
    /** Until when the former private key works. Null: it does not. */
    formerPrivateKeyUntil: unlessPast(row.previousPrivateKeyUntil, now),
    callbackSecret: secrets.open(row.callbackSecretSealed),
    /** Until when callbacks also carry a signature of the former secret. Null: they carry none. */
    formerCallbackSecretUntil: unlessPast(rotatedAt && new Date(rotatedAt.getTime() + FORMER_SECRET_MS), now),
    storeCount: row._count.subscriptions,
  }
}

function unlessPast(at: Date | null, now: () => Date): Date | null {
  return at !== null && at > now() ? at : null
}

/**
 * Changes the given fields of an application; null resets CallBackURL, RedirectURIs and Privileges to their defaults.
 * Narrower privileges take effect at once, wider ones in each store when its merchant agrees. The last change wins.
 */
export async function changeOwnApplication(
  services: OwnApplicationServices,
  own: OwnId,
  given: z.output<ReturnType<typeof changedOwnApplication>>,
  actor: Actor,
): Promise<OwnApplication> {
  const data = settingsColumns(given)
  return changeAccess(services, async (tx) => {
    const before = await lockOwnRow(tx, own)
    const row = await tx.application.update({ where: { id: own.id }, data, ...withStoreCount })
    const details = { changed: changedFields(before, row) }
    if (details.changed.length > 0) {
      await recordAudit(tx, services.now, { actor, action: 'application.changed', ...aboutApplication(row), details })
    }
    return ownApplicationOf(row, services)
  })
}

/**
 * Deletes an application and its subscriptions. Once this resolves, its tokens are refused in this process, and within
 * moments in the others. Sends no REMOVE; the stores' audit logs record the removal.
 */
export async function deleteOwnApplication(services: AccessServices, own: OwnId, actor: Actor): Promise<void> {
  const { now } = services
  await changeAccess(services, async (tx) => {
    const about = { actor, ...aboutApplication(await lockOwnRow(tx, own)) }
    const details = { applicationDeleted: true }
    await recordAuditInStores(tx, now, { ...about, action: 'subscription.removed', developerId: null, details })
    await tx.application.delete({ where: { id: own.id } })
    await recordAudit(tx, now, { ...about, action: 'application.deleted' })
  })
}

/** Replaces an application's private key as `replacePrivateKey` does. */
export async function rotatePrivateKey(services: AccessServices, own: OwnId, given: KeyRotation, actor: Actor) {
  return changeAccess(services, async (tx) => {
    await replacePrivateKey(tx, services, { former: await lockOwnRow(tx, own), given, actor })
    return ownApplicationOf(await findOwnRow(tx, own), services)
  })
}

/**
 * Replaces the secret that signs callbacks. For 24 h they also carry a signature of the former secret, but none of the
 * one before it. If CallBackSecret is given, only that is replaced: throws for one that was already replaced (409).
 */
export async function rotateCallbackSecret(
  services: DataServices,
  own: OwnId,
  { CallBackSecret }: z.output<typeof secretRotation>,
  actor: Actor,
): Promise<OwnApplication> {
  const { db, secrets, now } = services
  return inTransaction(db, async (tx) => {
    const former = await lockOwnRow(tx, own)
    if (CallBackSecret !== undefined && !sameSecret(CallBackSecret, secrets.open(former.callbackSecretSealed))) {
      throw replacedAlready('CallBackSecret', 'callback secret')
    }
    const data = {
      callbackSecretSealed: secrets.seal(newSigningSecret()),
      formerCallbackSecretSealed: former.callbackSecretSealed,
      callbackSecretRotatedAt: now(),
    }
    const row = await tx.application.update({ where: { id: own.id }, data, ...withStoreCount })
    await recordAudit(tx, now, { actor, action: 'application.secret-rotated', ...aboutApplication(row) })
    return ownApplicationOf(row, services)
  })
}

/** The store and token of a test, recognizably invented. */
const sample = { secureUrl: 'https://sample.store.example', token: '0'.repeat(32) }

/** Per developer, because the address may belong to someone who never agreed to be called. */
const testRateLimit: RateLimit = { capacity: 10, leakPerSecond: 0.1 }

export type CallbackTest = Awaited<ReturnType<typeof testCallback>>

/**
 * Sends a sample AUTHORIZE, signed like a real one, to an application's CallBackURL, and returns the JSON text `sent`
 * and the result. Subscribes no store. Any response is returned, not thrown. Throws for an application without a
 * CallBackURL (409), and beyond 10 tests in a burst and one per 10 s after that (429).
 */
export async function testCallback(
  services: DataServices & CallbackServices & { throttle: Throttle },
  own: OwnId,
  actor: Actor,
) {
  const { db, now, throttle } = services
  const row = await findOwnRow(db, own)
  const { callbackUrl } = row
  if (callbackUrl === null) {
    const message = 'The application has no CallBackURL to try; save one first'
    throw new StoreFailure('invalid-state', message, { field: 'CallBackURL' })
  }
  const { accepted, retryAfterSeconds } = await throttle.take(`callback-test:${own.developerId}`, testRateLimit)
  if (!accepted) {
    const message = `Too many tries; come back in ${retryAfterSeconds} s`
    throw new StoreFailure('rate-limited', message, { retryAfterSeconds })
  }
  const messageId = newMessageId()
  const callback = { application: { ...row, callbackUrl }, action: 'AUTHORIZE', ...sample, messageId } as const
  const { sent, ...result } = await sendCallback(services, callback)
  const details = result.ok ? { status: 200 } : { status: result.status, reason: result.reason }
  const entry = { actor, action: 'application.callback-tested', ...aboutApplication(row), details } as const
  await inTransaction(db, (tx) => recordAudit(tx, now, entry))
  return { messageId, sent, result }
}
