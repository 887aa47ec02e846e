import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StoreFailure } from '../values/failure.ts'
import { format } from './format.ts'
import { noticeOf } from './notices.ts'

export interface Page {
  /** A file below src without its ending, such as `/pages/admin/orders`. */
  readonly template: string
  readonly title: string
  /** 200 unless said; with `failure`, the failure's. */
  readonly status?: number
  /** What the template reads as `it.…`. Whatever it reads must be there: undefined is a defect, null prints nothing. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Why what was sent is refused; said above the page, and beside the fields that it names. */
  readonly failure?: StoreFailure
  /** What the fields of its form hold, by their names. */
  readonly values?: Readonly<Record<string, unknown>>
}

const eta = new Eta({
  views: fileURLToPath(new URL('..', import.meta.url)),
  cache: true,
  autoFilter: true,
  filterFunction: textOf,
})

function textOf(value: unknown): string {
  if (value === undefined) throw new Error('A page reads what it was not given')
  return value === null ? '' : String(value)
}

/** Answers with the page, in the common layout. */
export function sendPage(reply: FastifyReply, { template, title, status, data, failure, values = {} }: Page) {
  const { request } = reply
  const shared = {
    title,
    area: areaOf(request),
    path: request.url.split('?', 1)[0],
    person: request.session?.person ?? null,
    csrf: csrfToken(reply),
    notice: noticeOf(request.query),
    failure: failure ?? null,
    values,
    problem: (field: string) => problemOf(failure, field),
    format,
  }
  const html = eta.render(template, { ...shared, ...data })
  if (failure?.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds)
  return reply
    .code(status ?? failure?.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(html)
}

/** Outside the scopes of pages, such as for an unknown address, no form is shown that could need one. */
function csrfToken(reply: FastifyReply): string {
  return typeof reply.generateCsrf === 'function' ? reply.generateCsrf({ userInfo: csrfUser(reply.request) }) : ''
}

/** A token counts in the session that it was made in, and a merchant's in the store: no form is carried out in another one. */
export function csrfUser({ session }: FastifyRequest): string {
  // Not empty: the plugin verifies no token without a user.
  if (!session) return 'nobody'
  const { id, person } = session
  return person.kind === 'merchant' ? `${id} ${person.store.id}` : String(id)
}

/** The first segment of the address: whose pages these are. Those of OAuth are a merchant's. */
function areaOf({ url }: FastifyRequest): string {
  const segment = /^\/([a-z]*)/.exec(url)?.[1] ?? ''
  return segment === 'oauth' ? 'admin' : segment
}

function problemOf(failure: StoreFailure | undefined, field: string): string {
  const fault = failure?.faults.find((each) => each.field === field)
  if (fault) return fault.problem
  return failure && field !== '' && failure.field === field ? failure.message : ''
}
