import type { z } from 'zod'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { byId, type DataServices, inTransaction, type Paging, type Transaction } from '../database/client.ts'
import type { Developer } from '../database/generated/client.ts'
import { databaseError } from '../database/outage.ts'
import { empty, sql } from '../database/sql.ts'
import { noSuchStore, storeById } from '../stores/stores.ts'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, readInput } from '../values/input.ts'
import {
  emailInput,
  fieldFault,
  hashPassword,
  lowerCase,
  newPasswordInput,
  passwordInput,
  refuseNamesAsPassword,
  verifyPassword,
} from './passwords.ts'
import { type Client, endSessions, openSession, ownerOf, type Session } from './sessions.ts'
import { type EnteredSession, tableOf } from './sign-in.ts'
import { checkCounted, countTry, forgetFailures, forgiveTry, withDevice } from './sign-in-delay.ts'

export type SignUpServices = DataServices & { config: { readonly developerSignup: 'open' | 'closed' } }

const accountColumns = { id: true, email: true, createdAt: true } as const

/** A developer, or a merchant's account in a store. */
export type Account = Pick<Developer, keyof typeof accountColumns>

/** The body of sign-up, `POST /admin/developers` and `POST /admin/stores/{id}/users`. */
export const newAccount = namedObject({ Email: emailInput, Password: newPasswordInput })

type NewAccount = z.output<typeof newAccount>

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
    throw new StoreFailure('forbidden', 'Only the operator of this server opens developer accounts')
  }
  const given = readInput(newAccount, input)
  refuseNamesAsPassword(given.Password, { email: given.Email })
  const account = { kind: 'developer', email: await lowerCase(db, given.Email) } as const
  const counted = await countTry(services, { ...account, address, isSignUp: true })
  // Hashes before the insert, so that a taken address takes as long as a free one.
  const passwordHash = await checkCounted(db, counted, () => hashPassword(given.Password, networkOf(address)))
  const session = await inTransaction(db, async (tx) => {
    const taken =
      'No account can be opened for this e-mail address. If it has one already, sign in; otherwise use another'
    const { id, email } = await insertAccount(tx, now, null, { email: given.Email, passwordHash }, taken)
    await forgiveTry(tx, counted)
    const actor: Actor = { kind: 'developer', name: email, address }
    await recordAudit(tx, now, { actor, action: 'account.created', target: email, developerId: id })
    return openSession(tx, services, { kind: 'developer', id }, client)
  })
  return { ...session, devices: withDevice(secrets, devices, account) }
}

/** Inserts a merchant's account in a store; without a store, a developer's. `taken`: the message for a taken address. */
function insertAccount(
  tx: Transaction,
  now: () => Date,
  storeId: number | null,
  columns: { email: string; passwordHash: string },
  taken: string,
): Promise<Account> {
  const data = { ...columns, createdAt: now() }
  const inserted: Promise<Account> =
    storeId === null
      ? tx.developer.create({ data, select: accountColumns })
      : tx.storeUser.create({ data: { ...data, storeId }, select: accountColumns })
  return inserted.catch((error) => {
    const constraint = databaseError(error)?.constraint
    if (storeId !== null && constraint === 'StoreUser_storeId_fkey') throw noSuchStore(storeId)
    const isTaken = constraint === 'Developer_email_key' || constraint === 'StoreUser_email_key'
    throw isTaken ? new StoreFailure('conflict', taken, { field: 'Email' }) : error
  })
}

const passwordChange = namedObject({ CurrentPassword: passwordInput, NewPassword: newPasswordInput })

/**
 * Changes the password of the signed-in person from CurrentPassword to NewPassword, and ends every other session with
 * the account. A merchant's accounts in other stores keep their passwords. Throws for a wrong CurrentPassword (400),
 * which counts as a failed sign-in, and for attempts that are too early (429).
 */
export async function changePassword(
  services: DataServices,
  { id: sessionId, person }: Session,
  input: unknown,
  { actor, devices }: { actor: Actor; devices?: string | undefined },
): Promise<void> {
  const { db, now } = services
  if (person.kind === 'customer') throw new Error('A customer has no password here')
  const { kind, id, email } = person
  const storeName = person.kind === 'merchant' ? person.store.name : undefined
  const { CurrentPassword, NewPassword } = readInput(passwordChange, input)
  refuseNamesAsPassword(NewPassword, { email, storeName }, 'NewPassword')
  const attempt = { kind, email: await lowerCase(db, email), address: actor.address, devices }
  const counted = await countTry(services, attempt)
  const table = tableOf(kind)
  const [account] = await db.$queryRaw<{ passwordHash: string }[]>`
    SELECT "passwordHash" FROM ${table} WHERE "id" = ${id}`
  const network = networkOf(actor.address)
  const stored = account?.passwordHash ?? null
  const fits = await checkCounted(db, counted, () => verifyPassword(stored, CurrentPassword, network))
  const wrongPassword = () => fieldFault('CurrentPassword', 'is not the current password')
  if (!account || !fits) throw wrongPassword()
  const passwordHash = await checkCounted(db, counted, () => hashPassword(NewPassword, network))
  await inTransaction(db, async (tx) => {
    const changed = await tx.$executeRaw`
      UPDATE ${table} SET "passwordHash" = ${passwordHash} WHERE "id" = ${id} AND "passwordHash" = ${account.passwordHash}`
    // A concurrent change replaced the password, so CurrentPassword is no longer current.
    if (changed === 0) throw wrongPassword()
    await endSessions(tx, person, sessionId)
    await forgiveTry(tx, counted)
    await recordAudit(tx, now, { actor, action: 'account.password-changed', target: email, ...ownerOf(person) })
  })
}

/** The body of `PUT /admin/developers/{id}` and `PUT /admin/stores/{id}/users/{userId}`. */
export const newPassword = namedObject({ Password: newPasswordInput })

type NewPassword = z.output<typeof newPassword>

/** Lists developers by ascending id. */
export async function listDevelopers({ db }: DataServices, page: Paging): Promise<Account[]> {
  return db.developer.findMany({ select: accountColumns, ...byId(page) })
}

/** Creates a developer's account for the operator. Throws for a taken address (409), or one as password (400). */
export function createDeveloper(services: DataServices, given: NewAccount, actor: Actor): Promise<Account> {
  return createAccount(services, null, given, actor, 'Email is the address of another developer')
}

async function createAccount(
  { db, now }: DataServices,
  storeId: number | null,
  { Email, Password }: NewAccount,
  actor: Actor,
  taken: string,
): Promise<Account> {
  const store = storeId === null ? undefined : await storeById(db, storeId)
  refuseNamesAsPassword(Password, { email: Email, storeName: store?.name })
  const columns = { email: Email, passwordHash: await hashPassword(Password) }
  return inTransaction(db, async (tx) => {
    const account = await insertAccount(tx, now, storeId, columns, taken)
    const owner = storeId === null ? { developerId: account.id } : { storeId }
    await recordAudit(tx, now, { actor, action: 'account.created', target: Email, ...owner })
    return account
  })
}

/**
 * Sets a developer's password for the operator. Takes effect at once, ends all sessions of the account and deletes its
 * failed sign-ins. Throws when the password is the e-mail address (400), and for an unknown id (404).
 */
export function setDeveloperPassword(services: DataServices, id: number, given: NewPassword, actor: Actor) {
  return setPassword(services, { developerId: id }, id, given, actor)
}

/** `owner`: the developer itself, or the store of a merchant's account. */
async function setPassword(
  { db, secrets, now }: DataServices,
  owner: { developerId: number } | { storeId: number },
  id: number,
  { Password }: NewPassword,
  actor: Actor,
): Promise<Account> {
  const kind = 'storeId' in owner ? 'merchant' : 'developer'
  const ofStore = 'storeId' in owner ? sql`AND "storeId" = ${owner.storeId}` : empty
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const [account] = await tx.$queryRaw<Account[]>`
      UPDATE ${tableOf(kind)} SET "passwordHash" = ${passwordHash} WHERE "id" = ${id} ${ofStore}
      RETURNING "id", "email", "createdAt"`
    if (!account) throw 'storeId' in owner ? noSuchUser(id) : notFound(`No developer has the id ${id}`, id)
    const store = 'storeId' in owner ? await storeById(tx, owner.storeId) : undefined
    refuseNamesAsPassword(Password, { email: account.email, storeName: store?.name })
    await endSessions(tx, { kind, id })
    await forgetFailures(tx, secrets, { kind, email: await lowerCase(tx, account.email) })
    await recordAudit(tx, now, { actor, action: 'account.password-changed', target: account.email, ...owner })
    return account
  })
}

function notFound(message: string, id: number): StoreFailure {
  return new StoreFailure('not-found', message, { field: String(id) })
}

function noSuchUser(userId: number): StoreFailure {
  return notFound(`The store has no account with the id ${userId}`, userId)
}

/** Lists the accounts of a store's merchants by ascending id. Throws for an unknown store (404). */
export async function listStoreUsers(
  { db }: DataServices,
  { storeId, ...page }: Paging & { storeId: number },
): Promise<Account[]> {
  await storeById(db, storeId)
  return db.storeUser.findMany({ where: { storeId }, select: accountColumns, ...byId(page) })
}

/**
 * Creates a further account in a store for the operator. Throws when the password is the address (400), for an unknown
 * store (404), and for an address that has an account in the store (409).
 */
export function createStoreUser(services: DataServices, storeId: number, given: NewAccount, actor: Actor) {
  return createAccount(services, storeId, given, actor, 'Email is the address of another account of the store')
}

/** Like `setDeveloperPassword`, for a merchant's account. Throws for an account that is not the store's (404). */
export function setStoreUserPassword(
  services: DataServices,
  { storeId, userId }: { storeId: number; userId: number },
  given: NewPassword,
  actor: Actor,
): Promise<Account> {
  return setPassword(services, { storeId }, userId, given, actor)
}

/** Deletes a merchant's account and sessions for the operator. Throws for the last (409) and an unknown one (404). */
export async function removeStoreUser(
  { db, now }: DataServices,
  { storeId, userId }: { storeId: number; userId: number },
  actor: Actor,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    // Serializes concurrent removals, so that one account remains.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const user = await tx.storeUser.findFirst({ where: { id: userId, storeId }, select: { email: true } })
    if (!user) throw noSuchUser(userId)
    if ((await tx.storeUser.count({ where: { storeId } })) === 1) {
      const message = 'This is the last account of the store; open another one first'
      throw new StoreFailure('conflict', message, { field: String(userId) })
    }
    await endSessions(tx, { kind: 'merchant', id: userId })
    await tx.storeUser.delete({ where: { id: userId } })
    await recordAudit(tx, now, { actor, action: 'account.deleted', target: user.email, storeId })
  })
}
