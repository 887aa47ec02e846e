import { randomBytes } from 'node:crypto'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import type { Operator as OperatorRow } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { notFound } from './accounts.ts'
import { insertIdentity, refuseTaken } from './identities.ts'
import { emailInput, hashPassword } from './passwords.ts'
import { insertResetLink } from './reset.ts'

// The people who run the installation by its pages.

const OPERATORS_MAX = 100

/** The body of `POST /admin/operators`. */
export const newOperator = namedObject({ Email: emailInput })

/** An operator who is to choose a password, with the address to open, once. */
export type InvitedOperator = Awaited<ReturnType<typeof inviteOperator>>

const columns = { id: true, email: true, createdAt: true } as const

export type Operator = Pick<OperatorRow, keyof typeof columns>

type OperatorServices = DataServices & { readonly config: { readonly publicUrl: string } }

/**
 * Adds an operator with no password that anybody knows, and returns a link by which the person chooses one. For an operator that there
 * is already, returns a new link. Throws for the 101st (409).
 */
export async function inviteOperator({ db, secrets, now, config }: OperatorServices, Email: string, actor: Actor) {
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'))
  return inTransaction(db, async (tx) => {
    const [known] = await tx.$queryRaw<(Operator & { identityId: number })[]>`
      SELECT "id", "identityId", "email", "createdAt" FROM "Operator" WHERE lower("email") = lower(${Email}::text)`
    if (!known && (await tx.operator.count()) >= OPERATORS_MAX) {
      throw new StoreFailure('limit-reached', `There are at most ${OPERATORS_MAX} operators: remove one first`)
    }
    const insert = async () => {
      const identity = await insertIdentity(tx, now, { email: Email, passwordHash })
      const data = { ...identity, createdAt: now() }
      const added = await tx.operator
        .create({ data, select: { ...columns, identityId: true } })
        .catch(refuseTaken('Email is the address of another operator'))
      await recordAudit(tx, now, { actor, action: 'account.created', target: Email, details: { operator: true } })
      return added
    }
    const { identityId, ...operator } = known ?? (await insert())
    const account = { kind: 'operator', email: operator.email, identityId } as const
    const { link, expiresAt } = await insertResetLink(tx, { secrets, now }, account)
    return { ...operator, link: config.publicUrl + link, expiresAt }
  })
}

/** Lists operators by ascending id. */
export function listOperators({ db }: Pick<DataServices, 'db'>): Promise<Operator[]> {
  return db.operator.findMany({ select: columns, orderBy: { id: 'asc' }, take: OPERATORS_MAX })
}

/** Removes an operator with the sessions. Throws for an unknown one (404). The last may go: OPERATOR_KEY lets another in. */
export async function removeOperator({ db, now }: DataServices, id: number, actor: Actor): Promise<void> {
  await inTransaction(db, async (tx) => {
    const operator = await tx.operator.findUnique({ where: { id }, select: columns })
    if (!operator) throw notFound(`There is no operator with the id ${id}`, id)
    await tx.operator.delete({ where: { id } })
    const about = { target: operator.email, details: { operator: true } }
    await recordAudit(tx, now, { actor, action: 'account.deleted', ...about })
  })
}
