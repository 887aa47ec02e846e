import type { FastifyInstance } from 'fastify'
import {
  listApplications,
  type RegisterApplication,
  registerApplication,
  type UpdateApplication,
  updateApplication,
} from '../applications/applications.ts'
import { actorOf } from '../html/principals.ts'
import { readIds, readPage } from '../server/parameters.ts'
import { applicationRecord } from './records.ts'

export async function applicationRoutes(app: FastifyInstance, services: RegisterApplication & UpdateApplication) {
  app.get('/admin/applications', async ({ query }) => {
    const applications = await listApplications(services, readPage(query))
    return applications.map(applicationRecord)
  })

  app.post('/admin/applications', async (request, reply) => {
    const application = await registerApplication(services, request.body, actorOf(request))
    return reply.code(201).send(applicationRecord(application))
  })

  app.put('/admin/applications/:id', async (request) => {
    const { id } = readIds(request.params, 'id')
    return applicationRecord(await updateApplication(services, id, request.body, actorOf(request)))
  })
}
