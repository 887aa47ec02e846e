import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { updateApplication } from '../../../access/applications/applications.ts'
import type { AccessServices } from '../../../access/stores/access-changes.ts'
import { rateLimitOf, throttleInput } from '../../../access/stores/rate-limit.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import type { HtmlPage } from '../../html/page.ts'
import { inFormFields, pagesFor } from '../../html/page-routes.ts'
import { actorOf, type Form, formOf } from '../../html/request.ts'
import { idIn, writingOf } from '../frame/pages.ts'
import { limitFields, limitIn, limitValues } from './limit-fields.ts'
import { listedIn, PAGE } from './lists.ts'

const home = '/operator/applications'

const changedLimit = namedObject({ Throttle: throttleInput })
const opening = namedObject({ OpenToMerchants: z.enum(['true', 'false'], 'must be true or false') })

/** Adds the pages of applications and their limits, and of developers. */
export function applicationPages(app: FastifyInstance, services: AccessServices): void {
  const { page, form, proved } = pagesFor(app, 'operator')
  const again = (request: FastifyRequest) => applicationPage(services, request)
  page(home, (request) => applicationsPage(services, request))
  page(`${home}/:id`, again)
  const asTyped = (request: FastifyRequest) => applicationPage(services, request, formOf(request))
  form(`${home}/:id`, asTyped, async (request) => {
    const id = idIn(request)
    const Throttle = limitIn(formOf(request), writingOf(request))
    const save = async () => updateApplication(services, id, readInput(changedLimit, { Throttle }), actorOf(request))
    await save().catch(inFormFields(limitFields))
    return `${home}/${id}?notice=settings-saved`
  })
  proved.form(`${home}/:id/merchants`, again, async (request) => {
    const id = idIn(request)
    const { OpenToMerchants } = readInput(opening, formOf(request))
    await updateApplication(services, id, { OpenToMerchants: OpenToMerchants === 'true' }, actorOf(request))
    return `${home}/${id}?notice=settings-saved`
  })
  page('/operator/developers', (request) => developersPage(services, request))
}

async function applicationsPage({ db }: AccessServices, request: FastifyRequest): Promise<HtmlPage> {
  const { sought: name, part, shown } = listedIn(request, home, 'name')
  const rows = await db.application.findMany({
    where: name === '' ? {} : { name: { contains: name, mode: 'insensitive' } },
    select: {
      id: true,
      name: true,
      openToMerchants: true,
      privateKeyBroughtAt: true,
      createdAt: true,
      developer: { select: { email: true } },
      _count: { select: { subscriptions: true } },
    },
    orderBy: { id: 'asc' },
    ...part,
  })
  return { template: '/pages/operator/applications', title: t('Applications'), values: { name }, data: shown(rows) }
}

async function applicationPage({ db }: AccessServices, request: FastifyRequest, typed?: Form): Promise<HtmlPage> {
  const id = idIn(request)
  const application = await db.application.findUnique({
    where: { id },
    select: {
      name: true,
      openToMerchants: true,
      privateKeyBroughtAt: true,
      createdAt: true,
      privileges: true,
      throttleCapacity: true,
      throttleLeakPerSecond: true,
      developer: { select: { email: true } },
      subscriptions: {
        select: {
          tokenBroughtAt: true,
          createdAt: true,
          lastUsedAt: true,
          store: { select: { id: true, name: true } },
        },
        orderBy: { id: 'asc' },
        take: PAGE,
      },
      _count: { select: { subscriptions: true } },
    },
  })
  if (!application) throw new StoreFailure('not-found', `No application has the id ${id}`, { field: String(id) })
  const { subscriptions, ...about } = application
  const values = typed ?? limitValues(rateLimitOf(application), writingOf(request))
  const data = { id, application: about, subscriptions }
  return { template: '/pages/operator/application', title: application.name, values, data }
}

async function developersPage({ db }: AccessServices, request: FastifyRequest): Promise<HtmlPage> {
  const { part, shown } = listedIn(request, '/operator/developers')
  const rows = await db.developer.findMany({
    select: {
      id: true,
      email: true,
      createdAt: true,
      identityId: true,
      applications: { select: { id: true, name: true }, take: 10 },
    },
    orderBy: { id: 'asc' },
    ...part,
  })
  return { template: '/pages/operator/developers', title: t('Developers'), data: shown(rows) }
}
