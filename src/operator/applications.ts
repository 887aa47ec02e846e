import { z } from 'zod'
import type { AccessServices } from '../applications/access-changes.ts'
import {
  type Application,
  changedApplication,
  listApplications,
  newApplication,
  registerApplication,
  updateApplication,
} from '../applications/applications.ts'
import type { JoiningServices } from '../database/client.ts'
import { actorOf } from '../html/request.ts'
import { id, operatorRoute, privileges, serviceNames, time } from '../html/route-groups.ts'
import { jsonBody, many, one, record } from '../server/json-routes.ts'
import { pageQuery } from '../server/parameters.ts'
import { throttle, throttleRecord } from './stores.ts'

const application = record<Application>('Application')({
  Id: [id, (from) => from.id],
  Name: [z.string(), (from) => from.name],
  PublicKey: [z.string(), (from) => from.publicKey],
  PrivateKey: [z.string(), (from) => from.privateKey],
  Privileges: [privileges.describe('Null: everything.'), (from) => from.privileges],
  Throttle: [throttle, (from) => throttleRecord(from.throttle)],
  DateCreated: [time, (from) => from.createdAt.toISOString()],
})

export const applicationRoutes = [
  operatorRoute('GET /admin/applications', {
    roles: ['operator-key'],
    id: 'listApplications',
    summary: 'List applications',
    query: pageQuery,
    answers: { 200: many('Applications by ascending id.', application) },
    run: ({ query }, services: JoiningServices) => listApplications(services, query),
  }),
  operatorRoute('POST /admin/applications', {
    roles: ['operator-key'],
    id: 'registerApplication',
    summary: 'Register an application',
    body: jsonBody(newApplication(serviceNames), {
      Name: 'Order sync',
      Privileges: { Orders: ['read', 'write'], Products: ['read'] },
    }),
    answers: { 201: one('The application, with its keys.', application) },
    run: ({ request, body }, services: JoiningServices) => registerApplication(services, body(), actorOf(request)),
  }),
  operatorRoute('PUT /admin/applications/:id', {
    roles: ['operator-key'],
    id: 'updateApplication',
    summary: 'Change an application',
    ids: { id: 'The application.' },
    body: jsonBody(changedApplication(serviceNames), { Throttle: { Capacity: 100, LeakPerSecond: 5 } }),
    answers: { 200: one('The application.', application) },
    run: ({ request, ids, body }, services: AccessServices) =>
      updateApplication(services, ids.id, body(), actorOf(request)),
  }),
]
