import type { FastifyInstance } from 'fastify'
import type { Db } from '../database/client.ts'
import { storeCaller } from '../html/principals.ts'
import { placeOrder } from '../resources/orders/place-order.ts'
import { readIds } from '../server/parameters.ts'
import { resultItem } from '../values/result-item.ts'

export interface OrderServices {
  db: Db
  now: () => Date
}

export async function orderRoutes(app: FastifyInstance, services: OrderServices) {
  app.post('/admin/stores/:id/orders', async (request, reply) => {
    const { id: storeId } = readIds(request.params, 'id')
    const { id } = await placeOrder(await storeCaller(request, services, storeId), request.body)
    return reply.code(201).send([resultItem('OrderID', id, 201, 'Created successfully')])
  })
}
