// How JSON routes of the operator and of developers are declared, and the schemas that their records share.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { accessesOf } from '../../access/applications/privileges.ts'
import { privilegeInWords } from '../../access/applications/privileges-input.ts'
import {
  type AddressRules,
  applicationKindNote,
  applicationKinds,
  applicationName,
  erasuresNote,
  rulesWithoutSettings,
  type SettingsRules,
} from '../../access/applications/settings-input.ts'
import type { Access, Privileges } from '../../engine/caller.ts'
import { privilegedServices } from '../../shop/registry.ts'
import type { Privilege } from '../../shop/staff/roles.ts'
import { commonRefusals, jsonBody, refusal, replayed, routesOf } from '../server/json/json-routes.ts'
import { retryAfter } from '../server/json/openapi.ts'

export const id = z.int32().min(1)
export const time = z.iso.datetime()

/** What records say of a key that another platform made. */
export const broughtAlong = 'brought along from another platform: rotate it when you can'

const access = (service: string) =>
  z
    .array(z.enum(accessesOf(service)))
    .optional()
    .describe(privilegeInWords(service))

/** Privileges. Null: all. */
export const privileges: z.ZodType<Privileges> = z
  .strictObject(Object.fromEntries(privilegedServices.map((service) => [service, access(service)])))
  .nullable() as z.ZodType<Privileges>

/** The members with which all records of an application begin. */
export const applicationNames = {
  Id: id.describe('The number of the application, by which addresses name it.'),
  Name: z.string().describe(applicationName),
  Kind: z.enum(applicationKinds).describe(applicationKindNote),
  PublicKey: z.string().describe('The public key, which names the application: its client_id for OAuth.'),
  PrivateKey: z
    .string()
    .describe('The private key, by which the application proves itself: its client_secret for OAuth.'),
}

/** Further members of theirs. */
export const applicationShape = {
  CallBackURL: z
    .string()
    .nullable()
    .describe('The address that is told when a store lets the application in or ends that. Null: no callback is sent.'),
  Erasures: z.boolean().describe(erasuresNote),
  RedirectURIs: z.array(z.string()).describe('The addresses to which OAuth may send merchants back.'),
  Privileges: privileges.describe(
    'The privileges that the application requests from stores. Null: everything, including services that come later.',
  ),
  DateCreated: time.describe('The time at which the application was registered.'),
}

/** The body of an application's settings. What addresses it may have depends on settings of the server. */
export function applicationBody<S extends z.ZodType>(
  schemaOf: (rules: SettingsRules) => S,
  sent: (request: FastifyRequest) => unknown,
  example: object,
) {
  return jsonBody(schemaOf(rulesWithoutSettings(privilegedServices)), example, {
    schemaFor: ({ outbound }: { outbound: AddressRules }) => schemaOf({ services: privilegedServices, outbound }),
    sent,
  })
}

/** Routes of one store, for the operator and those of its people who have the privilege. */
export function ofStore(privilege: Privilege, access: Access) {
  return { roles: ['operator-key', 'merchant'], needs: [[privilege, access]], ids: { id: 'The store.' } } as const
}

/** Routes of one store, open or closed, for the operator and owners who have shown a password lately. */
export const ofOwner = {
  roles: ['operator-key', 'merchant'],
  needs: [],
  forOwners: true,
  proof: true,
  whenClosed: true,
  ids: { id: 'The store.' },
} as const

/** Declares a JSON route for the operator, and optionally for merchants. */
export const operatorRoute = routesOf({
  tag: 'Operator',
  description: 'Stores, applications and subscriptions, with the operator key. JSON.',
  credential: {
    name: 'OperatorKey',
    scheme: { type: 'http', scheme: 'bearer', description: 'OPERATOR_KEY; `operatorKey` in sandbox.json.' },
  },
  principalOf: ({ person }) => (person === null ? ['operator'] : [person.kind, person.id]),
  refusals: {
    ...commonRefusals,
    400: { ...commonRefusals[400], headers: { ...commonRefusals[400].headers, ...replayed } },
    401: refusal('The key is not the operator key, and no token that counts here.', {
      'WWW-Authenticate': { description: 'Bearer', required: true, schema: { type: 'string' } },
    }),
    403: refusal(
      'The request came over plain http, and the server accepts only https; or the person of the token may not do this.',
      replayed,
    ),
    404: refusal('No such store, application, subscription or account.', replayed),
    409: refusal(
      'The request conflicts with what is stored: another store has the host, another account the e-mail address, or the goods are out of stock; it is the last owner of a store; or another request is still waiting for the application, or one with the same Idempotency-Key is in progress.',
      { ...replayed, 'Retry-After': { ...retryAfter['Retry-After'], required: false } },
    ),
    422: refusal('The Idempotency-Key was used with a different body before.'),
    429: refusal('Too many requests without the key, or with a wrong one, came from the address.', retryAfter),
    502: refusal('The application did not answer 200, or not in time: `Server not Responding`.'),
  },
})

function sessionOf(kind: 'developer' | 'merchant') {
  const description = `Set by signing in. Where the server has an https address, its name is \`__Host-${kind}\`.`
  return { type: 'apiKey', in: 'cookie', name: kind, description }
}

const noSession = {
  401: refusal('There is no session, or it has ended; or no such token counts here.', {
    'WWW-Authenticate': { description: 'Bearer, where a token was sent.', schema: { type: 'string' } },
  }),
}

// A JSON content type would also suffice, and a token (guard.ts).
const bodilessHeader = {
  name: 'X-Requested-With',
  in: 'header',
  description:
    'Any text, which no page of another site can make a browser send. `Content-Type: application/json` works as well; with a token nothing is needed.',
  schema: { type: 'string', minLength: 1 },
  example: 'my program',
} as const

/** Declares a JSON route for developers, which sends browsers a page. */
export const developerRoute = routesOf({
  tag: 'Developer',
  description:
    'A developer’s applications, test stores and inboxes, with the session from signing in at /developers/sign-in, or a token that was made for a program. JSON. Changes by a session without a body need the header X-Requested-With, of any value.',
  credential: { name: 'DeveloperSession', scheme: sessionOf('developer') },
  refusals: {
    ...commonRefusals,
    ...noSession,
    403: refusal(
      'Test stores are switched off on the server; it is no address for tokens; or the request is a change without Content-Type: application/json or X-Requested-With, comes from a page of another site, or over plain http where only https is accepted.',
    ),
    404: refusal(
      'You have no such application, test store, inbox or token, or the store does not use the application.',
    ),
    409: refusal(
      'You have 100 applications, 3 test stores, 5 inboxes or 20 tokens already; the key or secret to replace was replaced already; the application has no CallBackURL; or the test store is being worked on.',
      { 'Retry-After': { ...retryAfter['Retry-After'], required: false } },
    ),
    429: refusal(
      'Too many tests of CallBackURLs, too many test stores or changes in a row, or too many wrong tokens from the address.',
      retryAfter,
    ),
    502: refusal('The application did not answer 200, or not in time: `Server not Responding`.'),
  },
  bodilessHeader,
})

/** Declares a JSON route for the account of somebody of a store. */
export const merchantRoute = routesOf({
  tag: 'Account',
  description:
    'Tokens for the own programs of a store’s people, with the session from signing in at /admin/sign-in. A token counts at those routes of the operator that name it, in this one store and as far as the role goes. JSON.',
  credential: { name: 'MerchantSession', scheme: sessionOf('merchant') },
  refusals: {
    ...commonRefusals,
    ...noSession,
    403: refusal(
      'The session has shown no password in the last 15 minutes; a token was sent; or the request is a change without Content-Type: application/json or X-Requested-With, comes from a page of another site, or over plain http where only https is accepted.',
    ),
    404: refusal('You have no such token.'),
    409: refusal('You have 20 tokens already.'),
    429: refusal('Too many requests without a session came from the address.', retryAfter),
  },
  bodilessHeader,
})
