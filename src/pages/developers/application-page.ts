import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CallbackTest, OwnApplication, OwnId } from '../../applications/own-applications.ts'
import type { HtmlPage } from '../../html/page.ts'
import { orShowAgain, refusedFields } from '../../html/page-routes.ts'
import { type Form, formOf, isForm, linesIn, personOf, wantsHtml } from '../../html/request.ts'
import { applicationKind, id, privileges, time } from '../../html/route-groups.ts'
import { servedResources } from '../../registry.ts'
import { one, record } from '../../server/json-routes.ts'
import { readIds } from '../../server/parameters.ts'
import { type Fault, StoreFailure } from '../../values/failure.ts'

/** Every route of one application, which shows its keys. */
export const ofApplication = { roles: ['developer'], proof: true, ids: { id: 'The application.' } } as const

/** Identifies the application in the address as one of the signed-in developer. */
export function ownIn(request: FastifyRequest): OwnId {
  return { developerId: personOf(request, 'developer').id, ...readIds(request.params, 'id') }
}

export const ownApplication = record<OwnApplication>('OwnApplication')({
  Id: [id.describe('The number of the application, by which addresses name it.'), (from) => from.id],
  Name: [
    z.string().describe('The name of the application. Merchants see it when they are asked for access.'),
    (from) => from.name,
  ],
  Kind: [applicationKind, (from) => from.kind],
  PublicKey: [
    z.string().describe('The public key, which names the application: its client_id for OAuth.'),
    (from) => from.publicKey,
  ],
  PrivateKey: [
    z.string().describe('The private key, by which the application proves itself: its client_secret for OAuth.'),
    (from) => from.privateKey,
  ],
  FormerPrivateKeyUntil: [
    time.nullable().describe('The time until which the former private key works. Null: it does not.'),
    (from) => from.formerPrivateKeyUntil?.toISOString() ?? null,
  ],
  CallBackURL: [
    z
      .string()
      .nullable()
      .describe(
        'The address that is told when a store lets the application in or ends that. Null: no callback is sent.',
      ),
    (from) => from.callbackUrl,
  ],
  CallBackSecret: [
    z.string().describe('The secret that signs callbacks, by the Standard Webhooks scheme.'),
    (from) => from.callbackSecret,
  ],
  RedirectURIs: [
    z.array(z.string()).describe('The addresses to which OAuth may send merchants back.'),
    (from) => [...from.redirectUris],
  ],
  Privileges: [
    privileges.describe(
      'The privileges that the application requests from stores. Null: everything, including services that come later.',
    ),
    (from) => from.privileges,
  ],
  DateCreated: [
    time.describe('The time at which the application was registered.'),
    (from) => from.createdAt.toISOString(),
  ],
})

export const withKeys = one('The application, with its keys.', ownApplication)

/** The services with a privilege of their own. Read access to orders, for example, includes their statuses. */
export const servicesInForm: readonly string[] = servedResources.flatMap(({ service, privilege }) =>
  privilege === service ? service : [],
)

/** The page of one application. `values`: the submitted values of its form. */
export function applicationPage(
  { now }: { now: () => Date },
  application: OwnApplication,
  { values, test = null }: { values?: Record<string, unknown>; test?: CallbackTest | null } = {},
): HtmlPage {
  const { name, kind, callbackUrl, redirectUris, privileges: asked } = application
  const ticked = Object.entries(asked ?? {}).map(([service, accesses]) => [TICKED + service, accesses])
  return {
    template: '/pages/developers/application',
    title: name,
    data: { application, services: servicesInForm, now: now(), test },
    values: {
      Name: name,
      Kind: kind,
      CallBackURL: callbackUrl ?? '',
      RedirectURIs: redirectUris.join('\n'),
      Privileges: asked === null ? 'everything' : 'these',
      ...Object.fromEntries(ticked),
      KeepFormerForHours: '24',
      ...values,
    },
  }
}

/**
 * Runs the work of a form. A browser is redirected to the application's page, or sees `pageOf` with the error. A
 * program gets the application.
 */
export function orShowPage(
  reply: FastifyReply,
  notice: string,
  work: () => Promise<OwnApplication>,
  pageOf: () => HtmlPage | Promise<HtmlPage>,
): Promise<OwnApplication | FastifyReply> {
  const show = async () => {
    const application = await work()
    if (!wantsHtml(reply.request)) return application
    return reply.redirect(`/developers/applications/${application.id}?notice=${notice}`, 303)
  }
  return orShowAgain(reply, show, pageOf)
}

// The form of an application's settings has the fields of the JSON body, except that RedirectURIs is one text with an
// address per line, and Privileges is `everything` or `these`, with Privileges.{service} for each ticked box, read or
// write.

const TICKED = 'Privileges.'

/** Returns the JSON body, or what a form says in its place. */
export function settingsSent(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body
  const { RedirectURIs, Privileges, ...others } = formOf(request)
  const plain = Object.entries(others).filter(([name]) => !name.startsWith(TICKED))
  return {
    ...Object.fromEntries(plain),
    ...(RedirectURIs !== undefined && { RedirectURIs: linesIn(RedirectURIs).filter(Boolean) }),
    Privileges: Privileges === 'everything' ? null : tickedIn(others),
  }
}

/** Returns text, which validation rejects, if no box is ticked, because that is an oversight in a form. */
function tickedIn(form: Form): Record<string, string[]> | 'nothing' {
  const ticked = Object.entries(form)
    .filter(([name]) => name.startsWith(TICKED))
    .map(([name, accesses]) => [name.slice(TICKED.length), [accesses].flat()] as const)
  return ticked.length > 0 ? Object.fromEntries(ticked) : 'nothing'
}

/** Returns the submitted values, to show the form again. */
export function typedForm(request: FastifyRequest): Form {
  const form = formOf(request)
  return { ...form, RedirectURIs: [form.RedirectURIs ?? ''].flat().join('\n') }
}

/** Converts an error of `work` to name the form's fields. */
export async function withFieldsOfForm<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isForm(request) || !(error instanceof StoreFailure) || error.faults.length === 0) throw error
    throw refusedFields(
      error.faults.map((fault) => inForm(fault, request)),
      error.kind,
    )
  }
}

const SHOWN_LENGTH_MAX = 100

function inForm(fault: Fault, request: FastifyRequest): Fault {
  const [field = '', index] = fault.field.split('.')
  if (field === 'Privileges') return { field, problem: 'must be everything, or at least one that is ticked' }
  if (field !== 'RedirectURIs' || index === undefined) return fault
  const line = linesIn(formOf(request).RedirectURIs ?? '').filter(Boolean)[Number(index)] ?? ''
  return { field, problem: `hold “${line.slice(0, SHOWN_LENGTH_MAX).toWellFormed()}”, which ${fault.problem}` }
}
