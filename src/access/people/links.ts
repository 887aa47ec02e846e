import { randomBytes } from 'node:crypto'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'

// The random tokens of sessions, challenges, codes, and links that work once: a new password, another address, an invitation.

const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/

type TokenServices = { readonly secrets: Pick<Secrets, 'lookup'>; readonly now: () => Date }

/** Returns a token that works for so long, and what is stored of it. */
export function newToken({ secrets, now }: TokenServices, ms: number, bytes = TOKEN_BYTES) {
  const token = randomBytes(bytes).toString('base64url')
  const createdAt = now()
  return { token, tokenHash: secrets.lookup(token), createdAt, expiresAt: new Date(createdAt.getTime() + ms) }
}

/** Returns the hashes that a token may be stored under. Throws (404) for what is no token, as for one that has been used. */
export function tokenHashes(secrets: Pick<Secrets, 'lookups'>, token: string): string[] {
  if (!TOKEN.test(token)) throw linkUsed()
  return secrets.lookups(token)
}

/** The same for a link that was used, replaced or never there, and one that is too old. */
export function linkUsed(): StoreFailure {
  const message = 'This link has been used, was replaced by a newer one, or is too old: ask for another'
  return new StoreFailure('not-found', message, { field: 'Token' })
}
