import type { Caller } from '../../../../engine/caller.ts'
import { type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { goodsWords } from '../../../../shop/resources/orders/line-description.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { noCodes, readCodes } from '../../records/codes.ts'
import { labelsOf } from '../../records/edit-page.ts'
import { pickValues, targetService } from '../../records/services.ts'
import type { LineField } from './line-fields.ts'

/** The returns of an order that pages show. */
const RETURNS_MAX = 100

/** The latest returns of an order: for `returns.eta`. */
export async function returnsOf(caller: Caller, orderId: number) {
  const { db, store } = caller
  const rows = await db.rma.findMany({
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
  // Most orders have none.
  const codes = rows.length === 0 ? noCodes : await readCodes(caller, ['RMAStatusID'])
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

type Quantity = 'ReturnQuantity' | 'ReceivedQuantity' | 'RestockQuantity'

/**
 * The quantities of a line of a return that has this place in the body. A new one has none yet. The names of the fields begin with the
 * line's `name` and a dot.
 */
export function quantityFields(line: { name: string; sku: string } & Partial<Record<Quantity, number>>, at: number) {
  const { name, sku } = line
  const field = (member: Quantity, label: Text): LineField => {
    return { name: `${name}.${member}`, path: `RMAItemList[${at}].${member}`, label, stored: Number(line[member] ?? 0) }
  }
  return [
    field('ReturnQuantity', t('{sku}: the returned quantity', { sku })),
    field('ReceivedQuantity', t('{sku}: the received quantity', { sku })),
    field('RestockQuantity', t('{sku}: the restocked quantity', { sku })),
  ]
}

const coded = ['RMAReasonID', 'RMAMethodID', 'RMAStatusID'] as const
const codedValues = pickValues(targetService(rma), ...coded)

export const returnLabels = labelsOf({
  values: [...codedValues, ...pickValues(targetService(rma), 'Comments', 'InternalComments')],
})

/** What the numbers of a return are called, and what a form that has `typed` offers for them. */
export async function returnWords(caller: Caller, typed: Form) {
  const codes = await readCodes(caller, coded)
  const choices = codedValues.map((value) => {
    const [name = ''] = value.path
    return [name, codes.choicesFor(value, textIn(typed, name)) ?? []] as const
  })
  return {
    choices: Object.fromEntries(choices),
    /** Null: none is set. */
    textOf: (name: (typeof coded)[number], number: number): Phrase | null => codes.textAt(name, number),
  }
}
