import { z } from 'zod'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import { type MailServices, mailsAre, writeMail } from '../../access/mail/write.ts'
import type { EnteredSession } from '../../access/people/enter.ts'
import { insertIdentity } from '../../access/people/identities.ts'
import { linkUsed, newToken, tokenHashes } from '../../access/people/links.ts'
import { readPeople } from '../../access/people/names.ts'
import {
  emailInput,
  fieldFault,
  hashPassword,
  lowerCase,
  refuseNamesAsPassword,
} from '../../access/people/passwords.ts'
import { identityOf, lockIdentity } from '../../access/people/proof.ts'
import { type Client, openSession, type Session } from '../../access/people/sessions.ts'
import { withDevice } from '../../access/people/sign-in-delay.ts'
import { storeById, storeClosed } from '../../access/stores/caller-store.ts'
import {
  type DataServices,
  inTransaction,
  type JoiningServices,
  type Transaction,
} from '../../foundation/database/client.ts'
import type { Invitation as InvitationRow } from '../../foundation/database/generated/client.ts'
import { t } from '../../foundation/texts/text.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { insertMember } from './members.ts'
import { roleName } from './names.ts'
import { privilegesOf, type RoleOfAccount } from './roles.ts'
import {
  type Changing,
  lockPeople,
  mayChangePeople,
  mayGrant,
  type RoleRow,
  refuseMoreThan,
  roleColumns,
  roleNamed,
  roleOf,
} from './store-roles.ts'

// Invitations: how somebody comes to belong to a store. A link that is mailed shows that who opens it reads the address; one that is
// handed over shows nothing.

export type InvitationServices = DataServices & MailServices

const DAYS = 7
const OPEN_MAX = 100

/** The body of `POST /admin/stores/{id}/invitations`. */
export const newInvitation = namedObject({
  Email: emailInput.describe('The e-mail address to invite.'),
  Role: text(50).describe(
    'The role that the person will have: owner, manager, orders, catalogue, reader, or a role of the store’s own.',
  ),
  HandOver: z.boolean().optional().describe('True: the answer has the link, and no mail is sent.'),
})

/** What `invitedBy` is of an invitation by the operator. */
export const OPERATOR = 'the operator'

export type Invitation = RoleOfAccount &
  Pick<InvitationRow, 'id' | 'email' | 'invitedBy' | 'isMailed' | 'createdAt' | 'expiresAt'>

/** An invitation that was just made, with the address to hand over, once. Null: it was mailed. */
export type MadeInvitation = Invitation & { readonly link: string | null }

const withRoles = { ownRole: roleColumns.ownRole, inviter: { select: roleColumns } } as const

type Row = Omit<Invitation, 'role' | 'ownPrivileges'> & RoleRow & { readonly inviter: RoleRow | null }

function invitationOf({ id, email, invitedBy, isMailed, createdAt, expiresAt, ...row }: Row): Invitation {
  return { id, email, invitedBy, isMailed, createdAt, expiresAt, ...roleOf(row) }
}

/** Whether whoever made the invitation may still give its role: nobody leaves a way back in behind. */
function isStillGiven({ inviter, ...row }: Row): boolean {
  if (inviter === null) return true
  return mayChangePeople(inviter) && mayGrant(privilegesOf(roleOf(inviter)), roleOf(row))
}

/**
 * Invites an address to a store for seven days: mails the link, or returns it where no mail is sent or `HandOver` asks for it. An
 * earlier invitation of the address ends. Throws for a role that the store does not have (400), for one that may do more than the
 * caller (403), for an address that belongs to the store already and for the 101st open invitation (409), and beyond the bounds of
 * mails (429).
 */
export async function invite(
  services: JoiningServices & MailServices,
  storeId: number,
  { Email, Role, HandOver = false }: z.output<typeof newInvitation>,
  by: Changing,
): Promise<MadeInvitation> {
  const { db, now, config } = services
  const { actor, userId: invitedById } = by
  const fate = mailsAre(config)
  const { token, ...link } = newToken(services, DAYS * 86_400_000)
  const path = `/admin/invitations?token=${token}` as const
  return inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    const store = await storeById(tx, storeId)
    const storeName = store.name
    // In a sandbox the operator reads the mail, and may have the link at once. Of a test store nobody reads it elsewhere.
    const isTest = (await tx.testStore.count({ where: { storeId } })) > 0
    const isMailed = !HandOver && (fate === 'shown' ? actor.kind === 'merchant' : fate === 'sent' && !isTest)
    const role = await roleNamed(tx, storeId, Role)
    refuseMoreThan(privileges, role)
    await refuseMember(tx, storeId, Email)
    await tx.$executeRaw`
      DELETE FROM "Invitation" WHERE "storeId" = ${storeId} AND (lower("email") = lower(${Email}::text) OR "expiresAt" <= ${link.createdAt})`
    if ((await tx.invitation.count({ where: { storeId } })) >= OPEN_MAX) {
      throw new StoreFailure('limit-reached', `A store has at most ${OPEN_MAX} open invitations: withdraw one first`)
    }
    const invitedBy = actor.kind === 'merchant' ? actor.name : OPERATOR
    const data = { ...link, storeId, email: Email, ...role.columns, isMailed, invitedBy, invitedById }
    const row = await tx.invitation.create({ data, include: withRoles })
    const details = { role: role.role, mailed: isMailed }
    await recordAudit(tx, now, { actor, action: 'invitation.created', target: Email, storeId, details })
    if (isMailed) {
      const by =
        invitedBy === OPERATOR ? t('The operator of this server') : (await readPeople({ db: tx, store }))(invitedBy)
      const data = { storeName, role: roleName(role.role), invitedBy: by, link: path, expiresAt: link.expiresAt }
      const { address: causedBy, locale } = actor
      await writeMail(tx, services, { kind: 'invitation', to: Email, storeId, causedBy, locale, data })
    }
    return { ...invitationOf(row), link: isMailed ? null : config.publicUrl + path }
  })
}

async function refuseMember(tx: Transaction, storeId: number, email: string): Promise<void> {
  const [member] = await tx.$queryRaw<unknown[]>`
    SELECT FROM "StoreUser" WHERE "storeId" = ${storeId} AND lower("email") = lower(${email}::text)`
  if (member) throw fieldFault('Email', 'belongs to the store already', 'not-unique')
}

/**
 * Lists the open invitations of a store, the newest first. `isStillGiven` false: whoever made it may no longer give the role, so that
 * its link does not work. `mail`: what became of it; null: the link was handed over, or the mail is no longer known.
 */
export async function listInvitations({ db, now }: Pick<DataServices, 'db' | 'now'>, storeId: number) {
  const where = { storeId, expiresAt: { gt: now() } }
  const rows = await db.invitation.findMany({ where, include: withRoles, orderBy: { id: 'desc' }, take: OPEN_MAX })
  const ofRows = { storeId, kind: 'invitation', recipient: { in: rows.map(({ email }) => email) } }
  const select = { recipient: true, state: true, reason: true } as const
  const mails = await db.mail.findMany({ where: ofRows, select, orderBy: { id: 'desc' }, take: 10 * OPEN_MAX })
  return rows.map((row) => {
    const mail = row.isMailed ? mails.find(({ recipient }) => recipient === row.email) : undefined
    const shown = { ...invitationOf(row), isStillGiven: isStillGiven(row) }
    return { ...shown, mail: mail ? { state: mail.state, reason: mail.reason ?? '' } : null }
  })
}

/** Withdraws an invitation: its link no longer works. Throws where it gives more than the caller has (403), and for an unknown one (404). */
export async function withdrawInvitation(
  { db, now }: DataServices,
  { storeId, id }: { storeId: number; id: number },
  by: Changing,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const privileges = await lockPeople(tx, storeId, by)
    const where = { storeId_id: { storeId, id } }
    const row = await tx.invitation.findUnique({ where, include: withRoles })
    if (!row) throw noSuchInvitation()
    refuseMoreThan(privileges, invitationOf(row))
    // Not there: somebody has accepted it meanwhile.
    if ((await tx.invitation.deleteMany({ where: { storeId, id } })).count === 0) throw noSuchInvitation()
    await recordAudit(tx, now, { actor: by.actor, action: 'invitation.withdrawn', target: row.email, storeId })
  })
}

function noSuchInvitation(): StoreFailure {
  return new StoreFailure('not-found', 'There is no such invitation: it was used or withdrawn')
}

/**
 * Returns the invitation of a link. `needsSignIn`: whether somebody has shown that the address is theirs; a mailed link is then for that
 * person alone. Throws for a link that does not work (404), and for a closed store (403).
 */
export async function findInvitation(
  { db, secrets, now }: Pick<DataServices, 'db' | 'secrets' | 'now'>,
  token: string,
) {
  const where = { tokenHash: { in: tokenHashes(secrets, token) }, expiresAt: { gt: now() } }
  const row = await db.invitation.findFirst({ where, include: { ...withRoles, store: true } })
  if (!row || !isStillGiven(row)) throw linkUsed()
  if (row.store.closedAt !== null) throw storeClosed()
  const [proved] = await db.$queryRaw<unknown[]>`
    SELECT FROM "Identity" WHERE lower("email") = lower(${row.email}::text) AND "emailProvedAt" IS NOT NULL
      AND EXISTS (SELECT FROM "StoreUser" WHERE "identityId" = "Identity"."id") LIMIT 1`
  const needsSignIn = row.isMailed && proved !== undefined
  const inviter = (await readPeople({ db, store: row.store }))(row.invitedBy)
  return { ...invitationOf(row), inviter, storeId: row.storeId, storeName: row.store.name, needsSignIn }
}

/** Whether the signed-in person has the address of the invitation. */
export async function isForPerson({ db }: Pick<DataServices, 'db'>, { email }: Invitation, session: Session) {
  const [asked, own] = await Promise.all([lowerCase(db, email), lowerCase(db, identityOf(session).email)])
  return asked === own
}

/**
 * Accepts an invitation as the signed-in person, and makes the store the session's current one. A mailed link proves the address. Of
 * concurrent calls, one succeeds. Throws for a link that does not work (404), for a person with another address (403), for one
 * whose session ended meanwhile (401), and for one who belongs to the store already (409).
 */
export async function acceptAsPerson(services: InvitationServices, session: Session, token: string, actor: Actor) {
  const { db, now } = services
  const found = await findInvitation(services, token)
  if (!(await isForPerson(services, found, session))) {
    throw new StoreFailure('forbidden', `The invitation is for ${found.email}: sign out, and open the link again`)
  }
  const { identityId, email } = identityOf(session)
  await inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    const userId = await useUp(tx, services, token, { identityId, email }, actor)
    if (found.isMailed) {
      await tx.identity.updateMany({ where: { id: identityId, emailProvedAt: null }, data: { emailProvedAt: now() } })
    }
    await tx.$executeRaw`
      UPDATE "Session" SET "otherUserIds" = array_append("otherUserIds", "storeUserId"), "storeUserId" = ${userId}
      WHERE "id" = ${session.id} AND "storeUserId" IS NOT NULL`
  })
}

/**
 * Accepts an invitation as somebody new, and opens a session. The address counts as proved only where the link was mailed. Throws for a
 * link that does not work (404), for a password that is a name of the account (400), and where a person of the address must sign in
 * instead (409).
 */
export async function acceptAsNew(
  services: InvitationServices,
  { token, password, name }: { token: string; password: string; name: string },
  client: Client,
): Promise<EnteredSession> {
  const { db, secrets, now } = services
  const { email, storeName, isMailed, needsSignIn } = await findInvitation(services, token)
  if (needsSignIn) throw new StoreFailure('invalid-state', 'You have an account with this address: sign in to accept')
  refuseNamesAsPassword(password, { email, storeName })
  const passwordHash = await hashPassword(password, networkOf(client.address))
  const session = await inTransaction(db, async (tx) => {
    const actor: Actor = { kind: 'merchant', name: email, address: client.address }
    const identity = await insertIdentity(tx, now, { email, passwordHash, name, isProved: isMailed })
    const userId = await useUp(tx, services, token, identity, actor)
    return openSession(tx, services, { kind: 'merchant', id: userId }, client)
  })
  const account = { kind: 'merchant', email: await lowerCase(db, email) } as const
  return { ...session, email, devices: withDevice(secrets, client.devices, account) }
}

/** Ends an invitation by its link, and lets the identity belong to its store in the role that the invitation has now. Returns the account. */
async function useUp(
  tx: Transaction,
  { secrets, now }: InvitationServices,
  token: string,
  identity: { identityId: number; email: string },
  actor: Actor,
): Promise<number> {
  const where = { tokenHash: { in: tokenHashes(secrets, token) }, expiresAt: { gt: now() } }
  const row = await tx.invitation.findFirst({ where, include: withRoles })
  const { count } = await tx.invitation.deleteMany({ where })
  if (!row || count === 0 || !isStillGiven(row)) throw linkUsed()
  const { storeId, role, roleId } = row
  const columns = { role, roleId }
  const { id: userId } = await insertMember(tx, now, { storeId, ...identity, role: { ...invitationOf(row), columns } })
  const details = { role: invitationOf(row).role, invitedBy: row.invitedBy }
  await recordAudit(tx, now, { actor, action: 'invitation.accepted', target: identity.email, storeId, details })
  return userId
}
