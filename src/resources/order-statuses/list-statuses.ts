import type { Db } from '../../database/client.ts'

/** A store's order statuses, in the merchant's order. */
export function listStatuses(db: Db, storeId: number) {
  return db.orderStatus.findMany({ where: { storeId }, orderBy: [{ sorting: 'asc' }, { id: 'asc' }] })
}
