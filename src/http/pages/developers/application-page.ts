import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { CallbackTest, OwnApplication, Owner, OwnId } from '../../../access/applications/own/own-applications.ts'
import { accessesOf } from '../../../access/applications/privileges.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { type Fault, StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { privilegedServices, servedResources } from '../../../shop/registry.ts'
import type { HtmlPage } from '../../html/page.ts'
import { orShow, refusedFields } from '../../html/page-routes.ts'
import { type Form, formOf, isByToken, isForm, linesIn, personOf } from '../../html/request.ts'
import { applicationNames, applicationShape, time } from '../../html/route-groups.ts'
import { one, record } from '../../server/json/json-routes.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, readIds, wholeNumber } from '../../server/json/parameters.ts'

/** Routes of a developer, for tokens too. */
export const ofDeveloper = { roles: ['developer'], tokens: true } as const

/** Every route of one application, which shows its keys. */
export const ofApplication = { roles: ['developer'], proof: true, ids: { id: 'The application.' } } as const

/** The same for tokens too, which reach no keys but those of applications for test stores (`ownIn`). */
export const ofApplicationByToken = { ...ofApplication, tokens: true } as const

/** Identifies the application in the address as one of the signed-in developer. */
export function ownIn(request: FastifyRequest): OwnId {
  return { ...ownerIn(request), ...readIds(request.params, 'id') }
}

export function ownerIn(request: FastifyRequest): Owner {
  return { developerId: personOf(request, 'developer').id, isByToken: isByToken(request) }
}

export type StoresServices = DataServices & { readonly config: { readonly publicUrl: string } }

/** The query of lists of stores that use an application. */
export const storesQuery = namedObject({
  limit: wholeNumber(1, PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .describe('The maximum number of stores on the page.'),
  cursor: wholeNumber(0, INT32_MAX)
    .default(0)
    .describe('Where the page begins; the header Link of the page before has it.'),
})

export const ownApplication = record<OwnApplication>('OwnApplication')({
  ...applicationNames,
  FormerPrivateKeyUntil: time
    .nullable()
    .describe('The time until which the former private key works. Null: it does not.'),
  CallBackURL: [applicationShape.CallBackURL, (from) => from.callbackUrl],
  CallBackSecret: [
    z.string().describe('The secret that signs callbacks, by the Standard Webhooks scheme.'),
    (from) => from.callbackSecret,
  ],
  Erasures: [applicationShape.Erasures, (from) => from.wantsErasures],
  RedirectURIs: [applicationShape.RedirectURIs, (from) => [...from.redirectUris]],
  Privileges: applicationShape.Privileges,
  DateCreated: [applicationShape.DateCreated, (from) => from.createdAt.toISOString()],
})

export const withKeys = one('The application, with its keys.', ownApplication)

/** The services with a privilege of their own. Read access to orders, for example, includes their statuses. */
export const servicesInForm = privilegedServices
  .filter((name) => !servedResources.some(({ service, privilege }) => service === name && privilege !== name))
  .map((name) => ({ name, accesses: accessesOf(name) }))

/** The page of one application. `values`: the submitted values of its form. */
export function applicationPage(
  { now }: { now: () => Date },
  application: OwnApplication,
  { values, test = null }: { values?: Record<string, unknown>; test?: CallbackTest | null } = {},
): HtmlPage {
  const { name, kind, callbackUrl, wantsErasures, redirectUris, privileges: asked } = application
  const ticked = Object.entries(asked ?? {}).map(([service, accesses]) => [TICKED + service, accesses])
  return {
    template: '/pages/developers/application',
    title: name,
    data: { application, services: servicesInForm, now: now(), test },
    values: {
      Name: name,
      Kind: kind,
      CallBackURL: callbackUrl ?? '',
      Erasures: wantsErasures ? 'true' : '',
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
  return orShow(reply, work, ({ id }) => `/developers/applications/${id}?notice=${notice}`, pageOf)
}

// The form of an application's settings has the fields of the JSON body, except that RedirectURIs is one text with an
// address per line, and Privileges is `everything` or `these`, with Privileges.{service} for each ticked box, read or
// write.

const TICKED = 'Privileges.'

/** Returns the JSON body, or what a form says in its place. */
export function settingsSent(request: FastifyRequest): unknown {
  if (!isForm(request)) return request.body
  const { RedirectURIs, Erasures = '', Privileges, ...others } = formOf(request)
  const plain = Object.entries(others).filter(([name]) => !name.startsWith(TICKED))
  return {
    ...Object.fromEntries(plain),
    Erasures: Erasures === 'true',
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
  return { ...form, Erasures: form.Erasures ?? '', RedirectURIs: [form.RedirectURIs ?? ''].flat().join('\n') }
}

/** Converts an error of `work` to name the form's fields. */
export async function withFieldsOfForm<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isForm(request) || !(error instanceof StoreFailure) || error.faults.length === 0) throw error
    const faults = error.faults.map((fault) => inForm(fault, request))
    throw refusedFields(faults, error)
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
