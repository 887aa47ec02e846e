import type { FastifyInstance, FastifyRequest } from 'fastify'
import { recordAudit } from '../../../access/audit/audit.ts'
import { mailsAre } from '../../../access/mail/write.ts'
import { factorColumns, isFactorInForce } from '../../../access/people/factors/in-force.ts'
import { cancelFactorRemoval, requestFactorRemoval } from '../../../access/people/factors/removal.ts'
import { insertResetLink, type ResetServices } from '../../../access/people/reset.ts'
import type { AccountKind } from '../../../access/people/sessions.ts'
import { inTransaction } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, formOf, textIn } from '../../html/request.ts'
import { idIn } from '../frame/pages.ts'
import { linkPage } from '../people/hand-over.ts'
import { listedIn, PAGE } from './lists.ts'

const home = '/operator/people'

const accountKinds: readonly AccountKind[] = ['merchant', 'developer', 'operator']

/** Adds the pages of people across stores: what somebody signs in to, and how to help one who cannot. */
export function peoplePages(app: FastifyInstance, services: ResetServices): void {
  const { page, form } = pagesFor(app, 'operator').proved
  page(home, (request) => peoplePage(services, request))
  const again = (request: FastifyRequest) => personPage(services, request)
  page(`${home}/:id`, again)
  form(`${home}/:id/reset`, again, async (request, reply) => {
    const id = idIn(request)
    const kind = accountKinds.find((each) => each === textIn(formOf(request), 'Kind'))
    const identity = await identityById(services, id)
    const of = { merchant: identity.users, developer: identity.developers, operator: identity.operators }
    if (!kind || of[kind].length === 0) {
      throw new StoreFailure('invalid-value', 'Kind must be a kind of account that the person has', { field: 'Kind' })
    }
    const { email } = identity
    const handed = await inTransaction(services.db, async (tx) => {
      const about = { actor: actorOf(request), target: email, details: { byLink: true } }
      await recordAudit(tx, services.now, { ...about, action: 'account.reset-handed-over' })
      for (const { storeId } of kind === 'merchant' ? identity.users : []) {
        await recordAudit(tx, services.now, { ...about, action: 'account.reset-handed-over', storeId })
      }
      return insertResetLink(tx, services, { kind, email, identityId: id })
    })
    const link = services.config.publicUrl + handed.link
    return sendPage(reply, linkPage({ email, link, expiresAt: handed.expiresAt }, `${home}/${id}`))
  })
  form(`${home}/:id/factor-removal`, again, async (request) => {
    const id = idIn(request)
    await requestFactorRemoval(services, id, actorOf(request))
    return `${home}/${id}?notice=factor-removal`
  })
  form(`${home}/:id/factor-removal/cancel`, again, async (request) => {
    const id = idIn(request)
    await cancelFactorRemoval(services, id, actorOf(request))
    return `${home}/${id}?notice=factor-kept`
  })
}

async function peoplePage({ db, now }: ResetServices, request: FastifyRequest): Promise<HtmlPage> {
  const { sought: email, part, shown } = listedIn(request, home, 'email')
  const rows = await db.identity.findMany({
    where: email === '' ? {} : { email: { contains: email, mode: 'insensitive' } },
    select: {
      id: true,
      email: true,
      emailProvedAt: true,
      createdAt: true,
      ...factorColumns,
      _count: { select: { users: true, developers: true, operators: true } },
    },
    orderBy: { id: 'asc' },
    ...part,
  })
  const at = now()
  const people = rows.map((row) => ({ ...row, hasFactor: isFactorInForce(row, at) }))
  return { template: '/pages/operator/people', title: t('People'), values: { email }, data: shown(people) }
}

const identityColumns = {
  id: true,
  email: true,
  emailProvedAt: true,
  createdAt: true,
  ...factorColumns,
  users: {
    select: {
      id: true,
      storeId: true,
      role: true,
      createdAt: true,
      ownRole: { select: { name: true } },
      store: { select: { name: true, testStore: { select: { state: true } } } },
    },
    orderBy: { id: 'asc' },
    take: PAGE,
  },
  developers: { select: { id: true, applications: { select: { id: true, name: true }, take: PAGE } } },
  operators: { select: { id: true } },
} as const

async function identityById({ db }: ResetServices, id: number) {
  const identity = await db.identity.findUnique({ where: { id }, select: identityColumns })
  if (!identity) throw new StoreFailure('not-found', `There is no person with the id ${id}`, { field: String(id) })
  return identity
}

async function personPage(services: ResetServices, request: FastifyRequest): Promise<HtmlPage> {
  const person = await identityById(services, idIn(request))
  const { users, developers, operators } = person
  const kinds = [
    ...(users.length > 0 ? [['merchant', t('the store administration')]] : []),
    ...(developers.length > 0 ? [['developer', t('the developer pages')]] : []),
    ...(operators.length > 0 ? [['operator', t('these pages')]] : []),
  ]
  const now = services.now()
  return {
    template: '/pages/operator/person',
    title: person.email,
    data: { identity: person, kinds, hasFactor: isFactorInForce(person, now), now, mails: mailsAre(services.config) },
  }
}
