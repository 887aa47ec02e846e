import { randomInt } from 'node:crypto'
import type { Transaction } from '../../../foundation/database/client.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'

// Codes on paper, each of which takes the place of a lost second factor once.

const CODES = 10
/** 60 random bits: 12 letters of Crockford's base32, which leaves out those that people mistake for digits. */
const LENGTH = 12
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Replaces the recovery codes of an identity, and returns the new ones as they are shown. */
export async function renewCodes(tx: Transaction, secrets: Secrets, identityId: number): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newCode)
  await tx.recoveryCode.deleteMany({ where: { identityId } })
  await tx.recoveryCode.createMany({
    data: codes.map((code) => ({ identityId, codeHash: secrets.lookup(code), codeSealed: secrets.seal(code) })),
  })
  return codes.map(shown)
}

/** Uses a recovery code, however it is spaced. False: it is none of the identity's. Of concurrent calls with one code, one gets true. */
export async function useRecoveryCode(tx: Transaction, secrets: Secrets, identityId: number, typed: string) {
  const code = typed.toLowerCase().replace(/[^0-9a-z]/g, '')
  if (code.length !== LENGTH) return false
  const used = await tx.$queryRaw<unknown[]>`
    DELETE FROM "RecoveryCode" WHERE "identityId" = ${identityId} AND "codeHash" = ANY (${secrets.lookups(code)})
    RETURNING "id"`
  return used.length > 0
}

function newCode(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

function shown(code: string): string {
  return (code.match(/.{4}/g) ?? []).join('-')
}
