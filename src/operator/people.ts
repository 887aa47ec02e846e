import type { FastifyInstance } from 'fastify'
import { actorOf } from '../html/principals.ts'
import {
  type Account,
  createDeveloper,
  createStoreUser,
  listDevelopers,
  listStoreUsers,
  type PeopleServices,
  removeStoreUser,
  setDeveloperPassword,
  setStoreUserPassword,
} from '../people/accounts.ts'
import { readIds, readPage } from '../server/parameters.ts'
import { resultItem } from '../values/result-item.ts'

/** The operator's hand on who may sign in: developers, and the accounts of merchants in a store. */
export async function peopleRoutes(app: FastifyInstance, services: PeopleServices) {
  app.get('/admin/developers', async ({ query }) => {
    const developers = await listDevelopers(services, readPage(query))
    return developers.map(accountRecord)
  })

  app.post('/admin/developers', async (request, reply) => {
    const developer = await createDeveloper(services, request.body, actorOf(request))
    return reply.code(201).send(accountRecord(developer))
  })

  app.put('/admin/developers/:id', async (request) => {
    const { id } = readIds(request.params, 'id')
    return accountRecord(await setDeveloperPassword(services, id, request.body, actorOf(request)))
  })

  app.get('/admin/stores/:id/users', async ({ params, query }) => {
    const { id: storeId } = readIds(params, 'id')
    const users = await listStoreUsers(services, { storeId, ...readPage(query) })
    return users.map(accountRecord)
  })

  app.post('/admin/stores/:id/users', async (request, reply) => {
    const { id: storeId } = readIds(request.params, 'id')
    const user = await createStoreUser(services, storeId, request.body, actorOf(request))
    return reply.code(201).send(accountRecord(user))
  })

  app.put('/admin/stores/:id/users/:userId', async (request) => {
    const { id: storeId, userId } = readIds(request.params, 'id', 'userId')
    return accountRecord(await setStoreUserPassword(services, { storeId, userId }, request.body, actorOf(request)))
  })

  app.delete('/admin/stores/:id/users/:userId', async (request) => {
    const { id: storeId, userId } = readIds(request.params, 'id', 'userId')
    await removeStoreUser(services, { storeId, userId }, actorOf(request))
    return [resultItem('Id', userId, 200, 'Deleted successfully')]
  })
}

function accountRecord({ id, email, createdAt }: Account) {
  return { Id: id, Email: email, DateCreated: createdAt.toISOString() }
}
