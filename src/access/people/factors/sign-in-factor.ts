import { type DataServices, inTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { networkOf } from '../../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { Throttle } from '../../applications/limits/throttle.ts'
import {
  type EnteredSession,
  type EnterServices,
  enter,
  type LockedEntry,
  lockEntry,
  type ShownFactor,
  tableOf,
} from '../enter.ts'
import { fieldFault } from '../passwords.ts'
import type { AccountKind, Client } from '../sessions.ts'
import { countFactorTry, deviceOf, forgetFactorFailures, takeAttempt } from '../sign-in-delay.ts'
import { useTotp } from './authenticator.ts'
import { findChallenge, useChallenge } from './challenges.ts'
import { hasFactor } from './in-force.ts'
import { passkeyRequest, usePasskey, verifyPasskey } from './passkeys.ts'
import { useRecoveryCode } from './recovery-codes.ts'

// The second step of a sign-in, and a passkey that replaces both.

export type FactorStepServices = EnterServices & { readonly throttle: Throttle }

/** A browser whose sign-in waits: `token` is its cookie's. */
export interface Waiting extends Client {
  readonly kind: AccountKind
  readonly token: string
}

/** Whose second factor a sign-in waits for, and whether that person has passkeys. Null: none waits, or it has waited too long. */
export async function findWaiting(services: DataServices, { kind, token }: Pick<Waiting, 'kind' | 'token'>) {
  const waiting = await findChallenge(services, { token, purpose: 'second-factor', kind })
  if (waiting?.identityId == null) return null
  const { identityId, accountIds, passwords } = waiting
  const hasPasskey = (await services.db.passkey.count({ where: { identityId } })) > 0
  return { identityId, accountIds, passwords, hasPasskey }
}

function tooLate(): StoreFailure {
  return new StoreFailure('unauthorized', 'This sign-in took too long, or was finished already: begin again')
}

/**
 * Opens the session of a sign-in that waits, by a code of the authenticator app or a recovery code. Of concurrent tries with one code,
 * one succeeds. Throws for a wrong or used code (401, naming Code), after which others wait longer and longer (429), and for a sign-in
 * that waits no more (401).
 */
export async function signInWithCode(
  services: FactorStepServices,
  { code, ...waiting }: Waiting & { readonly code: string },
): Promise<EnteredSession> {
  await takeAttempt(services, networkOf(waiting.address))
  const found = await findWaiting(services, waiting)
  if (!found) throw tooLate()
  await countFactorTry(services, found.identityId)
  return finish(services, waiting, found, (tx) => useCode(tx, services, found.identityId, code))
}

/** Uses a code up. Throws (401, naming Code) for a wrong one. */
async function useCode(tx: Transaction, services: DataServices, id: number, typed: string): Promise<ShownFactor> {
  if (await useTotp(tx, services, id, typed)) return 'authenticator'
  if (await useRecoveryCode(tx, services.secrets, id, typed)) return 'recovery code'
  throw fieldFault('Code', 'is wrong, or was used already', 'unauthorized')
}

/** Makes what the browser needs to ask for a passkey of the person whose sign-in waits. */
export async function waitingPasskeyRequest(services: FactorStepServices, waiting: Waiting) {
  await takeAttempt(services, networkOf(waiting.address))
  const found = await findWaiting(services, waiting)
  if (!found) throw tooLate()
  return passkeyRequest(services, { purpose: 'passkey-factor', kind: waiting.kind, identityId: found.identityId })
}

/** Opens the session of a sign-in that waits, by a passkey. Nobody can guess one, so that failures are not counted. */
export async function signInWithSecondPasskey(
  services: FactorStepServices,
  { credential, ...waiting }: Waiting & { readonly credential: unknown },
): Promise<EnteredSession> {
  await takeAttempt(services, networkOf(waiting.address))
  const found = await findWaiting(services, waiting)
  if (!found) throw tooLate()
  const asking = { purpose: 'passkey-factor', kind: waiting.kind, identityId: found.identityId } as const
  const signed = await verifyPasskey(services, asking, credential)
  return finish(services, waiting, found, async (tx) => {
    await usePasskey(tx, services.now, signed)
    return 'passkey'
  })
}

async function finish(
  services: FactorStepServices,
  { kind, token, ...client }: Waiting,
  { identityId, accountIds, passwords }: NonNullable<Awaited<ReturnType<typeof findWaiting>>>,
  use: (tx: Transaction) => Promise<ShownFactor>,
): Promise<EnteredSession> {
  return inTransaction(services.db, async (tx) => {
    const entry = await lockEntry(tx, services, { kind, accountIds, passwords, shown: null })
    // The factor that was asked for opens the accounts of its own identity, and what came along.
    if (entry?.first.identityId !== identityId || !entry.first.hasFactor) throw tooLate()
    if (!(await useChallenge({ ...services, db: tx }, { token, purpose: 'second-factor', kind }))) throw tooLate()
    const shown = await use(tx)
    await forgetFactorFailures(tx, services.secrets, identityId)
    return enterBy(tx, services, { ...entry, shown }, client)
  })
}

function enterBy(tx: Transaction, services: FactorStepServices, entry: LockedEntry, client: Client) {
  const account = { kind: entry.kind, email: entry.first.lowered }
  const isKnown = deviceOf(services.secrets, client.devices, account) !== null
  return enter(tx, services, entry, { ...client, isKnown })
}

/** Makes what the browser needs to ask for any passkey of this server. */
export async function signInPasskeyRequest(services: FactorStepServices, kind: AccountKind, address: string) {
  await takeAttempt(services, networkOf(address))
  return passkeyRequest(services, { purpose: 'passkey-sign-in', kind, identityId: null })
}

const ACCOUNTS_MAX = 20

/**
 * Opens a session by a passkey alone, whose device has made sure of its owner: no password and no other factor is asked for. A
 * merchant's is for all stores of the person, the first is current. Throws (401) for a passkey that is not accepted or opens no account
 * of the kind.
 */
export async function signInWithPasskey(
  services: FactorStepServices,
  { kind, credential, ...client }: Omit<Waiting, 'token'> & { readonly credential: unknown },
): Promise<EnteredSession> {
  const { db, now } = services
  await takeAttempt(services, networkOf(client.address))
  const asking = { purpose: 'passkey-sign-in', kind, identityId: null } as const
  const signed = await verifyPasskey(services, asking, credential)
  return inTransaction(db, async (tx) => {
    const table = tableOf(kind)
    const accounts = await tx.$queryRaw<{ id: number }[]>`
      SELECT ${table}."id" FROM ${table} JOIN "Identity" ON "Identity"."id" = "identityId"
      WHERE "identityId" = ${signed.identityId} AND ${hasFactor(now())} ORDER BY ${table}."id" LIMIT ${ACCOUNTS_MAX}`
    const asked = { kind, accountIds: accounts.map(({ id }) => id), passwords: null, shown: 'passkey' } as const
    const entry = await lockEntry(tx, services, asked)
    if (!entry?.first.hasFactor) {
      throw new StoreFailure('unauthorized', 'This passkey opens no account here', { field: 'Credential' })
    }
    await usePasskey(tx, now, signed)
    return enterBy(tx, services, entry, client)
  })
}
