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

/** An application by its owner: to anyone else it does not exist. */
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

/** Null and the empty text: none. One that could never be called is refused with the reason. */
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

/** RFC 6749 §3.1.2: absolute, without a fragment. The characters are those of RFC 3986, since it is compared as a text. */
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

/** What an application's settings are validated by. */
export interface SettingsRules {
  /** The services that privileges may name: the registry's. */
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
 * Registers an application of a developer, with a new key pair. CallBackURL absent or null: none; RedirectURIs absent: none;
 * Privileges absent or null: everything, also services that come later. Refuses the 101st (409).
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
    // Of two at once, the second counts what the first one made.
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

/** Writes into the owner's log what was done to an application. */
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

/** With the number of its subscriptions. */
type OwnRow = ApplicationRow & { _count: { subscriptions: number } }

/** A developer's applications, the oldest first; 100 at most. */
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

/** Refuses an id that no application of the developer has (404). */
export async function findOwnApplication(services: OwnApplicationReader, own: OwnId): Promise<OwnApplication> {
  return ownApplicationOf(await findOwnRow(services.db, own), services)
}

/** Refuses an id that no application of the developer has (404). */
export async function findOwnRow(db: Db | Transaction, { developerId, id }: OwnId): Promise<OwnRow> {
  const row = await db.application.findFirst({ where: { id, developerId }, include: withStoreCount })
  if (!row) throw noSuchApplication(id)
  return row
}

/** The same; until the transaction ends, nobody else changes it. */
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
    /** Until when the private key before the last rotation works too; null: it does not. */
    formerPrivateKeyUntil: unlessPast(row.previousPrivateKeyUntil, now),
    /** Null: nobody is asked before a store subscribes or unsubscribes. */
    callbackUrl: row.callbackUrl,
    /** What its callbacks are signed with, `whsec_…`. */
    callbackSecret: callbackSecret(secrets, row),
    /** Until when callbacks carry the signature of the secret before the last rotation too; null: they do not. */
    formerCallbackSecretUntil: unlessPast(rotatedAt && new Date(rotatedAt.getTime() + FORMER_SECRET_MS), now),
    /** Where OAuth may send a merchant back to, as they were given; compared character by character. */
    redirectUris: row.redirectUris,
    /** What it asks of stores; null: everything. */
    privileges: row.privileges as Privileges,
    createdAt: row.createdAt,
    /** How many stores use it. */
    storeCount: row._count.subscriptions,
  }
}

function unlessPast(at: Date | null, now: () => Date): Date | null {
  return at !== null && at > now() ? at : null
}

/**
 * Changes what is named of Name, CallBackURL, RedirectURIs and Privileges; null takes the latter three back to their
 * defaults. Narrower privileges count at once; wider ones in each store as soon as its merchant agrees. Of two who change
 * at once, the last one's values stay. Refuses an id that no application of the developer has (404).
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

/** Their names alone: an address may hold a secret of its owner. */
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
 * Deletes an application with everything that stores have of it: when the promise is fulfilled, its tokens are refused in
 * this process, and within moments in the others. Nobody is sent a REMOVE; the stores' logs tell of it. Refuses an id that
 * no application of the developer has (404).
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
