import type { IncomingHttpHeaders } from 'node:http'
import type { ResultItem } from '../values/result-item.ts'
import type { Secrets } from '../values/secrets.ts'
import type { Caller } from './caller.ts'
import type { Method, Resource } from './define.ts'
import type { FieldSet } from './fields.ts'
import type { Filter } from './filters.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Listing, ListOptions, Query } from './read.ts'
import { shapeRecords } from './shape.ts'

// The addresses of services as values: what each takes and gives, and the function that answers. REST serves them; the
// reference describes them.

/** An admitted request. */
export interface Call {
  readonly caller: Caller
  readonly method: Method
  /** The address with `:id` and `:itemId`, from the version on: the same by whatever prefix and name of the service. */
  readonly route: string
  /** What stands in the address for `:id` and `:itemId`, as it was sent. */
  readonly params: Readonly<Record<string, string>>
  /** The number in the address that `id` of the endpoint's `params` tells of; 0 where it has none. */
  readonly id: number
  /** Of an item of a list inside the record: a number, or a code of the caller's. */
  readonly itemId: number | string
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  readonly body: Body | null
  /** What the body holds, where the operation `takes` records. */
  readonly records: readonly unknown[]
  readonly secrets: Pick<Secrets, 'derive'>
  readonly log: Log
}

export type Action = (call: Call) => Promise<Answer>

/** What one method does at an address; `takes` and `gives` are what the reference says of it. */
export interface Operation {
  readonly run: Action
  /** The records of the body; absent: the body is not looked at. */
  readonly takes?: Taken
  readonly gives: Given
  /** For what is neither to list nor to read nor to change records: how the reference calls it, and what it does. */
  readonly named?: { readonly id: string; readonly description: string }
}

export interface Taken {
  readonly type: RecordType
  /** `create` demands the required fields. */
  readonly mode: 'create' | 'update'
  /** Whether the body may be a list, of at most 100 records. */
  readonly many: boolean
  /** The body may be missing. */
  readonly isOptional?: boolean
}

export type Given =
  /** A page of a list by `limit` and `offset`. */
  | {
      readonly kind: 'list'
      readonly type: RecordType
      /** The most records of a page. */
      readonly maxRecords: number
      /** With `filters`, `countonly` and `X-Total-Count`; null: an item list, which has none of them. */
      readonly filters: Readonly<Record<string, Pick<Filter, 'kind'>>> | null
      /** Its records have no identifier to find them by in the list. */
      readonly hasNoId?: boolean
    }
  /** Records by parameters of the address's own, `$select` and `$orderby`; a page of them has a `Link` where one follows. */
  | {
      readonly kind: 'own'
      readonly type: RecordType
      readonly parameters: readonly QueryParameter[]
      /** `one`: a list of one record; `paged`: a page by a cursor. */
      readonly size: 'one' | 'paged' | 'many'
      /** Statuses beside those of every read. */
      readonly refusals?: readonly 410[]
    }
  /** A list of one record, with its ETag. */
  | { readonly kind: 'record'; readonly type: RecordType }
  /** A result item for each record, its Key being `key`. */
  | { readonly kind: 'results'; readonly key: string; readonly change: 'created' | 'updated' | 'deleted' }

export type Operations = Readonly<Partial<Record<Method, Operation>>>

export interface Endpoint {
  /** What stands in the address in place of the service's names. */
  readonly root?: string
  /** What follows the service's name in the address, with `:id` and `:itemId`. */
  readonly path: string
  /** By their names in `path`. */
  readonly params: Readonly<Record<string, Parameter>>
  /** The services that the caller must have the method's privilege for. */
  readonly privileges: readonly string[]
  readonly operations: Operations
}

/** An identifier in an address. */
export interface Parameter {
  /** Its name in the field, such as `catalogid`. */
  readonly name: string
  /** The least number; null: a code of the caller's. */
  readonly min: number | null
  /** Absent: numbers have 32 bits. */
  readonly max?: number
}

/** A parameter of an address's own, in the query. */
export interface QueryParameter {
  readonly name: string
  readonly in: 'query'
  readonly description: string
  readonly schema: JsonSchema
}

/** A body as it was sent. */
export interface Body {
  readonly format: 'json' | 'xml'
  readonly text: string
}

/** What an address takes or gives: its records' name in XML, and their fields. */
export interface RecordType {
  readonly typeName: string
  readonly fields: FieldSet
  /** Other names that the record may have in an XML body. */
  readonly inputTypeNames?: readonly string[]
}

/** Where an operation reports what no answer says. */
export interface Log {
  readonly info: (about: object, message: string) => void
  readonly warn: (about: object, message: string) => void
  readonly error: (about: object, message: string) => void
}

/** What an operation has to say, in no format yet. */
export type Answer = RecordsAnswer | CountAnswer | ResultsAnswer | NothingAnswer | UnmodifiedAnswer

/** JSON texts of records of one type. */
export interface RecordsAnswer {
  readonly kind: 'records'
  readonly records: readonly string[]
  readonly type: RecordType
  /** The `cursor` of the next page, if there is one. */
  readonly next?: string | null
  /** How many there are in all, where that was asked. */
  readonly total?: number | null
  /** Of a single record. */
  readonly etag?: string
  /** Nobody on the way may keep it, and it is not compressed. */
  readonly isSecret?: boolean
  /** It is that of a change which an earlier request with the same Idempotency-Key made. */
  readonly replayed?: boolean
}

export interface CountAnswer {
  readonly kind: 'count'
  readonly count: number
}

/** Of changes, and of refusals. */
export interface ResultsAnswer {
  readonly kind: 'results'
  readonly status: number
  readonly items: readonly ResultItem[]
  /** The answer to an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean
}

/** 404 with an empty body: no such record, or none in the list (rest-protocol §5.2). */
export interface NothingAnswer {
  readonly kind: 'nothing'
  readonly replayed?: boolean
}

/** 304: the caller has this representation already. */
export interface UnmodifiedAnswer {
  readonly kind: 'unmodified'
  readonly etag: string
}

export function idOf({ idParam }: Resource): Endpoint['params'] {
  return { id: { name: idParam, min: 1 } }
}

/** A list with `$select` and `$orderby` applied, or the number of its records, which neither touches (rest-protocol §8.1). */
export function listingAnswer(listing: Listing, type: RecordType, query: Query): Answer {
  if ('count' in listing) return { kind: 'count', count: listing.count }
  const { next, total } = listing
  return { kind: 'records', type, records: shapeRecords(listing.records, type.fields, query), next, total }
}

/** `Prefer: count=exact` asks for the number of all matches beside the page. Of several `count` the first is meant (RFC 7240 §2). */
export function listOptions({ headers: { prefer = '' } }: Call): ListOptions {
  const preferences = String(prefer).split(',')
  const [, count = ''] = preferences.map((one) => countPreference.exec(one)).find((found) => found !== null) ?? []
  return { counted: count.toLowerCase() === 'exact' }
}

const countPreference = /^\s*count\s*=\s*"?([\w-]*)"?\s*(?:;|$)/i
