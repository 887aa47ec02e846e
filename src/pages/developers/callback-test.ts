import type { FastifyInstance } from 'fastify'
import type { CallbackServices } from '../../applications/callback.ts'
import { findOwnApplication, type OwnApplicationReader } from '../../applications/own-applications.ts'
import type { Throttle } from '../../applications/throttle.ts'
import { orShowAgain } from '../../html/forms.ts'
import { sendPage } from '../../html/page.ts'
import { actorOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { testCallback } from '../../subscriptions/callback-test.ts'
import { applicationPage, ownOf } from './application-page.ts'
import { callbackTestRecord } from './records.ts'

/** Tries an application's CallBackURL. What came back is the answer itself: it is kept nowhere. */
export async function callbackTestRoutes(
  app: FastifyInstance,
  services: OwnApplicationReader & CallbackServices & { throttle: Throttle; services: readonly string[] },
): Promise<void> {
  app.post('/developers/applications/:id/callback-test', (request, reply) => {
    const own = ownOf(request)
    const page = async () => applicationPage(services, await findOwnApplication(services, own))
    const work = async () => {
      const test = await testCallback(services, own, actorOf(request))
      if (!wantsHtml(request)) return callbackTestRecord(test)
      const application = await findOwnApplication(services, own)
      return sendPage(reply, applicationPage(services, application, { test }))
    }
    return orShowAgain(reply, work, page)
  })
}
