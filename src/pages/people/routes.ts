import type { FastifyInstance } from 'fastify'
import { pagesFor } from '../../html/page-routes.ts'
import type { SignUpServices } from '../../people/accounts.ts'
import type { SessionServices } from '../../people/sessions.ts'
import { accountPages } from './account.ts'
import { developerAudit } from './audit.ts'
import { type Area, administration, developerPages, signOut } from './session.ts'
import { signInPages } from './sign-in.ts'
import { signUpAddress, signUpPages } from './sign-up.ts'

/** Adds sign-in, sign-out and account pages for merchants. */
export async function merchantPages(app: FastifyInstance, services: SessionServices): Promise<void> {
  signInPages(app, services, { ...administration, signUp: null })
  signOutRoutes(app, services, administration)
  accountPages(app, services, administration)
}

/** Adds sign-up, sign-in, sign-out, account and audit pages for developers. */
export async function developerAccountPages(app: FastifyInstance, services: SignUpServices): Promise<void> {
  signUpPages(app, services)
  const signUp = services.config.developerSignup === 'open' ? signUpAddress : null
  signInPages(app, services, { ...developerPages, signUp })
  signOutRoutes(app, services, developerPages)
  accountPages(app, services, developerPages)
  developerAudit(app, services)
}

function signOutRoutes(app: FastifyInstance, services: SessionServices, area: Area): void {
  pagesFor(app, area.kind).post(`${area.path}/sign-out`, (_request, reply) => signOut(app, services, area, reply))
}
