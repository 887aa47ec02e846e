import type { z } from 'zod'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type Db, databaseError, inTransaction, type Transaction } from '../database/client.ts'
import { noSuchStore, storeById } from '../stores/stores.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, readInput } from '../values/input.ts'
import {
  emailInput,
  lowerCase,
  newPasswordInput,
  passwordInput,
  refuseAddressAsPassword,
  wrongField,
} from './account-input.ts'
import { withDevice } from './devices.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { type Client, endSessions, openSession, ownerOf, type Session, type SessionServices } from './sessions.ts'
import type { EnteredSession } from './sign-in.ts'
import { countTry, forgetFailures, forgiveTry, signInTry, signUpTry } from './sign-in-delay.ts'

/** A developer, or a merchant's account in a store. */
export interface Account {
  readonly id: number
  readonly email: string
  readonly createdAt: Date
}

export type PeopleServices = SessionServices

export interface SignUpServices extends PeopleServices {
  config: { readonly developerSignup: 'open' | 'closed' }
}

const accountColumns = { id: true, email: true, createdAt: true } as const

/** The body of sign-up, `POST /admin/developers` and `POST /admin/stores/{id}/users`. */
export const newAccount = namedObject({ Email: emailInput, Password: newPasswordInput })

type NewAccount = z.output<typeof newAccount>
type NewPassword = z.output<typeof newPassword>

/**
 * Creates a developer's account from Email and Password, and opens a session.
 * Throws where only the operator creates accounts (403), for invalid input (400), for an address that has an account
 * (409: hiding that would take an e-mail to the address), and for too many attempts (429). Each attempt counts as a
 * failed sign-in of the account and of the network until it succeeds, and always counts against the network's sign-ups.
 */
export async function signUpDeveloper(
  services: SignUpServices,
  input: unknown,
  client: Client & { readonly devices?: string | undefined },
): Promise<EnteredSession> {
  const { db, secrets, now, config } = services
  const { address, devices } = client
  if (config.developerSignup === 'closed') {
    throw new StoreFailure('forbidden', 'Developer accounts are opened by the operator of this server alone')
  }
  const { Email, Password } = readInput(newAccount, input)
  refuseAddressAsPassword(Password, Email)
  const account = { kind: 'developer', email: await lowerCase(db, Email) } as const
  const counted = await countTry(services, signUpTry(secrets, { ...account, address }))
  // Hashes before the insert, so that a taken address takes as long as a free one.
  const passwordHash = await hashPassword(Password)
  const session = await inTransaction(db, async (tx) => {
    const developer = await insertDeveloper(tx, now, { email: Email, passwordHash }).catch((error) => {
      throw isTaken(error, 'Developer_email_key') ? cannotSignUp() : error
    })
    const { id, email } = developer
    await forgiveTry(tx, counted)
    const actor: Actor = { kind: 'developer', name: email, address }
    await recordAudit(tx, now, { actor, action: 'account.created', target: email, developerId: id })
    return openSession(tx, services, { kind: 'developer', id }, client)
  })
  return { ...session, devices: withDevice(secrets, devices, account) }
}

function cannotSignUp(): StoreFailure {
  const message = 'No account can be opened for this e-mail address. If it has one already, sign in; else take another'
  return new StoreFailure('conflict', message, { field: 'Email' })
}

function insertDeveloper(
  tx: Transaction,
  now: () => Date,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<Account> {
  return tx.developer.create({ data: { email, passwordHash, createdAt: now() }, select: accountColumns })
}

function isTaken(error: unknown, constraint: string): boolean {
  return databaseError(error)?.constraint === constraint
}

const passwordChange = namedObject({ CurrentPassword: passwordInput, NewPassword: newPasswordInput })

/**
 * Changes the password of the signed-in person from CurrentPassword to NewPassword, and ends every other session with
 * the account. A merchant's accounts in other stores keep their passwords. Throws for a wrong CurrentPassword (400),
 * which counts as a failed sign-in, and for attempts that are too early (429).
 */
export async function changePassword(
  services: PeopleServices,
  { id: sessionId, person }: Session,
  input: unknown,
  { actor, devices }: { actor: Actor; devices?: string | undefined },
): Promise<void> {
  const { db, secrets, now } = services
  if (person.kind === 'customer') throw new Error('A customer has no password here')
  const { kind, id, email } = person
  const { CurrentPassword, NewPassword } = readInput(passwordChange, input)
  refuseAddressAsPassword(NewPassword, email, 'NewPassword')
  const tried = signInTry(secrets, { kind, email: await lowerCase(db, email), address: actor.address, devices })
  const counted = await countTry(services, tried)
  const account = await hashedPassword(db, person)
  const fits = await verifyPassword(account?.passwordHash ?? null, CurrentPassword)
  if (!account || !fits) throw wrongCurrentPassword()
  const passwordHash = await hashPassword(NewPassword)
  await inTransaction(db, async (tx) => {
    const where = { id, passwordHash: account.passwordHash }
    const data = { passwordHash }
    const { count } =
      kind === 'developer'
        ? await tx.developer.updateMany({ where, data })
        : await tx.storeUser.updateMany({ where, data })
    // A concurrent change replaced the password, so CurrentPassword is no longer current.
    if (count === 0) throw wrongCurrentPassword()
    await endSessions(tx, person, sessionId)
    await forgiveTry(tx, counted)
    await recordAudit(tx, now, { actor, action: 'account.password-changed', target: email, ...ownerOf(person) })
  })
}

function hashedPassword(db: Db, { kind, id }: { kind: 'developer' | 'merchant'; id: number }) {
  const query = { where: { id }, select: { passwordHash: true } }
  return kind === 'developer' ? db.developer.findUnique(query) : db.storeUser.findUnique(query)
}

function wrongCurrentPassword(): StoreFailure {
  return wrongField('CurrentPassword', 'is not the current password')
}

/** The body of `PUT /admin/developers/{id}` and `PUT /admin/stores/{id}/users/{userId}`. */
export const newPassword = namedObject({ Password: newPasswordInput })

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Lists developers by ascending id. */
export async function listDevelopers({ db }: { db: Db }, { limit, offset }: Page): Promise<Account[]> {
  return db.developer.findMany({ select: accountColumns, orderBy: { id: 'asc' }, take: limit, skip: offset })
}

/** Creates a developer's account for the operator. Throws for a taken address (409), or one as password (400). */
export async function createDeveloper(
  { db, now }: PeopleServices,
  { Email, Password }: NewAccount,
  actor: Actor,
): Promise<Account> {
  refuseAddressAsPassword(Password, Email)
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const developer = await insertDeveloper(tx, now, { email: Email, passwordHash }).catch((error) => {
      throw isTaken(error, 'Developer_email_key') ? takenEmail('Email is the address of another developer') : error
    })
    await recordAudit(tx, now, { actor, action: 'account.created', target: Email, developerId: developer.id })
    return developer
  })
}

function takenEmail(message: string): StoreFailure {
  return new StoreFailure('conflict', message, { field: 'Email' })
}

/**
 * Sets a developer's password for the operator. Takes effect at once, ends all sessions of the account and deletes its
 * failed sign-ins. Throws when the password is the e-mail address (400), and for an unknown id (404).
 */
export async function setDeveloperPassword(
  { db, secrets, now }: PeopleServices,
  id: number,
  { Password }: NewPassword,
  actor: Actor,
): Promise<Account> {
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const [developer] = await tx.developer.updateManyAndReturn({
      where: { id },
      data: { passwordHash },
      select: accountColumns,
    })
    if (!developer) throw notFound(`No developer has the id ${id}`, id)
    refuseAddressAsPassword(Password, developer.email)
    await afterSetPassword(tx, secrets, { kind: 'developer', ...developer })
    await recordAudit(tx, now, { actor, action: 'account.password-changed', target: developer.email, developerId: id })
    return developer
  })
}

function notFound(message: string, id: number): StoreFailure {
  return new StoreFailure('not-found', message, { field: String(id) })
}

async function afterSetPassword(
  tx: Transaction,
  secrets: SessionServices['secrets'],
  account: { kind: 'developer' | 'merchant'; id: number; email: string },
): Promise<void> {
  await endSessions(tx, account)
  const email = await lowerCase(tx, account.email)
  await forgetFailures(tx, signInTry(secrets, { kind: account.kind, email, address: '' }).account)
}

/** Lists the accounts of a store's merchants by ascending id. Throws for an unknown store (404). */
export async function listStoreUsers(
  { db }: { db: Db },
  { storeId, limit, offset }: Page & { storeId: number },
): Promise<Account[]> {
  await storeById(db, storeId)
  return db.storeUser.findMany({
    where: { storeId },
    select: accountColumns,
    orderBy: { id: 'asc' },
    take: limit,
    skip: offset,
  })
}

/**
 * Creates a further account in a store for the operator. Throws when the password is the address (400), for an unknown
 * store (404), and for an address that has an account in the store (409).
 */
export async function createStoreUser(
  { db, now }: PeopleServices,
  storeId: number,
  { Email, Password }: NewAccount,
  actor: Actor,
): Promise<Account> {
  refuseAddressAsPassword(Password, Email)
  await storeById(db, storeId)
  const data = { storeId, email: Email, passwordHash: await hashPassword(Password), createdAt: now() }
  return inTransaction(db, async (tx) => {
    const user = await tx.storeUser.create({ data, select: accountColumns }).catch((error) => {
      if (isTaken(error, 'StoreUser_storeId_fkey')) throw noSuchStore(storeId)
      throw isTaken(error, 'StoreUser_email_key')
        ? takenEmail('Email is the address of another account of the store')
        : error
    })
    await recordAudit(tx, now, { actor, action: 'account.created', target: Email, storeId })
    return user
  })
}

/** A merchant's account in a store. */
export interface StoreUserId {
  readonly storeId: number
  readonly userId: number
}

/**
 * Sets the password of a merchant's account for the operator. Takes effect at once, ends all sessions with the account
 * and deletes its failed sign-ins. Throws when the password is the e-mail address (400), and for an account that is not
 * the store's (404).
 */
export async function setStoreUserPassword(
  { db, secrets, now }: PeopleServices,
  { storeId, userId }: StoreUserId,
  { Password }: NewPassword,
  actor: Actor,
): Promise<Account> {
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const [user] = await tx.storeUser.updateManyAndReturn({
      where: { id: userId, storeId },
      data: { passwordHash },
      select: accountColumns,
    })
    if (!user) throw noSuchUser(userId)
    refuseAddressAsPassword(Password, user.email)
    await afterSetPassword(tx, secrets, { kind: 'merchant', ...user })
    await recordAudit(tx, now, { actor, action: 'account.password-changed', target: user.email, storeId })
    return user
  })
}

function noSuchUser(userId: number): StoreFailure {
  return notFound(`The store has no account with the id ${userId}`, userId)
}

/** Deletes a merchant's account and sessions for the operator. Throws for the last (409) and an unknown one (404). */
export async function removeStoreUser(
  { db, now }: PeopleServices,
  { storeId, userId }: StoreUserId,
  actor: Actor,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    // Serializes concurrent removals, so that one account remains.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const user = await tx.storeUser.findFirst({ where: { id: userId, storeId }, select: { email: true } })
    if (!user) throw noSuchUser(userId)
    if ((await tx.storeUser.count({ where: { storeId } })) === 1) {
      throw new StoreFailure('conflict', 'This is the last account of the store; open another one first', {
        field: String(userId),
      })
    }
    await endSessions(tx, { kind: 'merchant', id: userId })
    await tx.storeUser.delete({ where: { id: userId } })
    await recordAudit(tx, now, { actor, action: 'account.deleted', target: user.email, storeId })
  })
}
