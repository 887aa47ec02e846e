import type { FastifyInstance } from 'fastify'
import { sendPage } from '../html/page.ts'

/** Where whoever types the server's address finds the doors. */
export async function startPage(app: FastifyInstance): Promise<void> {
  app.get('/', async (_request, reply) => {
    return sendPage(reply, { template: '/pages/start-page', title: 'Welcome' })
  })
}
