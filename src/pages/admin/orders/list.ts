import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Db } from '../../../database/client.ts'
import type { Page } from '../../../html/page.ts'
import { merchantOf } from '../../../html/request.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { isOneLine, namedObject, readInput } from '../../../values/input.ts'
import { INT32_MAX } from '../../../values/int32.ts'
import { filesOf } from '../records/files.ts'

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
  find: z.string().max(TEXT_MAX, findable).refine(isOneLine, findable).trim().default(''),
  before: number,
  notice: z.string().optional(),
})

/** The page of a store's orders, newest first: all, in a status, or with an invoice number or e-mail address. */
export async function listPage(request: FastifyRequest, { db }: { db: Db }): Promise<Page> {
  const storeId = merchantOf(request).store.id
  const { status, find, before } = readInput(asked, request.query, 'The address')
  const statuses = await listStatuses(db, storeId)
  const invoiceNumber = /(\d{1,9})$/.exec(find)?.[1]
  const ofEmail = find.includes('@') ? await ordersOf(db, storeId, { email: find, status, before }) : null
  const rows = await db.order.findMany({
    where: {
      storeId,
      ...(status !== null && { statusId: status }),
      ...(before !== null && { id: { lt: before } }),
      ...(ofEmail && { AND: { id: { in: ofEmail } } }),
      ...(find !== '' && !ofEmail && { invoiceNumber: Number(invoiceNumber ?? -1) }),
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
  const filters = { ...(status !== null && { status: String(status) }), ...(find !== '' && { find }) }
  const more = new URLSearchParams({ ...filters, before: String(orders.at(-1)?.id) })
  const older = rows.length > ORDERS_SHOWN ? `/admin/orders?${more}` : null
  const values = { status: '', find: '', ...filters }
  const isFiltered = status !== null || find !== ''
  const filter = ofEmail ? { billingemail: find } : { invoicenumber: invoiceNumber ?? '0' }
  const exported = { ...(status !== null && { orderstatus: String(status) }), ...(find !== '' && filter) }
  const files = filesOf('/admin/orders', exported)
  const data = { orders, older, files, isFiltered, statuses, statusText: textsOf(statuses) }
  return { template: '/pages/admin/orders/list', title: 'Orders', values, data }
}

export function textsOf(statuses: readonly { id: number; text: string }[]) {
  const texts = new Map(statuses.map(({ id, text }) => [id, text]))
  return (id: number) => texts.get(id) ?? String(id)
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
