import { generateSecret, generateURI, verifySync } from 'otplib'
import type { SealingServices, Transaction } from '../../../foundation/database/client.ts'

// Time-based one-time passwords (RFC 6238, with its defaults: SHA-1, six digits, a period of 30 s).

const PERIOD_SECONDS = 30
const CODE = /^\d{6}$/

/** Returns a new key: 160 random bits in base32, as people type it into an app. */
export function newTotpKey(): string {
  return generateSecret()
}

/** The address that an authenticator app reads from a QR code. `host` tells this server's entries from those of others. */
export function totpUri(key: string, { email, host }: { email: string; host: string }): string {
  return generateURI({ issuer: host, label: email, secret: key })
}

/**
 * Returns the period whose code this is, with or without blanks and dashes: that of `at`, or the one before or after it. Null: it is the
 * code of none of them.
 */
export function periodOf(key: string, typed: string, at: Date): number | null {
  const code = typed.replaceAll(/[\s\p{Pd}]/gu, '')
  if (!CODE.test(code)) return null
  const epoch = Math.floor(at.getTime() / 1000)
  const result = verifySync({ secret: key, token: code, epoch, epochTolerance: PERIOD_SECONDS })
  return result.valid && 'timeStep' in result ? Number(result.timeStep) : null
}

/**
 * Uses a code of the identity's authenticator app. False: it is wrong, or it or a later one was used before. Of concurrent calls with
 * one code, one gets true.
 */
export async function useTotp(tx: Transaction, { secrets, now }: SealingServices, identityId: number, code: string) {
  const where = { id: identityId, totpSince: { not: null } }
  const row = await tx.identity.findFirst({ where, select: { totpSealed: true } })
  const period = row?.totpSealed ? periodOf(secrets.open(row.totpSealed), code, now()) : null
  if (period === null) return false
  const used = await tx.$executeRaw`
    UPDATE "Identity" SET "totpUsed" = ${period}
    WHERE "id" = ${identityId} AND "totpSealed" = ${row?.totpSealed} AND coalesce("totpUsed", 0) < ${period}`
  return used > 0
}
