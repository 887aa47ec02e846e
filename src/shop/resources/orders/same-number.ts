import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change, WorthALook } from '../../../engine/definition/resource.ts'
import { execute, queryRows } from '../../../foundation/database/client.ts'

type Sharers = Parameters<NonNullable<WorthALook['sharers']>>

/**
 * The order that has the invoice number of each of these too, by id: of orders as they are stored, but for what they give. 0 is no number,
 * and prefixes ignore case.
 */
export async function sharersOf({ db, store }: Sharers[0], records: Sharers[1], seen = new Map<string, number>()) {
  const rows = await queryRows<{ id: number; number: string; other: number | null }>(db)`
    SELECT n."id", concat(n."number", ' ', n."prefix") AS "number", (
      SELECT min(o."id") FROM "Order" o WHERE o."storeId" = ${store.id}::int AND o."invoiceNumber" = n."number"
        AND lower(o."invoicePrefix") = n."prefix" AND o."id" <> n."id") AS "other"
    FROM (
      SELECT t."id", coalesce(r."InvoiceNumber", t."invoiceNumber") AS "number",
        lower(coalesce(r."InvoiceNumberPrefix", t."invoicePrefix")) AS "prefix"
      FROM json_to_recordset(${JSON.stringify(records)}::text::json)
        AS r ("id" int, "InvoiceNumber" int, "InvoiceNumberPrefix" text)
      JOIN "Order" t ON t."storeId" = ${store.id}::int AND t."id" = r."id") n
    WHERE n."number" > 0 ORDER BY n."id"`
  const found = new Map<number, number>()
  for (const { id, number, other } of rows) {
    const sharer = other ?? seen.get(number)
    if (sharer === undefined) seen.set(number, id)
    else found.set(id, sharer)
  }
  return found
}

/** No two orders should have the same invoice number. */
export const invoiceNumbers = {
  unshared: ['InvoiceNumber', 'InvoiceNumberPrefix'],
  sharers: async (...given) => {
    const found = [...(await sharersOf(...given))].map(([id, sharer]) => {
      const problem = `is already used by Order ${sharer}`
      return [id, problem] as const
    })
    return new Map(found)
  },
} satisfies WorthALook

/**
 * Refuses (400) to a strict request of a program an invoice number that another order has. Numbers are handed out under the store's
 * row, so of two requests at once the second waits for it, and sees what the first has taken.
 */
export async function refuseSharedNumber({ caller, id, before, after, isStrict }: Change): Promise<void> {
  const { invoiceNumber: InvoiceNumber, invoicePrefix: InvoiceNumberPrefix } = after.row
  const isSame = before?.row.invoiceNumber === InvoiceNumber && before?.row.invoicePrefix === InvoiceNumberPrefix
  if (isSame || !isStrict || caller.channel !== 'api') return
  await execute(caller.db)`SELECT FROM "Store" WHERE "id" = ${caller.store.id}::int FOR NO KEY UPDATE`
  const problem = (await invoiceNumbers.sharers(caller, [{ id, InvoiceNumber, InvoiceNumberPrefix }])).get(id)
  if (problem !== undefined) throw wrongField('InvoiceNumber', problem, 'not-unique')
}
