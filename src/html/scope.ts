import type { FastifyInstance } from 'fastify'
import { answerFailure } from './errors.ts'
import { installForms } from './forms.ts'
import { type GuardServices, installGuard } from './guard.ts'

/** Makes `app` a scope of pages and their JSON: who may enter, forms, sessions, headers, refusals. Its routes come after. */
export async function openPages(app: FastifyInstance, services: GuardServices): Promise<void> {
  app.setErrorHandler(answerFailure)
  await installForms(app, services)
  installGuard(app, services)
}
