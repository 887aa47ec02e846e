import type { Db, SealingServices, Transaction } from '../../../foundation/database/client.ts'
import { newToken } from '../links.ts'
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

type ChallengeServices = SealingServices & { readonly db: Db | Transaction }

/** Stores a challenge and returns its token, which is also what a device signs. */
export async function insertChallenge(
  db: Db | Transaction,
  services: SealingServices,
  { purpose, kind, identityId, accountIds = [], passwords = [] }: NewChallenge,
): Promise<string> {
  const { token, ...stored } = newToken(services, lives[purpose] * 60_000)
  const found = { identityId, accountKind: kind, accountIds: [...accountIds], passwords: [...passwords] }
  const challenge = purpose === 'second-factor' ? '' : token
  await db.challenge.create({ data: { ...stored, ...found, purpose, challenge } })
  return token
}

type Asked = Pick<NewChallenge, 'purpose' | 'kind'> & { readonly token: string }

/** Finds a challenge that still waits; null: there is none of this token, purpose and kind, or it is too old. */
export function findChallenge({ db, ...services }: ChallengeServices, asked: Asked) {
  return db.challenge.findFirst({ where: whereOf(services, asked) })
}

/** Uses a challenge up. Null: it was used already, or is none. Of concurrent calls, one gets it. */
export async function useChallenge(services: ChallengeServices, asked: Asked) {
  const found = await findChallenge(services, asked)
  const { count } = await services.db.challenge.deleteMany({ where: whereOf(services, asked) })
  return count > 0 ? found : null
}

function whereOf({ secrets, now }: SealingServices, { token, purpose, kind }: Asked) {
  return { tokenHash: { in: secrets.lookups(token) }, purpose, accountKind: kind, expiresAt: { gt: now() } }
}
