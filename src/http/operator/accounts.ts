import { z } from 'zod'
import {
  type Account,
  createDeveloper,
  listDevelopers,
  newAccount,
  newPassword,
  setDeveloperPassword,
} from '../../access/people/accounts.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { resultItem } from '../../foundation/values/failure.ts'
import { type InvitationServices, invite, type MadeInvitation, newInvitation } from '../../shop/staff/invitations.ts'
import {
  addMember,
  listMembers,
  type Member,
  newMember,
  removeMember,
  setMemberPassword,
} from '../../shop/staff/members.ts'
import { actorOf, merchantOf } from '../html/request.ts'
import { id, ofStore, operatorRoute, time } from '../html/route-groups.ts'
import { done, jsonBody, many, one, record } from '../server/json/json-routes.ts'
import { pageQuery } from '../server/json/parameters.ts'

const account = record<Account>('Account')({
  Id: id.describe('The number of the account, by which addresses name it.'),
  Email: z.string().describe('The e-mail address with which the developer signs in.'),
  DateCreated: time.describe('The time at which the account was opened.'),
})

const member = record<Member>('Member')({
  Id: id.describe('The number of the account, by which addresses name it.'),
  Email: z.string().describe('The e-mail address with which the person signs in.'),
  Role: z
    .string()
    .describe('The role of the person: owner, manager, orders, catalogue, reader, or a role of the store’s own.'),
  DateCreated: time.describe('The time at which the person joined the store.'),
})

const invitation = record<MadeInvitation>('Invitation')({
  Id: id.describe('The number of the invitation.'),
  Email: z.string().describe('The e-mail address that is invited.'),
  Role: z.string().describe('The role that the person gets by joining.'),
  Link: z.string().nullable().describe('The link by which the person joins, to hand over. Null: it was mailed.'),
  ExpiresAt: time.describe('The time at which the link expires.'),
})

const example = { Email: 'ada@tools.example', Password: 'a password of twelve or more' }
const passwordBody = jsonBody(newPassword, { Password: 'another password' })
const endsSessions = 'All sessions of the account end at once, and its failed sign-ins are forgotten.'

export const accountRoutes = [
  operatorRoute('GET /admin/developers', {
    roles: ['operator-key'],
    id: 'listDevelopers',
    summary: 'List developers',
    description: 'The accounts that may register applications, by ascending id.',
    query: pageQuery,
    answers: { 200: many('Developers by ascending id.', account) },
    run: ({ query }, services: DataServices) => listDevelopers(services, query),
  }),
  operatorRoute('POST /admin/developers', {
    roles: ['operator-key'],
    id: 'createDeveloper',
    summary: 'Open a developer’s account',
    description: 'The developer can sign in with the password at once. 409 where the address has an account.',
    body: jsonBody(newAccount, example),
    answers: { 201: one('The account.', account) },
    refusals: [409],
    run: ({ request, body }, services: DataServices) => createDeveloper(services, body(), actorOf(request)),
  }),
  operatorRoute('PUT /admin/developers/:id', {
    roles: ['operator-key'],
    id: 'setDeveloperPassword',
    summary: 'Give a developer another password',
    description: `For a developer who cannot sign in any more. ${endsSessions}`,
    ids: { id: 'The developer.' },
    body: passwordBody,
    answers: { 200: one('The account.', account) },
    run: ({ request, ids, body }, services: DataServices) =>
      setDeveloperPassword(services, ids.id, body(), actorOf(request)),
  }),
  operatorRoute('GET /admin/stores/:id/users', {
    roles: ['operator-key'],
    id: 'listStoreUsers',
    summary: 'List the accounts of a store’s merchants',
    description:
      'Everybody who may sign in to the administration of the store, by ascending id, with the role of each.',
    ids: { id: 'The store.' },
    query: pageQuery,
    answers: { 200: many('Accounts by ascending id.', member) },
    run: ({ ids, query }, services: DataServices) => listMembers(services, { storeId: ids.id, ...query }),
  }),
  operatorRoute('POST /admin/stores/:id/users', {
    roles: ['operator-key'],
    id: 'createStoreUser',
    summary: 'Open a further account in a store',
    ids: { id: 'The store.' },
    description: 'Without `Role`, an owner, who may do everything in the store.',
    body: jsonBody(newMember, { ...example, Email: 'second@shop.example', Role: 'orders' }),
    answers: { 201: one('The account.', member) },
    refusals: [409],
    run: ({ request, ids, body }, services: DataServices) => addMember(services, ids.id, body(), actorOf(request)),
  }),
  operatorRoute('POST /admin/stores/:id/invitations', {
    ...ofStore('People', 'write'),
    id: 'inviteToStore',
    summary: 'Invite somebody to a store',
    description:
      'Mails a link to the address, by which the person joins the store within seven days. Where no mail can be sent, or `HandOver` is true, the answer has the link, once, to hand over. An earlier invitation of the address ends. Nobody gives a role that may do more than their own.',
    body: jsonBody(newInvitation, { Email: 'packer@shop.example', Role: 'orders' }),
    answers: { 201: one('The invitation.', invitation) },
    refusals: [409],
    run: ({ request, ids, body }, services: InvitationServices) => {
      const userId = request.person === null ? null : merchantOf(request).id
      return invite(services, ids.id, body(), { actor: actorOf(request), userId })
    },
  }),
  operatorRoute('PUT /admin/stores/:id/users/:userId', {
    roles: ['operator-key'],
    id: 'setStoreUserPassword',
    summary: 'Give a merchant another password',
    description: `For somebody of a store who cannot sign in any more. ${endsSessions}`,
    ids: { id: 'The store.', userId: 'The account.' },
    body: passwordBody,
    answers: { 200: one('The account.', member) },
    run: ({ request, ids, body }, services: DataServices) =>
      setMemberPassword(services, { storeId: ids.id, userId: ids.userId }, body(), actorOf(request)),
  }),
  operatorRoute('DELETE /admin/stores/:id/users/:userId', {
    roles: ['operator-key'],
    id: 'removeStoreUser',
    summary: 'Remove an account of a store',
    description: 'Its sessions end. The last owner of a store stays.',
    ids: { id: 'The store.', userId: 'The account.' },
    answers: { 200: done('It is removed.') },
    refusals: [409],
    run: async ({ request, ids }, services: DataServices) => {
      const by = { actor: actorOf(request), userId: null }
      await removeMember(services, { storeId: ids.id, userId: ids.userId }, by)
      return resultItem('Id', ids.userId, 200, 'Deleted successfully')
    },
  }),
]
