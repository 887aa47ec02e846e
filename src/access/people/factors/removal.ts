import {
  type DataServices,
  inTransaction,
  type JoiningServices,
  type Transaction,
} from '../../../foundation/database/client.ts'
import type { Sweep } from '../../../foundation/database/sweeper.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import { type MailServices, writeMail } from '../../mail/write.ts'
import { factorColumns, isFactorInForce } from './in-force.ts'

// Second factors that a person has lost: an operator takes them off, after a day in which the person is told and can object.

const WAIT_MS = 24 * 60 * 60 * 1000

type RemovalServices = JoiningServices & MailServices

/**
 * Lets all second factors of an identity end in 24 hours, and mails that to the person. A sign-in with one of them before cancels it.
 * Returns when they end; repeated, when they already do. Throws for an unknown identity (404) and for one without a factor (409).
 */
export async function requestFactorRemoval(services: RemovalServices, identityId: number, actor: Actor): Promise<Date> {
  const { db, now } = services
  return inTransaction(db, async (tx) => {
    const identity = await lockedIdentity(tx, identityId)
    if (!isFactorInForce(identity, now())) {
      throw new StoreFailure('invalid-state', 'The person has no second factor', { field: String(identityId) })
    }
    if (identity.factorsEndAt !== null) return identity.factorsEndAt
    const endsAt = new Date(now().getTime() + WAIT_MS)
    await tx.identity.update({ where: { id: identityId }, data: { factorsEndAt: endsAt } })
    const about = { action: 'factor.removal-requested', details: { endsAt: endsAt.toISOString() } } as const
    await recordInAllLogs(tx, now, identityId, { actor, ...about })
    await writeMail(tx, services, {
      kind: 'factor-ending',
      to: identity.email,
      identityId,
      storeId: null,
      causedBy: null,
      data: { endsAt, by: actor.kind === 'operator' ? t('The operator of this server') : actor.name },
    })
    return endsAt
  })
}

/** Lets the second factors of an identity stay after all. Returns false if no removal was under way, or it has taken effect. */
export async function cancelFactorRemoval({ db, now }: JoiningServices, identityId: number, actor: Actor) {
  return inTransaction(db, async (tx) => {
    const { factorsEndAt } = await lockedIdentity(tx, identityId)
    if (factorsEndAt === null || factorsEndAt <= now()) return false
    await keepFactors(tx, now, identityId, actor)
    return true
  })
}

/** The same under the lock of the identity, for a sign-in with a factor. */
export async function keepFactors(tx: Transaction, now: () => Date, identityId: number, actor: Actor): Promise<void> {
  await tx.identity.update({ where: { id: identityId }, data: { factorsEndAt: null } })
  await recordInAllLogs(tx, now, identityId, { actor, action: 'factor.removal-cancelled' })
}

async function lockedIdentity(tx: Transaction, id: number) {
  await tx.$queryRaw`SELECT FROM "Identity" WHERE "id" = ${id} FOR NO KEY UPDATE`
  const columns = { email: true, ...factorColumns } as const
  const identity = await tx.identity.findUnique({ where: { id }, select: columns })
  if (identity) return identity
  throw new StoreFailure('not-found', `There is no person with the id ${id}`, { field: String(id) })
}

/** Deletes all second factors of an identity whose lock `tx` holds. */
export async function deleteFactors(tx: Transaction, now: () => Date, identityId: number): Promise<void> {
  await tx.passkey.deleteMany({ where: { identityId } })
  await tx.recoveryCode.deleteMany({ where: { identityId } })
  const none = { totpSealed: null, totpSince: null, totpUsed: null, passkeySince: null, factorsEndAt: null }
  await tx.identity.update({ where: { id: identityId }, data: none })
  const operator: Actor = { kind: 'operator', name: '', address: '' }
  await recordInAllLogs(tx, now, identityId, { actor: operator, action: 'factor.all-removed' })
}

/** Records an action in the log of every store and developer that the identity has an account of; an operator's in that of all. */
async function recordInAllLogs(
  tx: Transaction,
  now: () => Date,
  identityId: number,
  input: Pick<Parameters<typeof recordAudit>[2], 'actor' | 'action' | 'details'>,
): Promise<void> {
  const users = { select: { storeId: true }, orderBy: { id: 'asc' } } as const
  const select = { email: true, users, developers: { select: { id: true } } } as const
  const identity = await tx.identity.findUniqueOrThrow({ where: { id: identityId }, select })
  const owners = [...identity.users, ...identity.developers.map(({ id: developerId }) => ({ developerId }))]
  for (const owner of owners.length > 0 ? owners : [{}]) {
    await recordAudit(tx, now, { ...input, target: identity.email, ...owner })
  }
}

const BATCH = 100

/** Deletes second factors whose removal has taken effect. Until then they count as gone all the same. */
export function removedFactorsSweep({ db, now }: Pick<DataServices, 'db' | 'now'>): Sweep {
  return async (isStopping) => {
    const ended = { where: { factorsEndAt: { lte: now() } }, select: { id: true }, take: BATCH } as const
    for (const { id } of await db.identity.findMany(ended)) {
      if (isStopping()) return
      await inTransaction(db, async (tx) => {
        const { factorsEndAt } = await lockedIdentity(tx, id)
        if (factorsEndAt !== null && factorsEndAt <= now()) await deleteFactors(tx, now, id)
      })
    }
  }
}
