import { identifier, join, type Sql, sql } from '../database/sql.ts'
import type { Access, Caller } from './caller.ts'
import type { Change } from './change.ts'
import type { Endpoint } from './endpoints.ts'
import { columnPath, type FieldSet, type Fields, fieldSet, type ListField, type Scalar } from './fields.ts'
import type { Filters } from './filters.ts'
import type { Ledger } from './ledger.ts'
import type { Link } from './links.ts'
import { compileReader, hasDocumentMember, keyColumn, type Reader } from './reader.ts'
import type { Referrer } from './referrers.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Definition {
  /** The name in addresses, such as `Products`; also the name of the privilege unless `privilege` is given. */
  service: string
  aliases?: readonly string[]
  privilege?: string
  /** The record's element name in XML. */
  typeName: string
  /** Other element names that XML bodies may use. */
  inputTypeNames?: readonly string[]
  /** The identifier's name in addresses and queries. Omitted: that of its field in lower case, such as `catalogid`. */
  idParam?: string
  /** Omitted: `typeName`. */
  table?: string
  /** Omitted: all. */
  methods?: readonly Method[]
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
  /** A text column that identifies a record without an identifier in PUT lists. */
  alternateKey?: string
  subResources?: Readonly<Record<string, SubResource>>
  /** Additional addresses of the service. */
  endpoints?: () => Endpoint[]
  /** Limits the caller to some of the store's records; for operations the others do not exist. Null: all. */
  owner?: (caller: Caller) => Sql | null
  /** Checks, completes or refuses changes before they are written, in their transaction. */
  rules?: (changes: readonly Change[]) => Promise<void>
  /** Runs after the write, in its transaction: ledger rows, other records, events. Imports run it without `rules`. */
  effects?: (changes: readonly Change[]) => Promise<void>
  /** The references to these records, and what happens to each when its target is deleted. */
  referrers?: readonly Referrer[]
  /** Rows that only export and import carry, in pieces. */
  ledger?: Ledger
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

/** Records of another service that belong to the record: `/Manufacturers/3/Products`. */
export interface RelatedSubResource {
  kind: 'related'
  /** A function, because definitions refer to one another. */
  resource: () => Resource
  /** Links the other records to this one. */
  link: Link
}

export type SubResource = NestedSubResource | ProjectedSubResource | RelatedSubResource

export interface Resource {
  readonly service: string
  readonly names: readonly string[]
  readonly privilege: string
  readonly typeName: string
  readonly inputTypeNames: readonly string[]
  readonly idParam: string
  readonly resultKey: string
  readonly table: string
  readonly methods: readonly Method[]
  readonly changesMany: boolean
  readonly maxRecords: number
  readonly fields: FieldSet
  readonly privateFields: FieldSet
  /** `fields` and `privateFields` together. */
  readonly storedFields: FieldSet
  readonly hidden: Readonly<Record<string, Scalar | null>>
  readonly filters: Filters
  readonly alternateKey: string | undefined
  readonly subResources: Readonly<Record<string, SubResource>>
  readonly endpoints: (() => Endpoint[]) | undefined
  readonly owner: ((caller: Caller) => Sql | null) | undefined
  readonly rules: ((changes: readonly Change[]) => Promise<void>) | undefined
  readonly effects: ((changes: readonly Change[]) => Promise<void>) | undefined
  readonly referrers: readonly Referrer[]
  readonly ledger: Ledger | undefined
  readonly reader: Reader
  /** Reads `privateFields`. */
  readonly privateReader: Reader
  /** The readers of projected sub-resources, by the name of the object. */
  readonly projections: ReadonlyMap<string, Reader>
  /** The columns of the record's row that an update may write. */
  readonly columns: readonly string[]
  /** Sets all `columns` from the row `n`. Built once, because every change needs it. */
  readonly assignments: Sql
  readonly hasDetails: boolean
}

/** Checks and compiles a definition. Throws at start-up for mistakes in the definition. */
export function defineResource<const Service extends string>(
  definition: Definition & { service: Service },
): Resource & { readonly service: Service } {
  const { service, aliases = [], subResources = {}, hidden = {} } = definition
  const fields = fieldSet(definition.fields)
  const privateFields = fieldSet(definition.privateFields ?? {})
  const storedFields = fieldSet({ ...definition.fields, ...definition.privateFields })
  const resultKey = columnPath(fields, 'id')?.at(-1)
  if (resultKey === undefined) throw new Error(`${service}: no field of the column "id"`)
  for (const sub of Object.values(subResources)) checkSubResource(service, fields, sub)
  for (const [name, field] of fields.entries) if (field.kind === 'list') checkList(`${service}.${name}`, field)
  const columns = new Set([...columnsOf(storedFields), ...Object.keys(hidden)])
  columns.delete('id')
  const hasDetails = hasDocumentMember(storedFields)
  if (hasDetails) columns.add('details')
  return {
    service,
    names: [service, ...aliases],
    privilege: definition.privilege ?? service,
    typeName: definition.typeName,
    inputTypeNames: definition.inputTypeNames ?? [],
    idParam: definition.idParam ?? resultKey.toLowerCase(),
    resultKey,
    table: definition.table ?? definition.typeName,
    methods: definition.methods ?? ['GET', 'POST', 'PUT', 'DELETE'],
    changesMany: definition.changesMany ?? true,
    maxRecords: definition.maxRecords,
    fields,
    privateFields,
    storedFields,
    hidden,
    filters: definition.filters ?? {},
    alternateKey: definition.alternateKey,
    subResources,
    endpoints: definition.endpoints,
    owner: definition.owner,
    rules: definition.rules,
    effects: definition.effects,
    referrers: definition.referrers ?? [],
    ledger: definition.ledger,
    reader: compileReader(fields),
    privateReader: compileReader(privateFields),
    projections: projectionsOf(fields, subResources),
    columns: [...columns],
    assignments: join([...columns].map(identifier).map((column) => sql`${column} = n.${column}`)),
    hasDetails,
  }
}

/** The access that a method requires (contract §7). */
export function accessOf(method: Method): Access {
  return method === 'GET' ? 'read' : 'write'
}

function checkList(path: string, field: ListField): void {
  if (field.rows !== undefined) {
    keyColumn(field)
    return
  }
  for (const [name, member] of field.fields.entries) {
    if (member.kind !== 'list' && member.kind !== 'object' && (member.column !== undefined || member.kind === 'date')) {
      throw new Error(`${path}.${name}: an item of a document list has neither columns nor dates`)
    }
  }
}

function checkSubResource(service: string, fields: FieldSet, sub: SubResource): void {
  if (sub.kind === 'nested' && fields.get(sub.list)?.kind !== 'list') {
    throw new Error(`${service}: no list ${sub.list}`)
  }
  if (sub.kind === 'projected' && fields.get(sub.object)?.kind !== 'object') {
    throw new Error(`${service}: no object ${sub.object}`)
  }
}

function columnsOf({ leaves }: FieldSet): string[] {
  return leaves.flatMap(({ field }) => (field.kind === 'list' || field.column === undefined ? [] : [field.column]))
}

function projectionsOf(fields: FieldSet, subResources: Readonly<Record<string, SubResource>>): Map<string, Reader> {
  const readers = new Map<string, Reader>()
  for (const sub of Object.values(subResources)) {
    if (sub.kind !== 'projected') continue
    const field = fields.get(sub.object)
    if (field?.kind === 'object') readers.set(sub.object, compileReader(field.fields))
  }
  return readers
}
