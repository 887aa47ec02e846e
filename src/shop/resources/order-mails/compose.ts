import { harmless } from '../../../access/mail/render.ts'
import type { Prepared } from '../../../access/mail/send.ts'
import type { Caller } from '../../../engine/caller.ts'
import { readRows } from '../../../engine/changing/write.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import type { Db } from '../../../foundation/database/client.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import { isLocale, type Language, type Locale, languageOf } from '../../../foundation/texts/language.ts'
import { billedTo } from '../orders/buyer.ts'
import { orderFigures } from '../orders/figures.ts'
import { type OrderPageServices, orderPageAddress, orderPagesSince } from '../orders/order-page.ts'
import { type OrderRecord, orders } from '../orders/orders.ts'
import { parcelsOf } from '../orders/parcels.ts'
import { readRefunds } from '../orders/refunds.ts'
import { invoiceOf } from '../orders/shown-invoice-number.ts'
import { readTracking } from '../orders/tracking.ts'
import { rmaItemList } from '../rma/items.ts'
import { readForeign, withoutLinks } from './addresses.ts'
import type { MailKind } from './kinds.ts'
import { filled, type MailText, readTexts } from './texts.ts'

export type ComposingServices = OrderPageServices & { readonly config: Pick<Config, 'mailFrom' | 'mailFromDomains'> }

interface Told {
  readonly kind: MailKind
  readonly orderId: number
  /** Null: the newest of the order. */
  readonly aboutId: number | null
  /** Omitted: that of the customer. */
  readonly locale?: Locale | undefined
}

const SUBJECT_LENGTH_MAX = 200

/**
 * Makes a mail of an order as it is now, in the language of its customer. `given`: what a person wrote; omitted: as the store has it. Null:
 * what it tells of is there no more.
 */
export async function compose(
  services: ComposingServices,
  caller: Caller & { readonly db: Db },
  told: Told,
  given?: MailText,
): Promise<Prepared | null> {
  const { db } = caller
  const of = { storeId: caller.store.id, id: told.orderId }
  const [json, row, store, isForeign, texts] = await Promise.all([
    getRecord(caller, orders, of.id),
    db.order.findFirstOrThrow({ where: of, select: { locale: true, orderDate: true } }),
    db.store.findUniqueOrThrow({ where: { id: of.storeId } }),
    readForeign(db, of.storeId, services.config.publicUrl),
    readTexts(db, of.storeId),
  ])
  const order: OrderRecord = JSON.parse(json)
  const language = languageOf(told.locale ?? [row.locale ?? '', store.documentLocale ?? ''].find(isLocale) ?? 'en-US')
  const about = await aboutOf(caller, told, order, language)
  const text = given ?? texts.find(({ kind, locale }) => kind === told.kind && locale === language.tag)
  if (about === null || text === undefined) return null
  const hasPage = row.orderDate >= orderPagesSince(services, caller.now())
  const values = {
    order: plain(invoiceOf(order)),
    name: plain(billedTo(order)),
    total: language.format.money(order.OrderAmount, store.currency),
    shop: plain(store.name),
    page: (hasPage && orderPageAddress(services, of.storeId, of.id)) || '',
    ...about,
  }
  const subject = withoutLinks(oneLine(filled(text.subject, values)), isForeign)
  return {
    subject: subject.slice(0, SUBJECT_LENGTH_MAX).toWellFormed(),
    text: withoutLinks(`${filled(text.body, values)}\n\n-- \n${store.documentSeller || store.name}\n`, isForeign),
    ...senderOf(services.config, store),
  }
}

/** The shop's name with MAIL_FROM's address, or its own where the operator lets mails come from its domain; answers go to its own. */
function senderOf(
  { mailFrom, mailFromDomains }: ComposingServices['config'],
  { name, mailReplyTo }: { name: string; mailReplyTo: string },
) {
  const isOwn = mailFromDomains.includes(mailReplyTo.replace(/^.*@/, '').toLowerCase())
  const address = isOwn ? mailReplyTo : mailFrom?.address
  return { ...(address && { from: { name: plain(name), address } }), ...(mailReplyTo && { replyTo: mailReplyTo }) }
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
}

/** What others chose: one line, of which no program makes a link. */
function plain(text: unknown): string {
  return harmless(oneLine(String(text)))
}

/** The goods that it is about, and what only its kind names. */
async function aboutOf(caller: Caller, { kind, orderId, aboutId }: Told, order: OrderRecord, { format }: Language) {
  const { currency } = caller.store
  const { lines } = orderFigures(order, currency)
  const listed = (goods: readonly { quantity: number; name: unknown }[]) =>
    goods
      .flatMap(({ quantity, name }) => (quantity > 0 ? `${format.number(quantity)} × ${plain(name)}` : []))
      .join('\n')
  if (kind === 'parcel-sent') {
    // The wire shows 0 for the id of an only shipment.
    const isOnly = order.ShipmentList.length === 1
    const parcel = parcelsOf(order, lines, new Map()).findLast(({ shipment, hasLeft }) =>
      aboutId === null ? hasLeft : isOnly || shipment?.ShipmentID === aboutId,
    )
    if (!parcel?.hasLeft || parcel.shipment === null) return null
    const address = (await readTracking(caller, order))(parcel.shipment)
    const tracking = [plain(parcel.shipment.ShipmentTrackingCode), address].filter(Boolean).join('\n')
    return { items: listed(parcel.lines), tracking }
  }
  if (kind === 'order-returned') {
    const newest = { where: { storeId: caller.store.id, orderId }, orderBy: { id: 'desc' } } as const
    const rows = await readRows(caller, rmaItemList, aboutId ?? (await caller.db.rma.findFirst(newest))?.id ?? 0)
    const quantityOf = (row: Row) => Number(row.receivedQuantity) || Number(row.restockQuantity)
    if (rows.length === 0) return null
    return { items: listed(rows.map((row) => ({ quantity: quantityOf(row), name: row.name }))) }
  }
  if (kind !== 'order-refunded') return { items: listed(lines) }
  const refund = (await readRefunds(caller, orderId)).findLast(({ id, counts }) => counts && id === (aboutId ?? id))
  if (!refund?.amount) return null
  const pieces = new Map(refund.items.map(({ ItemIndexID, RefundQuantity }) => [ItemIndexID, RefundQuantity]))
  const goods = lines.map(({ id, name }) => ({ quantity: pieces.get(id) ?? 0, name }))
  return { items: listed(goods), amount: format.money(refund.amount, currency) }
}
