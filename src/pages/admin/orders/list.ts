import { z } from 'zod'
import { namedObject, readInput } from '../../../access/input.ts'
import type { Db } from '../../../database/client.ts'

const ORDERS_SHOWN = 25
const ID_MAX = 2_147_483_647
const TEXT_MAX = 254

const number = z
  .string()
  .regex(/^\d{0,10}$/, 'must be a number')
  .transform((text) => (text === '' ? null : Math.min(Number(text), ID_MAX)))
  .default(null)

const asked = namedObject({
  status: number,
  find: z.string().max(TEXT_MAX, `must have at most ${TEXT_MAX} characters`).trim().default(''),
  before: number,
  notice: z.string().optional(),
})

/** A page of a store's orders, newest first: all, those in a status, or those of an invoice number or an e-mail address. */
export async function listOrders(db: Db, storeId: number, query: unknown) {
  const { status, find, before } = readInput(asked, query, 'The address')
  const invoiceNumber = /(\d{1,9})$/.exec(find)?.[1]
  const rows = await db.order.findMany({
    where: {
      storeId,
      ...(status !== null && { statusId: status }),
      ...(before !== null && { id: { lt: before } }),
      ...(find.includes('@') && { billingEmail: { equals: find, mode: 'insensitive' as const } }),
      ...(find !== '' && !find.includes('@') && { invoiceNumber: Number(invoiceNumber ?? -1) }),
    },
    select: {
      id: true,
      invoicePrefix: true,
      invoiceNumber: true,
      orderDate: true,
      statusId: true,
      billingEmail: true,
      orderAmount: true,
    },
    orderBy: { id: 'desc' },
    take: ORDERS_SHOWN + 1,
  })
  const orders = rows.slice(0, ORDERS_SHOWN)
  return {
    orders,
    /** The address of the next page; null: there is none. */
    older: rows.length > ORDERS_SHOWN ? addressOf(status, find, orders.at(-1)?.id) : null,
    asked: { status: status === null ? '' : String(status), find },
    isFiltered: status !== null || find !== '',
  }
}

function addressOf(status: number | null, find: string, before: number | undefined): string {
  const query = new URLSearchParams({
    ...(status !== null && { status: String(status) }),
    ...(find !== '' && { find }),
    ...(before !== undefined && { before: String(before) }),
  })
  return `/admin/orders?${query}`
}
