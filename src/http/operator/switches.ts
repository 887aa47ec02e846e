import { z } from 'zod'
import type { DataServices } from '../../foundation/database/client.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type AllowedServices, allowTestStores, areTestStoresAllowed } from '../../operations/sandbox/allowed.ts'
import { actorOf } from '../html/request.ts'
import { operatorRoute } from '../html/route-groups.ts'
import { jsonBody, one, record } from '../server/json/json-routes.ts'

/** What the operator switches on and off while the server runs: test stores. */
const switches = record<boolean>('Switches')({
  TestStores: [
    z
      .boolean()
      .describe('Whether developers may have test stores and inboxes. As long as nobody has said: in a sandbox.'),
    (areAllowed) => areAllowed,
  ],
})

/** The body of `PUT /admin/switches`. */
const changedSwitches = namedObject({
  TestStores: z
    .boolean('must be true or false')
    .optional()
    .describe('True: developers may have test stores and inboxes from now on. False: no more. Left out: as it is.'),
})

type Services = DataServices & AllowedServices

export const switchRoutes = [
  operatorRoute('GET /admin/switches', {
    roles: ['operator-key'],
    id: 'getSwitches',
    summary: 'Read what is switched on',
    description: 'What the operator has said by `PUT`, or what holds as long as nothing was said.',
    answers: { 200: one('What is switched on.', switches) },
    run: (_call, services: Services) => areTestStoresAllowed(services),
  }),
  operatorRoute('PUT /admin/switches', {
    roles: ['operator-key'],
    id: 'updateSwitches',
    summary: 'Switch something on or off',
    description:
      'Takes effect at once. Test stores that there are when they are switched off stay, and nothing happens in them by itself any more; their developers can throw them away. Inboxes receive nothing.',
    body: jsonBody(changedSwitches, { TestStores: true }),
    answers: { 200: one('What is switched on.', switches) },
    run: async ({ request, body }, services: Services) => {
      const { TestStores } = body()
      if (TestStores !== undefined) await allowTestStores(services, TestStores, actorOf(request))
      return areTestStoresAllowed(services)
    },
  }),
]
