import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Actor, aboutApplication, installation, recordAudit, recordAuditInStores } from '../audit/audit.ts'
import { byId, type DataServices, inTransaction, type JoiningServices, type Paging } from '../database/client.ts'
import { type Application as ApplicationRow, Prisma } from '../database/generated/client.ts'
import { sql } from '../database/sql.ts'
import type { Access, Privileges } from '../engine/caller.ts'
import { newSigningSecret } from '../outbound/standard-webhooks.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, text } from '../values/input.ts'
import { generateKey, type Secrets } from '../values/secrets.ts'
import { type AccessServices, changeAccess } from './access-changes.ts'
import { samePrivileges } from './privileges.ts'
import { rateLimitColumns, rateLimitOf, throttleInput } from './throttle.ts'

/** Validates `{"Products": ["read", "write"], …}`; `services` are the registry's names. Null: all privileges. */
export function privilegesInput(services: readonly string[]) {
  return namedObject(Object.fromEntries(services.map((service) => [service, accesses.optional()])))
    .transform((given): Privileges => given as Record<string, Access[]>)
    .nullable()
    .optional()
}

const allowed = 'must be a list of read and write'
const accesses = z
  .array(z.enum(['read', 'write'], allowed), allowed)
  .max(10, allowed)
  .transform((given) => [...new Set(given)].sort())

/** The body of `POST /admin/applications` (contract §10.1). */
export function newApplication(services: readonly string[]) {
  return namedObject({ Name: text(200), Privileges: privilegesInput(services), Throttle: throttleInput })
}

/** The body of `PUT /admin/applications/{id}`. */
export function changedApplication(services: readonly string[]) {
  return namedObject({ Name: text(200).optional(), Privileges: privilegesInput(services), Throttle: throttleInput })
}

/** Registers an application of the operator. Privileges omitted or null: all. Throttle: the contract's rate limit. */
export async function registerApplication(
  { db, secrets, now }: JoiningServices,
  given: z.output<ReturnType<typeof newApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const data = { ...newApplicationColumns(given, { secrets, now }), ...rateLimitColumns(given.Throttle) }
  return inTransaction(db, async (tx) => {
    const row = await tx.application.create({ data })
    await recordAudit(tx, now, { actor, action: 'application.created', ...aboutApplication(row) })
    return applicationOf(row, secrets)
  })
}

/** The columns that all new applications have, with new keys. */
export function newApplicationColumns(
  { Name, Privileges = null }: { Name: string; Privileges?: Privileges | undefined },
  { secrets, now }: Pick<DataServices, 'secrets' | 'now'>,
) {
  const privileges = privilegesColumn(Privileges)
  const callbackSecretSealed = secrets.seal(newSigningSecret())
  const own = { publicKey: generateKey(), ...newPrivateKey(secrets), callbackSecretSealed }
  return { name: Name, ...own, privileges, createdAt: now() }
}

/** The columns of a new private key. */
export function newPrivateKey(secrets: Secrets) {
  const privateKey = generateKey()
  return { privateKeyHash: secrets.lookup(privateKey), privateKeySealed: secrets.seal(privateKey) }
}

export function privilegesColumn(privileges: Privileges) {
  return privileges === null ? Prisma.DbNull : (privileges as Prisma.InputJsonObject)
}

export type Application = ReturnType<typeof applicationOf>

export function applicationOf(row: ApplicationRow, secrets: Secrets) {
  const { id, name, publicKey, createdAt } = row
  return {
    id,
    name,
    publicKey,
    privateKey: secrets.open(row.privateKeySealed),
    /** By service, spelt as in the registry. Null: all privileges. */
    privileges: row.privileges as Privileges,
    /** The rate limit in each store. Null: the contract's rate limit. */
    throttle: rateLimitOf(row),
    createdAt,
  }
}

/** Lists applications by ascending id. */
export async function listApplications({ db, secrets }: JoiningServices, page: Paging): Promise<Application[]> {
  const rows = await db.application.findMany(byId(page))
  return rows.map((row) => applicationOf(row, secrets))
}

/**
 * Changes the given fields of an application; null resets Privileges and Throttle to their defaults. Both take effect
 * at once. The new privileges apply in every store that uses the application, regardless of what its merchant agreed
 * to, and are recorded in those stores' audit logs. Throws for an unknown id (404).
 */
export async function updateApplication(
  services: AccessServices,
  id: number,
  { Name, Privileges, Throttle }: z.output<ReturnType<typeof changedApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const { secrets, now } = services
  const data: Prisma.ApplicationUpdateInput = {
    ...(Name !== undefined && { name: Name }),
    ...(Privileges !== undefined && { privileges: privilegesColumn(Privileges) }),
    ...(Throttle !== undefined && rateLimitColumns(Throttle)),
  }
  return changeAccess(services, async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM "Application" WHERE "id" = ${id} FOR NO KEY UPDATE`
    const before = await tx.application.findUnique({ where: { id } })
    if (!before) throw new StoreFailure('not-found', `No application has the id ${id}`, { field: String(id) })
    const after = await tx.application.update({ where: { id }, data })
    const about = { actor, ...aboutApplication(after) }
    const details = { changed: changedFields(before, after) }
    if (details.changed.length > 0) await recordAudit(tx, now, { ...about, action: 'application.changed', details })
    if (Privileges !== undefined) {
      await recordAuditInStores(tx, now, {
        ...about,
        action: 'subscription.agreed',
        details: { privileges: Privileges as Prisma.InputJsonValue },
        where: sql`"privileges" IS DISTINCT FROM ${Privileges && JSON.stringify(Privileges)}::jsonb`,
      })
      const privileges = privilegesColumn(Privileges)
      await tx.subscription.updateMany({ where: { applicationId: id }, data: { privileges } })
    }
    return applicationOf(after, secrets)
  })
}

/** Returns the names of the changed fields, without values: an address may contain a secret of its owner. */
export function changedFields(before: ApplicationRow, after: ApplicationRow): string[] {
  const isSame = {
    name: before.name === after.name,
    callbackUrl: before.callbackUrl === after.callbackUrl,
    redirectUris: isDeepStrictEqual(before.redirectUris, after.redirectUris),
    privileges: samePrivileges(before.privileges as Privileges, after.privileges as Privileges),
    throttle: isDeepStrictEqual(rateLimitOf(before), rateLimitOf(after)),
  }
  return Object.entries(isSame).flatMap(([name, same]) => (same ? [] : [name]))
}
