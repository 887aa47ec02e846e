import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../html/principals.ts'
import { readIds, readPage } from '../server/parameters.ts'
import { listSubscriptions } from '../subscriptions/subscription-rows.ts'
import { type Subscribing, subscribe, unsubscribe } from '../subscriptions/subscriptions.ts'
import { namedObject, readInput, text } from '../values/input.ts'
import { resultItem } from '../values/result-item.ts'
import { subscribedRecord, subscriptionRecord } from './records.ts'

export const newSubscription = namedObject({ PublicKey: text(100) })

const yesOrNo = 'must be true or false'
const removal = namedObject({
  force: z.stringbool({ truthy: ['true'], falsy: ['false'], error: yesOrNo }).default(false),
})

export async function subscriptionRoutes(app: FastifyInstance, services: Subscribing) {
  app.get('/admin/stores/:id/subscriptions', async ({ params, query }) => {
    const { id: storeId } = readIds(params, 'id')
    const subscriptions = await listSubscriptions(services, { storeId, ...readPage(query) })
    return subscriptions.map(subscriptionRecord)
  })

  // 201 for a new subscription, 200 with the same token for one that the store has already.
  app.post('/admin/stores/:id/subscriptions', async (request, reply) => {
    const { id: storeId } = readIds(request.params, 'id')
    const { PublicKey: publicKey } = readInput(newSubscription, request.body)
    const subscribed = await subscribe(services, { storeId, publicKey, actor: actorOf(request) })
    return reply.code(subscribed.created ? 201 : 200).send(subscribedRecord(subscribed))
  })

  app.delete('/admin/stores/:id/subscriptions/:subscriptionId', async (request) => {
    const { id: storeId, subscriptionId } = readIds(request.params, 'id', 'subscriptionId')
    const { force } = readInput(removal, request.query, 'The query')
    await unsubscribe(services, { storeId, subscriptionId, actor: actorOf(request), force })
    return [resultItem('Id', subscriptionId, 200, 'Deleted successfully')]
  })
}
