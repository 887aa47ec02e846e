import type { FastifyInstance, FastifyReply } from 'fastify'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { type ErasureServices, erasePerson, rehearseErasure } from '../../../../shop/erasure/erase.ts'
import { listErasures } from '../../../../shop/erasure/erasures.ts'
import { findIdle, queueIdle, readLastOrders } from '../../../../shop/erasure/rule.ts'
import {
  changeBookkeeping,
  changedBookkeeping,
  readBookkeeping,
  YEARS_MAX,
  years,
} from '../../../../shop/erasure/settings.ts'
import { findTyped } from '../../../../shop/erasure/typed.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, requireOwner, textIn } from '../../../html/request.ts'
import { wholeNumber } from '../../../server/json/parameters.ts'
import { storePages } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'
import { readNames } from '../../records/names.ts'
import { targetService } from '../../records/services.ts'
import { isTicked } from '../../records/values.ts'
import { countsInWords } from './counts.ts'
import { erasedAtOf, namedIn, personPage, queryOf } from './person-page.ts'

const home = '/admin/settings/privacy'
const ERASURES_SHOWN = 50
const IDLE_SHOWN = 100

export interface PrivacyServices extends CallerServices, Pick<ErasureServices, 'files'> {
  readonly config: { readonly archiveDir: string | null }
}

/** Adds the pages of what is stored of a person: to read and print it, to erase it, and what was erased. They are for owners. */
export function privacyPages(app: FastifyInstance, services: PrivacyServices): void {
  const { page, form, pair } = storePages(adminPages(app, ['People', 'write']).proved, services)
  const owned =
    <Asked extends PageRequest, Result>(answer: (asked: Asked, reply: FastifyReply) => Result) =>
    (asked: Asked, reply: FastifyReply): Result => {
      requireOwner(reply.request)
      return answer(asked, reply)
    }
  const show = owned(privacyPage)
  pair(home, show, owned(saveSettings))
  form(`${home}/find`, owned(find), show)
  page(`${home}/person`, owned(personPage))
  pair(
    `${home}/erase`,
    owned(erasePage),
    owned((asked, reply) => erase(asked, reply, services)),
  )
  pair(`${home}/idle`, owned(idlePage), owned(eraseIdle))
}

const paging = namedObject({ offset: wholeNumber(0, INT32_MAX).default(0) })

/** Finds a person, lists who was erased, and has what the store keeps. */
async function privacyPage({ caller, query, typed }: PageRequest): Promise<HtmlPage> {
  const { offset } = readInput(paging, { offset: textIn(query, 'offset') || undefined }, 'The query')
  const [stored, found] = await Promise.all([
    readBookkeeping(caller),
    // Reads one more than it shows, to detect earlier ones.
    listErasures(caller, { limit: ERASURES_SHOWN + 1, offset }),
  ])
  const erasures = found.slice(0, ERASURES_SHOWN).map((each) => ({ ...each, words: countsInWords(each.counts) }))
  return {
    template: '/pages/shop/privacy/privacy',
    title: t('Personal data'),
    values: {
      BookkeepingYears: String(stored.bookkeepingYears),
      KeepsInvoiceAddresses: stored.keepsInvoiceAddresses ? 'yes' : '',
      years: String(stored.bookkeepingYears),
      ...typed,
    },
    data: {
      erasures,
      isFirst: offset === 0,
      earlier: found.length > ERASURES_SHOWN ? `${home}?offset=${offset + ERASURES_SHOWN}#erasures` : null,
      least: stored.bookkeepingYears,
      yearsMax: YEARS_MAX,
    },
  }
}

async function saveSettings({ caller, typed, writing }: Sent<PageRequest>, { request }: FastifyReply): Promise<string> {
  const given = readInput(changedBookkeeping, {
    BookkeepingYears: numberIn(typed, 'BookkeepingYears', writing),
    KeepsInvoiceAddresses: isTicked(typed, 'KeepsInvoiceAddresses'),
  })
  await changeBookkeeping(caller, given, actorOf(request))
  return `${home}?notice=settings-saved`
}

async function find({ caller, typed }: Sent<PageRequest>): Promise<string> {
  const named = await findTyped(caller, textIn(typed, 'Who')).catch((error) => {
    if (!(error instanceof StoreFailure)) throw error
    throw new StoreFailure(error.code, error.message, { field: 'Who' })
  })
  return `${home}/person?${queryOf(named)}`
}

/** What the erasure of a person leaves nothing of, and what stays. */
async function erasePage(asked: PageRequest): Promise<HtmlPage> {
  const { caller } = asked
  const named = namedIn(asked)
  const erased = await rehearseErasure(caller, named)
  const { customerId, records } = erased
  return {
    template: '/pages/shop/privacy/erase',
    title: customerId === null ? t('Erase this guest?') : t('Erase customer {id}?', { id: String(customerId) }),
    data: {
      erased,
      words: countsInWords(erased.counts),
      erasedAt: await erasedAtOf(caller, erased),
      stored: await readBookkeeping(caller),
      hasOrders: records.Orders.length > 0,
      address: `${home}/erase?${queryOf(named)}`,
      back: `${home}/person?${queryOf(named)}`,
    },
  }
}

async function erase(asked: Sent<PageRequest>, { request }: FastifyReply, { files, config }: PrivacyServices) {
  const confirmation = { confirm: textIn(asked.typed, 'Confirm'), actor: actorOf(request) }
  await erasePerson(asked.caller, { files, hasArchive: config.archiveDir !== null }, namedIn(asked), confirmation)
  return `${home}?notice=person-erased#erasures`
}

function yearsIn(sent: unknown): number {
  return readInput(namedObject({ Years: years }), { Years: Number(textIn(sent, 'Years')) }).Years
}

/** The customers whom the rule erases. What cannot be read is shown where it was typed. */
async function idlePage({ caller, query, typed }: PageRequest): Promise<HtmlPage> {
  const sent = typed ?? query
  const read = async () => {
    const idle = await findIdle(caller, yearsIn(sent))
    const ids = idle.ids.slice(0, IDLE_SHOWN)
    const [names, last] = await Promise.all([
      readNames(caller, targetService(customers), ids),
      readLastOrders(caller, ids),
    ])
    const shown = ids.map((id) => ({ id, name: names.get(id) || String(id), lastAt: last.get(id) ?? null }))
    return { idle, shown, failure: undefined }
  }
  const { idle, shown, failure } = await read().catch((error) => {
    if (!(error instanceof StoreFailure) || error.status !== 400) throw error
    return { idle: null, shown: [], failure: error }
  })
  return {
    template: '/pages/shop/privacy/idle',
    title: t('Erase customers who order no more'),
    ...(failure && { failure }),
    values: { Years: textIn(sent, 'Years') },
    data: { idle, shown, home },
  }
}

async function eraseIdle({ caller, typed }: Sent<PageRequest>, { request }: FastifyReply): Promise<string> {
  await queueIdle(caller, yearsIn(typed), { confirm: textIn(typed, 'Confirm'), actor: actorOf(request) })
  return `${home}?notice=idle-erasing#erasures`
}
