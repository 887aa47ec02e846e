import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Roles } from '../server/roles.ts'
import type { StoreFailure } from '../values/failure.ts'
import { answerFailure } from './errors.ts'
import { installForms, orShowAgain } from './forms.ts'
import { type GuardServices, installGuard } from './guard.ts'
import { type Page, sendPage } from './page.ts'

/** Sets up `app` for pages and their JSON: access, forms, sessions, headers, errors. Call it before adding routes. */
export async function openPages(app: FastifyInstance, services: GuardServices): Promise<void> {
  app.setErrorHandler(answerFailure)
  await installForms(app, services)
  installGuard(app, services)
}

type Shown = Page | Promise<Page>

/** Adds pages to `app` that `roles` may use. */
export function pagesFor(app: FastifyInstance, ...roles: Roles) {
  const config = { roles }
  const get = (path: string, handler: RouteHandlerMethod) => app.get(path, { config }, handler)
  const post = (path: string, handler: RouteHandlerMethod) => app.post(path, { config }, handler)
  return {
    get,
    post,
    page: (path: string, pageOf: (request: FastifyRequest, reply: FastifyReply) => Shown) =>
      get(path, async (request, reply) => sendPage(reply, await pageOf(request, reply))),
    /**
     * Adds the handler of a form. `carryOut` returns the address to redirect to, or the reply. On failure the page is
     * shown again with the problem.
     */
    form: (
      path: string,
      carryOut: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
      pageOf: (request: FastifyRequest, failure: StoreFailure, reply: FastifyReply) => Shown,
    ) =>
      post(path, (request, reply) => {
        const work = async () => {
          const done = await carryOut(request, reply)
          return typeof done === 'string' ? reply.redirect(done, 303) : done
        }
        return orShowAgain(reply, work, (failure) => pageOf(request, failure, reply))
      }),
  }
}
