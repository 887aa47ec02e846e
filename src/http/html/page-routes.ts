import { parse as parseForm } from 'node:querystring'
import { Readable } from 'node:stream'
import formbody from '@fastify/formbody'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { SessionKind } from '../../access/people/sessions.ts'
import type { Access } from '../../engine/caller.ts'
import { type Fault, StoreFailure } from '../../foundation/values/failure.ts'
import { boundsSteps } from '../../foundation/values/json.ts'
import { withLongNumbers } from '../../foundation/values/long-number.ts'
import { runInSlices } from '../../foundation/values/slices.ts'
import type { Privilege } from '../../shop/staff/roles.ts'
import type { Role, Roles } from '../server/json/roles.ts'
import { receiveBytes } from '../server/requests/receive.ts'
import { answerFailure, notJson } from './errors.ts'
import { installFormTokens } from './form-tokens.ts'
import { type GuardServices, installGuard, limitPersons } from './guard.ts'
import { type HtmlPage, noteNeeds, sendPage } from './page.ts'
import { isForm, isUpload, wantsHtml } from './request.ts'

/** The largest bodies, of those who are signed in and of all others. */
const limitBytes = { form: 256 * 1024, json: 1024 * 1024, signedOut: 16 * 1024 }
/** No page has a form with nearly as many. */
const FORM_FIELDS_MAX = 2_000

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the navigation of merchants leads to the outbox. */
    hasOutbox: boolean
  }
}

/** Sets up `app` for pages and their JSON: access, forms, sessions, headers, errors. Call it before adding routes. */
export async function openPages(app: FastifyInstance, services: GuardServices): Promise<void> {
  app.decorate('hasOutbox', services.config.sandbox)
  app.setErrorHandler(answerFailure)
  const requireToken = await installFormTokens(app, services)
  limitPersons(app)
  installGuard(app, services)
  await installForms(app, requireToken)
  noteNeeds(app)
}

/**
 * Accepts JSON up to 1 MB (an empty body is none, because clients send it with DELETE) and forms up to 256 kB with a
 * CSRF token. Where nobody is signed in, both have 16 kB at most. Call it behind the guard, because a token is of a session.
 */
async function installForms(app: FastifyInstance, requireToken: typeof app.csrfProtection): Promise<void> {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  const receiveText = async (request: FastifyRequest, payload: Readable, kind: 'form' | 'json') => {
    const isSignedIn = request.session !== null || request.actor !== null
    return String(await receiveBytes(payload, limitBytes[isSignedIn ? kind : 'signedOut']))
  }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const text = await receiveText(request, payload, 'json')
    if (text.trim() === '') return undefined
    await runInSlices(boundsSteps(text, 'The body'))
    return new Promise((resolve, reject) => {
      parseJson(request, text, (error, body) => (error ? reject(error) : resolve(withLongNumbers(text, body))))
    })
  })
  app.addHook('preParsing', async (request, _reply, payload) => {
    return isForm(request) ? Readable.from([await receiveText(request, payload as Readable, 'form')]) : payload
  })
  await app.register(formbody, { bodyLimit: limitBytes.form, parser: fieldsOf })
  app.addHook('preValidation', (request, reply, done) => {
    if (!isForm(request)) return done()
    // A program that omits the type of its JSON gets an error about the type, not about forms.
    if (request.actor !== null && request.session === null) return done(new StoreFailure(...notJson))
    requireToken.call(app, request, reply, done)
  })
}

function fieldsOf(text: string) {
  if (text.split('&', FORM_FIELDS_MAX + 1).length <= FORM_FIELDS_MAX) return parseForm(text, '&', '=', { maxKeys: 0 })
  throw new StoreFailure('too-many-items', `The form has more than ${FORM_FIELDS_MAX} fields`)
}

type Shown = HtmlPage | Promise<HtmlPage>

/** Adds pages to `app` that `roles` may use; merchants with `adminPages`. */
export function pagesFor(app: FastifyInstance, ...roles: readonly [Exclude<Role, 'merchant'>, ...Role[]]) {
  return pagesWith(app, { roles, needs: [] })
}

/** Adds pages to `app` for those of a store's people who have all of these privileges; none: for everybody of the store. */
export function adminPages(app: FastifyInstance, ...needs: readonly (readonly [Privilege, Access])[]) {
  return pagesWith(app, { roles: ['merchant'], needs })
}

/** Adds pages about the person to `app`, for everybody of this kind who is signed in. */
export function pagesOf(app: FastifyInstance, kind: SessionKind) {
  return pagesWith(app, { roles: [kind], needs: [], ofPerson: true })
}

/** Adds pages to `app` for everybody of a closed store. */
export function closedPages(app: FastifyInstance) {
  return methodsWith(app, { roles: ['merchant'], needs: [], whenClosed: true })
}

/** Adds pages to `app` for owners of a store who have shown a password or a passkey in the last 15 minutes. */
export function ownerPages(app: FastifyInstance, whenClosed = false) {
  return methodsWith(app, { roles: ['merchant'], needs: [], forOwners: true, proof: true, whenClosed })
}

type PagesConfig = Pick<FastifyContextConfig, 'needs' | 'proof' | 'ofPerson' | 'forOwners' | 'whenClosed'> & {
  readonly roles: Roles
}

/** `proved`: the same for those who have shown a password or a passkey in the last 15 minutes. */
function pagesWith(app: FastifyInstance, config: PagesConfig) {
  return { ...methodsWith(app, config), proved: methodsWith(app, { ...config, proof: true }) }
}

function methodsWith(app: FastifyInstance, config: PagesConfig) {
  const get = (path: string, handler: RouteHandlerMethod) => app.get(path, { config }, handler)
  const post = (path: string, handler: RouteHandlerMethod) => app.post(path, { config }, handler)
  const uploadConfig = { ...config, isUpload: true }
  const asForm =
    (
      pageOf: (request: FastifyRequest, reply: FastifyReply, failure: StoreFailure) => Shown,
      carryOut: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
    ): RouteHandlerMethod =>
    (request, reply) => {
      const work = async () => {
        const done = await carryOut(request, reply)
        return typeof done === 'string' ? reply.redirect(done, 303) : done
      }
      return orShowAgain(reply, work, (failure) => pageOf(request, reply, failure))
    }
  return {
    get,
    post,
    page: (path: string, pageOf: (request: FastifyRequest, reply: FastifyReply) => Shown) =>
      get(path, async (request, reply) => sendPage(reply, await pageOf(request, reply))),
    /**
     * Adds the handler of a form. `carryOut` returns the address to redirect to, or the reply. On failure `pageOf` is
     * shown again with the problem.
     */
    form: (path: string, ...functions: Parameters<typeof asForm>) => post(path, asForm(...functions)),
    /** The same for a form with a file: `carryOut` receives it (upload.ts). */
    upload: (path: string, ...functions: Parameters<typeof asForm>) =>
      app.register(async (scope) => {
        scope.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload))
        scope.post(path, { config: uploadConfig }, asForm(...functions))
      }),
  }
}

/** Runs a form's work. On failure, a browser gets the page again with the problem; a program gets the error. */
export async function orShowAgain<T>(
  reply: FastifyReply,
  work: () => Promise<T>,
  pageOf: (failure: StoreFailure) => Shown,
): Promise<T | FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    // The body did not arrive in time, which the client was told.
    if (reply.sent) return reply.hijack()
    const { request } = reply
    if (!wantsHtml(request)) throw error
    // While a file was on its way, who sends it may have lost the right to see the page.
    if (isUpload(request)) await request.server.admitAgain(request, reply)
    return sendPage(reply, { ...(await pageOf(error)), failure: error })
  }
}

/** Runs a form's work. A browser is led on, or gets the page again with the problem; a program gets the result, or the error. */
export function orShow<T>(
  reply: FastifyReply,
  work: () => Promise<T>,
  nextOf: (result: T) => string,
  pageOf: () => Shown,
): Promise<T | FastifyReply> {
  const show = async () => {
    const result = await work()
    return wantsHtml(reply.request) ? reply.redirect(nextOf(result), 303) : result
  }
  return orShowAgain(reply, show, pageOf)
}

/** Leads a browser on from a form. A program is told that it is done (204). */
export function leadOn(reply: FastifyReply, address: string): string | FastifyReply {
  return wantsHtml(reply.request) ? address : reply.code(204).send()
}

/** For `catch`: rethrows a refusal so that it names the form's fields, which `nameOf` finds, instead of the body's. */
export function inFormFields(nameOf: (field: string) => string) {
  return (error: unknown): never => {
    if (!(error instanceof StoreFailure) || error.field === '') throw error
    const faults = (error.parts.length > 0 ? error.parts : [error]).map(({ code, field, message }) => ({
      code,
      field: nameOf(field),
      problem: message.startsWith(`${field} `) ? message.slice(field.length + 1) : message,
    }))
    throw refusedFields(faults, error)
  }
}

/**
 * Returns a failure for the fields of a form. `problem` is a sentence without its subject. Code and status are those of `like`, or of the
 * first fault.
 */
export function refusedFields(faults: readonly Fault[], like?: Pick<StoreFailure, 'code' | 'status'>): StoreFailure {
  const message = faults.map(({ field, problem }) => `${field} ${problem}`).join('; ')
  const { code = 'invalid-value' } = like ?? faults[0] ?? {}
  return new StoreFailure(code, message, { field: faults[0]?.field ?? '', faults, status: like?.status ?? 400 })
}
