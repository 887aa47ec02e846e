import type { FastifyInstance } from 'fastify'
import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { readTyped } from '../../../../engine/definition/finders.ts'
import type { Resource } from '../../../../engine/definition/resource.ts'
import { findRecords } from '../../../../engine/reading/find.ts'
import { findJson } from '../../../../engine/reading/read.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { type Phrase, t } from '../../../../foundation/texts/text.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { giftRegistries } from '../../../../shop/resources/gift-registries/gift-registries.ts'
import { billedTo } from '../../../../shop/resources/orders/buyer.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type CallerServices, languageFor, textIn } from '../../../html/request.ts'
import { type PageRequest, storePages, type Wire } from '../../frame/pages.ts'
import { readCodes } from '../../records/codes.ts'
import { findersOf } from '../../records/search.ts'
import { seenBy, textSeenBy } from '../../records/seen.ts'
import { targetService } from '../../records/services.ts'
import { titleOf } from '../../records/values.ts'

/** The records of a service that a page of the search shows; its list shows the others. */
const SHOWN = 8
const SUGGESTED = 3

/** What tells a record from others, in the order of importance. */
type Teller = (record: Wire, words: Words) => { readonly title?: Phrase; readonly details: readonly Phrase[] }

/** The services that are searched, in the order of the page, and what tells their records apart; a title where it is not that of the record's page. */
const searched = new Map<Resource, Teller>()
  .set(orders, ({ OrderDate, OrderAmount, OrderStatusID, ...order }, { money, date, status }) => ({
    title: invoiceOf(order),
    details: [billedTo(order), date(OrderDate), money(OrderAmount), status('OrderStatusID', OrderStatusID)],
  }))
  .set(customers, ({ BillingCompany, BillingCity, Email }) => ({
    details: [text(BillingCompany), text(Email), text(BillingCity)],
  }))
  .set(products, ({ SKUInfo }, { unitPrice }) => {
    const { Name, SKU, Price, Stock } = SKUInfo as Wire
    const stock = t('{stock, number} in stock', { stock: Number(Stock) })
    return { title: text(Name), details: [text(SKU), unitPrice(Price), stock] }
  })
  .set(rma, ({ RmaDate, RMAStatusID, RMAItemList }, { date, status }) => {
    const skus = (RMAItemList as Wire[]).slice(0, 2).map(({ SKU }) => text(SKU))
    return { details: [date(RmaDate), status('RMAStatusID', RMAStatusID), ...skus] }
  })
  .set(giftRegistries, ({ Event }, { date }) => ({ details: [date(Event)] }))

/** Adds the search over everything that people look for, as a page and, for the pages' script, as JSON. */
export function searchPages(app: FastifyInstance, services: CallerServices): void {
  const { get, page } = storePages(adminPages(app), services)
  page('/admin/search', async (asked) => {
    const q = textIn(asked.query, 'q')
    const title = q.trim() === '' ? t('Search') : t('Search: {words}', { words: q.trim() })
    return { template: '/pages/shop/search/search', title, data: { q, groups: await groupsFor(asked) } }
  })
  get('/admin/search/suggestions', async (asked, { request }) => {
    const groups = await groupsFor(asked)
    const { say } = languageFor(request)
    return groups.flatMap(({ service, hits }) =>
      hits.slice(0, SUGGESTED).map(({ address, title, details }) => ({
        Kind: say(service.one),
        Address: address,
        Title: say(title),
        Details: details.map(say).join(' · '),
      })),
    )
  })
}

type Words = Awaited<ReturnType<typeof wordsFor>>

async function wordsFor(caller: Caller, format: Format) {
  const { store } = caller
  const codes = await readCodes(caller, ['OrderStatusID', 'RMAStatusID'])
  return {
    money: (sum: unknown) => format.money(Number(sum), store.currency),
    unitPrice: (price: unknown) => format.unitPrice(Number(price), store.currency),
    date: (date: unknown) => (date ? format.recordDate(String(date), store.timeZone) : ''),
    status: (field: 'OrderStatusID' | 'RMAStatusID', number: unknown) => codes.textAt(field, number) ?? '',
  }
}

async function groupsFor({ caller, query, writing: format }: PageRequest) {
  const q = readTyped(textIn(query, 'q'), 'q')
  if (q === '') return []
  const { privileges } = caller
  const words = await wordsFor(caller, format)
  const allowed = [...searched].filter(([resource]) => mayRead(privileges, resource))
  const found = allowed.map(async ([resource, hitOf]) => {
    const service = seenBy(privileges, targetService(resource))
    const ids = await findRecords(caller, findersOf(service), q, SHOWN + 1)
    const seen = textSeenBy(privileges, resource)
    const records = await findJson(caller, resource, ids.slice(0, SHOWN))
    const hits = ids.flatMap((id) => {
      const record = records.get(id)
      if (record === undefined) return []
      const shown = JSON.parse(seen(String(record))) as Wire
      const { title = titleOf(service, shown), details } = hitOf(shown, words)
      return [{ address: `${service.path}/${id}`, title, details: details.filter((detail) => detail !== '') }]
    })
    // The address of the list of all of them; null: there are no more.
    const more = ids.length > SHOWN ? `${service.path}?${new URLSearchParams({ find: q })}` : null
    return { service, hits, more }
  })
  return (await Promise.all(found)).filter(({ hits }) => hits.length > 0)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
