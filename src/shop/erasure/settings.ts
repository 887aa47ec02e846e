import { z } from 'zod'
import type { Actor } from '../../access/audit/audit.ts'
import { changeStore } from '../../access/stores/change-store.ts'
import type { Caller } from '../../engine/caller.ts'
import { inStoreTransaction } from '../../foundation/database/client.ts'
import { namedObject } from '../../foundation/values/input.ts'

const allowed = 'must be a whole number from 1 to 30'
export const years = z.int(allowed).min(1, allowed).max(30, allowed)

export const changedBookkeeping = namedObject({ BookkeepingYears: years, KeepsInvoiceAddresses: z.boolean() })

/** What a store keeps for its bookkeeping of people who are erased, and for how many years. */
export function readBookkeeping({ db, store }: Pick<Caller, 'db' | 'store'>) {
  const select = { bookkeepingYears: true, keepsInvoiceAddresses: true }
  return db.store.findUniqueOrThrow({ where: { id: store.id }, select })
}

/** Sets it for erasures from now on: addresses that are kept already are kept as long as they were to be. */
export async function changeBookkeeping(caller: Caller, given: z.output<typeof changedBookkeeping>, actor: Actor) {
  const data = { bookkeepingYears: given.BookkeepingYears, keepsInvoiceAddresses: given.KeepsInvoiceAddresses }
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, { actor, data }))
}
