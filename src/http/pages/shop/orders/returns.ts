import type { Caller } from '../../../../engine/caller.ts'
import type { Phrase } from '../../../../foundation/texts/text.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import type { StockEffect } from '../../../../shop/resources/orders/rehearse.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { readCodes } from '../../records/codes.ts'
import { targetService } from '../../records/services.ts'

/** The returns of an order that pages show. */
const RETURNS_MAX = 100

/** The latest returns of an order: for `returns.eta`. */
export async function returnsOf(caller: Caller, orderId: number) {
  const { db, store } = caller
  const found = db.rma.findMany({
    where: { storeId: store.id, orderId },
    select: {
      id: true,
      rmaDate: true,
      statusId: true,
      items: {
        select: { sku: true, name: true, returnQuantity: true, receivedQuantity: true, restockQuantity: true },
        orderBy: { position: 'asc' },
      },
    },
    orderBy: { id: 'desc' },
    take: RETURNS_MAX + 1,
  })
  const [rows, codes] = await Promise.all([found, readCodes(caller, ['RMAStatusID'])])
  const returns = rows.slice(0, RETURNS_MAX).map(({ items, statusId, ...row }) => ({
    ...row,
    status: codes.textAt('RMAStatusID', statusId),
    items: items.map(({ sku, name, ...item }) => ({
      sku,
      ...goodsWords(name, store.currency),
      returned: Number(item.returnQuantity),
      received: Number(item.receivedQuantity),
      restocked: Number(item.restockQuantity),
    })),
  }))
  return { orderId, returns, isMore: rows.length > RETURNS_MAX }
}

/** What a form of a return shows instead of what is stored. */
export interface ShownReturn {
  readonly typed?: Form | null
  readonly isOutdated?: boolean
  readonly stock?: readonly StockEffect[] | null
}

const coded = ['RMAReasonID', 'RMAMethodID', 'RMAStatusID'] as const
type Coded = (typeof coded)[number]

/** What the numbers of a return are called, and what a form that has `typed` offers for them. */
export async function returnWords(caller: Caller, typed: Form) {
  const codes = await readCodes(caller, coded)
  const { values } = targetService(rma)
  const choices = coded.map((name) => {
    const value = values.find(({ path }) => path[0] === name)
    return [name, (value && codes.choicesFor(value, textIn(typed, name))) ?? []] as const
  })
  return {
    choices: Object.fromEntries(choices),
    /** Null: none is set. */
    textOf: (name: Coded, number: number): Phrase | null => codes.textAt(name, number),
  }
}
