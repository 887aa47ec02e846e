import type { Caller } from '../../engine/caller.ts'
import { queryRows } from '../../foundation/database/client.ts'
import { anyOf } from '../../foundation/database/sql.ts'
import { services } from './members.ts'

/** Those of a service's records that get nothing of their person again, whether they still exist or not. */
export async function erasedAmong(
  { db, store }: Caller,
  service: string,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (!services.some((each) => each === service)) return new Set()
  const erased = await queryRows<{ recordId: number }>(db)`
    SELECT "recordId" FROM "ErasedRecord"
    WHERE "storeId" = ${store.id}::int AND "service" = ${service} AND "recordId" = ${anyOf(ids)}`
  return new Set(erased.map(({ recordId }) => recordId))
}
