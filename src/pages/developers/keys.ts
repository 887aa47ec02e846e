import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type KeyServices, rotateCallbackSecret, rotatePrivateKey } from '../../applications/keys.ts'
import { findOwnApplication } from '../../applications/own-applications.ts'
import { formOf, isForm, orShowAgain } from '../../html/forms.ts'
import { actorOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { applicationPage, ownOf } from './application-page.ts'
import { applicationRecord } from './records.ts'

/** New keys for an application. The forms name the key that they replace, so that pressed twice they replace it once. */
export async function keyRoutes(
  app: FastifyInstance,
  services: KeyServices & { services: readonly string[] },
): Promise<void> {
  app.post('/developers/applications/:id/private-key', (request, reply) => {
    const work = async () => {
      const changed = await rotatePrivateKey(services, ownOf(request), inputOf(request), actorOf(request))
      if (!wantsHtml(request)) return applicationRecord(changed)
      return reply.redirect(`/developers/applications/${changed.id}?notice=key-rotated`, 303)
    }
    return orShowAgain(reply, work, () => pageOf(request))
  })

  app.post('/developers/applications/:id/callback-secret', (request, reply) => {
    const work = async () => {
      const changed = await rotateCallbackSecret(services, ownOf(request), inputOf(request), actorOf(request))
      if (!wantsHtml(request)) return applicationRecord(changed)
      return reply.redirect(`/developers/applications/${changed.id}?notice=secret-rotated`, 303)
    }
    return orShowAgain(reply, work, () => pageOf(request))
  })

  async function pageOf(request: FastifyRequest) {
    const application = await findOwnApplication(services, ownOf(request))
    const { KeepFormerForHours } = isForm(request) ? formOf(request) : {}
    return applicationPage(services, application, { values: KeepFormerForHours ? { KeepFormerForHours } : {} })
  }
}

/** A form has numbers as texts; a program may send nothing at all. */
function inputOf(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body ?? {}
  const { KeepFormerForHours: hours, ...others } = formOf(request)
  if (hours === undefined) return others
  return { ...others, KeepFormerForHours: /^\d{1,9}$/.test(String(hours)) ? Number(hours) : hours }
}
