// What a request says to a page of a store, read once at the door. Pages are functions of these values.

import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import type { Format } from '../../../foundation/texts/format.ts'
import { type Writing, writingOf } from '../../html/numbers.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../html/request.ts'
import { readIds } from '../../server/json/parameters.ts'
import { tagOf } from './unchanged.ts'

/** A record or an item of a list, as programs read it. */
export type Wire = Readonly<Record<string, unknown>>

/** A request to a page of a store. */
export interface PageRequest {
  /** Who asks, and in which store. */
  readonly caller: Caller
  /** The names in the address. */
  readonly params: unknown
  readonly query: unknown
  /** How whoever asks writes what a form has, and reads what a page shows. */
  readonly writing: Writing & Format
  /** What a form has; null: none was sent. */
  readonly typed: Form | null
}

/** A request to a page of one record, which the address names as `id`. */
export interface RecordRequest<Known = Wire> extends PageRequest {
  readonly id: number
  readonly record: Known
  /** The record as programs read it. */
  readonly text: string
  /** Whether a form was refused because the record is not as the form showed it. The page is of the record as it is now. */
  readonly isOutdated: boolean
  /** The entity tag of the form on the page: of the record as it is, or of the one that a form which comes back was first shown with. */
  readonly etag: string
}

/** A request with a form. */
export type Sent<Asked extends PageRequest> = Asked & { readonly typed: Form }

export function readRequest(request: FastifyRequest, services: CallerServices): PageRequest {
  const { params, query, method } = request
  const caller = merchantCaller(request, services)
  return { caller, params, query, writing: writingOf(request), typed: method === 'POST' ? formOf(request) : null }
}

/** Throws `bad-request` and `not-found` for an id of no record. */
export async function readRecordRequest<Known>(
  asked: PageRequest,
  resource: Resource,
  isOutdated: boolean,
): Promise<RecordRequest<Known>> {
  const id = idIn(asked)
  const text = await getRecord(asked.caller, resource, id)
  return { ...asked, id, record: JSON.parse(text), text, isOutdated, etag: tagOf(text, asked.typed, isOutdated) }
}

/** The number in the address under this name. */
export function idIn({ params }: Pick<PageRequest, 'params'>, name = 'id'): number {
  return readIds({ [name]: textIn(params, name) }, name)[name] as number
}
