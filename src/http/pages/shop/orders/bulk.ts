import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { countFormer, type Import } from '../../../../shop/csv/lines/imports.ts'
import { compareChosen, type Intended, keepChosen } from '../../../../shop/csv/undo/chosen.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import {
  type StatusEffect,
  statusEffectOf,
  statusPartial,
  statusShipped,
} from '../../../../shop/resources/orders/statuses.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import type { PageRequest, Sent } from '../../frame/pages.ts'
import { chosenIn, chosenOrAll, isAllChosen, listShownAgain } from '../../records/chosen.ts'
import { askedIn } from '../../records/list-page.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'
import { listedOf } from '../../records/search.ts'
import type { ChangeWords } from '../csv/change-words.ts'
import { requireForSlips, slipKindIn } from './slips.ts'
import { orderService } from './special.ts'

/** The list again, where several of its orders were chosen. */
export function listAgain(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  return listShownAgain(asked, reply, orderService, { ids: t('Orders'), OrderStatusID: t('The status') })
}

export async function compareStatus(asked: Sent<PageRequest>): Promise<string> {
  const { caller, typed } = asked
  const statuses = await listStatusNames(caller.db, caller.store.id)
  const statusId = statuses.find(({ id }) => String(id) === textIn(typed, 'OrderStatusID'))?.id
  if (statusId === undefined) throw refusedFields([{ field: 'OrderStatusID', problem: 'has to be one of the list' }])
  const id = await keepChosen(caller, orders, await chosenOrAll(asked, orderService))
  const change: StatusChange = { kind: 'status', statusId }
  const intend = (order: object) => intendedWith(order as OrderRecord, statusId)
  await compareChosen(caller, { id, service: orders.service }, change, intend)
  return `/admin/csv/${id}`
}

export async function leadToSlips(asked: Sent<PageRequest>, { request }: FastifyReply): Promise<string> {
  const { typed } = asked
  const kind = slipKindIn(typed)
  requireForSlips(request, kind)
  const ids = isAllChosen(typed) ? await chosenOrAll(asked, orderService) : chosenIn(typed)
  return `/admin/orders/slips?${new URLSearchParams({ ids: chosenIn({ ids: ids.join(',') }).join(','), kind })}`
}

export async function leadToFile({ caller, query, typed }: Sent<PageRequest>): Promise<string> {
  const { filters, sort } = askedIn(query, listedOf(caller.privileges, orderService))
  const those = isAllChosen(typed) ? { ...filters, ...(sort !== '' && { sort }) } : { ids: chosenIn(typed).join(',') }
  return `/admin/orders/export?${new URLSearchParams({ ...those, format: 'csv' })}`
}

/** What is done with chosen orders. */
export interface StatusChange {
  readonly kind: 'status'
  readonly statusId: number
}

/** Statuses of orders whose goods have left. */
const leaving: ReadonlySet<number> = new Set([statusPartial, statusShipped])

/** The goods, the payments and the customer of an order are what somebody decides by, so all of it has to stay as it was shown. */
function intendedWith(order: OrderRecord, statusId: number): Intended {
  const { OrderStatusID: from } = order
  const name = invoiceOf(order)
  if (from === statusId) return { name, body: {}, changes: [] }
  const isUnpaid = leaving.has(statusId) && paymentsOf(order).owed > 0
  const change = ['OrderStatusID', String(from), String(statusId)] as const
  return {
    name,
    body: { OrderStatusID: statusId },
    changes: [isUnpaid ? [...change, 'This order is not paid'] : change],
    isOfWhole: true,
  }
}

const effects: Readonly<Record<StatusEffect, (count: number) => Text>> = {
  returned: (count) =>
    t(
      '{count, plural, one {# order: its goods go back into stock.} other {# orders: their goods go back into stock.}}',
      { count },
    ),
  taken: (count) =>
    t(
      '{count, plural, one {# order: its goods are taken from stock again.} other {# orders: their goods are taken from stock again.}}',
      { count },
    ),
  none: (count) =>
    t('{count, plural, one {# order: stock does not change.} other {# orders: stock does not change.}}', { count }),
}

/** What a change of the status of many orders is called, and what becomes of their stock. */
export async function statusWords(
  caller: Caller,
  { id, state }: Import,
  { statusId }: StatusChange,
): Promise<ChangeWords> {
  const textOf = textsOf(await listStatusNames(caller.db, caller.store.id))
  const counts = new Map<StatusEffect, number>()
  for (const [from, count] of state === 'ready' ? await countFormer(caller, id, 'OrderStatusID') : []) {
    const effect = statusEffectOf(Number(from), statusId)
    counts.set(effect, (counts.get(effect) ?? 0) + count)
  }
  return {
    title: t('Change the status to {status}', { status: textOf(statusId) }),
    notes: (['returned', 'taken', 'none'] as const).flatMap((effect) => {
      const count = counts.get(effect)
      return count === undefined ? [] : [effects[effect](count)]
    }),
    textOf: (column, value) => (column === 'OrderStatusID' && value !== '' ? textOf(Number(value)) : null),
  }
}
