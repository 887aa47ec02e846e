import type { FastifyRequest } from 'fastify'
import type { OwnApplication } from '../../applications/own-applications.ts'
import { formOf, isForm, linesIn, refusedFields } from '../../html/forms.ts'
import { servedResources } from '../../registry.ts'
import { type Fault, StoreFailure } from '../../values/failure.ts'

// The form of an application's settings has the names of the JSON body, and beside them: RedirectURIs is one text, an
// address a line; Privileges is `everything` or `these`, and Privileges.{service} each ticked box, read or write.

type Form = Readonly<Record<string, string | string[]>>

/** What the form holds, as the body of a program would have it. */
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

/** Without any it is no list at all, which is refused: of a person it is an oversight. */
function tickedIn(form: Form): Record<string, string[]> | 'nothing' {
  const ticked = Object.entries(form)
    .filter(([name]) => name.startsWith(TICKED))
    .map(([name, accesses]) => [name.slice(TICKED.length), [accesses].flat()] as const)
  return ticked.length > 0 ? Object.fromEntries(ticked) : 'nothing'
}

/** What was typed, for the form to hold again. */
export function typedForm(request: FastifyRequest): Record<string, string | string[]> {
  const form = formOf(request)
  return { ...form, RedirectURIs: [form.RedirectURIs ?? ''].flat().join('\n') }
}

/** What the form of an application holds. */
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

/** Lets a refusal of what a form holds name the form's own fields. */
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

/** Those with a privilege of their own: whoever may read orders may read what their statuses are called. */
export const servicesInForm: readonly string[] = servedResources.flatMap(({ service, privilege }) =>
  privilege === service ? service : [],
)
