import { z } from 'zod'
import {
  type Application,
  changedApplication,
  listApplications,
  newApplication,
  registerApplication,
  rotateKeyOfApplication,
  updateApplication,
} from '../../access/applications/applications.ts'
import { keyRotation } from '../../access/applications/private-keys.ts'
import type { AddressRules } from '../../access/applications/settings-input.ts'
import type { AccessServices } from '../../access/stores/access-changes.ts'
import type { JoiningServices } from '../../foundation/database/client.ts'
import { actorOf } from '../html/request.ts'
import {
  applicationBody,
  applicationNames,
  applicationShape,
  broughtAlong,
  operatorRoute,
  time,
} from '../html/route-groups.ts'
import { jsonBody, many, one, record } from '../server/json/json-routes.ts'
import { pageQuery } from '../server/json/parameters.ts'
import { throttle, throttleRecord } from './stores.ts'

const application = record<Application>('Application')({
  ...applicationNames,
  DatePrivateKeyBrought: time.nullable().describe(`When the private key was ${broughtAlong}. Null: it was made here.`),
  OpenToMerchants: z
    .boolean()
    .describe('False: only the operator lets it into stores. It has no OAuth, and no callback is sent.'),
  CallBackURL: [applicationShape.CallBackURL, (from) => from.callbackUrl],
  Erasures: [applicationShape.Erasures, (from) => from.wantsErasures],
  RedirectURIs: [applicationShape.RedirectURIs, (from) => from.redirectUris],
  Privileges: applicationShape.Privileges,
  Throttle: [throttle, (from) => throttleRecord(from.throttle)],
  DateCreated: [applicationShape.DateCreated, (from) => from.createdAt.toISOString()],
})

type RegisterServices = JoiningServices & { readonly outbound: AddressRules }

const ofApplication = { roles: ['operator-key'], ids: { id: 'The application.' } } as const

export const applicationRoutes = [
  operatorRoute('GET /admin/applications', {
    roles: ['operator-key'],
    id: 'listApplications',
    summary: 'List applications',
    description: 'By ascending id, those of developers included, with their keys.',
    query: pageQuery,
    answers: { 200: many('Applications by ascending id.', application) },
    run: ({ query }, services: JoiningServices) => listApplications(services, query),
  }),
  operatorRoute('POST /admin/applications', {
    roles: ['operator-key'],
    id: 'registerApplication',
    summary: 'Register an application',
    description:
      '`PublicKey` and `PrivateKey` are those that the application has from another platform; they come together, and with `Privileges`. Such an application works in the stores that the operator names, and in no other: merchants do not find it, and it has no OAuth and no callbacks until `OpenToMerchants` is set.',
    body: applicationBody(newApplication, ({ body }) => body, {
      Name: 'Order sync',
      Privileges: { Orders: ['read', 'write'], Products: ['read'] },
    }),
    answers: { 201: one('The application, with its keys.', application) },
    run: ({ request, body }, services: RegisterServices) => registerApplication(services, body(), actorOf(request)),
  }),
  operatorRoute('PUT /admin/applications/:id', {
    ...ofApplication,
    id: 'updateApplication',
    summary: 'Change an application',
    description:
      'Members that are left out stay. Privileges that are taken away end at once in every store; new ones count in a store once its merchant has agreed.',
    body: applicationBody(changedApplication, ({ body }) => body, { Throttle: { Capacity: 100, LeakPerSecond: 5 } }),
    answers: { 200: one('The application.', application) },
    run: ({ request, ids, body }, services: AccessServices & RegisterServices) =>
      updateApplication(services, ids.id, body(), actorOf(request)),
  }),
  operatorRoute('POST /admin/applications/:id/private-key', {
    ...ofApplication,
    id: 'rotatePrivateKeyOfApplication',
    summary: 'Give an application a new private key',
    description:
      'The former key goes on working for `KeepFormerForHours` (24 without it, 720 at most; 0: it stops at once). With `PrivateKey` only that key is replaced, so that a repeated request replaces nothing twice.',
    body: jsonBody(keyRotation, { KeepFormerForHours: 48 }),
    answers: { 200: one('The application, with its new key.', application) },
    refusals: [409],
    run: ({ request, ids, body }, services: AccessServices) =>
      rotateKeyOfApplication(services, ids.id, body(), actorOf(request)),
  }),
]
