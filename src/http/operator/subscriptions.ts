import { z } from 'zod'
import {
  listSubscriptions,
  type Subscribed,
  type Subscription,
} from '../../access/applications/subscriptions/subscription-rows.ts'
import { type Subscribing, subscribe, unsubscribe } from '../../access/applications/subscriptions/subscriptions.ts'
import { broughtKeyInput } from '../../access/stores/brought-keys.ts'
import { resultItem } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { KEY_LENGTH_MAX } from '../../foundation/values/key-strength.ts'
import { grantableBy } from '../../shop/staff/roles.ts'
import { actorOf, merchantOf } from '../html/request.ts'
import { broughtAlong, id, ofStore, operatorRoute, privileges, time } from '../html/route-groups.ts'
import { done, jsonBody, many, one, record } from '../server/json/json-routes.ts'
import { pageQuery } from '../server/json/parameters.ts'

const subscription = record<Subscription>('Subscription')({
  Id: id.describe('The number of the subscription, by which addresses name it.'),
  ApplicationId: id.describe('The number of the application that the store lets in.'),
  Name: z.string().describe('The name of the application as merchants read it.'),
  PublicKey: z.string().describe('The public key of the application.'),
  Token: z.string().describe('The token by which the application reaches the store.'),
  DateTokenBrought: time.nullable().describe(`When the token was ${broughtAlong}. Null: it was made here.`),
  Privileges: privileges.describe('The privileges that the store granted. Null: everything.'),
  PrivilegesAsked: [
    privileges.describe(
      'The privileges that the application requests now. It may use those that are also in Privileges. Null: everything.',
    ),
    (from) => from.askedPrivileges,
  ],
  PostBackURL: z
    .string()
    .nullable()
    .describe('The address to which the application asked to send the merchant next. Null: none.'),
  DateLastUsed: time.nullable().describe('The time of the last request with the token. Null: there was none.'),
  DateCreated: time.describe('The time at which the store granted access.'),
})

const token = record<Subscribed>('SubscriptionToken')({
  Token: z.string().describe('The token by which the application reaches the store.'),
  PostBackURL: [
    z.string().optional().describe('The address to which the application asks to send the merchant next.'),
    (from) => from.postBackUrl ?? undefined,
  ],
})

const newSubscription = namedObject({
  PublicKey: text(KEY_LENGTH_MAX).describe('The public key of the application to let in.'),
  Token: broughtKeyInput.describe(
    'A token that the application has from another platform; only the operator can set it. Left out: a new one is made.',
  ),
})

const yesOrNo = 'must be true or false'
const removalQuery = namedObject({
  force: z
    .stringbool({ truthy: ['true'], falsy: ['false'], error: yesOrNo })
    .default(false)
    .describe('End it even if the application does not answer 200; the server keeps notifying it in the background.'),
})

export const subscriptionRoutes = [
  operatorRoute('GET /admin/stores/:id/subscriptions', {
    ...ofStore('Keys', 'read'),
    id: 'listSubscriptions',
    summary: 'List the applications that a store uses',
    description: 'By ascending id, with the token of each.',
    query: pageQuery,
    answers: { 200: many('Subscriptions by ascending id.', subscription) },
    run: ({ ids, query }, services: Subscribing) => listSubscriptions(services, { storeId: ids.id, ...query }),
  }),
  operatorRoute('POST /admin/stores/:id/subscriptions', {
    ...ofStore('Keys', 'write'),
    id: 'subscribe',
    summary: 'Let a store use an application',
    description:
      'An application with a CallBackURL is asked first, which takes up to 10 seconds; it must answer 200. `PostBackURL` is where it wants to send the merchant next. `Token`, which only the operator can set, is a token that another platform made: the application is not asked then.',
    body: jsonBody(newSubscription, { PublicKey: 'the public key of the application' }),
    answers: { 200: one('The store used it before: its token.', token), 201: one('The new token.', token) },
    refusals: [409, 502],
    storesAnswer: true,
    run: async ({ request, reply, ids, body, pending }, services: Subscribing) => {
      const answered = (subscribed: Subscribed) => {
        reply.code(subscribed.created ? 201 : 200)
        return subscribed
      }
      const grantable = request.person === null ? null : grantableBy(merchantOf(request))
      const { PublicKey: publicKey, Token: token } = body()
      const asked = { storeId: ids.id, publicKey, token, actor: actorOf(request), grantable }
      return answered(await subscribe(services, { ...asked, remember: pending(answered) }))
    },
  }),
  operatorRoute('DELETE /admin/stores/:id/subscriptions/:subscriptionId', {
    roles: ['operator-key', 'merchant'],
    needs: [['Keys', 'write']],
    id: 'unsubscribe',
    summary: 'End a subscription',
    description:
      'An application with a CallBackURL is notified first and must answer 200. Then its tokens stop working immediately, in every process.',
    ids: { id: 'The store.', subscriptionId: 'The subscription, by its Id in the list of the store.' },
    query: removalQuery,
    answers: { 200: done('It is ended.') },
    refusals: [409, 502],
    storesAnswer: true,
    run: async ({ request, ids, query, pending }, services: Subscribing) => {
      const { id: storeId, subscriptionId } = ids
      const ended = () => resultItem('Id', subscriptionId, 200, 'Deleted successfully')
      const asked = { storeId, subscriptionId, actor: actorOf(request), force: query.force }
      await unsubscribe(services, { ...asked, remember: pending(ended) })
      return ended()
    },
  }),
]
