import type { DataServices, Transaction } from '../../foundation/database/client.ts'
import { networkOf } from '../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Actor } from '../audit/audit.ts'
import { fieldFault, lowerCase, verifyPassword } from './passwords.ts'
import type { Person, Session } from './sessions.ts'
import { checkCounted, countTry } from './sign-in-delay.ts'

// A signed-in person shows the password once more.

/** The person who changes something of the own identity, and the browser that asks. */
export interface ByPerson {
  readonly actor: Actor
  readonly devices?: string | undefined
}

/** Returns what the signed-in person signs in with. Customers have none. */
export function identityOf({ person }: Session): Exclude<Person, { kind: 'customer' }> {
  if (person.kind === 'customer') throw new Error('A customer has no identity')
  return person
}

/**
 * Checks the password of the signed-in person, which counts as a failed sign-in until the counted try that this returns is forgiven.
 * Throws for a wrong one (400, naming `field`), and for attempts that are too early (429).
 */
export async function provePassword(
  services: DataServices,
  session: Session,
  { password, field }: { password: string; field: string },
  { actor, devices }: ByPerson,
) {
  const { db } = services
  const { kind, identityId, email } = identityOf(session)
  const attempt = { kind, email: await lowerCase(db, email), address: actor.address, devices }
  const counted = await countTry(services, attempt)
  const identity = await db.identity.findUnique({ where: { id: identityId }, select: { passwordHash: true } })
  const stored = identity?.passwordHash ?? null
  const fits = await checkCounted(db, counted, () => verifyPassword(stored, password, networkOf(actor.address)))
  if (!identity || !fits) throw fieldFault(field, 'is not the current password')
  return { counted, passwordHash: identity.passwordHash }
}

/**
 * Locks what the signed-in person signs in with, and `others`, until the transaction ends. Throws (401) where the session has ended
 * or the address was changed since the request was admitted.
 */
export async function lockIdentity(tx: Transaction, session: Session, others: readonly number[] = []) {
  const { identityId, email } = identityOf(session)
  const locked = await tx.$queryRaw<{ id: number; email: string; passwordHash: string }[]>`
    SELECT "id", "email", "passwordHash" FROM "Identity" WHERE "id" = ANY (${[identityId, ...others]})
    ORDER BY "id" FOR UPDATE`
  const isCurrent = locked.some((row) => row.id === identityId && row.email === email)
  if (isCurrent && (await tx.session.count({ where: { id: session.id } })) > 0) return locked
  throw new StoreFailure('unauthorized', 'You were signed out meanwhile: sign in again')
}
