import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AccessServices } from '../../../../access/stores/access-changes.ts'
import { closeStore, closing, reopenStore } from '../../../../access/stores/closing.ts'
import { storeWithKey } from '../../../../access/stores/stores.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { closedPages, leadOn, ownerPages } from '../../../html/page-routes.ts'
import { actorOf, merchantOf, sentBy } from '../../../html/request.ts'

const address = '/admin/settings/close'
const closedAddress = '/admin/closed'

/** Adds the page on which an owner closes the store, and the one page that people of a closed store see, where an owner opens it again. */
export function closingPages(app: FastifyInstance, services: AccessServices): void {
  const { page, form } = ownerPages(app)
  page(address, closePage)
  form(address, closePage, async (request, reply) => {
    await closeStore(services, merchantOf(request).store.id, readInput(closing, sentBy(request)), actorOf(request))
    return leadOn(reply, closedAddress)
  })

  const pageOf = async (request: FastifyRequest): Promise<HtmlPage> => {
    const { id, closedAt, deletedFrom } = await storeWithKey(services, merchantOf(request).store.id)
    const isOver = deletedFrom !== null && deletedFrom <= services.now()
    const data = { id, closedAt, deletedFrom, isOver, isOwner: merchantOf(request).role === 'owner' }
    return { template: '/pages/shop/settings/closed', title: t('This store is closed'), data }
  }
  closedPages(app).get(closedAddress, async (request, reply) => {
    if (merchantOf(request).closedMs === null) return reply.redirect('/admin', 303)
    return sendPage(reply, await pageOf(request))
  })
  ownerPages(app, true).form(closedAddress, pageOf, async (request, reply) => {
    await reopenStore(services, merchantOf(request).store.id, actorOf(request))
    return leadOn(reply, '/admin?notice=store-reopened')
  })
}

function closePage(request: FastifyRequest): HtmlPage {
  const { id, name } = merchantOf(request).store
  return { template: '/pages/shop/settings/close', title: t('Close the store'), data: { id, name } }
}
