import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Fault, StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { cookieName, cookieOptions } from './cookies.ts'
import { csrfUser, type Page, sendPage } from './page.ts'
import { wantsHtml } from './wants-html.ts'

const FORM_LIMIT_BYTES = 262_144
const JSON_LIMIT_BYTES = 1_048_576

/** Accepts JSON up to 1 MB (an empty body is none, because clients send it with DELETE) and forms with a CSRF token. */
export async function installForms(
  app: FastifyInstance,
  { config, secrets }: { config: { readonly publicUrl: string }; secrets: Secrets },
): Promise<void> {
  const isHttps = config.publicUrl.startsWith('https:')
  readJsonBodies(app)
  await app.register(formbody, { bodyLimit: FORM_LIMIT_BYTES })
  await app.register(cookie)
  await app.register(csrf, {
    cookieKey: cookieName('csrf', isHttps),
    cookieOpts: cookieOptions(isHttps),
    csrfOpts: { hmacKey: secrets.lookup('forms') },
    getUserInfo: csrfUser,
    getToken: ({ body }) => (body as { _csrf?: string } | undefined)?._csrf,
    logLevel: 'info',
  })
  app.addHook('preValidation', (request, reply, done) => {
    if (!isForm(request)) return done()
    // A program that omits the type of its JSON gets an error about the type, not about forms.
    if (request.actor?.kind === 'operator') return done(mustBeJson())
    app.csrfProtection(request, reply, done)
  })
}

function mustBeJson(): StoreFailure {
  return new StoreFailure('unsupported-media-type', 'Content-Type must be application/json', { field: 'Content-Type' })
}

function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string', bodyLimit: JSON_LIMIT_BYTES },
    (request, body, done) => {
      if (body.trim() === '') done(null, undefined)
      else parse(request, body, done)
    },
  )
}

/** Whether the body came from a form of a page. */
export function isForm({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}

/** Whether the request declares JSON, with or without body. A form cannot, and a foreign script needs a preflight. */
export function isJson({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

/** Returns the fields of a form without the CSRF token. A repeated field becomes a list. */
export function formOf({ body }: FastifyRequest): Record<string, string | string[]> {
  const { _csrf, ...fields } = (body ?? {}) as Record<string, string | string[]>
  return fields
}

/** Returns the fields of a form, or the JSON body. */
export function sentBy(request: FastifyRequest): unknown {
  return isForm(request) ? formOf(request) : request.body
}

/** Returns a text member of a body or query. Empty: missing, repeated or not text. */
export function textIn(sent: unknown, name: string): string {
  const value = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}

/**
 * Returns the address to open after sign-in: `given` if it is a path of this server, else `otherwise`. Rejects
 * addresses of other hosts however they are written (`//host`, `/\host`, with control characters).
 */
export function returnAddress(given: unknown, otherwise: string): string {
  if (typeof given !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given)) return otherwise
  const base = 'http://here.invalid'
  return URL.parse(given, base)?.origin === base ? given : otherwise
}

/** Returns a failure for the fields of a form. `problem` is a sentence without its subject. */
export function refusedFields(faults: readonly Fault[], kind: StoreFailure['kind'] = 'bad-request'): StoreFailure {
  const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
  return new StoreFailure(kind, message, { field: faults[0]?.field ?? '', faults })
}

/** Returns the trimmed lines of a form's text. A repeated field counts as one text. */
export function linesIn(typed: string | string[]): string[] {
  return [typed]
    .flat()
    .join('\n')
    .split('\n')
    .map((line) => line.trim())
}

/** Validates the id of a record, sent as a number by a program or as digits by a form. */
export function formId(problem: string) {
  const digits = z.string().regex(/^\d{1,9}$/)
  return z.union([z.int32().min(1), digits.transform(Number)], problem)
}

/** Runs a form's work. On failure, a browser gets the page again with the problem; a program gets the error. */
export async function orShowAgain<T>(
  reply: FastifyReply,
  work: () => Promise<T>,
  pageOf: (failure: StoreFailure) => Page | Promise<Page>,
): Promise<T | FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreFailure) || !wantsHtml(reply.request)) throw error
    return sendPage(reply, { ...(await pageOf(error)), failure: error })
  }
}
