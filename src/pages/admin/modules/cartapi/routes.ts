import type { FastifyInstance } from 'fastify'
import { type ChangeStore, rotateUserKey, storeWithKey } from '../../../../access/stores.ts'
import { sendPage } from '../../../../html/page.ts'
import { actorOf, merchantOf } from '../../../../html/people.ts'

/** The key by which legacy programs enter the store. */
export async function cartApiRoutes(app: FastifyInstance, services: ChangeStore): Promise<void> {
  app.get('/admin/modules/cartapi', async (request, reply) => {
    const { userKey, secureUrl } = await storeWithKey(services, merchantOf(request).store.id)
    return sendPage(reply, {
      template: '/pages/admin/modules/cartapi/cartapi',
      title: 'cartAPI',
      data: { userKey, secureUrl },
    })
  })

  app.post('/admin/modules/cartapi/user-key', async (request, reply) => {
    await rotateUserKey(services, merchantOf(request).store.id, actorOf(request))
    return reply.redirect('/admin/modules/cartapi?notice=user-key-rotated', 303)
  })
}
