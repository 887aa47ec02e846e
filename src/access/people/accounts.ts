import { z } from 'zod'
import {
  byId,
  type DataServices,
  inTransaction,
  type Paging,
  type SealingServices,
  type Transaction,
} from '../../foundation/database/client.ts'
import type { Developer } from '../../foundation/database/generated/client.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../foundation/values/input.ts'
import { type Actor, type AuditInput, recordAudit } from '../audit/audit.ts'
import type { MailServices } from '../mail/write.ts'
import { browserName } from './browser-name.ts'
import { insertIdentity, type NewIdentity, refuseTaken } from './identities.ts'
import { notifyPerson } from './notify-person.ts'
import {
  emailInput,
  fieldFault,
  hashPassword,
  lowerCase,
  newPasswordInput,
  passwordInput,
  refuseNamesAsPassword,
} from './passwords.ts'
import { type ByPerson, identityOf, provePassword } from './proof.ts'
import { type AccountKind, type Client, endSessionsOfIdentity, openSession, ownerOf, type Session } from './sessions.ts'
import { checkCounted, countTry, forgetFailures, forgiveTry, withDevice } from './sign-in-delay.ts'

export type SignUpServices = DataServices & { config: { readonly developerSignup: 'open' | 'closed' } }

const accountColumns = { id: true, email: true, createdAt: true } as const

export type Account = Pick<Developer, keyof typeof accountColumns>

/** The body of `POST /admin/developers` and `POST /admin/stores/{id}/users`. */
export const newAccount = namedObject({ Email: emailInput, Password: newPasswordInput })

/** `next`: the page to open afterwards. Sent by forms only. */
const signUp = namedObject({ Email: emailInput, Password: newPasswordInput, next: z.unknown().optional() })

/**
 * Creates a developer's account from Email and Password, and opens a session.
 * Throws where only the operator creates accounts (403), for invalid input (400), for an address that has an account
 * (409: hiding that would take an e-mail to the address), and for too many attempts (429). Each attempt counts as a
 * failed sign-in of the account and of the network until it succeeds, and always counts against the network's sign-ups.
 */
export async function signUpDeveloper(services: SignUpServices, input: unknown, client: Client) {
  const { db, secrets, now, config } = services
  const { address, devices } = client
  if (config.developerSignup === 'closed') {
    throw new StoreFailure('forbidden', 'Only the operator of this server opens developer accounts')
  }
  const given = readInput(signUp, input)
  refuseNamesAsPassword(given.Password, { email: given.Email })
  const account = { kind: 'developer', email: await lowerCase(db, given.Email) } as const
  const counted = await countTry(services, { ...account, address, isSignUp: true })
  // Hashes before the insert, so that a taken address takes as long as a free one.
  const passwordHash = await checkCounted(db, counted, () => hashPassword(given.Password, networkOf(address)))
  const session = await inTransaction(db, async (tx) => {
    const taken =
      'No account can be opened for this e-mail address. If it has one already, sign in; otherwise use another'
    const { id, email } = await insertDeveloper(tx, now, { email: given.Email, passwordHash }, taken)
    await forgiveTry(tx, counted)
    const actor: Actor = { kind: 'developer', name: email, address }
    await recordAudit(tx, now, { actor, action: 'account.created', target: email, developerId: id })
    return openSession(tx, services, { kind: 'developer', id }, client)
  })
  return { ...session, email: given.Email, devices: withDevice(secrets, devices, account) }
}

/** Inserts a developer's account with an identity of its own. `taken`: the message for a taken address. */
async function insertDeveloper(tx: Transaction, now: () => Date, given: NewIdentity, taken: string): Promise<Account> {
  const identity = await insertIdentity(tx, now, given)
  const data = { ...identity, createdAt: now() }
  return tx.developer.create({ data, select: accountColumns }).catch(refuseTaken(taken))
}

const passwordChange = namedObject({ CurrentPassword: passwordInput, NewPassword: newPasswordInput })

/**
 * Changes the password of the signed-in person from CurrentPassword to NewPassword, and ends every other session of the
 * person. Accounts of the same address that were not joined keep their passwords. Throws for a wrong CurrentPassword (400),
 * which counts as a failed sign-in, and for attempts that are too early (429).
 */
export async function changePassword(
  services: DataServices & MailServices,
  session: Session,
  input: unknown,
  by: ByPerson & Partial<Pick<Client, 'userAgent'>>,
): Promise<void> {
  const { person } = session
  const { db, now } = services
  const { identityId, email } = identityOf(session)
  const storeName = person.kind === 'merchant' ? person.store.name : undefined
  const { CurrentPassword, NewPassword } = readInput(passwordChange, input)
  refuseNamesAsPassword(NewPassword, { email, storeName }, 'NewPassword')
  const shown = { password: CurrentPassword, field: 'CurrentPassword' }
  const { counted, passwordHash: former } = await provePassword(services, session, shown, by)
  const passwordHash = await checkCounted(db, counted, () => hashPassword(NewPassword, networkOf(by.actor.address)))
  await inTransaction(db, async (tx) => {
    const where = { id: identityId, passwordHash: former }
    const { count } = await tx.identity.updateMany({ where, data: { passwordHash } })
    // A concurrent change replaced the password, so CurrentPassword is no longer current.
    if (count === 0) throw fieldFault('CurrentPassword', 'is not the current password')
    await endSessionsOfIdentity(tx, identityId, session.id)
    await forgiveTry(tx, counted)
    const about = { actor: by.actor, target: email, ...ownerOf(person) }
    await recordAudit(tx, now, { ...about, action: 'account.password-changed' })
    const data = { at: now(), address: by.actor.address, userAgent: browserName(by.userAgent ?? '') }
    await notifyPerson(tx, services, session, by.actor, { kind: 'password-changed', data })
  })
}

/** The body of `PUT /admin/developers/{id}` and `PUT /admin/stores/{id}/users/{userId}`. */
export const newPassword = namedObject({ Password: newPasswordInput })

export type NewPassword = z.output<typeof newPassword>

/** Lists developers by ascending id. */
export async function listDevelopers({ db }: DataServices, page: Paging): Promise<Account[]> {
  return db.developer.findMany({ select: accountColumns, ...byId(page) })
}

/** Creates a developer's account for the operator. Throws for a taken address (409), or one as password (400). */
export async function createDeveloper(
  { db, now }: DataServices,
  { Email, Password }: z.output<typeof newAccount>,
  actor: Actor,
): Promise<Account> {
  refuseNamesAsPassword(Password, { email: Email })
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const taken = 'Email is the address of another developer'
    const account = await insertDeveloper(tx, now, { email: Email, passwordHash }, taken)
    await recordAudit(tx, now, { actor, action: 'account.created', target: Email, developerId: account.id })
    return account
  })
}

/**
 * Sets a developer's password for the operator. Takes effect at once, ends all sessions of the account and deletes its
 * failed sign-ins. Throws when the password is the e-mail address (400), and for an unknown id (404).
 */
export async function setDeveloperPassword(
  services: DataServices,
  id: number,
  { Password }: NewPassword,
  actor: Actor,
): Promise<Account> {
  const passwordHash = await hashPassword(Password)
  return inTransaction(services.db, async (tx) => {
    const account = await tx.developer.findUnique({ where: { id }, select: { ...accountColumns, identityId: true } })
    if (!account) throw notFound(`No developer has the id ${id}`, id)
    const { identityId, ...shown } = account
    refuseNamesAsPassword(Password, { email: account.email })
    const about = { actor, target: account.email, developerId: id }
    await setPassword(tx, services, { identityId, kind: 'developer', passwordHash }, about)
    return shown
  })
}

/**
 * Sets the password of an identity, ends its sessions, and forgets the failed sign-ins of the kind of account that it is set by.
 * `about`: for the audit log.
 */
export async function setPassword(
  tx: Transaction,
  { secrets, now }: SealingServices,
  { identityId, kind, passwordHash }: { identityId: number; kind: AccountKind; passwordHash: string },
  about: Omit<AuditInput, 'action'>,
): Promise<void> {
  const where = { id: identityId }
  const { email } = await tx.identity.update({ where, data: { passwordHash }, select: { email: true } })
  await endSessionsOfIdentity(tx, identityId)
  await forgetFailures(tx, secrets, { kind, email: await lowerCase(tx, email) })
  await recordAudit(tx, now, { ...about, action: 'account.password-changed' })
}

export function notFound(message: string, id: number): StoreFailure {
  return new StoreFailure('not-found', message, { field: String(id) })
}
