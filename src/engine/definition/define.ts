import { type Sql, sql } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import type { Change } from '../changing/change.ts'
import type { Referrer } from '../changing/referrers.ts'
import type { Stored } from '../changing/write.ts'
import type { Endpoint } from '../reading/endpoints.ts'
import type { Ledger } from '../recording/ledger.ts'
import type { EventKind } from './event-kinds.ts'
import {
  columnPath,
  type FieldSet,
  type Fields,
  fieldSet,
  fieldsWithout,
  type ListField,
  type Members,
  type ObjectType,
  type Scalar,
} from './fields.ts'
import type { Filters } from './filters.ts'
import type { Finder } from './finders.ts'
import type { FormerFile, NamedList } from './former-file.ts'
import type { Link } from './links.ts'
import { compileReader, hasDocumentMember, keyColumn, type Reader } from './reader.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Definition {
  /** The name in addresses, such as `Products`; also the name of the privilege unless `privilege` is given. */
  service: string
  aliases?: readonly string[]
  privilege?: string
  typeName: string
  /** What people call one and several, where `typeName` says it badly. */
  nouns?: readonly [one: string, many: string]
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
  fields: Fields
  /** Fields that only export and import carry. */
  privateFields?: Fields
  /** Columns shown neither on the wire nor in exports, with their value in a new row. */
  hidden?: Readonly<Record<string, Scalar | null>>
  filters?: Filters
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
  /** A text column that identifies a record without an identifier in PUT lists. */
  alternateKey?: string
  /** The texts by which an alternate key may be stored, those that count first in front. Omitted: as it is given. */
  keyForms?: (given: string) => readonly string[]
  /** A text column with a unique index, by which files name a record without an identifier. Omitted: `alternateKey`. */
  namedBy?: string
  /** The columns of files that merchants often send, by what they are for. */
  files?: Readonly<Record<string, readonly string[]>>
  /** The file of these records that the platform writes from which merchants come. */
  formerFile?: FormerFile
  /** Lists that a file which is no export may give by names. */
  namedLists?: Readonly<Record<string, NamedList>>
  worthALook?: WorthALook
  subResources?: Readonly<Record<string, SubResource>>
  endpoints?: () => Endpoint[]
  /** Changes of several records are made one by one, because `rules` writes, or locks other records. */
  isOneByOne?: boolean
  /** Nothing writes a record after its own statement: `effects` writes other rows alone. Spares reading it for its events. */
  isFinalOnceWritten?: boolean
  /** Limits the caller to some of the store's records; for operations the others do not exist. Null: all. */
  owner?: (caller: Caller) => Sql | null
  /** Checks, completes or refuses changes before they are written, in their transaction. */
  rules?: (changes: readonly Change[]) => Promise<void>
  /** The kinds of event that tell of its records: the engine raises them, from what the change itself compared. */
  events?: RecordEvents
  /** Runs after the write, in its transaction: ledger rows, other records, other events. Imports run it without `rules`. */
  effects?: (changes: readonly Change[]) => Promise<void>
  /** The references to these records, and what happens to each when its target is deleted. */
  referrers?: readonly Referrer[]
  /** Rows that only export and import carry, in pieces. */
  ledger?: Ledger
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
  readonly toldBesides?: (record: Stored) => readonly string[]
}

/** A list inside the record, with its own address: `/Products/12/Features`. */
export interface NestedSubResource {
  kind: 'nested'
  list: string
  methods: readonly Method[]
  idParam: string
  /** The key of the result items. Omitted: the item's own key. */
  resultKey?: string
}

/** Declares the address of a list inside the record; `idParam` names an item of it. */
export function nested(
  list: string,
  idParam: string,
  { methods = ['GET', 'POST', 'PUT'], ...options }: Partial<Pick<NestedSubResource, 'methods' | 'resultKey'>> = {},
): NestedSubResource {
  return { kind: 'nested', list, methods, idParam, ...options }
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

export type SubResource = NestedSubResource | ProjectedSubResource | ComputedSubResource | RelatedSubResource

/** How a projected or computed sub-resource is read. */
export interface Projection {
  readonly type: ObjectType
  readonly reader: Reader
  /** Names what is kept of it; null: nothing is, because its values change without the record. */
  readonly keptAs: string | null
}

type Defaulted =
  | 'privilege'
  | 'inputTypeNames'
  | 'idParam'
  | 'table'
  | 'methods'
  | 'changesMany'
  | 'hidden'
  | 'filters'
  | 'groups'
  | 'subResources'
  | 'referrers'
  | 'isOneByOne'
  | 'isFinalOnceWritten'

export interface Resource
  extends Readonly<Omit<Definition, Defaulted | 'fields' | 'privateFields'>>,
    Readonly<Required<Pick<Definition, Defaulted>>> {
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

/** Checks and compiles a definition. Throws at start-up for mistakes in the definition. */
export function defineResource<const Service extends string, Inner extends Fields>(
  definition: Definition & { service: Service; fields: Inner },
): Resource & Members<Inner> & { readonly service: Service } {
  const { service, aliases = [], subResources = {}, hidden = {} } = definition
  const fields = fieldSet(definition.fields)
  const storedFields = fieldSet({ ...definition.fields, ...definition.privateFields })
  const resultKey = columnPath(fields, 'id')?.at(-1)
  if (resultKey === undefined) throw new Error(`${service}: no field of the column "id"`)
  for (const [name, field] of fields.entries) if (field.kind === 'list') checkList(`${service}.${name}`, field)
  for (const first of Object.values(definition.groups ?? {})) {
    if (fields.get(first) === undefined) throw new Error(`${service}: no field ${first} to begin a group with`)
  }
  const columns = new Set(Object.keys(hidden))
  for (const { field } of storedFields.leaves) if (field.kind !== 'list' && field.column) columns.add(field.column)
  columns.delete('id')
  const hasDetails = hasDocumentMember(storedFields)
  if (hasDetails) columns.add('details')
  for (const name of definition.searchedBy ?? []) {
    if (definition.filters?.[name] === undefined) throw new Error(`${service}: no filter ${name} to search by`)
  }
  for (const name of (definition.calledBy ?? []).flat()) {
    if (fields.get(name)?.kind !== 'text') throw new Error(`${service}: no text ${name} to call a record by`)
  }
  const reader = compileReader(fields.shown)
  const whole = fieldsWithout(fields, (access) => access === 'sent')
  const resource: Resource & { readonly service: Service } = {
    privilege: service,
    inputTypeNames: [],
    idParam: resultKey.toLowerCase(),
    table: definition.typeName,
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    changesMany: true,
    filters: {},
    groups: {},
    referrers: [],
    isOneByOne: false,
    isFinalOnceWritten: false,
    ...(definition.alternateKey !== undefined && { namedBy: definition.alternateKey }),
    ...definition,
    names: [service, ...aliases],
    subResources,
    hidden,
    resultKey,
    fields,
    storedFields,
    reader,
    wholeReader: whole === fields.shown ? reader : compileReader(whole),
    privateReader: compileReader(fieldSet(definition.privateFields ?? {})),
    projections: projectionsOf(service, fields, subResources),
    columns: [...columns],
    hasDetails,
  }
  byTable.set(resource.table, resource)
  return resource
}

const byTable = new Map<string, Resource>()

/** The definition of the records in a table: definitions refer to one another in circles. Null: there is none. */
export function definedFor(table: string): Resource | null {
  return byTable.get(table) ?? null
}

function checkList(path: string, field: ListField): void {
  if (field.rows !== undefined) return void keyColumn(field)
  for (const [name, member] of field.fields.entries) {
    if (member.kind !== 'list' && member.kind !== 'object' && (member.column !== undefined || member.kind === 'date')) {
      throw new Error(`${path}.${name}: an item of a document list has neither columns nor dates`)
    }
  }
}

function projectionsOf(service: string, fields: FieldSet, subResources: Resource['subResources']) {
  const projections = new Map<SubResource, Projection>()
  for (const sub of Object.values(subResources)) {
    if (sub.kind === 'nested' && fields.get(sub.list)?.kind !== 'list')
      throw new Error(`${service}: no list ${sub.list}`)
    if (sub.kind === 'projected') {
      const field = fields.get(sub.object)
      if (field?.kind !== 'object') throw new Error(`${service}: no object ${sub.object}`)
      const reader = compileReader(field.fields.shown)
      projections.set(sub, { type: field, reader, keptAs: `${service} ${sub.object}` })
    }
    if (sub.kind === 'computed') {
      const { select, ...reader } = compileReader(sub.type.fields)
      const read = { ...reader, select: sql`(SELECT ${select} FROM ${sub.from} p)` }
      projections.set(sub, { type: sub.type, reader: read, keptAs: null })
    }
  }
  return projections
}
