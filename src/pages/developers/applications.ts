import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  changeOwnApplication,
  createOwnApplication,
  deleteOwnApplication,
  findOwnApplication,
  listOwnApplications,
  type OwnApplicationServices,
} from '../../applications/own-applications.ts'
import { isForm, orShowAgain } from '../../html/forms.ts'
import { type Page, sendPage } from '../../html/page.ts'
import { actorOf, developerOf } from '../../html/principals.ts'
import { wantsHtml } from '../../html/wants-html.ts'
import { resultItem } from '../../values/result-item.ts'
import { readForm, servicesInForm, typedForm, withFieldsOfForm } from './application-form.ts'
import { applicationPage, ownOf } from './application-page.ts'
import { applicationRecord } from './records.ts'

/** A developer's applications, as pages and as JSON. Of others nobody learns that they exist. */
export async function applicationRoutes(app: FastifyInstance, services: OwnApplicationServices): Promise<void> {
  app.get('/developers/applications', async (request, reply) => {
    const applications = await listOwnApplications(services, developerOf(request).id)
    if (!wantsHtml(request)) return applications.map(applicationRecord)
    return sendPage(reply, {
      template: '/pages/developers/applications',
      title: 'Applications',
      data: { applications },
    })
  })

  app.get('/developers/applications/new', async (_request, reply) => {
    return sendPage(reply, newPage(services, { Privileges: 'these' }))
  })

  app.post('/developers/applications', async (request, reply) => {
    const work = async () => {
      const { id } = developerOf(request)
      const created = await withFieldsOfForm(request, () =>
        createOwnApplication(services, id, inputOf(request), actorOf(request)),
      )
      if (!wantsHtml(request)) return reply.code(201).send(applicationRecord(created))
      return reply.redirect(`/developers/applications/${created.id}?notice=application-created`, 303)
    }
    return orShowAgain(reply, work, () => newPage(services, typedForm(request)))
  })

  app.get('/developers/applications/:id', async (request, reply) => {
    const application = await findOwnApplication(services, ownOf(request))
    if (!wantsHtml(request)) return applicationRecord(application)
    return sendPage(reply, applicationPage(services, application))
  })

  app.put('/developers/applications/:id', async (request) => {
    return applicationRecord(await change(services, request))
  })

  app.post('/developers/applications/:id', async (request, reply) => {
    const work = async () => {
      const changed = await change(services, request)
      if (!wantsHtml(request)) return applicationRecord(changed)
      return reply.redirect(`/developers/applications/${changed.id}?notice=application-changed`, 303)
    }
    return orShowAgain(reply, work, async () => {
      const application = await findOwnApplication(services, ownOf(request))
      return applicationPage(services, application, { values: typedForm(request) })
    })
  })

  app.get('/developers/applications/:id/delete', async (request, reply) => {
    const application = await findOwnApplication(services, ownOf(request))
    return sendPage(reply, {
      template: '/pages/developers/delete',
      title: `Delete ${application.name}?`,
      data: { application },
    })
  })

  app.post('/developers/applications/:id/delete', async (request, reply) => {
    const item = await remove(services, request)
    return wantsHtml(request) ? reply.redirect('/developers/applications?notice=application-deleted', 303) : [item]
  })

  app.delete('/developers/applications/:id', async (request) => [await remove(services, request)])
}

function newPage({ services }: OwnApplicationServices, values: Record<string, unknown>): Page {
  return {
    template: '/pages/developers/new',
    title: 'New application',
    data: { services: servicesInForm(services) },
    values,
  }
}

function change(services: OwnApplicationServices, request: FastifyRequest) {
  return withFieldsOfForm(request, () =>
    changeOwnApplication(services, ownOf(request), inputOf(request), actorOf(request)),
  )
}

function inputOf(request: FastifyRequest): unknown {
  return isForm(request) ? readForm(request) : request.body
}

async function remove(services: OwnApplicationServices, request: FastifyRequest) {
  const own = ownOf(request)
  await deleteOwnApplication(services, own, actorOf(request))
  return resultItem('Id', own.id, 200, 'Deleted successfully')
}
