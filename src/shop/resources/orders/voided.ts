import type { Caller } from '../../../engine/caller.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { sql, storeId } from '../../../foundation/database/sql.ts'

/** Who made a transaction void, and when; `type`: what it was before. */
export interface Voided {
  readonly id: number
  readonly at: Date
  readonly by: string
  readonly type: string
}

/** The transactions of an order that somebody has made void, by id. */
export async function readVoided(
  { db, store }: Pick<Caller, 'db' | 'store'>,
  orderId: number,
): Promise<ReadonlyMap<number, Voided>> {
  const rows = await rowsInTurn<Voided>(
    { db, store },
    sql`
    SELECT "id", "voidedAt" AS "at", "voidedBy" AS "by", "voidedType" AS "type" FROM "OrderTransaction"
    WHERE "storeId" = ${storeId(store)} AND "orderId" = ${orderId}::int AND "voidedAt" IS NOT NULL`,
  )
  return new Map(rows.map((row) => [row.id, { ...row, at: new Date(row.at) }]))
}
