import { z } from 'zod'
import { type DataServices, inTransaction, type Transaction } from '../../../foundation/database/client.ts'
import type { Passkey } from '../../../foundation/database/generated/client.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput, text } from '../../../foundation/values/input.ts'
import type { AuditAction } from '../../audit/actions.ts'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import type { MailServices } from '../../mail/write.ts'
import { notifyPerson } from '../notify-person.ts'
import { fieldFault } from '../passwords.ts'
import { identityOf, lockIdentity } from '../proof.ts'
import { endSessionsOfIdentity, ownerOf, type Session } from '../sessions.ts'
import { newTotpKey, periodOf, totpUri } from './authenticator.ts'
import { type FactorColumns, factorColumns, isFactorInForce } from './in-force.ts'
import { passkeyCreation, verifyNewPasskey } from './passkeys.ts'
import { renewCodes } from './recovery-codes.ts'
import { deleteFactors, keepFactors } from './removal.ts'

// What a signed-in person changes of the own second factors. The guard has asked for a proof before.

export type FactorServices = DataServices & MailServices

const PASSKEYS_MAX = 10
const NAME_LENGTH_MAX = 50

export interface Factors {
  /** Since when; null: there is none. */
  readonly authenticatorSince: Date | null
  readonly passkeys: readonly Pick<Passkey, 'id' | 'name' | 'createdAt' | 'usedAt'>[]
  /** How many are left. */
  readonly recoveryCodes: number
  /** When an operator's removal takes effect; null: none is under way. */
  readonly endAt: Date | null
}

/** The second factors of the signed-in person. Those whose removal has taken effect are none. */
export async function listFactors({ db, now }: DataServices, session: Session): Promise<Factors> {
  const identity = await db.identity.findUniqueOrThrow({
    where: { id: identityOf(session).identityId },
    select: {
      ...factorColumns,
      passkeys: { select: { id: true, name: true, createdAt: true, usedAt: true }, orderBy: { id: 'asc' } },
      _count: { select: { recoveryCodes: true } },
    },
  })
  if (!isFactorInForce(identity, now())) {
    return { authenticatorSince: null, passkeys: [], recoveryCodes: 0, endAt: null }
  }
  const { totpSince: authenticatorSince, passkeys, _count, factorsEndAt: endAt } = identity
  return { authenticatorSince, passkeys, recoveryCodes: _count.recoveryCodes, endAt }
}

type Locked = FactorColumns & { readonly id: number; readonly totpSealed: string | null }

/** Writes a change to the audit log and to the person. Beyond the bounds of mails there is none. */
type Note = (actor: Actor, action: AuditAction, what: Text, details?: { readonly name?: string }) => Promise<void>

/**
 * Runs `work` under the lock of the person's identity, after what an operator's removal has ended is gone. Throws where the person was
 * signed out meanwhile (401).
 */
async function changing<T>(
  services: FactorServices,
  session: Session,
  work: (tx: Transaction, identity: Locked, note: Note) => Promise<T>,
): Promise<T> {
  const { db, now } = services
  const { identityId: id, email: target } = identityOf(session)
  const columns = { id: true, totpSealed: true, ...factorColumns } as const
  return inTransaction(db, async (tx) => {
    const note: Note = async (actor, action, what, details = {}) => {
      await recordAudit(tx, now, { actor, action, target, ...ownerOf(session.person), details })
      await notifyPerson(tx, services, session, actor, { kind: 'factor-changed', data: { what, at: now() } })
    }
    await lockIdentity(tx, session)
    const identity = await tx.identity.findUniqueOrThrow({ where: { id }, select: columns })
    if (identity.factorsEndAt === null || identity.factorsEndAt > now()) return work(tx, identity, note)
    await deleteFactors(tx, now, id)
    return work(tx, { id, totpSealed: null, totpSince: null, passkeySince: null, factorsEndAt: null }, note)
  })
}

const alreadyThere = () =>
  new StoreFailure('invalid-state', 'There is an authenticator app already: remove it before you set up another')

/** Makes a key for an authenticator app, in place of one that was not confirmed. Throws where an app is in force already (409). */
export async function startAuthenticator(services: FactorServices, session: Session): Promise<void> {
  await changing(services, session, async (tx, { id, totpSince }) => {
    if (totpSince !== null) throw alreadyThere()
    const data = { totpSealed: services.secrets.seal(newTotpKey()), totpUsed: null }
    await tx.identity.update({ where: { id }, data })
  })
}

/** The key that waits for an authenticator app to take it over, in base32 and for a QR code; null: none does. */
export async function waitingAuthenticator(services: FactorServices, session: Session) {
  const { identityId, email } = identityOf(session)
  const where = { id: identityId, totpSince: null }
  const row = await services.db.identity.findFirst({ where, select: { totpSealed: true } })
  if (!row?.totpSealed) return null
  const key = services.secrets.open(row.totpSealed)
  return { key, uri: totpUri(key, { email, host: new URL(services.config.publicUrl).host }) }
}

const confirmation = namedObject({ Code: text(20) })

/**
 * Puts the authenticator app in force by one of its codes. With the person's first factor, all other sessions end, and recovery codes
 * are made and returned. Throws for a wrong Code (400), and where no key waits (409).
 */
export async function confirmAuthenticator(services: FactorServices, session: Session, input: unknown, actor: Actor) {
  const { secrets, now } = services
  const { Code } = readInput(confirmation, input)
  return changing(services, session, async (tx, identity, note) => {
    if (identity.totpSince !== null) throw alreadyThere()
    if (identity.totpSealed === null)
      throw new StoreFailure('invalid-state', 'No key waits to be confirmed: begin again')
    const period = periodOf(secrets.open(identity.totpSealed), Code, now())
    if (period === null) {
      throw fieldFault('Code', 'is not the code of this moment; if it is right, check the clock of the device')
    }
    const data = { totpSince: now(), totpUsed: period }
    await tx.identity.update({ where: { id: identity.id }, data })
    await note(actor, 'factor.authenticator-added', t('An authenticator app was added.'))
    return afterAdding(tx, services, session, identity, actor)
  })
}

/**
 * The first factor ends all other sessions, which were opened without one, and comes with recovery codes. Another one shows that the
 * person is there, so a removal that is under way is cancelled.
 */
async function afterAdding(tx: Transaction, services: FactorServices, session: Session, before: Locked, actor: Actor) {
  if (before.factorsEndAt !== null) await keepFactors(tx, services.now, before.id, actor)
  if (before.totpSince !== null || before.passkeySince !== null) return []
  await endSessionsOfIdentity(tx, before.id, session.id)
  return renewCodes(tx, services.secrets, before.id)
}

/** Removes the authenticator app; with the last factor, the recovery codes. Throws where there is none (404). */
export async function removeAuthenticator(services: FactorServices, session: Session, actor: Actor): Promise<void> {
  await changing(services, session, async (tx, { id, totpSince, passkeySince }, note) => {
    if (totpSince === null) throw new StoreFailure('not-found', 'There is no authenticator app')
    const data = { totpSealed: null, totpSince: null, totpUsed: null }
    await tx.identity.update({ where: { id }, data })
    if (passkeySince === null) await afterLast(tx, id)
    await note(actor, 'factor.authenticator-removed', t('The authenticator app was removed.'))
  })
}

async function afterLast(tx: Transaction, identityId: number): Promise<void> {
  await tx.recoveryCode.deleteMany({ where: { identityId } })
  await tx.identity.update({ where: { id: identityId }, data: { factorsEndAt: null } })
}

/** Replaces the recovery codes and returns the new ones. Throws where there is no factor that they could replace (409). */
export async function newRecoveryCodes(services: FactorServices, session: Session, actor: Actor): Promise<string[]> {
  return changing(services, session, async (tx, { id, totpSince, passkeySince }, note) => {
    if (totpSince === null && passkeySince === null) {
      throw new StoreFailure('invalid-state', 'Recovery codes come with a second factor: set one up first')
    }
    await note(actor, 'factor.codes-renewed', t('New recovery codes were made.'))
    return renewCodes(tx, services.secrets, id)
  })
}

/** Makes what the browser needs to create a passkey. Throws beyond ten passkeys (409). */
export async function startPasskey(services: FactorServices, session: Session) {
  const identity = identityOf(session)
  if ((await services.db.passkey.count({ where: { identityId: identity.identityId } })) >= PASSKEYS_MAX) throw tooMany()
  return passkeyCreation(services, identity)
}

const tooMany = () => new StoreFailure('limit-reached', `There are ${PASSKEYS_MAX} passkeys already: remove one first`)

const newPasskey = namedObject({ Name: text(NAME_LENGTH_MAX), Credential: z.unknown() })

/**
 * Adds a passkey under the name that the person gives it. The first factor does what it does in `confirmAuthenticator`. Throws for what
 * is no answer to `startPasskey` (401), beyond ten (409), and for one that is known already (409).
 */
export async function addPasskey(services: FactorServices, session: Session, input: unknown, actor: Actor) {
  const { now } = services
  const { Name, Credential } = readInput(newPasskey, input)
  const made = await verifyNewPasskey(services, identityOf(session), Credential)
  return changing(services, session, async (tx, identity, note) => {
    const { id: identityId } = identity
    if ((await tx.passkey.count({ where: { identityId } })) >= PASSKEYS_MAX) throw tooMany()
    const createdAt = now()
    const data = [{ ...made, name: Name, identityId, createdAt }]
    if ((await tx.passkey.createMany({ data, skipDuplicates: true })).count === 0) {
      throw new StoreFailure('not-unique', 'This passkey is known already', { field: 'Credential' })
    }
    const passkeySince = identity.passkeySince ?? createdAt
    await tx.identity.update({ where: { id: identityId }, data: { passkeySince } })
    await note(actor, 'factor.passkey-added', t('The passkey “{name}” was added.', { name: Name }), { name: Name })
    return afterAdding(tx, services, session, identity, actor)
  })
}

/** Removes a passkey; with the last factor, the recovery codes. Throws for one that is not the person's (404). */
export async function removePasskey(services: FactorServices, session: Session, id: number, actor: Actor) {
  const { identityId } = identityOf(session)
  await changing(services, session, async (tx, { totpSince }, note) => {
    const passkey = await tx.passkey.findFirst({ where: { id, identityId }, select: { name: true } })
    if (!passkey) throw new StoreFailure('not-found', 'You have no such passkey', { field: 'Passkey' })
    await tx.passkey.delete({ where: { id } })
    if ((await tx.passkey.count({ where: { identityId } })) === 0) {
      await tx.identity.update({ where: { id: identityId }, data: { passkeySince: null } })
      if (totpSince === null) await afterLast(tx, identityId)
    }
    await note(actor, 'factor.passkey-removed', t('The passkey “{name}” was removed.', passkey), passkey)
  })
}
