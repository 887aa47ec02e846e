import type { FastifyInstance } from 'fastify'
import type { Db } from '../../../database/client.ts'
import { storeCaller } from '../../../html/people.ts'
import { placeOrder } from '../../../resources/orders/place-order.ts'
import { resultItem } from '../../../result-item.ts'
import { readIds } from '../../parameters.ts'

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
