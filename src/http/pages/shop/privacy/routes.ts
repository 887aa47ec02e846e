import type { FastifyInstance } from 'fastify'
import { t } from '../../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { type ErasureServices, erasePerson, rehearseErasure } from '../../../../shop/erasure/erase.ts'
import { listErasures } from '../../../../shop/erasure/remains.ts'
import { findIdle, queueIdle } from '../../../../shop/erasure/rule.ts'
import { changeBookkeeping, changedBookkeeping, readBookkeeping, years } from '../../../../shop/erasure/settings.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { ownerPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, textIn } from '../../../html/request.ts'
import { pageQuery } from '../../../server/json/parameters.ts'
import { type PageRequest, storePages } from '../../frame/pages.ts'
import { readNames, readTitles } from '../../records/names.ts'
import { findMatches } from '../../records/search.ts'
import { targetService } from '../../records/services.ts'
import { isTicked } from '../../records/values.ts'
import { namedIn, personPage } from './person-page.ts'

const home = '/admin/settings/privacy'
const ERASURES_SHOWN = 50
const ORDERS_SHOWN = 20
const IDLE_SHOWN = 100

export type PrivacyServices = CallerServices & ErasureServices

/** Adds the pages of what is stored of a person: to read and print it, to erase it, and what was erased. They are for owners. */
export function privacyPages(app: FastifyInstance, services: PrivacyServices): void {
  const { page, pair } = storePages(ownerPages(app), services)
  pair(home, privacyPage, async ({ caller, typed, writing }, { request }) => {
    const given = readInput(changedBookkeeping, {
      BookkeepingYears: numberIn(typed, 'BookkeepingYears', writing),
      KeepsInvoiceAddresses: isTicked(typed, 'KeepsInvoiceAddresses'),
    })
    await changeBookkeeping(caller, given, actorOf(request))
    return `${home}?notice=settings-saved`
  })
  page(`${home}/person`, personPage)
  pair(`${home}/erase`, erasePage, async (asked, { request }) => {
    const confirmation = { confirm: textIn(asked.typed, 'Confirm'), actor: actorOf(request) }
    await erasePerson(asked.caller, services, namedIn(asked).named, confirmation)
    return `${home}?notice=person-erased#erasures`
  })
  pair(`${home}/idle`, idlePage, async ({ caller, typed }, { request }) => {
    await queueIdle(caller, yearsIn(typed), { confirm: textIn(typed, 'Confirm'), actor: actorOf(request) })
    return `${home}?notice=idle-erasing#erasures`
  })
}

/** Finds a person, lists who was erased, and has what the store keeps. */
async function privacyPage({ caller, query, typed }: PageRequest): Promise<HtmlPage> {
  const { offset } = readInput(pageQuery, { offset: textIn(query, 'offset') || '0' }, 'The query')
  const who = textIn(query, 'who').trim()
  const stored = await readBookkeeping(caller)
  const found = await listErasures(caller, { limit: ERASURES_SHOWN + 1, offset })
  const erasures = found
    .slice(0, ERASURES_SHOWN)
    .map((each) => ({ ...each, shown: each.orders.slice(0, ORDERS_SHOWN) }))
  const values = {
    BookkeepingYears: String(stored.bookkeepingYears),
    KeepsInvoiceAddresses: stored.keepsInvoiceAddresses,
    Years: String(stored.bookkeepingYears),
    who,
    ...typed,
  }
  const matchesOf = async (resource: typeof customers | typeof orders) =>
    who === '' ? [] : (await findMatches(caller, targetService(resource), who)).matches
  const matches = await matchesOf(orders)
  const ids = [...matches.map(({ id }) => id), ...erasures.flatMap(({ shown }) => shown)]
  const data = {
    erasures,
    numbers: await readTitles(caller, targetService(orders), ids),
    offset,
    earlier: found.length > ERASURES_SHOWN ? offset + ERASURES_SHOWN : null,
    customers: await matchesOf(customers),
    orders: matches,
  }
  return { template: '/pages/shop/privacy/privacy', title: t('Personal data'), values, data }
}

/** What the erasure of a person leaves nothing of, and what stays. */
async function erasePage(asked: PageRequest): Promise<HtmlPage> {
  const { named, search } = namedIn(asked)
  const erased = await rehearseErasure(asked.caller, named)
  const id = erased.customerId
  const title = id === null ? t('Erase this guest?') : t('Erase customer {id}?', { id: String(id) })
  const data = { erased, search, stored: await readBookkeeping(asked.caller) }
  return { template: '/pages/shop/privacy/erase', title, data }
}

const yearsOnly = namedObject({ Years: years })

function yearsIn(sent: unknown): number {
  return readInput(yearsOnly, { Years: Number(textIn(sent, 'Years')) }).Years
}

/** The customers whom the rule erases. */
async function idlePage({ caller, query, typed }: PageRequest): Promise<HtmlPage> {
  const idle = await findIdle(caller, yearsIn(typed ?? query))
  const shown = idle.customers.slice(0, IDLE_SHOWN)
  const ids = shown.map(({ id }) => id)
  const data = { idle, shown, names: await readNames(caller, targetService(customers), ids) }
  return { template: '/pages/shop/privacy/idle', title: t('Erase customers who order no more'), data }
}
