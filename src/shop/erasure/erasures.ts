import type { Caller } from '../../engine/caller.ts'
import type { Paging } from '../../foundation/database/client.ts'
import type { Erasure as Row } from '../../foundation/database/generated/client.ts'
import type { services } from '../personal/members.ts'

type Service = (typeof services)[number]

/** That a person was erased, or waits for it. `counts`: how many rows of each kind had something of the person. */
export interface Erasure extends Pick<Row, 'id' | 'actor' | 'customerId' | 'erasedAt'> {
  readonly orders: readonly number[]
  readonly returns: readonly number[]
  readonly giftRegistries: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

/** Lists the erasures of a store, the last first. */
export async function listErasures({ db, store }: Caller, { limit, offset }: Paging): Promise<Erasure[]> {
  const rows = await db.erasure.findMany({
    where: { storeId: store.id },
    include: { records: { orderBy: { recordId: 'asc' } } },
    orderBy: { id: 'desc' },
    take: limit,
    skip: offset,
  })
  return rows.map(({ id, actor, customerId, erasedAt, counts, records }) => {
    const of = (service: Service) => records.flatMap((one) => (one.service === service ? one.recordId : []))
    const numbers = { orders: of('Orders'), returns: of('RMA'), giftRegistries: of('GiftRegistries') }
    return { id, actor, customerId, erasedAt, counts: counts as Erasure['counts'], ...numbers }
  })
}
