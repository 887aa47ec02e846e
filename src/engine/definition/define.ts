import { sql } from '../../foundation/database/sql.ts'
import {
  columnPath,
  type FieldSet,
  type Fields,
  fieldSet,
  fieldsWithout,
  type ListField,
  type Members,
} from './fields.ts'
import { compileReader, hasDocumentMember, keyColumn } from './reader.ts'
import {
  type Definition,
  type NestedSubResource,
  type Projection,
  type Resource,
  type SubResource,
  usual,
} from './resource.ts'

/** Declares the address of a list inside the record; `idParam` names an item of it. */
export function nested(
  list: string,
  idParam: string,
  options: Partial<Pick<NestedSubResource, 'methods' | 'resultKey' | 'takesPictures'>> = {},
): NestedSubResource {
  return { kind: 'nested', list, methods: ['GET', 'POST', 'PUT'], idParam, ...options }
}

/** Checks and compiles a definition. Throws at start-up for mistakes in the definition. */
export function defineResource<const Service extends string, Inner extends Fields>(
  definition: Definition & { service: Service; fields: Inner },
): Resource & Members<Inner> & { readonly service: Service } {
  const { service, aliases = [] } = definition
  const { rules, pages = {}, files, ...wire } = definition
  const fields = fieldSet(definition.fields)
  const storedFields = fieldSet({ ...definition.fields, ...definition.privateFields })
  const resultKey = columnPath(fields, 'id')?.at(-1)
  if (resultKey === undefined) throw new Error(`${service}: no field of the column "id"`)
  checkNames(definition, fields)
  const reader = compileReader(fields.shown)
  const whole = fieldsWithout(fields, (access) => access === 'sent')
  const resource: Resource & { readonly service: Service } = {
    ...usual,
    privilege: service,
    idParam: resultKey.toLowerCase(),
    table: definition.typeName,
    ...(definition.alternateKey !== undefined && { namedBy: definition.alternateKey }),
    ...wire,
    ...rules,
    ...pages,
    ...files,
    names: [service, ...aliases],
    resultKey,
    fields,
    storedFields,
    reader,
    wholeReader: whole === fields.shown ? reader : compileReader(whole),
    privateReader: compileReader(fieldSet(definition.privateFields ?? {})),
    projections: projectionsOf(service, fields, definition.subResources),
    columns: columnsOf(storedFields, definition.hidden),
    hasDetails: hasDocumentMember(storedFields),
  }
  byTable.set(resource.table, resource)
  return resource
}

const byTable = new Map<string, Resource>()

/** The definition of the records in a table: definitions refer to one another in circles. Null: there is none. */
export function definedFor(table: string): Resource | null {
  return byTable.get(table) ?? null
}

/** Checks what the definition says by the names of its fields and filters. */
function checkNames({ service, filters = {}, pages = {} }: Definition, fields: FieldSet): void {
  for (const [name, field] of fields.entries) if (field.kind === 'list') checkList(`${service}.${name}`, field)
  for (const first of Object.values(pages.groups ?? {})) {
    if (fields.get(first) === undefined) throw new Error(`${service}: no field ${first} to begin a group with`)
  }
  for (const name of pages.searchedBy ?? []) {
    if (filters[name] === undefined) throw new Error(`${service}: no filter ${name} to search by`)
  }
  for (const name of (pages.calledBy ?? []).flat()) {
    if (fields.get(name)?.kind !== 'text') throw new Error(`${service}: no text ${name} to call a record by`)
  }
  for (const path of Object.keys(pages.explains ?? {})) {
    if (!hasField(fields, path.split('.'))) throw new Error(`${service}: no field ${path} to explain`)
  }
}

function hasField(fields: FieldSet, [name = '', ...inner]: readonly string[]): boolean {
  const field = fields.get(name)
  if (field === undefined || inner.length === 0) return field !== undefined
  return 'fields' in field && hasField(field.fields, inner)
}

/** The columns of a record's row that an update may write. */
function columnsOf(storedFields: FieldSet, hidden: Definition['hidden'] = {}): string[] {
  const columns = new Set(Object.keys(hidden))
  for (const { field } of storedFields.leaves) if (field.kind !== 'list' && field.column) columns.add(field.column)
  columns.delete('id')
  return hasDocumentMember(storedFields) ? [...columns, 'details'] : [...columns]
}

function checkList(path: string, field: ListField): void {
  if (field.rows !== undefined) return void keyColumn(field)
  for (const [name, member] of field.fields.entries) {
    if (member.kind !== 'list' && member.kind !== 'object' && (member.column !== undefined || member.kind === 'date')) {
      throw new Error(`${path}.${name}: an item of a document list has neither columns nor dates`)
    }
  }
}

function projectionsOf(service: string, fields: FieldSet, subResources: Definition['subResources'] = {}) {
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
