import type { IncomingHttpHeaders } from 'node:http'
import type { ResultItem, StoreFailure } from '../../foundation/values/failure.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import type { Access, Caller, Method } from '../caller.ts'
import type { ObjectType } from './fields.ts'
import type { Filter } from './filters.ts'
import type { Handling } from './handling.ts'
import type { JsonSchema } from './json-schema.ts'

// Endpoints as values: input, output and the function that answers. REST serves them; the API reference describes them.

/** Query parameters by lower-case name; empty ones are omitted. `get` returns the first value of a repeated one. */
export interface Query extends ReadonlyMap<string, string> {
  /** The values of those that are repeated, in their order. */
  readonly repeated?: ReadonlyMap<string, readonly string[]>
}

/** A JSON text, or its UTF-8 bytes. */
export type JsonText = string | Buffer

/** An admitted request. */
export interface Call {
  readonly caller: Caller
  readonly method: Method
  /** The address from the version on, with `:id` and `:itemId`: the same for every prefix and alias of the service. */
  readonly route: string
  /** The values of `:id` and `:itemId`, as sent. */
  readonly params: Readonly<Record<string, string>>
  /** The number that `params.id` of the endpoint describes; 0 if the address has none. */
  readonly id: number
  /** Identifies an item of a list in the record: a number, or a code chosen by the caller. */
  readonly itemId: number | string
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  readonly body: Body | null
  readonly records: readonly unknown[]
  /** In which the records were sent. */
  readonly format: Body['format']
  readonly handling: Handling
  readonly secrets: Pick<Secrets, 'open' | 'seal' | 'derivations'>
  readonly config: { readonly publicUrl: string; readonly orderPageDays: number }
  readonly log: Log
}

/** What one method does at an address; the API reference describes `takes` and `gives`. */
export interface Operation {
  readonly run: (call: Call) => Promise<Answer>
  /** The records of the body. Omitted: the body is ignored. */
  readonly takes?: Taken
  readonly gives: Given
  /** The operationId, summary and description, for operations that do not list, read or change records. Without a summary: its id in words. */
  readonly named?: { readonly id: string; readonly summary?: string; readonly description: string }
  /** The access that it needs, where its method does not say so. */
  readonly access?: Access
  /** Whether it is refused without an `Idempotency-Key`. */
  readonly needsKey?: boolean
}

export interface Taken {
  readonly type: RecordType
  /** `create` requires the required fields. */
  readonly mode: 'create' | 'update'
  /** Whether the body may be a list, of at most 100 records. */
  readonly many: boolean
  readonly isOptional?: boolean
  /** Whether a picture may be sent in the place of the record: the member that its part of a form names gets its address, or the first of pictures. */
  readonly takesPicture?: boolean
}

export type Given =
  /** A page of a list, by `limit` and `offset`. */
  | {
      readonly kind: 'list'
      readonly type: RecordType
      readonly maxRecords: number
      /** The records of a page without `limit`. Omitted: as of all lists. */
      readonly limitDefault?: number
      /** With `filters`, `countonly` and `X-Total-Count`; null: an item list, which supports none of them. */
      readonly filters: ListFilters | null
      /** The list cannot be filtered by identifier. */
      readonly hasNoId?: boolean
    }
  /** The number of records in a list, which takes its filters. */
  | {
      readonly kind: 'count'
      readonly type: RecordType
      readonly filters: ListFilters
      readonly hasNoId?: boolean
    }
  /** Records with query parameters of their own, `$select` and `$orderby`; a page has a `Link` to the next one. */
  | {
      readonly kind: 'own'
      readonly type: RecordType
      readonly parameters: readonly QueryParameter[]
      /** `one`: a list of one record; `paged`: a page by cursor. */
      readonly size: 'one' | 'paged' | 'many'
      /** Statuses besides those of every read. */
      readonly refusals?: readonly 410[]
      /** What the body asks for is made, and the answer is a 201. */
      readonly isNew?: boolean
    }
  /** A list of one record, with its ETag. */
  | { readonly kind: 'record'; readonly type: RecordType }
  /** A result item for each record, with `key` as its Key. */
  | { readonly kind: 'results'; readonly key: string; readonly change: 'created' | 'updated' | 'deleted' }

/** What a list's filters are, without how they read. */
type ListFilters = Readonly<
  Record<string, Pick<Filter, 'kind' | 'readAny' | 'column' | 'ofItems' | 'isLower' | 'note'>>
>

export type Operations = Readonly<Partial<Record<Method, Operation>>>

export interface Endpoint {
  /** Replaces the service's names in the address. */
  readonly root?: string
  /** The part of the address after the service's name, with `:id` and `:itemId`. */
  readonly path: string
  /** By their names in `path`. */
  readonly params: Readonly<Record<string, Parameter>>
  /** The services for which the caller needs the method's privilege. */
  readonly privileges: readonly string[]
  readonly operations: Operations
  /** Its group in the reference. Omitted: its service. */
  readonly tag?: { readonly name: string; readonly description: string }
  /** Whether the log of calls leaves its requests out. */
  readonly isUnlogged?: boolean
  /** A sentence about how records are created, for the refusal of a POST that the address does not take. */
  readonly createdBy?: string
}

export interface Parameter {
  /** Its name in the documentation and in refusals, such as `catalogid`. */
  readonly name: string
  /** The minimum; null: a code chosen by the caller. */
  readonly min: number | null
  /** Omitted: 32-bit numbers. */
  readonly max?: number
}

export interface QueryParameter {
  readonly name: string
  readonly in: 'query'
  readonly description: string
  readonly schema: JsonSchema
}

export interface Body {
  readonly format: 'json' | 'xml'
  readonly text: string
  /** A file, with the members of the record that came beside it. */
  readonly picture?: {
    readonly bytes: Buffer
    readonly members: Readonly<Record<string, string>>
    /** The name of its part of a form; empty: it came alone. */
    readonly part: string
  }
}

/** The type of the records that an address takes or gives: their XML name and fields. */
export interface RecordType extends ObjectType {
  /** Other element names for the record in an XML body. */
  readonly inputTypeNames?: readonly string[]
}

/** Receives reports that are not part of the answer. */
export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (about: object, message: string) => void>>

export type Answer =
  | RecordsAnswer
  | { readonly kind: 'count'; readonly count: number }
  | ResultsAnswer
  /** 404 with an empty body: unknown record or empty list (rest-protocol §5.2). */
  | { readonly kind: 'nothing'; readonly replayed?: boolean }
  /** 304: the caller has this representation already. */
  | { readonly kind: 'unmodified'; readonly etag: string }

export interface RecordsAnswer {
  readonly kind: 'records'
  /** Omitted: 200. */
  readonly status?: 201
  readonly records: readonly JsonText[]
  /** Their texts are of the answer's format already. */
  readonly isFormatted?: boolean | undefined
  readonly type: RecordType
  /** The `cursor` of the next page; null or omitted: no next page. */
  readonly next?: string | null
  /** The number of all matches, if the request asks for it. */
  readonly total?: number | null
  readonly etag?: string
  /** Caches must not store the answer, and it is not compressed. */
  readonly isSecret?: boolean
  /** The change was made by an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean
}

export interface ResultsAnswer {
  readonly kind: 'results'
  readonly status: number
  readonly items: readonly ResultItem[]
  /** A replay of the answer to an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean
  /** By the place of an item that is a refusal, those that it stands for. */
  readonly parts?: ReadonlyMap<number, readonly StoreFailure[]>
}
