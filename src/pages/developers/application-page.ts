import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { OwnApplication, OwnId } from '../../applications/own-applications.ts'
import type { Page } from '../../html/page.ts'
import { personOf } from '../../html/request.ts'
import { id, privileges, time } from '../../html/route-groups.ts'
import { one, record } from '../../server/json-routes.ts'
import type { CallbackTest } from '../../subscriptions/callback-test.ts'
import { formValues, servicesInForm } from './application-form.ts'

export const ofApplication = { id: 'The application.' } as const

/** Identifies the application in the address as one of the signed-in developer. */
export function ownOf(request: FastifyRequest, { id: applicationId }: { readonly id: number }): OwnId {
  return { developerId: personOf(request, 'developer').id, id: applicationId }
}

export const ownApplication = record<OwnApplication>('OwnApplication')({
  Id: [id, (from) => from.id],
  Name: [z.string(), (from) => from.name],
  PublicKey: [z.string(), (from) => from.publicKey],
  PrivateKey: [z.string(), (from) => from.privateKey],
  FormerPrivateKeyUntil: [
    time.nullable().describe('Until when the former private key works too.'),
    (from) => from.formerPrivateKeyUntil?.toISOString() ?? null,
  ],
  CallBackURL: [z.string().nullable().describe('Null: nobody is asked.'), (from) => from.callbackUrl],
  CallBackSecret: [
    z.string().describe('What callbacks are signed with, by the Standard Webhooks scheme.'),
    (from) => from.callbackSecret,
  ],
  RedirectURIs: [z.array(z.string()), (from) => [...from.redirectUris]],
  Privileges: [
    privileges.describe('What it asks of stores; null: everything, also services that come later.'),
    (from) => from.privileges,
  ],
  DateCreated: [time, (from) => from.createdAt.toISOString()],
})

export const withKeys = one('The application, with its keys.', ownApplication)

export interface ApplicationPageOptions {
  /** The submitted values of its form. Omitted: the current settings. */
  readonly values?: Record<string, unknown>
  readonly test?: CallbackTest
}

/** The page of one application: keys, callbacks, stores and settings. */
export function applicationPage(
  { now }: { now: () => Date },
  application: OwnApplication,
  { values = {}, test }: ApplicationPageOptions = {},
): Page {
  return {
    template: '/pages/developers/application',
    title: application.name,
    data: { application, services: servicesInForm, now: now(), test: test ?? null },
    values: { ...formValues(application), KeepFormerForHours: '24', ...values },
  }
}
