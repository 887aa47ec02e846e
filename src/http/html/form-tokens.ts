import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cookieName, cookieOptions, type GuardServices } from './guard.ts'
import { csrfUser } from './page.ts'

type Protection = FastifyInstance['csrfProtection']

/**
 * Adds `reply.generateCsrf`, for tokens under the current secret key, and returns the check of a form's token, which may be
 * of any secret key: a form that is open while the key changes can still be sent.
 */
export async function installFormTokens(
  app: FastifyInstance,
  { config, secrets }: Pick<GuardServices, 'config' | 'secrets'>,
): Promise<Protection> {
  const isHttps = config.publicUrl.startsWith('https:')
  const optionsOf = (hmacKey: string) => ({
    cookieKey: cookieName('csrf', isHttps),
    cookieOpts: cookieOptions(isHttps),
    csrfOpts: { hmacKey },
    getUserInfo: csrfUser,
    getToken: ({ body }: FastifyRequest) => (body as { _csrf?: string } | undefined)?._csrf,
    logLevel: 'debug' as const,
  })
  await app.register(cookie)
  const [current = '', ...others] = secrets.lookups('forms')
  const ofOthers: Protection[] = []
  for (const key of others) {
    // The plugin has one key for each scope.
    await app.register(async (scope) => {
      await scope.register(csrf, { ...optionsOf(key), logLevel: 'trace' })
      ofOthers.push(scope.csrfProtection)
    })
  }
  await app.register(csrf, optionsOf(current))
  return ofOthers.reduce((next, check) => firstOf(check, next), app.csrfProtection)
}

/** Runs `next` when `check` refuses. */
function firstOf(check: Protection, next: Protection): Protection {
  return function (this: FastifyInstance, request, reply, done) {
    const refused = { send: () => next.call(this, request, reply, done) }
    return check.call(this, request, refused as unknown as FastifyReply, done)
  }
}
