import { z } from 'zod'
import { allows, mayGive } from '../../access/applications/privileges.ts'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import { fieldFault } from '../../access/people/passwords.ts'
import { noSuchStore } from '../../access/stores/caller-store.ts'
import type { Privileges } from '../../engine/caller.ts'
import { type DataServices, type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { databaseError } from '../../foundation/database/outage.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { builtInRoles, isBuiltIn, privilegeNames, privilegesOf, type RoleOfAccount } from './roles.ts'

// The roles that a store may give its people: those of every store, and its own.

const ROLES_MAX = 50
const NAME_LENGTH_MAX = 50

const access = z.array(z.enum(['read', 'write'])).max(2)
const rolePrivileges = z.strictObject(Object.fromEntries(privilegeNames.map((name) => [name, access.optional()])))

/** A role of the store's own. `Privileges` names services and parts of the administration; at least one. */
export const ownRoleInput = namedObject({
  Name: text(NAME_LENGTH_MAX).refine(
    (name) => !isBuiltIn(name.toLowerCase()),
    'must not be the name of a role that every store has',
  ),
  Privileges: rolePrivileges
    .transform((given) => complete(given as Readonly<Record<string, readonly ('read' | 'write')[] | undefined>>))
    .refine((given) => Object.keys(given).length > 0, 'must name at least one privilege'),
})

/** Writing needs reading: no page could show what is to be written otherwise. */
function complete(given: Readonly<Record<string, readonly ('read' | 'write')[] | undefined>>) {
  const entries = Object.entries(given).flatMap(([name, accesses = []]) => {
    if (accesses.length === 0) return []
    return [[name, accesses.includes('write') ? (['read', 'write'] as const) : (['read'] as const)] as const]
  })
  return Object.fromEntries(entries) as Readonly<Record<string, readonly ('read' | 'write')[]>>
}

export interface StoreRole extends RoleOfAccount {
  readonly id: number
  /** The number of people who have it. */
  readonly members: number
}

/** A role to give, with the columns of an account or invitation that has it. */
export interface ChosenRole extends RoleOfAccount {
  readonly columns: { readonly role: string | null; readonly roleId: number | null }
}

/** Who changes the people of a store. */
export interface Changing {
  readonly actor: Actor
  /** The account in the store. Null: the operator, who may do everything. */
  readonly userId: number | null
}

/**
 * Locks the store, so that changes of its people and roles come one after another, and returns what the caller may do there. It is
 * read under the lock, because the role may have changed since the request was admitted. Throws for an unknown store (404), and for
 * a caller who may not change its people (403).
 */
export async function lockPeople(tx: Transaction, storeId: number, { userId }: Changing): Promise<Privileges> {
  const [store] = await tx.$queryRaw<unknown[]>`SELECT FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
  if (!store) throw noSuchStore(storeId)
  if (userId === null) return null
  const caller = await tx.storeUser.findFirst({ where: { id: userId, storeId }, select: roleColumns })
  if (caller && mayChangePeople(caller)) return privilegesOf(roleOf(caller))
  throw new StoreFailure('forbidden', 'You may no longer change the people of this store')
}

/** The columns of an account or an invitation that say its role. */
export const roleColumns = { role: true, ownRole: { select: { name: true, privileges: true } } } as const

export interface RoleRow {
  readonly role: string | null
  readonly ownRole: { readonly name: string; readonly privileges: unknown } | null
}

export function roleOf({ role, ownRole }: RoleRow): RoleOfAccount {
  return { role: ownRole?.name ?? role ?? '', ownPrivileges: (ownRole?.privileges ?? null) as Privileges }
}

export function mayChangePeople(row: RoleRow): boolean {
  return allows(privilegesOf(roleOf(row)), 'People', 'write')
}

/** Returns the role of this name in the store, in any case. Throws (400) for an unknown one, and names those that there are. */
export async function roleNamed(db: Db | Transaction, storeId: number, name: string): Promise<ChosenRole> {
  const wanted = name.trim().toLowerCase()
  if (isBuiltIn(wanted)) return { role: wanted, ownPrivileges: null, columns: { role: wanted, roleId: null } }
  const own = await listRoles(db, storeId)
  const found = own.find(({ role }) => role.toLowerCase() === wanted)
  if (found) return { ...found, columns: { role: null, roleId: found.id } }
  const names = [...Object.keys(builtInRoles), ...own.map(({ role }) => role)].join(', ')
  throw fieldFault('Role', `must be the name of a role: ${names}`, 'unknown-reference')
}

/** Lists the store's own roles by name. */
export async function listRoles(db: Db | Transaction, storeId: number): Promise<StoreRole[]> {
  const include = { _count: { select: { users: true } } } as const
  const rows = await db.storeRole.findMany({ where: { storeId }, orderBy: { name: 'asc' }, take: ROLES_MAX, include })
  return rows.map(({ id, name, privileges, _count }) => {
    return { id, role: name, ownPrivileges: privileges as Privileges, members: _count.users }
  })
}

/** Whether somebody with these privileges may give the role, and take it. */
export function mayGrant(privileges: Privileges, role: RoleOfAccount): boolean {
  return mayGive(privileges, privilegesOf(role))
}

/** Throws (403) for a role that may do more than `privileges`: nobody gives more than they have, nor takes it from others. */
export function refuseMoreThan(privileges: Privileges, role: RoleOfAccount): void {
  if (mayGrant(privileges, role)) return
  const message = `The role ${role.role} may do more than your own, so you cannot give or change it`
  throw new StoreFailure('forbidden', message, { field: 'Role' })
}

/**
 * Adds a role of the store's own, or changes it; what changes counts at once for everybody who has it. Throws for a name that another
 * role has (409), for the 51st role (409), where it may do more than the caller, before or after (403), and for an unknown one (404).
 */
export async function saveRole(
  { db, now }: DataServices,
  { storeId, id }: { storeId: number; id: number | null },
  { Name, Privileges: wanted }: z.output<typeof ownRoleInput>,
  by: Changing,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    refuseMoreThan(privileges, { role: Name, ownPrivileges: wanted })
    const roles = await listRoles(tx, storeId)
    if (roles.some((role) => role.id !== id && role.role.toLowerCase() === Name.toLowerCase())) {
      throw fieldFault('Name', 'is the name of another role of the store', 'not-unique')
    }
    const details = { privileges: wanted }
    const about = { actor: by.actor, target: Name, storeId, details }
    if (id === null) {
      if (roles.length >= ROLES_MAX)
        throw new StoreFailure('limit-reached', `A store has at most ${ROLES_MAX} roles of its own`)
      await tx.storeRole.create({ data: { storeId, name: Name, privileges: wanted, createdAt: now() } })
      await recordAudit(tx, now, { ...about, action: 'role.created' })
      return
    }
    refuseMoreThan(privileges, await roleById(tx, storeId, id))
    const where = { storeId_id: { storeId, id } }
    await tx.storeRole.update({ where, data: { name: Name, privileges: wanted } })
    await recordAudit(tx, now, { ...about, action: 'role.changed' })
  })
}

/** Deletes a role of the store's own. Throws while somebody has it or is invited to it (409), and as `saveRole`. */
export async function deleteRole(
  { db, now }: DataServices,
  { storeId, id }: { storeId: number; id: number },
  by: Changing,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    const role = await roleById(tx, storeId, id)
    refuseMoreThan(privileges, role)
    // No page shows them any more.
    await tx.invitation.deleteMany({ where: { storeId, roleId: id, expiresAt: { lte: now() } } })
    await tx.storeRole.delete({ where: { storeId_id: { storeId, id } } }).catch((error) => {
      const isUsed = databaseError(error)?.constraint?.endsWith('_storeId_roleId_fkey') === true
      const message = `Somebody has the role ${role.role} or is invited to it: give them another one first`
      throw isUsed ? new StoreFailure('in-use', message) : error
    })
    await recordAudit(tx, now, { actor: by.actor, action: 'role.deleted', target: role.role, storeId })
  })
}

/** Returns a role of the store's own. Throws for an unknown one (404). */
export async function roleById(tx: Db | Transaction, storeId: number, id: number): Promise<StoreRole> {
  const found = (await listRoles(tx, storeId)).find((role) => role.id === id)
  if (found) return found
  throw new StoreFailure('not-found', `The store has no role with the id ${id}`, { field: String(id) })
}
