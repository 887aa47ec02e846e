import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type MailServices, mailsAre } from '../../../access/mail/write.ts'
import { emailInput } from '../../../access/people/passwords.ts'
import type { AccessServices } from '../../../access/stores/access-changes.ts'
import { type CreateStore, createUnownedStore } from '../../../access/stores/create-store.ts'
import { changedStore, unownedStore } from '../../../access/stores/store-input.ts'
import { rotateUserKey, storeWithKey, updateStore } from '../../../access/stores/stores.ts'
import { inTransaction } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { invite, listInvitations, withdrawInvitation } from '../../../shop/staff/invitations.ts'
import { listMembers, removeMember } from '../../../shop/staff/members.ts'
import { builtInRoles } from '../../../shop/staff/roles.ts'
import { listRoles } from '../../../shop/staff/store-roles.ts'
import type { HtmlPage } from '../../html/page.ts'
import { inFormFields, pagesFor } from '../../html/page-routes.ts'
import { actorOf, type Form, formOf, linesIn } from '../../html/request.ts'
import { readIds } from '../../server/json/parameters.ts'
import { idIn, writingOf } from '../frame/pages.ts'
import { answerInvitation, inviteByForm } from '../people/hand-over.ts'
import { serviceOfTable } from '../records/services.ts'
import { limitFields, limitIn, limitValues } from './limit-fields.ts'
import { listedIn, PAGE } from './lists.ts'

const home = '/operator/stores'
const MEMBERS_MAX = 500
const zones = Intl.supportedValuesOf('timeZone')

export type StorePagesServices = AccessServices & CreateStore & MailServices & { readonly db: AccessServices['db'] }

const ownerOnly = namedObject({ Email: emailInput })

/** Adds the pages of stores: opening one, its settings and limits, its people. */
export function storePages(app: FastifyInstance, services: StorePagesServices): void {
  pagesFor(app, 'operator').page(home, (request) => storesPage(services, request))
  const { page, form } = pagesFor(app, 'operator').proved
  const show = (request: FastifyRequest) => storePage(services, request)
  const asTyped = (request: FastifyRequest) => storePage(services, request, formOf(request))

  page(`${home}/new`, () => newPage(services))
  const again = (request: FastifyRequest) => newPage(services, formOf(request))
  form(home, again, (request, reply) => openStore(services, request, reply))

  page(`${home}/:id`, show)
  form(`${home}/:id`, asTyped, (request) => saveSettings(services, request).catch(inFormFields(storeFields)))
  form(`${home}/:id/user-key`, show, async (request) => {
    await rotateUserKey(services, idIn(request), actorOf(request))
    return `${home}/${idIn(request)}?notice=user-key-rotated`
  })

  form(`${home}/:id/invitations`, asTyped, async (request, reply) => {
    const storeId = idIn(request)
    return inviteByForm(services, [request, reply], { storeId, by: byOperator(request), back: `${home}/${storeId}` })
  })
  form(`${home}/:id/invitations/:itemId/withdraw`, show, async (request) => {
    const { id: storeId, itemId: id } = readIds(request.params, 'id', 'itemId')
    await withdrawInvitation(services, { storeId, id }, byOperator(request))
    return `${home}/${storeId}?notice=invitation-withdrawn`
  })
  form(`${home}/:id/people/:itemId/remove`, show, async (request) => {
    const { id: storeId, itemId: userId } = readIds(request.params, 'id', 'itemId')
    await removeMember(services, { storeId, userId }, byOperator(request))
    return `${home}/${storeId}?notice=person-removed`
  })
}

/** Opens a store, and invites its owner in the same transaction. */
async function openStore(services: StorePagesServices, request: FastifyRequest, reply: FastifyReply) {
  const { Name, SecureURL, Currency, TimeZone, Country, Email } = formOf(request)
  const optional = { ...(Currency !== '' && { Currency }), ...(TimeZone !== '' && { TimeZone }) }
  const given = readInput(unownedStore, { Name, SecureURL, Country, ...optional })
  const owner = { ...readInput(ownerOnly, { Email }), Role: 'owner' }
  const { store, invitation } = await inTransaction(services.db, async (tx) => {
    const store = await createUnownedStore({ ...services, db: tx }, given, actorOf(request))
    return { store, invitation: await invite({ ...services, db: tx }, store.id, owner, byOperator(request)) }
  })
  return answerInvitation(reply, invitation, `${home}/${store.id}`)
}

async function saveSettings(services: StorePagesServices, request: FastifyRequest): Promise<string> {
  const sent = formOf(request)
  const { Name, SecureURL, Currency, TimeZone, Country } = sent
  const SecureURLs = sent.SecureURLs === undefined ? undefined : linesIn(sent.SecureURLs).filter(Boolean)
  const Throttle = limitIn(sent, writingOf(request))
  const given = readInput(changedStore, { Name, SecureURL, SecureURLs, Currency, TimeZone, Country, Throttle })
  await updateStore(services, idIn(request), given, actorOf(request))
  return `${home}/${idIn(request)}?notice=settings-saved`
}

/** An operator is none of the store's people. */
function byOperator(request: FastifyRequest) {
  return { actor: actorOf(request), userId: null }
}

/** The form's field for a field of the body. */
function storeFields(field: string): string {
  return limitFields(field).replace(/^SecureURLs\..*/, 'SecureURLs')
}

async function storesPage({ db }: StorePagesServices, request: FastifyRequest): Promise<HtmlPage> {
  const { sought: name, part, shown } = listedIn(request, home, 'name')
  const like = { contains: name, mode: 'insensitive' } as const
  const rows = await db.store.findMany({
    where: name === '' ? {} : { OR: [{ name: like }, { hosts: { some: { host: like } } }] },
    select: {
      id: true,
      name: true,
      secureUrl: true,
      createdAt: true,
      closedAt: true,
      testStore: { select: { state: true } },
      _count: { select: { users: true, subscriptions: true } },
    },
    orderBy: { id: 'asc' },
    ...part,
  })
  return { template: '/pages/operator/stores', title: t('Stores'), values: { name }, data: shown(rows) }
}

function newPage({ config, defaultTimeZone }: StorePagesServices, typed: Form = {}): HtmlPage {
  const values = { Currency: 'USD', TimeZone: defaultTimeZone, ...typed }
  const data = { zones, mails: mailsAre(config) }
  return { template: '/pages/operator/new-store', title: t('Open a store'), values, data }
}

async function storePage(services: StorePagesServices, request: FastifyRequest, typed?: Form): Promise<HtmlPage> {
  const id = idIn(request)
  const store = await storeWithKey(services, id)
  const { name, secureUrl, furtherUrls, currency, timeZone, country, throttle } = store
  const { createdAt, userKeyBroughtAt, closedAt, deletedFrom } = store
  const settings = {
    Name: name,
    SecureURL: secureUrl,
    SecureURLs: furtherUrls.join('\n'),
    Currency: currency,
    TimeZone: timeZone,
    Country: country,
    ...limitValues(throttle, writingOf(request)),
  }
  const contents = await contentsOf(services, id)
  return {
    template: '/pages/operator/store',
    title: name,
    values: { ...settings, Role: 'owner', ...typed },
    data: {
      id,
      createdAt,
      userKeyBroughtAt,
      closedAt,
      deletedFrom,
      ...contents,
      zones,
      mails: mailsAre(services.config),
    },
  }
}

/** Who may enter a store, and how much it holds. */
async function contentsOf(services: StorePagesServices, storeId: number) {
  const { db } = services
  const [members, invitations, own, subscriptions, counts, testStore] = await Promise.all([
    listMembers(services, { storeId, limit: MEMBERS_MAX, offset: 0 }),
    listInvitations(services, storeId),
    listRoles(db, storeId),
    db.subscription.findMany({
      where: { storeId },
      select: {
        id: true,
        tokenBroughtAt: true,
        createdAt: true,
        lastUsedAt: true,
        application: { select: { id: true, name: true, privateKeyBroughtAt: true } },
      },
      orderBy: { id: 'asc' },
      take: PAGE,
    }),
    db.recordCount.groupBy({ by: ['table'], where: { storeId }, _sum: { count: true }, orderBy: { table: 'asc' } }),
    db.testStore.findUnique({ where: { storeId }, select: { state: true, developer: { select: { email: true } } } }),
  ])
  const roles = [...Object.keys(builtInRoles), ...own.map(({ role }) => role)]
  const records = counts.map(({ table, _sum }) => {
    const name = table === 'Webhook' ? t('Webhooks') : (serviceOfTable(table)?.allTitle ?? table)
    return { name, count: _sum.count ?? 0 }
  })
  return { testStore, members, invitations, roles, subscriptions, records }
}
