import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '../../../html/page.ts'
import { pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, merchantCaller, textIn } from '../../../html/request.ts'
import { readIds, wholeNumber } from '../../../server/parameters.ts'
import { namedObject, readInput } from '../../../values/input.ts'
import { INT32_MAX } from '../../../values/int32.ts'
import { getDelivery, redeliver, sendTest } from '../../../webhooks/deliveries.ts'
import { webhookStatus } from '../../../webhooks/status.ts'

/** How often a page reloads, once a second, after its user requested an attempt. Longer than an attempt can take. */
const LOOKS_MAX = 20
/** The page truncates a larger body. */
const BODY_SHOWN_MAX = 100_000

const ids = namedObject({
  id: wholeNumber(1, INT32_MAX),
  deliveryId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
})

/** Adds the pages of a delivery: its details, redelivery, and sending a test event, which is also a delivery. */
export function deliveryPages(app: FastifyInstance, services: CallerServices): void {
  const { post, page, form } = pagesFor(app, 'merchant')
  const show = (request: FastifyRequest, reply: FastifyReply) => deliveryPage(services, request, reply)

  post('/admin/webhooks/:id/test', async (request, reply) => {
    const { id } = readIds(request.params, 'id')
    const deliveryId = await sendTest(merchantCaller(request, services), id)
    return reply.redirect(addressOf(id, deliveryId, LOOKS_MAX), 303)
  })

  page('/admin/webhooks/:id/deliveries/:deliveryId', show)

  const sendAgain = async (request: FastifyRequest) => {
    const { id, deliveryId } = readInput(ids, request.params)
    await redeliver(merchantCaller(request, services), id, deliveryId)
    return addressOf(id, deliveryId, LOOKS_MAX)
  }
  form('/admin/webhooks/:id/deliveries/:deliveryId/redeliver', sendAgain, show)
}

function addressOf(id: number, deliveryId: number, looks: number): string {
  return `/admin/webhooks/${id}/deliveries/${deliveryId}?looks=${looks}`
}

async function deliveryPage(services: CallerServices, request: FastifyRequest, reply: FastifyReply): Promise<Page> {
  const { id, deliveryId } = readInput(ids, request.params)
  const caller = merchantCaller(request, services)
  const webhook = await webhookStatus(caller, id)
  const delivery = await getDelivery(caller, id, deliveryId)
  const asked = Number(/^\d{1,2}$/.exec(textIn(request.query, 'looks'))?.[0] ?? 0)
  const looks = delivery.state === 'pending' ? Math.min(asked, LOOKS_MAX) : 0
  if (looks > 0) reply.header('refresh', `1; url=${addressOf(id, deliveryId, looks - 1)}`)
  const body = JSON.stringify([JSON.parse(delivery.body)], null, 2)
  return {
    template: '/pages/admin/webhooks/delivery',
    title: `${delivery.eventName}, delivery ${deliveryId}`,
    data: {
      webhook,
      delivery,
      isLooking: looks > 0,
      body: body.slice(0, BODY_SHOWN_MAX).toWellFormed(),
      isBodyCut: body.length > BODY_SHOWN_MAX,
      now: services.now(),
    },
  }
}
