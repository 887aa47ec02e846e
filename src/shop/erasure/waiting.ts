import type { Actor } from '../../access/audit/audit.ts'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import { inChange } from '../../engine/changing/change.ts'
import { type DataServices, queryRows } from '../../foundation/database/client.ts'
import type { Erasure } from '../../foundation/database/generated/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type Erased, type ErasureServices, eraseFound } from './erase.ts'
import { findPerson, personOf, recordsOf } from './person.ts'

export type WaitingServices = ErasureServices & DataServices

type Waiting = Pick<Erasure, 'customerId' | 'createdAt' | 'actor'> & { readonly actorKind: Actor['kind'] }

/**
 * Makes an erasure that waits, in one transaction: of the records that it has already, as a restore leaves it, or of its customer. Null:
 * another process has made it, or the customer is gone or has ordered since, and with it the erasure. Throws as `findPerson` does otherwise.
 */
export async function eraseWaiting(
  services: WaitingServices,
  { storeId, id }: { readonly storeId: number; readonly id: number },
): Promise<Erased | null> {
  const caller = { ...(await operatorCaller(services, storeId)), secrets: services.secrets }
  return inChange(caller, async (tx) => {
    const erasing = { ...tx, secrets: services.secrets }
    const [row] = await queryRows<Waiting>(tx.db)`
      SELECT "customerId", "createdAt", "actorKind", "actor" FROM "Erasure"
      WHERE "storeId" = ${storeId}::int AND "id" = ${id}::int AND "erasedAt" IS NULL FOR UPDATE`
    if (row === undefined) return null
    const { customerId } = row
    const known = await tx.db.erasedRecord.findMany({ where: { storeId, erasureId: id }, orderBy: { recordId: 'asc' } })
    const records = recordsOf((service) => known.flatMap((one) => (one.service === service ? one.recordId : [])))
    const isReplay = known.length > 0
    const person = isReplay
      ? await personOf(erasing, customerId, records)
      : await findPerson(erasing, { customerId: customerId ?? 0 }).catch(nobody)
    // A rule found the customer idle.
    const isBack =
      !isReplay && (await tx.db.order.count({ where: { storeId, customerId, orderDate: { gte: row.createdAt } } })) > 0
    if (person === null || isBack) {
      await tx.db.erasure.delete({ where: { storeId_id: { storeId, id } } })
      return null
    }
    const actor = { kind: row.actorKind, name: row.actor, address: '' }
    return eraseFound(erasing, services, person, { actor, waiting: { id, isReplay } })
  })
}

function nobody(error: unknown): null {
  if (error instanceof StoreFailure && error.code === 'not-found') return null
  throw error
}
