import type { Transaction } from '../../foundation/database/client.ts'
import { databaseError } from '../../foundation/database/outage.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'

// What people sign in with, whatever accounts they have.

/** What somebody new signs in with. `isProved`: the person has opened a link that was mailed to the address. */
export interface NewIdentity {
  readonly email: string
  readonly passwordHash: string
  readonly name?: string
  readonly isProved?: boolean
}

/** Inserts an identity, and returns what an account has of it. */
export async function insertIdentity(
  tx: Transaction,
  now: () => Date,
  { email, passwordHash, name = '', isProved = false }: NewIdentity,
): Promise<{ identityId: number; email: string }> {
  const createdAt = now()
  const data = { email, passwordHash, name, emailProvedAt: isProved ? createdAt : null, createdAt }
  const { id: identityId } = await tx.identity.create({ data, select: { id: true } })
  return { identityId, email }
}

/** For `catch`: the message for an address that another account has. */
export function refuseTaken(taken: string) {
  return (error: unknown): never => {
    const constraint = databaseError(error)?.constraint ?? ''
    const isTaken = ['Developer_email_key', 'StoreUser_email_key', 'Operator_email_key'].includes(constraint)
    throw isTaken ? new StoreFailure('not-unique', taken, { field: 'Email' }) : error
  }
}
