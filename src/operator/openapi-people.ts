import { z } from 'zod'
import { auditActions } from '../audit/audit.ts'
import { newAccount, newPassword } from '../people/accounts.ts'
import { jsonAnswer, type Parameter, type PathItem, ref } from '../server/openapi.ts'
import { bodySchema, idParameter, jsonBody, limitParameter, listOf, ofBody } from '../server/openapi-words.ts'
import { answers, operation, paging, refused, storeId } from './openapi-words.ts'

const id = z.int32().min(1)

/** What the answers of these routes hold (people.ts, ../people/audit.ts). */
export const peopleSchemas = {
  Account: z.strictObject({ Id: id, Email: z.string(), DateCreated: z.iso.datetime() }),
  AuditEntry: z.strictObject({
    Id: z.int().min(1),
    Time: z.iso.datetime(),
    Actor: z
      .strictObject({ Kind: z.enum(['operator', 'developer', 'merchant', 'application']), Name: z.string() })
      .describe('Name: the e-mail address, or the name of the application; empty: the operator.'),
    Action: z.enum(auditActions),
    Target: z.string().describe('What it was done to, in words.'),
    StoreId: id.nullable(),
    ApplicationId: id.nullable(),
    Details: z.record(z.string(), z.unknown()),
    Address: z.string().describe('The IP address of the client.'),
  }),
} as const

const newAccountExample = { Email: 'ada@tools.example', Password: 'a password of twelve or more' }
const passwordBody = jsonBody(bodySchema(newPassword), { Password: 'another password' })
const developerId = idParameter('id', 'The developer.')
const userId = idParameter('userId', 'The account.')
const endsSessions =
  'It counts at once: all sessions in which the account is open end, and its failed sign-ins are forgotten.'

const auditPage: readonly Parameter[] = [
  limitParameter('The most entries of the page.', 50),
  {
    name: 'before',
    in: 'query',
    description: 'The id of the last entry of the page before; `Link` has the address of the next page.',
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  },
]

const entries = jsonAnswer('Entries, the newest first.', listOf('AuditEntry'), { Link: ref('headers', 'Link') })

/** Who may sign in, and who did what. */
export const peoplePaths: Readonly<Record<string, PathItem>> = {
  '/admin/developers': {
    get: operation('listDevelopers', 'List developers', {
      parameters: paging,
      responses: answers(200, 'Developers by ascending id.', listOf('Account')),
    }),
    post: operation('createDeveloper', 'Open a developer’s account', {
      requestBody: jsonBody(bodySchema(newAccount), newAccountExample),
      responses: answers(201, 'The account.', ref('schemas', 'Account'), [409, ...ofBody]),
    }),
  },
  '/admin/developers/{id}': {
    put: operation('setDeveloperPassword', 'Give a developer another password', {
      description: endsSessions,
      parameters: [developerId],
      requestBody: passwordBody,
      responses: answers(200, 'The account.', ref('schemas', 'Account'), [404, ...ofBody]),
    }),
  },
  '/admin/stores/{id}/users': {
    get: operation('listStoreUsers', 'List the accounts of a store’s merchants', {
      parameters: [storeId, ...paging],
      responses: answers(200, 'Accounts by ascending id.', listOf('Account'), [404]),
    }),
    post: operation('createStoreUser', 'Open a further account in a store', {
      parameters: [storeId],
      requestBody: jsonBody(bodySchema(newAccount), { ...newAccountExample, Email: 'second@shop.example' }),
      responses: answers(201, 'The account.', ref('schemas', 'Account'), [404, 409, ...ofBody]),
    }),
  },
  '/admin/stores/{id}/users/{userId}': {
    put: operation('setStoreUserPassword', 'Give a merchant another password', {
      description: endsSessions,
      parameters: [storeId, userId],
      requestBody: passwordBody,
      responses: answers(200, 'The account.', ref('schemas', 'Account'), [404, ...ofBody]),
    }),
    delete: operation('removeStoreUser', 'Remove an account of a store', {
      description: 'Its sessions end. The last account of a store stays.',
      parameters: [storeId, userId],
      responses: answers(200, 'It is removed.', ref('schemas', 'ArrayOfResponseInfo'), [404, 409, ...ofBody]),
    }),
  },
  '/admin/audit': {
    get: operation('listAudit', 'Read who did what', {
      parameters: auditPage,
      responses: { 200: entries, ...refused([]) },
    }),
  },
}
