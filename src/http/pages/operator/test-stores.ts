import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DataServices } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type AllowedServices, allowTestStores, areTestStoresAllowed } from '../../../operations/sandbox/allowed.ts'
import type { HtmlPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, formOf, textIn } from '../../html/request.ts'
import { listedIn } from './lists.ts'

const home = '/operator/test-stores'

export type TestStorePagesServices = DataServices & AllowedServices

/** Adds the page of the test stores that developers have, with the switch that lets them have any. */
export function testStorePages(app: FastifyInstance, services: TestStorePagesServices): void {
  const { page, form } = pagesFor(app, 'operator').proved
  const show = (request: FastifyRequest) => listPage(services, request)
  page(home, show)
  form(home, show, async (request) => {
    const wanted = textIn(formOf(request), 'Allowed')
    if (wanted !== 'true' && wanted !== 'false') {
      throw new StoreFailure('invalid-value', 'Allowed must be true or false', { field: 'Allowed' })
    }
    await allowTestStores(services, wanted === 'true', actorOf(request))
    return `${home}?notice=settings-saved`
  })
}

async function listPage(services: TestStorePagesServices, request: FastifyRequest): Promise<HtmlPage> {
  const { part, shown } = listedIn(request, home)
  const rows = await services.db.testStore.findMany({
    // Closed stores that are being deleted are none.
    where: { store: { closedAt: null } },
    select: {
      storeId: true,
      state: true,
      createdAt: true,
      store: { select: { name: true } },
      developer: { select: { email: true, identityId: true } },
    },
    orderBy: { storeId: 'asc' },
    ...part,
  })
  const data = { ...shown(rows), isAllowed: await areTestStoresAllowed(services) }
  return { template: '/pages/operator/test-stores', title: t('Test stores'), data }
}
