import { z } from 'zod'
import { type Actor, type AuditAction, recordAudit, recordAuditInStores } from '../audit/audit.ts'
import { type DataServices, type Db, inTransaction, type Transaction } from '../database/client.ts'
import type { Application as ApplicationRow } from '../database/generated/client.ts'
import type { Privileges } from '../engine/caller.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { FORMER_SECRET_MS } from '../outbound/standard-webhooks.ts'
import { type AccessChange, changeAccess } from '../subscriptions/access-changes.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, text } from '../values/input.ts'
import { generateKey } from '../values/secrets.ts'
import { privateKeyColumns, privilegesColumn, privilegesInput } from './applications.ts'
import { callbackSecret } from './callback.ts'
import { samePrivileges } from './privileges.ts'

/** Identifies an application of a developer. For any other developer it does not exist. */
export interface OwnId {
  readonly developerId: number
  readonly id: number
}

export type OwnApplicationReader = DataServices

export interface OwnApplicationServices extends DataServices, AccessChange {
  outbound: Pick<Outbound, 'addressFault'>
}

const APPLICATIONS_MAX = 100
const ADDRESS_LENGTH_MAX = 2_000
const REDIRECT_URIS_MAX = 20

const callbackUrl = `must be an http or https address of at most ${ADDRESS_LENGTH_MAX} characters`
const redirectUri = `must be an absolute http or https address without user name and fragment, of at most ${ADDRESS_LENGTH_MAX} ASCII characters`
const redirectUris = `must be a list of at most ${REDIRECT_URIS_MAX} addresses`

/** Null or empty: no callbacks. Rejects an address that can never be called, with the reason. */
function callbackUrlInput(addressFault: Outbound['addressFault']) {
  return z
    .string(callbackUrl)
    .trim()
    .max(ADDRESS_LENGTH_MAX, callbackUrl)
    .superRefine((url, context) => {
      if (url === '') return
      const fault = url.isWellFormed() && !/[\s\p{Cc}]/u.test(url) ? addressFault(url) : callbackUrl
      if (fault !== null) context.addIssue({ code: 'custom', message: fault })
    })
    .transform((url) => url || null)
    .nullable()
    .optional()
}

/** RFC 6749 §3.1.2: absolute, without fragment. Only RFC 3986 characters, because addresses are compared as text. */
const redirectUriInput = z
  .string(redirectUri)
  .max(ADDRESS_LENGTH_MAX, redirectUri)
  .regex(/^https?:\/\/[\w.~:/?[\]@!$&'()*+,;=%-]+$/i, redirectUri)
  .refine((uri) => URL.canParse(uri) && !/^https?:\/\/[^/?]*@/i.test(uri), redirectUri)

const redirectUrisInput = z
  .array(redirectUriInput, redirectUris)
  .max(REDIRECT_URIS_MAX, redirectUris)
  .transform((uris) => [...new Set(uris)])
  .nullable()
  .transform((uris) => uris ?? [])
  .optional()

export interface SettingsRules {
  /** The services that privileges may name, from the registry. */
  readonly services: readonly string[]
  readonly outbound: Pick<Outbound, 'addressFault'>
}

function optionalInput({ services, outbound }: SettingsRules) {
  return {
    CallBackURL: callbackUrlInput((url) => outbound.addressFault(url)),
    RedirectURIs: redirectUrisInput,
    Privileges: privilegesInput(services),
  }
}

/** The body of `POST /developers/applications` (contract §10.1). */
export function newOwnApplication(rules: SettingsRules) {
  return namedObject({ Name: text(200), ...optionalInput(rules) })
}

/** The body of `PUT /developers/applications/{id}`. */
export function changedOwnApplication(rules: SettingsRules) {
  return namedObject({ Name: text(200).optional(), ...optionalInput(rules) })
}

/**
 * Registers an application of a developer with a new key pair. CallBackURL omitted or null: no callbacks. RedirectURIs
 * omitted: none. Privileges omitted or null: all, including services added later. Throws for the 101st application
 * (409).
 */
export async function createOwnApplication(
  services: OwnApplicationServices,
  developerId: number,
  given: z.output<ReturnType<typeof newOwnApplication>>,
  actor: Actor,
): Promise<OwnApplication> {
  const { db, secrets, now } = services
  const data = {
    developerId,
    name: given.Name,
    publicKey: generateKey(),
    ...privateKeyColumns(generateKey(), secrets),
    callbackUrl: given.CallBackURL ?? null,
    redirectUris: given.RedirectURIs ?? [],
    privileges: privilegesColumn(given.Privileges ?? null),
    createdAt: now(),
  }
  return inTransaction(db, async (tx) => {
    // Serializes concurrent calls, so that each counts the applications the others created.
    await tx.$queryRaw`SELECT 1 FROM "Developer" WHERE "id" = ${developerId} FOR NO KEY UPDATE`
    if ((await tx.application.count({ where: { developerId } })) >= APPLICATIONS_MAX) throw tooMany()
    const row = await tx.application.create({ data })
    await recordOwn(tx, now, actor, 'application.created', row)
    return ownApplicationOf({ ...row, _count: { subscriptions: 0 } }, services)
  })
}

function tooMany(): StoreFailure {
  const message = `You have ${APPLICATIONS_MAX} applications, and no more are possible; delete one that is no longer used`
  return new StoreFailure('conflict', message)
}

/** Records an action on an application in its owner's audit log. */
export function recordOwn(
  tx: Transaction,
  now: () => Date,
  actor: Actor,
  action: AuditAction,
  { id, developerId, name }: Pick<ApplicationRow, 'id' | 'developerId' | 'name'>,
  details = {},
): Promise<void> {
  return recordAudit(tx, now, { actor, action, target: name, applicationId: id, developerId, details })
}

const withStoreCount = { _count: { select: { subscriptions: true } } } as const

/** An application with the number of its subscriptions. */
type OwnRow = ApplicationRow & { _count: { subscriptions: number } }

/** Lists a developer's applications, oldest first, at most 100. */
export async function listOwnApplications(
  services: OwnApplicationReader,
  developerId: number,
): Promise<OwnApplication[]> {
  const rows = await services.db.application.findMany({
    where: { developerId },
    include: withStoreCount,
    orderBy: { id: 'asc' },
  })
  return rows.map((row) => ownApplicationOf(row, services))
}

/** Throws for an id that is not one of the developer's applications (404). */
export async function findOwnApplication(services: OwnApplicationReader, own: OwnId): Promise<OwnApplication> {
  return ownApplicationOf(await findOwnRow(services.db, own), services)
}

/** Throws for an id that is not one of the developer's applications (404). */
export async function findOwnRow(db: Db | Transaction, { developerId, id }: OwnId): Promise<OwnRow> {
  const row = await db.application.findFirst({ where: { id, developerId }, include: withStoreCount })
  if (!row) throw noSuchApplication(id)
  return row
}

/** Like `findOwnRow`, and locks the row until the transaction ends. */
export async function lockOwnRow(tx: Transaction, own: OwnId): Promise<OwnRow> {
  await tx.$queryRaw`
    SELECT 1 FROM "Application" WHERE "id" = ${own.id} AND "developerId" = ${own.developerId} FOR UPDATE`
  return findOwnRow(tx, own)
}

function noSuchApplication(id: number): StoreFailure {
  return new StoreFailure('not-found', `You have no application with the id ${id}`, { field: String(id) })
}

/** An application of a developer, as its owner sees it. */
export type OwnApplication = ReturnType<typeof ownApplicationOf>

function ownApplicationOf(row: OwnRow, { secrets, now }: Pick<DataServices, 'secrets' | 'now'>) {
  const { callbackSecretRotatedAt: rotatedAt } = row
  return {
    id: row.id,
    name: row.name,
    publicKey: row.publicKey,
    privateKey: secrets.open(row.privateKeySealed),
    /** Until when the former private key works. Null: it does not. */
    formerPrivateKeyUntil: unlessPast(row.previousPrivateKeyUntil, now),
    /** Null: no callback before a store subscribes or unsubscribes. */
    callbackUrl: row.callbackUrl,
    /** The secret that signs its callbacks, `whsec_…`. */
    callbackSecret: callbackSecret(secrets, row),
    /** Until when callbacks also carry a signature of the former secret. Null: they carry none. */
    formerCallbackSecretUntil: unlessPast(rotatedAt && new Date(rotatedAt.getTime() + FORMER_SECRET_MS), now),
    /** The addresses to which OAuth may redirect a merchant, exactly as entered; compared character by character. */
    redirectUris: row.redirectUris,
    /** The privileges it requests from stores. Null: all. */
    privileges: row.privileges as Privileges,
    createdAt: row.createdAt,
    /** The number of stores that use it. */
    storeCount: row._count.subscriptions,
  }
}

function unlessPast(at: Date | null, now: () => Date): Date | null {
  return at !== null && at > now() ? at : null
}

/**
 * Changes the given fields of an application; null resets CallBackURL, RedirectURIs and Privileges to their defaults.
 * Narrower privileges take effect at once, wider ones in each store when its merchant agrees. Of concurrent changes,
 * the last wins. Throws for an id that is not one of the developer's applications (404).
 */
export async function changeOwnApplication(
  services: OwnApplicationServices,
  own: OwnId,
  { Name, CallBackURL, RedirectURIs, Privileges }: z.output<ReturnType<typeof changedOwnApplication>>,
  actor: Actor,
): Promise<OwnApplication> {
  const { now } = services
  return changeAccess(services, async (tx) => {
    const before = await lockOwnRow(tx, own)
    const row = await tx.application.update({
      where: { id: own.id },
      data: {
        ...(Name !== undefined && { name: Name }),
        ...(CallBackURL !== undefined && { callbackUrl: CallBackURL }),
        ...(RedirectURIs !== undefined && { redirectUris: RedirectURIs }),
        ...(Privileges !== undefined && { privileges: privilegesColumn(Privileges) }),
      },
      include: withStoreCount,
    })
    const changed = differences(before, row)
    if (changed.length > 0) await recordOwn(tx, now, actor, 'application.changed', row, { changed })
    return ownApplicationOf(row, services)
  })
}

/** Returns the names of the changed fields, without values: an address may contain a secret of its owner. */
function differences(before: ApplicationRow, after: ApplicationRow): string[] {
  const isSame = {
    name: before.name === after.name,
    callbackUrl: before.callbackUrl === after.callbackUrl,
    redirectUris: before.redirectUris.join(' ') === after.redirectUris.join(' '),
    privileges: samePrivileges(before.privileges as Privileges, after.privileges as Privileges),
  }
  return Object.entries(isSame).flatMap(([name, same]) => (same ? [] : [name]))
}

/**
 * Deletes an application and its subscriptions. Once this resolves, its tokens are refused in this process, and within
 * moments in the others. Sends no REMOVE; the stores' audit logs record the removal. Throws for an id that is not one
 * of the developer's applications (404).
 */
export async function deleteOwnApplication(
  services: AccessChange & { now: () => Date },
  own: OwnId,
  actor: Actor,
): Promise<void> {
  const { now } = services
  await changeAccess(services, async (tx) => {
    const row = await lockOwnRow(tx, own)
    await recordAuditInStores(tx, now, {
      actor,
      action: 'subscription.removed',
      target: row.name,
      applicationId: own.id,
      details: { applicationDeleted: true },
    })
    await tx.application.delete({ where: { id: own.id } })
    await recordOwn(tx, now, actor, 'application.deleted', row)
  })
}
