// What a request says to a page of a store, read once at the door (pages.ts). Pages are functions of these values.

import type { Caller } from '../../../engine/caller.ts'
import type { Format } from '../../../foundation/texts/format.ts'
import type { Writing } from '../../html/numbers.ts'
import type { CallerServices, Form } from '../../html/request.ts'

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
