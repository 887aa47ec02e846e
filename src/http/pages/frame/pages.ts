import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { RecordOf } from '../../../engine/definition/record-of.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import { type Format, formatOf } from '../../../foundation/texts/format.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { TOLD_MS } from '../../../shop/resources/order-mails/due.ts'
import type { Writing } from '../../html/numbers.ts'
import { type HtmlPage, sendPage } from '../../html/page.ts'
import type { adminPages } from '../../html/page-routes.ts'
import {
  type CallerServices,
  type Form,
  formOf,
  isJson,
  languageFor,
  merchantCaller,
  textIn,
} from '../../html/request.ts'
import { readIds } from '../../server/json/parameters.ts'
import { digest } from '../../server/requests/compression.ts'

// What a request says to a page of a store is read once, at the door. Pages are functions of these values.

/** A record or an item of a list, as programs read it. */
export type Wire = Readonly<Record<string, unknown>>

/** A request to a page of a store. */
export interface PageRequest {
  /** Who asks, and in which store. */
  readonly caller: Caller & CallerServices
  /** The names in the address. */
  readonly params: unknown
  readonly query: unknown
  /** How whoever asks writes what a form has, and reads what a page shows. */
  readonly writing: Writing & Format
  /** What a form has; null: none was sent. */
  readonly typed: Form | null
  /** Whether the form was refused because what it changes is not as it showed it. The page is of what is stored now. */
  readonly isOutdated: boolean
}

/** A request to a page of one record, which the address names as `id`. */
export interface RecordRequest<Known = Wire> extends PageRequest {
  readonly id: number
  readonly record: Known
  /** The record as programs read it. */
  readonly text: string
  /** The entity tag of the form on the page: of the record as it is, or of the one that a form which comes back was first shown with. */
  readonly etag: string
}

/** A request with a form. */
export type Sent<Asked extends PageRequest> = Asked & { readonly typed: Form }

type Pages = Pick<ReturnType<typeof adminPages>, 'get' | 'post' | 'page' | 'form' | 'upload'>

/** Shows a page, of which `reply` is for what only a header says. */
export type Show<Asked> = (asked: Asked, reply: FastifyReply) => HtmlPage | Promise<HtmlPage>
/** Carries out a form: returns the address that it leads on to, or a page that is shown in its place. */
export type Submit<Asked extends PageRequest> = (
  asked: Sent<Asked>,
  reply: FastifyReply,
) => Promise<string | HtmlPage | FastifyReply>

/** The statuses of the failures of a form whose record is not as the form showed it. */
const outdated: readonly number[] = [412]

/** What adds pages whose requests are read as `Asked`. */
export type Framed<Asked extends PageRequest> = ReturnType<typeof framed<Asked>>

/** Adds pages of a store to `pages`, which say who may use them. */
export function storePages(pages: Pages, services: CallerServices) {
  return framed<PageRequest>(pages, async (request, isOutdated) => readRequest(request, services, isOutdated))
}

/**
 * Adds pages of one record of a service to `pages`, by addresses that name it as `:id`, or otherwise. They read it before anything else, throw
 * a 400 and `not-found` for an id of none, and have its id, the entity tag of their form, and since when orders are no old ones (`TOLD_MS`), in the data of their templates.
 */
export function recordPages<Served extends Resource>(
  pages: Pages,
  services: CallerServices,
  resource: Served,
  idName = 'id',
) {
  return framed<RecordRequest<RecordOf<Served>>>(
    pages,
    async (request, isOutdated) => {
      const asked = readRequest(request, services, isOutdated)
      const id = idIn(asked, idName)
      const text = await getRecord(asked.caller, resource, id)
      return { ...asked, id, record: JSON.parse(text), text, etag: tagOf(text, asked) }
    },
    ({ id, etag, caller }) => ({ id, etag, toldSince: caller.now().getTime() - TOLD_MS }),
  )
}

export function readRequest(request: FastifyRequest, services: CallerServices, isOutdated = false): PageRequest {
  const { params, query, method } = request
  const typed = method === 'POST' ? formOf(request) : null
  const caller = { ...merchantCaller(request, services), ...tellingIn(typed) }
  return { caller, params, query, writing: writingOf(request), typed, isOutdated }
}

/** What a caller's `tells` is by a form that asks whether the customer is told (shop/orders/tell.eta), to be spread. */
function tellingIn(typed: Form | null) {
  if (textIn(typed, 'tellable') === '') return {}
  return { tells: textIn(typed, 'tell') === '' ? 'nobody' : 'asked' } as const
}

/** How numbers are written in the fields of a form, shown and sent back: as its reader writes them. JSON is of programs, with a point. */
export function writingOf(request: FastifyRequest): Writing & Format {
  const format = isJson(request) ? formatOf('en-US') : languageFor(request).format
  const { person } = request
  return { ...format, currencyCode: person?.kind === 'merchant' ? person.store.currency : '' }
}

/** The number in the address under this name. */
export function idIn({ params }: Pick<PageRequest, 'params'>, name = 'id'): number {
  return readIds(params, name)[name] as number
}

/** The entity tag for a form that is shown: of what it changes as it is, or as the form that comes back first showed it. */
export function tagOf(text: string, { typed, isOutdated }: Pick<PageRequest, 'typed' | 'isOutdated'>): string {
  return (isOutdated ? '' : textIn(typed, 'etag')) || digest(text)
}

function framed<Asked extends PageRequest>(
  pages: Pages,
  read: (request: FastifyRequest, isOutdated: boolean) => Promise<Asked>,
  dataOf: (asked: Asked) => object = () => ({}),
) {
  const withData = (asked: Asked, page: HtmlPage) => ({ ...page, data: { ...dataOf(asked), ...page.data } })
  const shown = async (show: Show<Asked>, reply: FastifyReply, isOutdated = false): Promise<HtmlPage> => {
    const asked = await read(reply.request, isOutdated)
    return withData(asked, await show(asked, reply))
  }
  const page = (path: string, show: Show<Asked>) => pages.page(path, (_request, reply) => shown(show, reply))
  /**
   * Adds a form. On failure its page is shown again with what was typed and the problem; `outdatedBy` says by their statuses which failures are those of
   * a record that has changed.
   */
  const formBy =
    (add: Pages['form' | 'upload']) =>
    (path: string, show: Show<Asked>, submit: Submit<Asked>, outdatedBy = outdated) =>
      add(
        path,
        (_request, reply, { status }) => shown(show, reply, outdatedBy.includes(status)),
        async (request, reply) => {
          const asked = (await read(request, false)) as Sent<Asked>
          const done = await submit(asked, reply)
          return typeof done === 'object' && 'template' in done ? sendPage(reply, withData(asked, done)) : done
        },
      )
  const form = formBy(pages.form)
  return {
    page,
    form,
    /** Adds a form with a file, which `submit` receives. */
    upload: formBy(pages.upload),
    /** Adds a page and its form, at one address. */
    pair: (path: string, show: Show<Asked>, submit: Submit<Asked>, outdatedBy = outdated) => {
      page(path, show)
      form(path, show, submit, outdatedBy)
    },
    /** Adds an address that shows a form again with what was typed, and more to fill in. */
    again: (path: string, show: Show<Asked>) =>
      pages.post(path, async (_request, reply) => sendPage(reply, await shown(show, reply))),
    /** Adds an address that answers with something else than a page. */
    get: (path: string, answer: (asked: Asked, reply: FastifyReply) => Promise<unknown>) =>
      pages.get(path, async (request, reply) => answer(await read(request, false), reply)),
  }
}

/** Refuses (412) a form whose record has changed since the form was shown. `advice` says what the form shows instead. */
export function ifUnchanged(form: Form, one: string, advice: string) {
  return (record: string): void => {
    if (digest(record) === textIn(form, 'etag')) return
    const reason = 'Somebody else has changed it, or this form was sent twice'
    throw new StoreFailure('precondition-failed', `This ${one} is not as the form showed it. ${reason}. ${advice}`)
  }
}

/** The same at once; what it returns does so under the lock of the record. */
export function requireUnchanged(
  { typed, text }: { readonly typed: Form; readonly text: string },
  one: string,
  advice: string,
): (record: string) => void {
  const precondition = ifUnchanged(typed, one, advice)
  precondition(text)
  return precondition
}
