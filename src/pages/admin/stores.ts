import type { FastifyInstance } from 'fastify'
import { type CreateStore, createStore, listStores } from '../../access/stores.ts'
import { readPage } from './parameters.ts'
import { storeRecord } from './records.ts'

export async function storeRoutes(app: FastifyInstance, services: CreateStore) {
  app.get('/admin/stores', async ({ query }) => {
    const stores = await listStores(services, readPage(query))
    return stores.map(storeRecord)
  })

  app.post('/admin/stores', async ({ body }, reply) => {
    const { id, secureUrl, userKey } = await createStore(services, body)
    return reply.code(201).send({ Id: id, SecureURL: secureUrl, UserKey: userKey })
  })
}
