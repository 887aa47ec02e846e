import type { Sql } from '../../foundation/database/sql.ts'
import type { StoreFailure } from '../../foundation/values/failure.ts'
import type { Caller, Method } from '../caller.ts'
import type { Endpoint } from './endpoints.ts'
import type { EventKind } from './event-kinds.ts'
import type { FieldSet, Fields, ObjectType, Scalar } from './fields.ts'
import type { Filters } from './filters.ts'
import type { Finder } from './finders.ts'
import type { FormerFile, NamedList } from './former-file.ts'
import type { Patch } from './input.ts'
import type { Link, Referrer } from './links.ts'
import type { Reader } from './reader.ts'
import type { Stored } from './stored-row.ts'

// What a definition may say, what is made of it, and a change of its records.

/** A definition: what is on the wire, and in three groups how it is changed, and how pages and files show it. */
export interface Definition extends Wire {
  rules?: Rules
  pages?: Pages
  files?: Files
}

/** What a record is, and its addresses. */
interface Wire {
  /** The name in addresses, such as `Products`; also the name of the privilege unless `privilege` is given. */
  service: string
  aliases?: readonly string[]
  privilege?: string
  typeName: string
  /** What such a record is, in a plain sentence or two. */
  description: string
  /** Other element names that XML bodies may use. */
  inputTypeNames?: readonly string[]
  /** The identifier's name in addresses and queries. Omitted: that of its field in lower case, such as `catalogid`. */
  idParam?: string
  /** Omitted: `typeName`. */
  table?: string
  /** Omitted: all. */
  methods?: readonly Method[]
  /** How records are created, for the refusal of POST to a collection that does not take it. */
  createdBy?: string
  /** False: PUT is allowed for one record, not for the collection. */
  changesMany?: boolean
  /** Maximum records per page (contract §8). */
  maxRecords: number
  /** The member that gets the address of a picture, which a PUT of one and a form of its pages may have. */
  pictureIn?: string
  fields: Fields
  /** Fields that only export and import carry. */
  privateFields?: Fields
  /** Columns shown neither on the wire nor in exports, with their value in a new row. */
  hidden?: Readonly<Record<string, Scalar | null>>
  filters?: Filters
  /** A text column that identifies a record without an identifier in PUT lists. */
  alternateKey?: string
  /** The texts by which an alternate key may be stored, those that count first in front. Omitted: as it is given. */
  keyForms?: (given: string) => readonly string[]
  subResources?: Readonly<Record<string, SubResource>>
  endpoints?: () => Endpoint[]
}

/** How records are changed, and what tells of it. */
interface Rules {
  /** Changes of several records are made one by one, because `check` writes, or locks other records. */
  isOneByOne?: boolean
  /** Nothing writes a record after its own statement: `effects` writes other rows alone. Spares reading it for its events. */
  isFinalOnceWritten?: boolean
  /** Limits the caller to some of the store's records; for operations the others do not exist. Null: all. */
  owner?: (caller: Caller) => Sql | null
  /** Checks, completes or refuses changes before they are written, in their transaction. */
  check?: (changes: readonly Change[]) => Promise<void>
  /** The kinds of event that tell of its records: the engine raises them, from what the change itself compared. */
  events?: RecordEvents
  /** Runs after the write, in its transaction: ledger rows, other records, other events. Imports run it without `check`. */
  effects?: (changes: readonly Change[]) => Promise<void>
  /** The references to these records, and what happens to each when its target is deleted. */
  referrers?: readonly Referrer[]
  /** Rows that only export and import carry, in pieces. */
  ledger?: Ledger
}

/** What people see of the records, and how they look for them. */
interface Pages {
  /** What people call one and several, where `typeName` says it badly. */
  nouns?: readonly [one: string, many: string]
  /** The filters by which people look for a record. Omitted: those of its required texts. */
  searchedBy?: readonly string[]
  /**
   * What people call a record: the fields of the first of these groups of which one is set, such as a first and a last name. All are
   * texts. Omitted: its required texts.
   */
  calledBy?: readonly (readonly string[])[]
  /** The fields whose texts, one after the other, are the number by which people know a record. Omitted: its identifier. */
  numberedBy?: readonly string[]
  /** How people find a record by what they type. Omitted: by its number, and as `searchedBy` says. */
  finders?: readonly Finder[]
  /**
   * The groups of the fields outside of lists on pages: the title of each, and the field that it begins with, in wire order.
   * Fields before the first group have the record's own.
   */
  groups?: Readonly<Record<string, string>>
  /** What fields and lists do for the shop and its customers, by path, where the label does not suffice. `description` is for programs. */
  explains?: Readonly<Record<string, string>>
  /**
   * In place of `groups`, where the wire order is not that of use: headings, the groups below each, and their fields and lists with white
   * space between. A page folds all headings but ''. What none names stands in the last group.
   */
  headings?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** How files name the records and their values. */
interface Files {
  /** A text column with a unique index, by which files name a record without an identifier. Omitted: `alternateKey`. */
  namedBy?: string
  /** The columns of files that merchants often send, by what they are for. */
  usualColumns?: Readonly<Record<string, readonly string[]>>
  /** The file of these records that the platform writes from which merchants come. */
  formerFile?: FormerFile
  /** Lists that a file which is no export may give by names. */
  namedLists?: Readonly<Record<string, NamedList>>
  worthALook?: WorthALook
}

/** What people are shown first of a change, because it may be a slip. Nothing is refused for it. Columns by their names in files. */
export interface WorthALook {
  /** Told where they change by more than half. Every record has the first; of the others, 0 is none. */
  readonly prices?: readonly string[]
  /** Amounts that are told likewise. The first is the cost, which no price should be below. */
  readonly costs?: readonly string[]
  /** Told below 0. */
  readonly stocks?: readonly string[]
  /** Columns that one record alone should have, together. */
  readonly unshared?: readonly string[]
  /** Says, by id, who else has them, without the subject: of records as they are stored, but for what they give. `seen` is for a next call. */
  readonly sharers?: (
    caller: Caller,
    records: readonly (Readonly<Record<string, unknown>> & { readonly id: number })[],
    seen?: Map<string, number>,
  ) => Promise<Map<number, string>>
}

/** The kinds of event by what became of a record. Omitted: nothing, or `effects`, tells of it. */
interface RecordEvents {
  readonly new?: EventKind
  readonly changed?: EventKind
  readonly deleted?: EventKind
  /** The members of a record of which another kind tells, and so `changed` does not. Omitted: none. */
  readonly notifiedBesides?: (record: Stored) => readonly string[]
}

/** A list inside the record, with its own address: `/Products/12/Features`. */
export interface NestedSubResource {
  kind: 'nested'
  list: string
  methods: readonly Method[]
  idParam: string
  /** The key of the result items. Omitted: the item's own key. */
  resultKey?: string
  /** Whether a POST may have a picture in the place of a record. */
  takesPictures?: boolean
}

/** An object inside the record, listed for one or all records: `/Products/skuinfo`. */
export interface ProjectedSubResource {
  kind: 'projected'
  object: string
  filters: Filters
}

/** What is worked out about each record when it is read, listed for one or all records: `/Orders/Sums`. Nothing is kept of it. */
export interface ComputedSubResource {
  kind: 'computed'
  type: ObjectType
  /** A row that the fields read as `p`: SQL over `t` (the record) and `s` (its store). */
  from: Sql
  filters: Filters
}

/** Records of another service that belong to the record: `/Manufacturers/3/Products`. */
export interface RelatedSubResource {
  kind: 'related'
  /** A function, because definitions refer to one another. */
  resource: () => Resource
  link: Link
}

/** What of records is read without the rest of them. */
export type SubProjection = ProjectedSubResource | ComputedSubResource

export type SubResource = NestedSubResource | SubProjection | RelatedSubResource

/** How a projected or computed sub-resource is read. */
export interface Projection {
  readonly type: ObjectType
  readonly reader: Reader
  /** Names what is kept of it; null: nothing is, because its values change without the record. */
  readonly keptAs: string | null
}

/** The members of all groups. */
type Defined = Wire & Rules & Pages & Files

/** What a definition is that does not say otherwise. */
export const usual = {
  inputTypeNames: [],
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  changesMany: true,
  hidden: {},
  filters: {},
  groups: {},
  explains: {},
  headings: {},
  subResources: {},
  referrers: [],
  isOneByOne: false,
  isFinalOnceWritten: false,
} as const satisfies Partial<Defined>

type Defaulted = keyof typeof usual | 'privilege' | 'idParam' | 'table'

export interface Resource
  extends Readonly<Omit<Defined, Defaulted | 'fields' | 'privateFields'>>,
    Readonly<Required<Pick<Defined, Defaulted>>> {
  /** `service` and `aliases`. */
  readonly names: readonly string[]
  readonly resultKey: string
  readonly fields: FieldSet
  /** `fields` and the definition's `privateFields` together. */
  readonly storedFields: FieldSet
  readonly reader: Reader
  /** For exports: also what no answer to the record has. */
  readonly wholeReader: Reader
  readonly privateReader: Reader
  /** Of its projected and computed sub-resources. */
  readonly projections: ReadonlyMap<SubResource, Projection>
  /** The columns of the record's row that an update may write. */
  readonly columns: readonly string[]
  readonly hasDetails: boolean
}

/** One change of one record, passed to `check` and `effects` inside the transaction, with the record locked. */
export interface Change {
  readonly kind: 'create' | 'update' | 'delete' | 'import'
  /** Its `db` is the transaction. */
  readonly caller: Caller
  readonly resource: Resource
  readonly id: number
  /** The fields that the caller gave; empty for a deletion. */
  readonly patch: Patch
  /** Null for a new record. */
  readonly before: Stored | null
  /** The record to be written, which `check` may still change. For a deletion, the stored record. */
  readonly after: Stored
  /** Whether a program asked for it strictly, or a form sent it. Omitted: no. */
  readonly isStrict?: boolean
  /** It is made together with others, and what is wrong with it must not refuse them. */
  readonly isOfSet?: boolean
  /** Why this change of a set is not made. */
  refusal?: StoreFailure
  /** The columns that take other values, once `check` has run. */
  columns?: readonly string[]
}

/**
 * Append-only rows that belong to a record and are not part of it on the wire: the stock movements of a product. They
 * can be many, so export and import carry them in pieces. The database numbers them in order.
 */
export interface Ledger {
  /** The name in transfer lines. */
  readonly name: string
  readonly table: string
  /** The column that holds the record's id. */
  readonly parent: string
  /** The column of the record, and of the rows of its lists, every change of whose value is a row here. */
  readonly column: string
  readonly fields: FieldSet
  /** Reads a row as `t`. */
  readonly reader: Reader
  /** Appends the missing row of each of these records, which an import without ledger rows has just written. */
  readonly complete: (caller: Caller, resource: Resource, recordIds: readonly number[]) => Promise<void>
}
