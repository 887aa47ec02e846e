import { type DataServices, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { namedObject, readInput } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type MailServices, mailsAre, writeMail } from '../mail/write.ts'
import { refuseTaken } from './identities.ts'
import { linkUsed, newToken, tokenHashes } from './links.ts'
import { notifyPerson } from './notify-person.ts'
import { emailInput, fieldFault, passwordInput } from './passwords.ts'
import { type ByPerson, identityOf, lockIdentity, provePassword } from './proof.ts'
import { areaPaths, endSessionsOfIdentity, ownerOf, type Session } from './sessions.ts'
import { forgiveTry } from './sign-in-delay.ts'

// A person's e-mail address: another one counts once a link that went to it was opened.

export type AddressServices = DataServices & MailServices

const HOURS = 24

const addressChange = namedObject({ Email: emailInput, CurrentPassword: passwordInput })

/**
 * Asks for another e-mail address: mails a link to it, by which the person confirms it within 24 hours while signed in. Where no mail
 * can be sent, the address changes at once, and counts as unproved. Returns which. Throws for a wrong CurrentPassword (400), and where
 * mails or attempts are too many (429).
 */
export async function requestAddress(services: AddressServices, session: Session, input: unknown, by: ByPerson) {
  const { db, config } = services
  const { identityId, email, kind } = identityOf(session)
  const { Email, CurrentPassword } = readInput(addressChange, input)
  if (Email === email) throw fieldFault('Email', 'is your address already')
  const shown = { password: CurrentPassword, field: 'CurrentPassword' }
  const { counted } = await provePassword(services, session, shown, by)
  return inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    await forgiveTry(tx, counted)
    if (mailsAre(config) === 'none') {
      await setAddress(tx, services, session, { email: Email, provedAt: null }, by.actor)
      return 'changed'
    }
    const { token, ...stored } = newToken(services, HOURS * 3_600_000)
    await tx.addressChange.deleteMany({ where: { identityId } })
    await tx.addressChange.create({ data: { ...stored, identityId, email: Email } })
    const link = `${areaPaths[kind]}/account/address?token=${token}` as const
    await writeMail(tx, services, {
      kind: 'address-change',
      to: Email,
      // Of no store: what a test store writes is not sent.
      storeId: null,
      causedBy: by.actor.address,
      locale: by.actor.locale,
      data: { link, expiresAt: stored.expiresAt },
    })
    return 'mailed'
  })
}

/**
 * Confirms another address by its link, of the person who asked for it. Ends the person's other sessions. Of concurrent calls, one
 * succeeds. Throws for a link that does not work for this person (404), and for an address that another account of a store or another
 * developer has (409).
 */
export async function confirmAddress(services: AddressServices, session: Session, token: string, actor: Actor) {
  const { db, secrets, now } = services
  const { identityId } = identityOf(session)
  const hashes = tokenHashes(secrets, token)
  await inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    const [used] = await tx.$queryRaw<{ email: string }[]>`
      DELETE FROM "AddressChange" WHERE "tokenHash" = ANY (${hashes}) AND "identityId" = ${identityId} AND "expiresAt" > ${now()}
      RETURNING "email"`
    if (!used) throw linkUsed()
    await setAddress(tx, services, session, { email: used.email, provedAt: now() }, actor)
  })
}

/** With the identity locked. */
async function setAddress(
  tx: Transaction,
  services: AddressServices,
  session: Session,
  { email, provedAt }: { email: string; provedAt: Date | null },
  actor: Actor,
): Promise<void> {
  const { now } = services
  const { identityId, email: former } = identityOf(session)
  // While the accounts of a session still share the address by which its sessions are found.
  await endSessionsOfIdentity(tx, identityId, session.id)
  await tx.$executeRaw`
    UPDATE "Session" SET "otherUserIds" = ARRAY(
      SELECT "id" FROM "StoreUser" WHERE "identityId" = ${identityId} AND "id" = ANY ("otherUserIds"))
    WHERE "id" = ${session.id}`
  // While the address is still the person's.
  await notifyPerson(tx, services, session, actor, { kind: 'address-changed', data: { newEmail: email } })
  await tx.identity
    .update({ where: { id: identityId }, data: { email, emailProvedAt: provedAt } })
    .catch(refuseTaken('Email is the address of another account where you have one'))
  const about = { target: email, ...ownerOf(session.person) }
  await recordAudit(tx, now, { actor, action: 'account.address-changed', ...about, details: { from: former } })
}
