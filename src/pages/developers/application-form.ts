import type { FastifyRequest } from 'fastify'
import type { OwnApplication } from '../../applications/own-applications.ts'
import { refusedFields } from '../../html/page-routes.ts'
import { formOf, isForm, linesIn } from '../../html/request.ts'
import { servedResources } from '../../registry.ts'
import { type Fault, StoreFailure } from '../../values/failure.ts'

// The form of an application's settings has the fields of the JSON body, except that RedirectURIs is one text with an
// address per line, and Privileges is `everything` or `these`, with Privileges.{service} for each ticked box, read or
// write.

type Form = Readonly<Record<string, string | string[]>>

/** Converts the form to the JSON body. */
export function readForm(request: FastifyRequest): Record<string, unknown> {
  const { RedirectURIs, Privileges, ...others } = formOf(request)
  const plain = Object.entries(others).filter(([name]) => !name.startsWith(TICKED))
  return {
    ...Object.fromEntries(plain),
    ...(RedirectURIs !== undefined && { RedirectURIs: linesIn(RedirectURIs).filter(Boolean) }),
    Privileges: Privileges === 'everything' ? null : tickedIn(others),
  }
}

const TICKED = 'Privileges.'

/** Returns text, which validation rejects, if no box is ticked, because that is an oversight in a form. */
function tickedIn(form: Form): Record<string, string[]> | 'nothing' {
  const ticked = Object.entries(form)
    .filter(([name]) => name.startsWith(TICKED))
    .map(([name, accesses]) => [name.slice(TICKED.length), [accesses].flat()] as const)
  return ticked.length > 0 ? Object.fromEntries(ticked) : 'nothing'
}

/** Returns the submitted values, to show the form again. */
export function typedForm(request: FastifyRequest): Record<string, string | string[]> {
  const form = formOf(request)
  return { ...form, RedirectURIs: [form.RedirectURIs ?? ''].flat().join('\n') }
}

/** Returns the initial values of an application's form. */
export function formValues({ name, callbackUrl, redirectUris, privileges }: OwnApplication): Record<string, unknown> {
  const ticked = Object.entries(privileges ?? {}).map(([service, accesses]) => [TICKED + service, accesses])
  return {
    Name: name,
    CallBackURL: callbackUrl ?? '',
    RedirectURIs: redirectUris.join('\n'),
    Privileges: privileges === null ? 'everything' : 'these',
    ...Object.fromEntries(ticked),
  }
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

/** The services with a privilege of their own. Read access to orders, for example, includes their statuses. */
export const servicesInForm: readonly string[] = servedResources.flatMap(({ service, privilege }) =>
  privilege === service ? service : [],
)
