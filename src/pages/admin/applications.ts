import type { FastifyInstance } from 'fastify'
import {
  listApplications,
  type RegisterApplication,
  registerApplication,
  type UpdateApplication,
  updateApplication,
} from '../../access/applications.ts'
import { readIds, readPage } from '../parameters.ts'
import { applicationRecord } from './records.ts'

export async function applicationRoutes(app: FastifyInstance, services: RegisterApplication & UpdateApplication) {
  app.get('/admin/applications', async ({ query }) => {
    const applications = await listApplications(services, readPage(query))
    return applications.map(applicationRecord)
  })

  app.post('/admin/applications', async ({ body }, reply) => {
    const application = await registerApplication(services, body)
    return reply.code(201).send(applicationRecord(application))
  })

  app.put('/admin/applications/:id', async ({ params, body }) => {
    const { id } = readIds(params, 'id')
    return applicationRecord(await updateApplication(services, id, body))
  })
}
