import { type DataServices, type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../foundation/values/input.ts'
import { recordAudit } from '../audit/audit.ts'
import { hasFactor } from './factors/in-force.ts'
import { fieldFault, lowerCase, passwordInput, verifyPassword } from './passwords.ts'
import { type ByPerson, identityOf, lockIdentity } from './proof.ts'
import { endSessionsOfIdentity, type Session } from './sessions.ts'
import { LOOKS_MIN } from './sign-in.ts'
import { checkCounted, countTry, forgiveTry } from './sign-in-delay.ts'

// Several identities of one address become one, by proving the password of each.

const IDENTITIES_MAX = 20

const joining = namedObject({ Password: passwordInput })

interface Namesake {
  readonly id: number
  readonly passwordHash: string
  /** Whether a second factor is in force. */
  readonly hasFactor: boolean
}

function namesakesOf(db: Db | Transaction, now: () => Date, { identityId, email }: ReturnType<typeof identityOf>) {
  return db.$queryRaw<Namesake[]>`
    SELECT "id", "passwordHash", ${hasFactor(now())} AS "hasFactor"
    FROM "Identity" WHERE lower("email") = lower(${email}::text) AND "id" <> ${identityId}
      AND EXISTS (SELECT FROM "StoreUser" WHERE "StoreUser"."identityId" = "Identity"."id")
      AND NOT EXISTS (SELECT FROM "Developer" WHERE "Developer"."identityId" = "Identity"."id")
      AND NOT EXISTS (SELECT FROM "Operator" WHERE "Operator"."identityId" = "Identity"."id")
    ORDER BY "id" LIMIT ${IDENTITIES_MAX}`
}

/**
 * Joins the accounts of other identities of the person's address whose password is `Password`: from then on they are of the signed-in
 * one, with its password and its factors. Ends all other sessions of both. Throws for a password of
 * none (400, which counts as a failed sign-in), where one has a second factor of its own (409), where the session ended meanwhile (401), and for attempts that are too early (429).
 */
export async function joinAccounts(
  services: DataServices,
  session: Session,
  input: unknown,
  { actor, devices }: ByPerson,
): Promise<void> {
  const { db, now } = services
  const own = identityOf(session)
  const { Password } = readInput(joining, input)
  const attempt = { kind: own.kind, email: await lowerCase(db, own.email), address: actor.address, devices }
  const counted = await countTry(services, attempt)
  const namesakes = await namesakesOf(db, now, own)
  const network = networkOf(actor.address)
  const found = await checkCounted(db, counted, () => fittingOf(namesakes, Password, network))
  if (found.length === 0) throw fieldFault('Password', 'is not the password of another account with your address')
  await inTransaction(db, async (tx) => {
    const others = found.map(({ id }) => id)
    const locked = await lockIdentity(tx, session, others)
    const isUnchanged = ({ id, passwordHash }: Namesake) =>
      locked.some((row) => row.id === id && row.passwordHash === passwordHash)
    // Read under the lock: a factor may have been set up since the password was looked at.
    const joined = (await namesakesOf(tx, now, own)).filter((each) => others.includes(each.id) && isUnchanged(each))
    if (joined.length === 0) throw fieldFault('Password', 'is not the password of another account with your address')
    if (joined.some(({ hasFactor }) => hasFactor)) {
      const message =
        'The other account has a second factor: sign in with that one, by its store’s address, and join this one there'
      throw new StoreFailure('invalid-state', message, { field: 'Password' })
    }
    const ids = joined.map(({ id }) => id)
    for (const id of [own.identityId, ...ids]) await endSessionsOfIdentity(tx, id, session.id)
    const users = await moveAccounts(tx, session, ids)
    await forgiveTry(tx, counted)
    for (const { storeId } of users) {
      await recordAudit(tx, now, { actor, action: 'account.joined', target: own.email, storeId })
    }
  })
}

/** Those whose password it is. */
async function fittingOf(namesakes: readonly Namesake[], password: string, network: string): Promise<Namesake[]> {
  const fitting: Namesake[] = []
  for (const each of namesakes) if (await verifyPassword(each.passwordHash, password, network)) fitting.push(each)
  if (fitting.length > 0) return fitting
  // Anybody may call their account by an address that is not theirs: nothing tells them whether others have it.
  for (let looks = namesakes.length; looks < LOOKS_MIN; looks++) await verifyPassword(null, password, network)
  return fitting
}

/** Gives the accounts of other identities to the signed-in one, and deletes those identities. */
async function moveAccounts(tx: Transaction, session: Session, ids: readonly number[]) {
  const own = identityOf(session)
  const users = await tx.$queryRaw<{ id: number; storeId: number }[]>`
    UPDATE "StoreUser" SET "identityId" = ${own.identityId}, "email" = ${own.email} WHERE "identityId" = ANY (${ids})
    RETURNING "id", "storeId"`
  // Whoever has shown that the address is theirs knew the password of one of these.
  await tx.$executeRaw`
    UPDATE "Identity" SET "emailProvedAt" = coalesce("emailProvedAt",
      (SELECT min("emailProvedAt") FROM "Identity" WHERE "id" = ANY (${ids}))) WHERE "id" = ${own.identityId}`
  await tx.mail.updateMany({ where: { identityId: { in: [...ids] } }, data: { identityId: own.identityId } })
  await tx.identity.deleteMany({ where: { id: { in: [...ids] } } })
  await tx.$executeRaw`
    UPDATE "Session" SET "otherUserIds" = ARRAY(
      SELECT unnest("otherUserIds") UNION SELECT unnest(${users.map(({ id }) => id)}::int[]))
    WHERE "id" = ${session.id}`
  return users
}
