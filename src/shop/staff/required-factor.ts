import { recordAudit } from '../../access/audit/audit.ts'
import { hasFactor } from '../../access/people/factors/in-force.ts'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type Changing, lockPeople } from './store-roles.ts'

// Whether a store requires a second factor of its people.

const MEMBERS_MAX = 500

/** From when on the store requires a second factor (null: it does not), and who of its people has one: those without first, 500 at most. */
export async function requiredFactor({ db, now }: DataServices, storeId: number) {
  const select = { factorRequiredFrom: true } as const
  const { factorRequiredFrom } = await db.store.findUniqueOrThrow({ where: { id: storeId }, select })
  const members = await db.$queryRaw<{ id: number; email: string; hasFactor: boolean }[]>`
    SELECT "StoreUser"."id", "StoreUser"."email", ${hasFactor(now())} AS "hasFactor"
    FROM "StoreUser" JOIN "Identity" ON "Identity"."id" = "identityId" WHERE "storeId" = ${storeId}
    ORDER BY "hasFactor", lower("StoreUser"."email"), "StoreUser"."id" LIMIT ${MEMBERS_MAX}`
  return { requiredFrom: factorRequiredFrom, members }
}

/**
 * Requires a second factor of everybody of a store from a time on, or of nobody (null). It counts at the next request of every session.
 * Throws where the person who requires it has none (409), because that person would be the first to be shut out, and for a
 * person who may not change people any more (403).
 */
export async function requireFactor({ db, now }: DataServices, storeId: number, from: Date | null, by: Changing) {
  await inTransaction(db, async (tx) => {
    await lockPeople(tx, storeId, by)
    const [own] = await tx.$queryRaw<{ hasFactor: boolean }[]>(sql`
      SELECT ${hasFactor(now())} AS "hasFactor" FROM "StoreUser" JOIN "Identity" ON "Identity"."id" = "identityId"
      WHERE "StoreUser"."id" = ${by.userId} AND "storeId" = ${storeId}`)
    if (from !== null && own?.hasFactor !== true) {
      const message = 'Set up a second factor of your own first, at your account'
      throw new StoreFailure('invalid-state', message, { field: 'From' })
    }
    const { name: target } = await tx.store.update({ where: { id: storeId }, data: { factorRequiredFrom: from } })
    const about = { actor: by.actor, action: 'store.factor-required', target, storeId } as const
    await recordAudit(tx, now, { ...about, details: { from: from?.toISOString() ?? null } })
  })
}
