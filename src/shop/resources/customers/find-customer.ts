import type { Caller } from '../../../engine/caller.ts'
import { readInTurn, rowsInTurn } from '../../../foundation/database/client.ts'
import { asciiEmail } from '../../../foundation/values/email.ts'

/** A customer's id in the store and in another system, and the group. */
export interface CustomerIds {
  readonly id: number
  readonly altContactId: string | null
  readonly groupId: number | null
}

/** Returns the store's customer with one of the two ids, or null. `altContactId` is case-sensitive. */
export function findCustomer(caller: Caller, wanted: { readonly id: number } | { readonly altContactId: string }) {
  const where = { ...wanted, storeId: caller.store.id }
  const select = { id: true, altContactId: true, groupId: true } as const
  return readInTurn(caller, () => caller.db.customer.findFirst({ where, select }))
}

/** Returns the id of the store's customer with an e-mail address, ignoring case, or null. */
export async function findCustomerByEmail(caller: Caller, email: string): Promise<number | null> {
  const [found] = await rowsInTurn<{ id: number }>(caller)`
    SELECT "id" FROM "Customer"
    WHERE "storeId" = ${caller.store.id}::int AND lower("email") IN (lower(${email}::text), lower(${asciiEmail(email)}::text))`
  return found?.id ?? null
}
