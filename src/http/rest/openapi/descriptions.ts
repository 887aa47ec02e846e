import { accessOf } from '../../../engine/caller.ts'
import type { RecordType } from '../../../engine/definition/endpoints.ts'
import { columnPath, type FieldSet, type ListField } from '../../../engine/definition/fields.ts'
import type { Filter } from '../../../engine/definition/filters.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { ITEMS_MAX } from '../../../engine/reading/nested.ts'
import { LIMIT_DEFAULT } from '../../../engine/reading/paging.ts'
import { RECORDS_MAX } from '../body.ts'
import { type Place, typesOf } from '../endpoints.ts'
import {
  innerName,
  nounsOf,
  operationName,
  possessive,
  type Subject,
  subjectOf,
  withArticle,
  wordsOf,
} from './names.ts'

/** What an operation does, what it answers, and what its 404 means. */
export function descriptionOf(place: Place): string {
  const { privileges, createdBy } = place.endpoint
  const { named } = place.operation
  const needs =
    privileges.length === 0
      ? []
      : [`Needs the ${place.operation.access ?? accessOf(place.method)} privilege of ${privileges.join(' and ')}.`]
  const creation = createdBy === undefined || place.method !== 'GET' ? [] : [`${createdBy}.`]
  return [named?.description ?? sentencesOf(place), ...creation, ...needs].join(' ')
}

function sentencesOf(place: Place): string {
  const subject = subjectOf(place)
  const { one, whose, missing } = wordsOf(subject)
  const key = keyOf(place)
  switch (subject.verb) {
    case 'list':
    case 'count':
      return readingMany(place, subject)
    case 'get':
      if (whose === '') {
        return `Answers the ${one} that the address names, as a list of one. 404, without a body: ${missing}.`
      }
      return `Answers ${recordsRead(place, subject)} as a list of one. 404, without a body: ${missing}.`
    case 'create':
      return whose === ''
        ? `Adds ${withArticle(one)}, or up to ${RECORDS_MAX} in a list, each by itself. The answer has ${given(key)} of each. Members that are not sent have their defaults.`
        : `Adds ${withArticle(one)} to ${withArticle(whose)}, or up to ${RECORDS_MAX} in a list, and answers ${given(key)} of each. 404, without a body: ${missing}.`
    case 'update':
      return changing(place, subject, key)
    case 'delete':
      return `Deletes ${withArticle(one)} for good. 404, without a body: ${missing}.`
  }
}

function given(key: string): string {
  return key === '' ? 'a result item' : `the new ${key}`
}

function readingMany(place: Place, subject: Subject): string {
  const { whose, missing } = wordsOf(subject)
  const { gives } = place.operation
  const which = recordsRead(place, subject)
  if (subject.verb === 'count') {
    const unknown = whose === '' ? '' : ` 404, without a body: ${missing}.`
    return `The number of ${which} that match the filters. None is the answer 0.${unknown}`
  }
  if (gives.kind !== 'list' || gives.filters === null) {
    return `Lists ${which} in their order in the ${whose}, ${ITEMS_MAX} a page. 404, without a body: none is there, or ${missing}.`
  }
  const unknown = whose === '' ? '' : `, or ${missing}`
  return `Lists ${which} by ascending ${keyOf(place)}, ${gives.limitDefault ?? LIMIT_DEFAULT} a page unless \`limit\` asks for up to ${gives.maxRecords}. The header \`Link\` leads to the next page. 404, without a body: none matches${unknown}. \`${countOf(place)}\` answers how many match.`
}

/** `the store’s products`, `the products of a category`, `the SKUInfo of …` for a part of records. */
function recordsRead({ resource, endpoint }: Place, subject: Subject): string {
  const { one, many, whose } = wordsOf(subject)
  const types = Object.values(endpoint.operations).flatMap(typesOf)
  const part = resource.fields.entries.find(([, field]) => field.kind === 'object' && types.includes(field))
  const owners = whose === '' ? `the store’s ${nounsOf(resource)[1]}` : withArticle(whose)
  if (part !== undefined) return `the \`${part[0]}\` of ${owners}, without the rest,`
  return whose === '' ? `the store’s ${many}` : `the ${subject.isOfMany ? many : one} of ${owners}`
}

function countOf({ endpoints, endpoint, ...place }: Place): string {
  const counting = endpoints.find(({ path }) => path === `${endpoint.path}/Count`)
  const operation = counting?.operations.GET
  if (counting === undefined || operation === undefined) throw new Error(`no count beside ${endpoint.path}`)
  return operationName({ ...place, endpoints, endpoint: counting, method: 'GET', operation })
}

function changing(place: Place, subject: Subject, key: string): string {
  const { isOfMany } = subject
  const { one, many, whose, missing } = wordsOf(subject)
  const at = whose === '' ? '' : ` of ${withArticle(whose)}`
  if (!isOfMany)
    return `Changes ${withArticle(one)}${at}. Members that are not sent stay as they are. 404, without a body: the ${whose || 'store'} has no such ${one}.`
  const named = key === '' ? '' : `, each named by its ${key}`
  const unknown = whose === '' ? '' : ` 404, without a body: ${missing}.`
  return `Changes ${many}${at}, up to ${RECORDS_MAX} in a list${named}, each by itself. Members that are not sent stay as they are.${removing(place)}${unknown}`
}

/** How items go that have no DELETE. */
function removing({ resource, endpoint }: Place): string {
  const type = endpoint.operations.PUT?.takes?.type
  const found = resource.fields.entries.find(([, field]) => field === type)
  if (found === undefined || endpoint.operations.POST === undefined || !resource.methods.includes('PUT')) return ''
  const [one] = nounsOf(resource)
  return ` To remove one, send \`${found[0]}\` of the ${one} without it.`
}

/** The identifier's wire path in code type; empty: the records have none. */
function keyOf({ resource, endpoint }: Place): string {
  const types = Object.values(endpoint.operations).flatMap(typesOf)
  const type = types.find((each) => each !== resource)
  if (type === undefined) return code(columnPath(resource.fields, 'id'))
  if ('key' in type) return code((type as ListField).key)
  return code(columnPath(type.fields, 'id') ?? type.fields.byLowerName.get(resource.idParam))
}

function code(path: string | readonly string[] = ''): string {
  return path === '' ? '' : `\`${[path].flat().join('.')}\``
}

/** What an identifier in an address names, with the member that has it. */
export function identifierDescription({ resource, endpoints, endpoint }: Place, param: 'id' | 'itemId'): string {
  const name = endpoint.params[param]?.name ?? ''
  if (param === 'id') return ownIdentifier(resource)
  const [list = ''] = endpoint.path.split('/:itemId')
  const types = endpoints
    .filter(({ path }) => path === list || path === `${list}/:itemId`)
    .flatMap(({ operations }) => Object.values(operations).flatMap(typesOf))
  for (const type of types) {
    const member = type.fields.byLowerName.get(name)
    if (member === undefined) continue
    const only = 'zeroKeyIsOnly' in type && type.zeroKeyIsOnly ? ' 0 names the only one.' : ''
    const [noun] = nounsOf({ ...type, typeName: innerName(type.typeName, resource.typeName) })
    return `The ${possessive(noun)} identifier, \`${member}\`.${only}`
  }
  throw new Error(`no member for ${name}`)
}

export function ownIdentifier(resource: Resource): string {
  return `The ${possessive(nounsOf(resource)[0])} identifier, ${code(columnPath(resource.fields, 'id'))}.`
}

type Compared = Pick<Filter, 'kind' | 'column' | 'ofItems' | 'isLower' | 'note'>

/** What a filter compares with what. */
export function filterDescription(filter: Compared, type: RecordType, resource: Resource): string {
  const { path, isHidden } = filteredPath(filter, type, resource)
  const member = isHidden ? `${code(path)} (which these records do not show)` : code(path)
  const { kind, isLower, note } = filter
  switch (kind) {
    case 'text':
      return `The whole ${member}, without regard to case.`
    case 'part':
      return `A part of ${member}, without regard to case.`
    case 'integer':
    case 'number':
      if (isLower === undefined) return [`The exact ${member}.`, note].filter(Boolean).join(' ')
      return `The ${isLower ? 'least' : 'greatest'} ${member}, itself included.`
    case 'flag':
      return `1: only ${nounsOf(type)[1]} with ${member}. 0: only those without. -1, or left out: both. Also \`true\` and \`false\`.`
    case 'since':
      return `The earliest ${member}, in the store’s zone: \`2026-03-01\` (from midnight on) or \`2026-03-01T14:30:00\`; also \`03/01/2026\` and \`03/01/2026 14:30:00\`.`
    case 'until':
      return `The latest ${member}, in the store’s zone: \`2026-03-31\` (that whole day) or \`2026-03-31T14:30:00\` (that whole second); also \`03/31/2026\` and \`03/31/2026 14:30:00\`.`
  }
}

/** The member that a filter compares, from the record inwards. `isHidden`: the records of the list do not show it. */
export function filteredPath(
  { column = '', ofItems }: Pick<Filter, 'column' | 'ofItems'>,
  type: RecordType,
  { service, fields, storedFields }: Resource,
): { readonly path: readonly string[]; readonly isHidden: boolean } {
  const shown = ofItems === undefined ? columnPath(type.fields, column) : itemPath(fields, ofItems)
  const path = shown ?? columnPath(storedFields, column)
  if (path === undefined) throw new Error(`${service}: a filter of no member`)
  return { path, isHidden: shown === undefined }
}

function itemPath({ entries }: FieldSet, { table, column }: { table: string; column: string }) {
  for (const [name, field] of entries) {
    if (field.kind !== 'list' || field.rows?.table !== table) continue
    const inside = columnPath(field.fields, column)
    return inside === undefined ? undefined : [name, ...inside]
  }
  return undefined
}
