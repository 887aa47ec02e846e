import type { Caller } from '../../engine/caller.ts'
import type { Paging } from '../../foundation/database/client.ts'
import type { Erasure as Row } from '../../foundation/database/generated/client.ts'

/** That a person was erased, or waits for it. `counts`: how many rows of each kind had something of the person. */
export interface Erasure extends Pick<Row, 'id' | 'actor' | 'customerId' | 'erasedAt'> {
  /** At most 1,000. */
  readonly orders: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

const ORDERS_MAX = 1_000

/** Lists the erasures of a store, the last first. */
export async function listErasures({ db, store }: Caller, { limit, offset }: Paging): Promise<Erasure[]> {
  const rows = await db.erasure.findMany({
    where: { storeId: store.id },
    include: { records: { where: { service: 'Orders' }, orderBy: { recordId: 'asc' }, take: ORDERS_MAX } },
    orderBy: { id: 'desc' },
    take: limit,
    skip: offset,
  })
  return rows.map(({ id, actor, customerId, erasedAt, counts, records }) => {
    const orders = records.map(({ recordId }) => recordId)
    return { id, actor, customerId, erasedAt, counts: counts as Erasure['counts'], orders }
  })
}
