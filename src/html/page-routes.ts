import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Roles } from '../server/roles.ts'
import type { StoreFailure } from '../values/failure.ts'
import { answerFailure } from './errors.ts'
import { installForms, orShowAgain } from './forms.ts'
import { type GuardServices, installGuard } from './guard.ts'
import { type Page, sendPage } from './page.ts'

/** Makes `app` a scope of pages and their JSON: who may enter, forms, sessions, headers, refusals. Its routes come after. */
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
     * What a form posts. `carryOut` returns the address to lead on to, or the answer; what it refuses is shown on the page
     * again, with why.
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
