import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import {
  endPersonToken,
  listPersonTokens,
  makePersonToken,
  newPersonToken,
  type PersonToken,
  TOKENS_MAX,
} from '../../../access/people/person-tokens.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { t } from '../../../foundation/texts/text.ts'
import { resultItem } from '../../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { sendPage } from '../../html/page.ts'
import { pagesOf } from '../../html/page-routes.ts'
import { actorOf, formId, formOf, sentBy, sessionOf } from '../../html/request.ts'
import { developerRoute, id, merchantRoute, time } from '../../html/route-groups.ts'
import { done, jsonBody, many, one, record } from '../../server/json/json-routes.ts'
import type { Area, PageAgain } from './sign-in.ts'

const personToken = record<PersonToken & { readonly token?: string }>('PersonToken')({
  Id: id.describe('The number of the token, by which addresses name it.'),
  Name: z.string().describe('What it is for.'),
  Beginning: z.string().describe('Its first characters, by which you tell it from others.'),
  Token: [
    z.string().optional().describe('The token itself, once: in the answer that makes it. The server keeps its digest.'),
    ({ token }) => token,
  ],
  DateExpires: time.describe('The time at which it ends by itself.'),
  DateLastUsed: time.nullable().describe('The time of its last request, to the minute. Null: there was none.'),
  DateCreated: time.describe('The time at which it was made.'),
})

const made =
  'A program sends it as `Authorization: Bearer`. It begins with `spt_` and is shown this once. It ends with the account, a change of the password, and *Sign out everywhere else*. The session must have shown a password or passkey in the last 15 minutes.'

function tokenRoutes(
  declare: typeof merchantRoute,
  path: '/account/tokens' | '/developers/account/tokens',
  who: { readonly roles: readonly ['merchant' | 'developer']; readonly needs?: readonly [] },
  words: Readonly<Record<'list' | 'make' | 'end', { readonly id: string; readonly description: string }>>,
) {
  return [
    declare(`GET ${path}`, {
      ...who,
      ...words.list,
      summary: 'List your tokens',
      answers: { 200: many(`Your tokens, the oldest first; there are ${TOKENS_MAX} at most.`, personToken) },
      run: ({ request }, services: DataServices) => listPersonTokens(services, sessionOf(request).person),
    }),
    declare(`POST ${path}`, {
      ...who,
      ...words.make,
      proof: true,
      summary: 'Make a token',
      body: jsonBody(newPersonToken, { Name: 'Tests of the order sync', Days: 90 }),
      answers: { 201: one('The token.', personToken) },
      refusals: [409],
      run: async ({ request, body }, services: DataServices) =>
        makePersonToken(services, sessionOf(request), body(), actorOf(request)),
    }),
    declare(`DELETE ${path}/:id`, {
      ...who,
      ...words.end,
      ids: { id: 'The token.' },
      summary: 'End a token',
      answers: { 200: done('It has ended.') },
      run: async ({ request, ids }, services: DataServices) => {
        await endPersonToken(services, sessionOf(request).person, ids.id, actorOf(request))
        return resultItem('Id', ids.id, 200, 'Deleted successfully')
      },
    }),
  ]
}

/** The routes of the tokens of a store's people. Customers, whose pages are below the same address, have none. */
export const merchantTokenRoutes = tokenRoutes(
  merchantRoute,
  '/account/tokens',
  { roles: ['merchant'], needs: [] },
  {
    list: { id: 'listTokens', description: 'Those for the store of the session, without those that have ended.' },
    make: {
      id: 'createToken',
      description: `For a program of yours in the store of the session, which may do no more than you. ${made}`,
    },
    end: { id: 'deleteToken', description: 'Its next request is refused, in every process.' },
  },
)

export const developerTokenRoutes = tokenRoutes(
  developerRoute,
  '/developers/account/tokens',
  { roles: ['developer'] },
  {
    list: { id: 'listDeveloperTokens', description: 'Without those that have ended.' },
    make: {
      id: 'createDeveloperToken',
      description: `For a program of yours, such as automated tests, which works with test stores, inboxes and the applications that it makes for them. ${made}`,
    },
    end: { id: 'deleteDeveloperToken', description: 'No program gets in by it any more, in any process.' },
  },
)

const endedToken = namedObject({ Token: formId('must be the id of a token') })

/** Adds the forms of the account page that make and end tokens. */
export function tokenForms(app: FastifyInstance, services: DataServices, { path, kind }: Area, again: PageAgain): void {
  const { form, proved } = pagesOf(app, kind)
  const account = `${path}/account`
  proved.form(`${account}/new-token`, again, async (request, reply) => {
    const { Name, Days } = formOf(request)
    const given = readInput(newPersonToken, { Name, Days: Number(Days) })
    const made = await makePersonToken(services, sessionOf(request), given, actorOf(request))
    return sendPage(reply, { template: '/pages/people/token', title: t('Your token'), data: { made, account } })
  })

  form(`${account}/end-token`, again, async (request) => {
    const { Token } = readInput(endedToken, sentBy(request))
    await endPersonToken(services, sessionOf(request).person, Token, actorOf(request))
    return `${account}?notice=token-ended#tokens`
  })
}
