import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { deprecations } from '../../../access/applications/deprecations.ts'
import {
  changedOwnApplication,
  changeOwnApplication,
  createOwnApplication,
  deleteOwnApplication,
  findOwnApplication,
  listOwnApplications,
  newOwnApplication,
  type OwnApplicationServices,
} from '../../../access/applications/own/own-applications.ts'
import { listUsingStores, type UsingStore } from '../../../access/applications/own/own-calls.ts'
import { samePrivileges } from '../../../access/applications/privileges.ts'
import type { MailServices } from '../../../access/mail/write.ts'
import { t } from '../../../foundation/texts/text.ts'
import { resultItem } from '../../../foundation/values/failure.ts'
import { requireProof } from '../../html/guard.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { actorOf, type Form, isByToken, wantsHtml } from '../../html/request.ts'
import { applicationBody, developerRoute, id, privileges, time } from '../../html/route-groups.ts'
import { deprecationHeaders, withDeprecation } from '../../server/json/deprecations.ts'
import { done, many, one, record } from '../../server/json/json-routes.ts'
import { ref } from '../../server/json/openapi.ts'
import {
  applicationPage,
  ofApplicationByToken,
  ofDeveloper,
  orShowPage,
  ownApplication,
  ownerIn,
  ownIn,
  type StoresServices,
  servicesInForm,
  settingsSent,
  storesQuery,
  typedForm,
  withFieldsOfForm,
  withKeys,
} from './application-page.ts'

const newBody = applicationBody(newOwnApplication, settingsSent, {
  Name: 'Order sync',
  Kind: 'new',
  CallBackURL: 'https://app.example/callback',
  RedirectURIs: ['https://app.example/oauth'],
  Privileges: { Orders: ['read', 'write'], Products: ['read'] },
})
const changedBody = applicationBody(changedOwnApplication, settingsSent, {
  RedirectURIs: ['https://app.example/oauth'],
})

const usingStore = record<UsingStore>('UsingStore')({
  Id: id.describe('The number of the subscription of the store.'),
  Name: z.string().describe('The name of the store as its customers read it.'),
  SecureURL: z.string().describe('The address of the shop, which requests send in the header SecureURL.'),
  Token: z.string().describe('The token by which the application reaches the store.'),
  Privileges: privileges.describe('The privileges that the merchant granted. Null: everything.'),
  DateLastUsed: time
    .nullable()
    .describe('The time of the application’s last request to the store. Null: there was none.'),
  DateCreated: time.describe('The time at which the store granted access.'),
})

/** The routes of a developer's applications, as pages and JSON. Applications of others answer 404. */
export const applicationRoutes = [
  developerRoute('GET /developers/applications', {
    ...ofDeveloper,
    id: 'listOwnApplications',
    summary: 'List your applications',
    description:
      'With their keys and secrets, so that the session must have shown a password or passkey in the last 15 minutes. A token lists those for test stores alone.',
    answers: { 200: many('Your applications, the oldest first; there are 100 at most.', ownApplication) },
    run: async ({ request, reply }, services: OwnApplicationServices) => {
      // The page shows no keys.
      if (!wantsHtml(request) && !isByToken(request)) requireProof(request)
      const applications = await listOwnApplications(services, ownerIn(request))
      if (!wantsHtml(request)) return applications
      const template = '/pages/developers/applications'
      return sendPage(reply, { template, title: t('Applications'), data: { applications } })
    },
  }),
  developerRoute('POST /developers/applications', {
    ...ofDeveloper,
    id: 'createOwnApplication',
    summary: 'Register an application',
    description:
      'Makes the keys, which the answer has. Stores let it in by its public key, or by OAuth. What a token registers is for your test stores alone: no other store can let it in, and its CallBackURL is not called. To leave `Kind` out is deprecated: it makes an existing application until 1 January 2028.',
    body: newBody,
    answers: { 201: withDeprecation(withKeys, 'Only where the call had no `Kind`.') },
    refusals: [409],
    run: ({ request, reply, body }, services: OwnApplicationServices & MailServices) => {
      const create = () =>
        withFieldsOfForm(request, () => {
          const given = body()
          const { publicUrl } = services.config
          if (given.Kind === undefined) {
            reply.headers(deprecationHeaders(deprecations['application-without-kind'], publicUrl))
          }
          return createOwnApplication(services, ownerIn(request), given, actorOf(request))
        })
      return orShowPage(reply, 'application-created', create, () => newPage(typedForm(request)))
    },
  }),
  developerRoute('GET /developers/applications/:id', {
    ...ofApplicationByToken,
    id: 'getOwnApplication',
    summary: 'Read an application',
    description:
      'With its keys and secrets, so that the session must have shown a password or passkey in the last 15 minutes.',
    answers: { 200: withKeys },
    run: async ({ request, reply }, services: OwnApplicationServices) => {
      const application = await findOwnApplication(services, ownIn(request))
      return wantsHtml(request) ? sendPage(reply, applicationPage(services, application)) : application
    },
  }),
  developerRoute('PUT /developers/applications/:id', {
    ...ofApplicationByToken,
    id: 'updateOwnApplication',
    summary: 'Change an application',
    description:
      'Omitted fields stay unchanged; `Privileges` that are sent replace all of the former. Removed privileges end immediately; added ones take effect in a store once its merchant has agreed to them.',
    body: changedBody,
    answers: { 200: one('The application.', ownApplication) },
    run: ({ request }, services: OwnApplicationServices) => change(services, request),
  }),
  developerRoute('DELETE /developers/applications/:id', {
    ...ofApplicationByToken,
    id: 'deleteOwnApplication',
    summary: 'Delete an application',
    description: 'Its tokens stop working immediately in all stores. CallBackURL is not called.',
    answers: { 200: done('It is deleted.') },
    run: ({ request }, services: OwnApplicationServices) => remove(services, request),
  }),
]

export const usingStoreRoutes = [
  developerRoute('GET /developers/applications/:id/stores', {
    ...ofApplicationByToken,
    id: 'listUsingStores',
    summary: 'List the stores that use an application',
    description: 'Follow the header `Link` with `rel="next"` until it is absent.',
    query: storesQuery,
    answers: { 200: many('The stores, longest subscribed first.', usingStore, { Link: ref('headers', 'Link') }) },
    // Programs follow the header Link, browsers a link.
    run: async ({ request, reply, ids, query: { limit, cursor } }, services: StoresServices) => {
      const { application, stores, next } = await listUsingStores(services, ownIn(request), { limit, after: cursor })
      const nextAddress = next && `/developers/applications/${ids.id}/stores?limit=${limit}&cursor=${next}`
      if (!wantsHtml(request)) {
        if (nextAddress) reply.header('link', `<${services.config.publicUrl}${nextAddress}>; rel="next"`)
        return stores
      }
      const differing = stores.filter(({ privileges: agreed }) => !samePrivileges(agreed, application.privileges))
      const title = t('Stores that use {name}', { name: application.name })
      const data = { application, stores, nextAddress, differing, isFirst: cursor === 0, now: services.now() }
      return sendPage(reply, { template: '/pages/developers/stores', title, data })
    },
  }),
]

/** Adds the forms of the pages. A program that sends them gets JSON. */
export function applicationForms(app: FastifyInstance, services: OwnApplicationServices): void {
  pagesFor(app, 'developer').page('/developers/applications/new', () => newPage({ Privileges: 'these' }))
  const { post, page, form } = pagesFor(app, 'developer').proved

  const again = async (request: FastifyRequest) => {
    return applicationPage(services, await findOwnApplication(services, ownIn(request)), { values: typedForm(request) })
  }
  form('/developers/applications/:id', again, async (request) => {
    const changed = await change(services, request)
    if (!wantsHtml(request)) return ownApplication.of(changed)
    return `/developers/applications/${changed.id}?notice=application-changed`
  })

  page('/developers/applications/:id/delete', async (request) => {
    const application = await findOwnApplication(services, ownIn(request))
    const data = { application }
    return { template: '/pages/developers/delete', title: t('Delete {name}?', { name: application.name }), data }
  })

  post('/developers/applications/:id/delete', async (request, reply) => {
    const item = await remove(services, request)
    return wantsHtml(request) ? reply.redirect('/developers/applications?notice=application-deleted', 303) : [item]
  })
}

function newPage(values: Form): HtmlPage {
  const data = { services: servicesInForm }
  return { template: '/pages/developers/new', title: t('New application'), data, values }
}

function change(services: OwnApplicationServices, request: FastifyRequest) {
  return withFieldsOfForm(request, () =>
    changeOwnApplication(services, ownIn(request), changedBody.read(request, services), actorOf(request)),
  )
}

async function remove(services: OwnApplicationServices, request: FastifyRequest) {
  const own = ownIn(request)
  await deleteOwnApplication(services, own, actorOf(request))
  return resultItem('Id', own.id, 200, 'Deleted successfully')
}
