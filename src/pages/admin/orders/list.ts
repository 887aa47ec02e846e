import { z } from 'zod'
import type { Db } from '../../../database/client.ts'
import { namedObject, readInput } from '../../../values/input.ts'
import { INT32_MAX } from '../../../values/int32.ts'

const ORDERS_SHOWN = 25
const TEXT_MAX = 254
const findable = `must be a text of at most ${TEXT_MAX} characters on one line`

const number = z
  .string()
  .regex(/^\d{0,10}$/, 'must be a number')
  .transform((text) => (text === '' ? null : Math.min(Number(text), INT32_MAX)))
  .default(null)

const asked = namedObject({
  status: number,
  find: z.string().max(TEXT_MAX, findable).refine(isText, findable).trim().default(''),
  before: number,
  notice: z.string().optional(),
})

/** Lists a store's orders, newest first: all, in a status, or with an invoice number or e-mail address. One page. */
export async function listOrders(db: Db, storeId: number, query: unknown) {
  const { status, find, before } = readInput(asked, query, 'The address')
  const invoiceNumber = /(\d{1,9})$/.exec(find)?.[1]
  const rows = await db.order.findMany({
    where: {
      storeId,
      ...(status !== null && { statusId: status }),
      ...(before !== null && { id: { lt: before } }),
      ...(find.includes('@') && { AND: { id: { in: await ordersOf(db, storeId, { email: find, status, before }) } } }),
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
    /** The address of the next page. Null: this is the last page. */
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

/** Whether PostgreSQL can store the text. Also rejects control characters. */
export function isText(given: string): boolean {
  return given.isWellFormed() && !/\p{Cc}/u.test(given)
}

/** Finds a page's orders by e-mail address, with its index. Prisma would use ILIKE, where `_` is any character. */
async function ordersOf(
  db: Db,
  storeId: number,
  { email, status, before }: { email: string; status: number | null; before: number | null },
): Promise<number[]> {
  const rows = await db.$queryRaw<{ id: number }[]>`
    SELECT "id" FROM "Order"
    WHERE "storeId" = ${storeId} AND lower("billingEmail") = lower(${email}::text) AND "id" < ${before ?? INT32_MAX}
      AND "statusId" = coalesce(${status}::int, "statusId")
    ORDER BY "id" DESC LIMIT ${ORDERS_SHOWN + 1}`
  return rows.map(({ id }) => id)
}
