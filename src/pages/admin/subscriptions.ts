import type { FastifyInstance } from 'fastify'
import type { AccessChange } from '../../access/changes.ts'
import { namedObject, readInput, text } from '../../access/input.ts'
import type { Secrets } from '../../access/secrets.ts'
import { listSubscriptions, subscribe, unsubscribe } from '../../access/subscriptions.ts'
import { resultItem } from '../../result-item.ts'
import { readIds, readPage } from './parameters.ts'
import { subscriptionRecord } from './records.ts'

export interface SubscriptionServices extends AccessChange {
  secrets: Secrets
  now: () => Date
}

export const newSubscription = namedObject({ PublicKey: text(100) })

export async function subscriptionRoutes(app: FastifyInstance, services: SubscriptionServices) {
  app.get('/admin/stores/:id/subscriptions', async ({ params, query }) => {
    const { id: storeId } = readIds(params, 'id')
    const subscriptions = await listSubscriptions(services, { storeId, ...readPage(query) })
    return subscriptions.map(subscriptionRecord)
  })

  // 201 for a new subscription, 200 with the same token for one that the store has already.
  app.post('/admin/stores/:id/subscriptions', async ({ params, body }, reply) => {
    const { id: storeId } = readIds(params, 'id')
    const { PublicKey: publicKey } = readInput(newSubscription, body)
    const { token, created } = await subscribe(services, { storeId, publicKey })
    return reply.code(created ? 201 : 200).send({ Token: token })
  })

  app.delete('/admin/stores/:id/subscriptions/:subscriptionId', async ({ params }) => {
    const { id: storeId, subscriptionId } = readIds(params, 'id', 'subscriptionId')
    await unsubscribe(services, { storeId, subscriptionId })
    return [resultItem('Id', subscriptionId, 200, 'Deleted successfully')]
  })
}
