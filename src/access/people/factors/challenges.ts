import { randomBytes } from 'node:crypto'
import type { DataServices, Db, Transaction } from '../../../foundation/database/client.ts'
import type { AccountKind } from '../sessions.ts'

// What a browser was asked and has not answered yet.

/** How long a sign-in waits for its second factor, and a device may take to sign. */
const lives = { 'second-factor': 10, 'passkey-sign-in': 5, 'passkey-factor': 5, 'passkey-proof': 5, 'passkey-new': 5 }
export type Purpose = keyof typeof lives

/** How long a browser keeps the cookie of a sign-in that waits for its second factor. */
export const WAIT_SECONDS = lives['second-factor'] * 60

export interface NewChallenge {
  readonly purpose: Purpose
  readonly kind: AccountKind
  /** Null: nobody knows yet who signs in. */
  readonly identityId: number | null
  readonly accountIds?: readonly number[]
  readonly passwords?: readonly string[]
}

const TOKEN_BYTES = 32

/** Stores a challenge and returns its token, which is also what a device signs. */
export async function insertChallenge(
  db: Db | Transaction,
  { secrets, now }: Pick<DataServices, 'secrets' | 'now'>,
  { purpose, kind, identityId, accountIds = [], passwords = [] }: NewChallenge,
): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + lives[purpose] * 60_000)
  await db.challenge.create({
    data: {
      tokenHash: secrets.lookup(token),
      purpose,
      identityId,
      accountKind: kind,
      accountIds: [...accountIds],
      passwords: [...passwords],
      challenge: purpose === 'second-factor' ? '' : token,
      createdAt,
      expiresAt,
    },
  })
  return token
}

/** Finds a challenge that still waits; null: there is none of this token, purpose and kind, or it is too old. */
export function findChallenge(
  { db, secrets, now }: Omit<DataServices, 'db'> & { db: Db | Transaction },
  at: { readonly token: string; readonly purpose: Purpose; readonly kind: AccountKind },
) {
  return db.challenge.findFirst({ where: whereOf({ secrets, now }, at) })
}

/** Uses a challenge up. False: it was used already, or is none. Of concurrent calls, one gets true. */
export async function useChallenge(
  services: Omit<DataServices, 'db'> & { db: Db | Transaction },
  at: { readonly token: string; readonly purpose: Purpose; readonly kind: AccountKind },
): Promise<boolean> {
  const { count } = await services.db.challenge.deleteMany({ where: whereOf(services, at) })
  return count > 0
}

function whereOf(
  { secrets, now }: Pick<DataServices, 'secrets' | 'now'>,
  { token, purpose, kind }: { readonly token: string; readonly purpose: Purpose; readonly kind: AccountKind },
) {
  return { tokenHash: { in: secrets.lookups(token) }, purpose, accountKind: kind, expiresAt: { gt: now() } }
}
