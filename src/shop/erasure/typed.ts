import type { Caller } from '../../engine/caller.ts'
import { queryRows } from '../../foundation/database/client.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { isInvoiceNumber, looksLikeInvoiceNumber } from '../resources/orders/shown-invoice-number.ts'
import { findPerson, type PersonNamed } from './person.ts'

/**
 * Finds whom somebody means who types an e-mail address, the number of an order or a telephone number, and names the person by something
 * that is not personal, where that is possible. Throws (409) where a number is that of several, and as `findPerson` does.
 */
export async function findTyped(caller: Caller, typed: string): Promise<PersonNamed> {
  const named = await namedBy(caller, typed.trim())
  if ('customerId' in named || 'orderId' in named) return named
  const { customerId, records } = await findPerson(caller, named)
  if (customerId !== null) return { customerId }
  const [orderId] = records.Orders
  return 'email' in named && orderId !== undefined ? { orderId } : named
}

async function namedBy(caller: Caller, typed: string): Promise<PersonNamed> {
  if (typed.includes('@')) return { email: typed }
  const onlyOf = (table: Sql, where: Sql) => onlyOne(caller, table, where)
  if (isInvoiceNumber(typed)) {
    const orderId = await onlyOf(sql`"Order"`, looksLikeInvoiceNumber.read(typed, 'Who', caller.store) ?? sql`false`)
    if (orderId !== null) return { orderId }
  }
  if (/^\d+$/.test(typed) && Number(typed) <= INT32_MAX) {
    const orderId = await onlyOf(sql`"Order"`, sql`t."id" = ${Number(typed)}::int`)
    if (orderId !== null) return { orderId }
  }
  const phone = typed.replace(/\D/g, '')
  if (phone === '') throw new StoreFailure('not-found', 'Nobody has this e-mail address or number', { field: 'Who' })
  const customerId = await onlyOf(sql`"Customer"`, sql`"digitsOf"(t."phone") = ${phone}`)
  return customerId === null ? { phone: typed } : { customerId }
}

async function onlyOne({ db, store }: Caller, table: Sql, where: Sql): Promise<number | null> {
  const found = await queryRows<{ id: number }>(db)`
    SELECT t."id" FROM ${table} t WHERE t."storeId" = ${store.id}::int AND (${where}) ORDER BY t."id" LIMIT 2`
  if (found.length < 2) return found[0]?.id ?? null
  const message = 'Several have this number. Open the page of the customer or of the order that you mean'
  throw new StoreFailure('not-unique', message, { field: 'Who' })
}
