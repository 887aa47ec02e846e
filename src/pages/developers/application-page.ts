import type { FastifyRequest } from 'fastify'
import type { OwnApplication, OwnId } from '../../applications/own-applications.ts'
import type { Page } from '../../html/page.ts'
import { developerOf } from '../../html/principals.ts'
import { readIds } from '../../server/parameters.ts'
import type { CallbackTest } from '../../subscriptions/callback-test.ts'
import { formValues, servicesInForm } from './application-form.ts'

/** Which application the address names, and whose it has to be. */
export function ownOf(request: FastifyRequest): OwnId {
  return { developerId: developerOf(request).id, id: readIds(request.params, 'id').id }
}

export interface ApplicationPageOptions {
  /** What the form of its settings holds; without it, the settings. */
  readonly values?: Record<string, unknown>
  readonly test?: CallbackTest
}

/** The page of one application: keys, callbacks, stores and settings. */
export function applicationPage(
  { services, now }: { services: readonly string[]; now: () => Date },
  application: OwnApplication,
  { values = {}, test }: ApplicationPageOptions = {},
): Page {
  return {
    template: '/pages/developers/application',
    title: application.name,
    data: { application, services: servicesInForm(services), now: now(), test: test ?? null },
    values: { ...formValues(application), KeepFormerForHours: '24', ...values },
  }
}
