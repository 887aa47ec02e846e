import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Actor, installation, recordAudit, recordAuditInStores } from '../audit/audit.ts'
import { type Db, inTransaction, type Transaction } from '../database/client.ts'
import { type Application as ApplicationRow, Prisma } from '../database/generated/client.ts'
import { sql } from '../database/sql.ts'
import type { Access, Privileges } from '../engine/caller.ts'
import { type AccessChange, changeAccess } from '../subscriptions/access-changes.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, text } from '../values/input.ts'
import { generateKey, type Secrets } from '../values/secrets.ts'
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

export interface RegisterApplication {
  db: Db | Transaction
  secrets: Secrets
  now: () => Date
}

/**
 * Registers an application of the operator with a new key pair. Privileges omitted or null: all. Throttle omitted or
 * null: the contract's rate limit.
 */
export async function registerApplication(
  { db, secrets, now }: RegisterApplication,
  given: z.output<ReturnType<typeof newApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const data = {
    name: given.Name,
    publicKey: generateKey(),
    ...privateKeyColumns(generateKey(), secrets),
    privileges: privilegesColumn(given.Privileges ?? null),
    ...rateLimitColumns(given.Throttle),
    createdAt: now(),
  }
  const row = await inTransaction(db, async (tx) => {
    const created = await tx.application.create({ data })
    await recordAudit(tx, now, {
      actor,
      action: 'application.created',
      target: created.name,
      applicationId: created.id,
    })
    return created
  })
  return applicationOf(row, secrets)
}

/** The hashed and the encrypted form of a private key. */
export function privateKeyColumns(privateKey: string, secrets: Secrets) {
  return { privateKeyHash: secrets.lookup(privateKey), privateKeySealed: secrets.seal(privateKey) }
}

export function privilegesColumn(privileges: Privileges) {
  return privileges === null ? Prisma.DbNull : (privileges as Prisma.InputJsonObject)
}

export type Application = ReturnType<typeof applicationOf>

function applicationOf(row: ApplicationRow, secrets: Secrets) {
  return {
    id: row.id,
    name: row.name,
    publicKey: row.publicKey,
    privateKey: secrets.open(row.privateKeySealed),
    /** By service, spelt as in the registry. Null: all privileges. */
    privileges: row.privileges as Privileges,
    /** The rate limit in each store. Null: the contract's rate limit. */
    throttle: rateLimitOf(row),
    createdAt: row.createdAt,
  }
}

/** Lists applications by ascending id. */
export async function listApplications(
  { db, secrets }: { db: Db | Transaction; secrets: Secrets },
  { limit, offset }: { limit: number; offset: number },
): Promise<Application[]> {
  const rows = await db.application.findMany({ orderBy: { id: 'asc' }, take: limit, skip: offset })
  return rows.map((row) => applicationOf(row, secrets))
}

export interface UpdateApplication extends AccessChange {
  secrets: Secrets
  now: () => Date
}

/**
 * Changes the given fields of an application; null resets Privileges and Throttle to their defaults. Both take effect
 * at once. The new privileges apply in every store that uses the application, regardless of what its merchant agreed
 * to, and are recorded in those stores' audit logs. Throws for an unknown id (404).
 */
export async function updateApplication(
  { db, secrets, now, authenticator }: UpdateApplication,
  id: number,
  { Name, Privileges, Throttle }: z.output<ReturnType<typeof changedApplication>>,
  actor: Actor = installation,
): Promise<Application> {
  const data: Prisma.ApplicationUpdateInput = {
    ...(Name !== undefined && { name: Name }),
    ...(Privileges !== undefined && { privileges: privilegesColumn(Privileges) }),
    ...(Throttle !== undefined && rateLimitColumns(Throttle)),
  }
  const row = await changeAccess({ db, authenticator }, async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM "Application" WHERE "id" = ${id} FOR NO KEY UPDATE`
    const before = await tx.application.findUnique({ where: { id } })
    if (!before) throw new StoreFailure('not-found', `No application has the id ${id}`, { field: String(id) })
    const after = await tx.application.update({ where: { id }, data })
    const changed = differences(before, after)
    if (changed.length > 0) {
      const { name: target, developerId } = after
      const said = { target, applicationId: id, developerId, details: { changed } }
      await recordAudit(tx, now, { actor, action: 'application.changed', ...said })
    }
    if (Privileges !== undefined) {
      await recordAuditInStores(tx, now, {
        actor,
        action: 'subscription.agreed',
        target: after.name,
        applicationId: id,
        developerId: after.developerId,
        details: { privileges: Privileges as Prisma.InputJsonValue },
        where: sql`"privileges" IS DISTINCT FROM ${Privileges && JSON.stringify(Privileges)}::jsonb`,
      })
      await tx.subscription.updateMany({
        where: { applicationId: id },
        data: { privileges: privilegesColumn(Privileges) },
      })
    }
    return after
  })
  return applicationOf(row, secrets)
}

/** Returns the names of the changed fields. */
function differences(before: ApplicationRow, after: ApplicationRow): string[] {
  const isSame = {
    name: before.name === after.name,
    privileges: samePrivileges(before.privileges as Privileges, after.privileges as Privileges),
    throttle: isDeepStrictEqual(rateLimitOf(before), rateLimitOf(after)),
  }
  return Object.entries(isSame).flatMap(([name, same]) => (same ? [] : [name]))
}
