import type { z } from 'zod'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import { type Account, type NewPassword, notFound, setPassword } from '../../access/people/accounts.ts'
import { insertIdentity, refuseTaken } from '../../access/people/identities.ts'
import { emailInput, hashPassword, newPasswordInput, refuseNamesAsPassword } from '../../access/people/passwords.ts'
import { endSessions } from '../../access/people/sessions.ts'
import { noSuchStore, storeById } from '../../access/stores/caller-store.ts'
import {
  byId,
  type DataServices,
  type Db,
  inTransaction,
  type Paging,
  type Transaction,
} from '../../foundation/database/client.ts'
import { databaseError } from '../../foundation/database/outage.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import type { RoleOfAccount } from './roles.ts'
import {
  type Changing,
  type ChosenRole,
  lockPeople,
  type RoleRow,
  refuseMoreThan,
  roleColumns,
  roleNamed,
  roleOf,
} from './store-roles.ts'

// The people of a store: their accounts, and the roles that they have.

/** Somebody who belongs to a store. */
export interface Member extends Account, RoleOfAccount {}

const columns = { id: true, email: true, createdAt: true, ...roleColumns } as const

function memberOf({ role, ownRole, ...account }: Account & RoleRow): Member {
  return { ...account, ...roleOf({ role, ownRole }) }
}

/** The body of `POST /admin/stores/{id}/users`. */
export const newMember = namedObject({
  Email: emailInput,
  Password: newPasswordInput,
  Role: text(50)
    .optional()
    .describe(
      'The role of the person: owner, manager, orders, catalogue, reader, or a role of the store’s own. Left out: owner.',
    ),
})

/** Lists a store's people by ascending id. Throws for an unknown store (404). */
export async function listMembers({ db }: DataServices, { storeId, ...page }: Paging & { storeId: number }) {
  await storeById(db, storeId)
  return (await db.storeUser.findMany({ where: { storeId }, select: columns, ...byId(page) })).map(memberOf)
}

/**
 * Creates a further account in a store for the operator, as `Role`, an owner unless it says otherwise. Throws when the password is
 * the address, for a role that the store does not have (400), for an unknown store (404), and for an address that has an account in
 * the store (409).
 */
export async function addMember(
  { db, now }: DataServices,
  storeId: number,
  { Email, Password, Role = 'owner' }: z.output<typeof newMember>,
  actor: Actor,
): Promise<Member> {
  const store = await storeById(db, storeId)
  refuseNamesAsPassword(Password, { email: Email, storeName: store.name })
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const role = await roleNamed(tx, storeId, Role)
    const identity = await insertIdentity(tx, now, { email: Email, passwordHash })
    const member = await insertMember(tx, now, { storeId, ...identity, role })
    const details = { role: role.role }
    await recordAudit(tx, now, { actor, action: 'account.created', target: Email, storeId, details })
    return member
  })
}

/** Lets an identity belong to a store. Throws for an unknown store (404) and for an address that has an account there (409). */
export async function insertMember(
  tx: Transaction,
  now: () => Date,
  { storeId, identityId, email, role }: { storeId: number; identityId: number; email: string; role: ChosenRole },
): Promise<Member> {
  const data = { storeId, identityId, email, ...role.columns, createdAt: now() }
  const row = await tx.storeUser
    .create({ data, select: columns })
    .catch((error) => {
      if (databaseError(error)?.constraint === 'StoreUser_storeId_fkey') throw noSuchStore(storeId)
      throw error
    })
    .catch(refuseTaken('Email is the address of another account of the store'))
  return memberOf(row)
}

/**
 * Sets the password of somebody of a store for the operator. Takes effect at once, in all stores of the person, ends all sessions
 * and deletes failed sign-ins. Throws when the password is a name of the account (400), and for an account that is not the store's
 * (404).
 */
export async function setMemberPassword(
  services: DataServices,
  { storeId, userId }: { storeId: number; userId: number },
  { Password }: NewPassword,
  actor: Actor,
): Promise<Member> {
  const passwordHash = await hashPassword(Password)
  return inTransaction(services.db, async (tx) => {
    const select = { ...columns, identityId: true, store: { select: { name: true } } } as const
    const found = await tx.storeUser.findFirst({ where: { id: userId, storeId }, select })
    if (!found) throw noSuchMember(userId)
    const { identityId, store, ...row } = found
    refuseNamesAsPassword(Password, { email: row.email, storeName: store.name })
    const about = { actor, target: row.email, storeId }
    await setPassword(tx, services, { identityId, kind: 'merchant', passwordHash }, about)
    return memberOf(row)
  })
}

/**
 * Gives somebody of a store another role. Throws where the caller would grant or take more than it has (403), for an account that is
 * not the store's (404), a role that the store does not have (400), and for the last owner (409).
 */
export async function changeRole(
  { db, now }: DataServices,
  { storeId, userId }: { storeId: number; userId: number },
  roleName: string,
  by: Changing,
): Promise<Member> {
  const { actor } = by
  return inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    const before = await memberById(tx, storeId, userId)
    const role = await roleNamed(tx, storeId, roleName)
    refuseMoreThan(privileges, before)
    refuseMoreThan(privileges, role)
    if (role.role === before.role) return before
    if (role.role !== 'owner') await refuseLastOwner(tx, storeId, before)
    const row = await tx.storeUser.update({ where: { id: userId }, data: role.columns, select: columns })
    const details = { role: { from: before.role, to: role.role } }
    await recordAudit(tx, now, { actor, action: 'account.role-changed', target: row.email, storeId, details })
    return memberOf(row)
  })
}

/**
 * Ends somebody's belonging to a store, with the sessions there. Throws where somebody with more privileges would go (403), for an
 * account that is not the store's (404), and for the last owner (409).
 */
export async function removeMember(
  { db, now }: DataServices,
  { storeId, userId }: { storeId: number; userId: number },
  by: Changing,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    const member = await memberById(tx, storeId, userId)
    refuseMoreThan(privileges, member)
    await refuseLastOwner(tx, storeId, member)
    // Before the sessions, as signing in and joining lock them.
    await tx.$queryRaw`
      SELECT FROM "Identity" WHERE "id" = (SELECT "identityId" FROM "StoreUser" WHERE "id" = ${userId}) FOR UPDATE`
    await endSessions(tx, { kind: 'merchant', id: userId })
    await tx.storeUser.delete({ where: { id: userId } })
    await recordAudit(tx, now, { actor: by.actor, action: 'account.deleted', target: member.email, storeId })
  })
}

/** Returns somebody of a store. Throws for an account that is not the store's (404). */
export async function memberById(db: Db | Transaction, storeId: number, id: number): Promise<Member> {
  const row = await db.storeUser.findFirst({ where: { id, storeId }, select: columns })
  if (!row) throw noSuchMember(id)
  return memberOf(row)
}

/** Whether the store would have no owner without this one. */
export async function isLastOwner(db: Db | Transaction, storeId: number, { role }: Member): Promise<boolean> {
  return role === 'owner' && (await db.storeUser.count({ where: { storeId, role: 'owner' } })) === 1
}

/** Under the lock of the store, so that of concurrent requests one finds the other owner gone. */
async function refuseLastOwner(tx: Transaction, storeId: number, member: Member): Promise<void> {
  if (!(await isLastOwner(tx, storeId, member))) return
  const message = 'This is the last owner of the store; make somebody else an owner first'
  throw new StoreFailure('in-use', message, { field: String(member.id) })
}

function noSuchMember(userId: number): StoreFailure {
  return notFound(`The store has no account with the id ${userId}`, userId)
}
