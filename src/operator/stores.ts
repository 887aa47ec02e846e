import type { FastifyInstance } from 'fastify'
import { actorOf, merchantOf, storeCaller } from '../html/principals.ts'
import { updateOrderStatuses } from '../resources/order-statuses/update-statuses.ts'
import { listPaymentMethods, updatePaymentMethods } from '../resources/payment-methods/update-methods.ts'
import { readIds, readPage } from '../server/parameters.ts'
import {
  type ChangeStore,
  type CreateStore,
  createStore,
  listStores,
  rotateUserKey,
  storeWithKey,
  updateStore,
} from '../stores/stores.ts'
import { resultItem } from '../values/result-item.ts'
import { paymentMethodRecord, storeRecord } from './records.ts'

export type StoreServices = CreateStore & ChangeStore

export async function storeRoutes(app: FastifyInstance, services: StoreServices) {
  // The operator's are all; a merchant's the one of the session.
  app.get('/admin/stores', async (request) => {
    const page = readPage(request.query)
    if (request.session) return [storeRecord(await storeWithKey(services, merchantOf(request).store.id))]
    const stores = await listStores(services, page)
    return stores.map(storeRecord)
  })

  app.post('/admin/stores', async (request, reply) => {
    const { id, secureUrl, userKey } = await createStore(services, request.body, actorOf(request))
    return reply.code(201).send({ Id: id, SecureURL: secureUrl, UserKey: userKey })
  })

  app.put('/admin/stores/:id', async (request) => {
    const { id } = readIds(request.params, 'id')
    return storeRecord(await updateStore(services, id, request.body, actorOf(request)))
  })

  app.put('/admin/stores/:id/order-statuses', async (request) => {
    const { id } = readIds(request.params, 'id')
    await updateOrderStatuses(await storeCaller(request, services, id), request.body, actorOf(request))
    return [resultItem('Id', id, 200, 'updated successfully')]
  })

  app.get('/admin/stores/:id/payment-methods', async (request) => {
    const { id } = readIds(request.params, 'id')
    const { db, store } = await storeCaller(request, services, id)
    return (await listPaymentMethods(db, store.id)).map(paymentMethodRecord)
  })

  app.put('/admin/stores/:id/payment-methods', async (request) => {
    const { id } = readIds(request.params, 'id')
    await updatePaymentMethods(await storeCaller(request, services, id), request.body, actorOf(request))
    return [resultItem('Id', id, 200, 'updated successfully')]
  })

  app.post('/admin/stores/:id/user-key', async (request) => {
    const { id } = readIds(request.params, 'id')
    const { userKey } = await rotateUserKey(services, id, actorOf(request))
    return { UserKey: userKey }
  })
}
