import type { Caller } from '../../engine/caller.ts'

/** A customer by the store's id, and by the id that another system gave. */
export interface CustomerIds {
  readonly id: number
  readonly altContactId: string | null
}

/** The customer of this store with one of the two ids; another system's is compared letter by letter. Null: there is none. */
export function findCustomer(
  { db, store }: Caller,
  wanted: { readonly id: number } | { readonly altContactId: string },
): Promise<CustomerIds | null> {
  return db.customer.findFirst({ where: { ...wanted, storeId: store.id }, select: { id: true, altContactId: true } })
}

/** The id of the customer of this store with an e-mail address, whose case does not matter. Null: there is none. */
export async function findCustomerByEmail({ db, store }: Caller, email: string): Promise<number | null> {
  const [found] = await db.$queryRaw<{ id: number }[]>`
    SELECT "id" FROM "Customer" WHERE "storeId" = ${store.id} AND lower("email") = lower(${email}::text)`
  return found?.id ?? null
}
