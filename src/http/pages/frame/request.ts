// What a request says to a page of a store, read once at the door. Pages are functions of these values.

import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import { type Format, formatOf } from '../../../foundation/texts/format.ts'
import type { Writing } from '../../html/numbers.ts'
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

export function readRequest(request: FastifyRequest, services: CallerServices, isOutdated = false): PageRequest {
  const { params, query, method } = request
  const typed = method === 'POST' ? formOf(request) : null
  return { caller: merchantCaller(request, services), params, query, writing: writingOf(request), typed, isOutdated }
}

/** How numbers are written in the fields of a form, shown and sent back: as its reader writes them. JSON is of programs, with a point. */
export function writingOf(request: FastifyRequest): Writing & Format {
  const format = isJson(request) ? formatOf('en-US') : languageFor(request).format
  const person = request.session?.person
  return { ...format, currencyCode: person?.kind === 'merchant' ? person.store.currency : '' }
}

/** Throws `bad-request` and `not-found` for an id of no record. */
export async function readRecordRequest<Known>(
  asked: PageRequest,
  resource: Resource,
  id: number,
): Promise<RecordRequest<Known>> {
  const text = await getRecord(asked.caller, resource, id)
  return { ...asked, id, record: JSON.parse(text), text, etag: tagOf(text, asked) }
}

/** The number in the address under this name. */
export function idIn({ params }: Pick<PageRequest, 'params'>, name = 'id'): number {
  return readIds(params, name)[name] as number
}

/** The entity tag for a form that is shown: of what it changes as it is, or as the form that comes back first showed it. */
export function tagOf(text: string, { typed, isOutdated }: Pick<PageRequest, 'typed' | 'isOutdated'>): string {
  return (isOutdated ? '' : textIn(typed, 'etag')) || digest(text)
}
