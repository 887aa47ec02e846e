import type { FastifyInstance } from 'fastify'
import type { SignUpServices } from '../../people/accounts.ts'
import type { SessionServices } from '../../people/sessions.ts'
import { accountPages } from './account.ts'
import { administration, developerPages } from './area.ts'
import { auditPages } from './audit.ts'
import { signInPages } from './sign-in.ts'
import { signOutRoutes } from './sign-out.ts'
import { signUpAddress, signUpPages } from './sign-up.ts'

/** How merchants come in and go, and their account. The audit log is the operator's too, and stands in ../admin/audit.ts. */
export async function merchantPages(app: FastifyInstance, services: SessionServices): Promise<void> {
  signInPages(app, services, { ...administration, signUp: null })
  signOutRoutes(app, services, administration)
  accountPages(app, services, administration)
}

/** How developers come in and go, their account, and what was done to their applications. */
export async function developerAccountPages(app: FastifyInstance, services: SignUpServices): Promise<void> {
  signUpPages(app, services)
  const signUp = services.config.developerSignup === 'open' ? signUpAddress : null
  signInPages(app, services, { ...developerPages, signUp })
  signOutRoutes(app, services, developerPages)
  accountPages(app, services, developerPages)
  auditPages(app, services, developerPages)
}
