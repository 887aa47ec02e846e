import type { FastifyInstance } from 'fastify'
import type { Subscribing } from '../../access/applications/subscriptions/subscriptions.ts'
import type { MailServices } from '../../access/mail/write.ts'
import type { SignUpServices } from '../../access/people/accounts.ts'
import type { ResetServices } from '../../access/people/reset.ts'
import type { SignInServices } from '../../access/people/sign-in.ts'
import { assetRoutes } from '../html/assets.ts'
import { answerUnknownAddress } from '../html/errors.ts'
import type { GuardServices } from '../html/guard.ts'
import { pagesFor } from '../html/page-routes.ts'
import { registerRoutes, type ServicesOf } from '../server/json/json-routes.ts'
import { customerOrders } from './account/orders.ts'
import { customerSignInPages } from './account/sign-in.ts'
import { applicationForms, applicationRoutes, usingStoreRoutes } from './developers/applications.ts'
import { callRoutes } from './developers/calls.ts'
import { inboxPages, inboxRoutes } from './developers/inboxes.ts'
import { secretRoutes } from './developers/secrets.ts'
import { testStoreForms, testStoreRoutes } from './developers/test-stores.ts'
import { type OperatorPagesServices, operatorAdministration } from './operator/routes.ts'
import { areaPages } from './people/account.ts'
import { auditRoutes, developerAudit } from './people/audit.ts'
import { changeStorePages } from './people/change-store.ts'
import { administration, developerPages, signUpPages } from './people/sign-in.ts'
import { type StartPageServices, startPage } from './people/start-page.ts'
import { developerTokenRoutes, merchantTokenRoutes } from './people/tokens.ts'
import { type PagesOfPictures, servicePages } from './records/routes.ts'
import { categoryPages } from './shop/categories/routes.ts'
import { type CsvServices, csvPages } from './shop/csv/routes.ts'
import { customerPages } from './shop/customers/routes.ts'
import { type CartApiServices, cartApiPages } from './shop/modules/cartapi/routes.ts'
import { restApiPages } from './shop/modules/rest-api/routes.ts'
import { orderPages } from './shop/orders/routes.ts'
import { outboxPages } from './shop/outbox/routes.ts'
import { overviewPage } from './shop/overview/routes.ts'
import { paymentPages } from './shop/payments/routes.ts'
import { invitationPages } from './shop/people/invitation.ts'
import { peoplePages } from './shop/people/routes.ts'
import { securityPages } from './shop/people/security.ts'
import { type PrivacyServices, privacyPages } from './shop/privacy/routes.ts'
import { productPages } from './shop/products/routes.ts'
import { reportPages } from './shop/reports/routes.ts'
import { searchPages } from './shop/search/routes.ts'
import { shopServices } from './shop/services.ts'
import type { MailSettingsServices } from './shop/settings/mails.ts'
import { settingsPages } from './shop/settings/routes.ts'
import { webhookPages } from './shop/webhooks/routes.ts'

export const developerRoutes = [
  ...applicationRoutes,
  ...secretRoutes,
  ...usingStoreRoutes,
  ...callRoutes,
  ...testStoreRoutes,
  ...inboxRoutes,
  ...developerTokenRoutes,
]

type AdminServices = PagesOfPictures &
  CartApiServices &
  CsvServices &
  Subscribing &
  SignInServices &
  MailServices &
  MailSettingsServices &
  PrivacyServices
type DeveloperServices = ServicesOf<(typeof developerRoutes)[number]> & SignUpServices & ResetServices
export type PagesServices = GuardServices &
  AdminServices &
  DeveloperServices &
  OperatorPagesServices &
  StartPageServices

/** Adds all pages for browsers. */
export async function pages(app: FastifyInstance, services: PagesServices): Promise<void> {
  assetRoutes(app, services)
  pagesFor(app, 'anyone').page('/', () => startPage(services))
  await adminRoutes(app, services)
  addDeveloperPages(app, services)
  operatorAdministration(app, services)
  customerSignInPages(app, services)
  customerOrders(app, services)
  // Unknown addresses. The page keeps the navigation of a signed-in person.
  pagesFor(app, 'anyone', 'merchant').get('/admin/*', (request, reply) => answerUnknownAddress(request, reply))
  pagesFor(app, 'anyone', 'developer').get('/developers/*', (request, reply) => answerUnknownAddress(request, reply))
  pagesFor(app, 'anyone', 'customer').get('/account/*', (request, reply) => answerUnknownAddress(request, reply))
}

export async function adminRoutes(app: FastifyInstance, services: AdminServices): Promise<void> {
  overviewPage(app, services)
  orderPages(app, services)
  paymentPages(app, services)
  reportPages(app, services)
  servicePages(app, services, shopServices)
  searchPages(app, services)
  csvPages(app, services)
  productPages(app, services)
  customerPages(app, services)
  categoryPages(app, services)
  restApiPages(app, services)
  cartApiPages(app, services)
  webhookPages(app, services)
  outboxPages(app, services)
  settingsPages(app, services)
  privacyPages(app, services)
  registerRoutes(app, auditRoutes, services)
  registerRoutes(app, merchantTokenRoutes, services)
  areaPages(app, services, administration)
  peoplePages(app, services)
  securityPages(app, services)
  invitationPages(app, services)
  changeStorePages(app, services)
}

function addDeveloperPages(app: FastifyInstance, services: DeveloperServices): void {
  const area = developerPages(services)
  pagesFor(app, 'developer').get('/developers', async (_request, reply) => {
    return reply.redirect('/developers/applications', 303)
  })
  registerRoutes(app, developerRoutes, services)
  applicationForms(app, services)
  testStoreForms(app, services)
  inboxPages(app, services)
  signUpPages(app, services, area)
  areaPages(app, services, area)
  developerAudit(app, services)
}
