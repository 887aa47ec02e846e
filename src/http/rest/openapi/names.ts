import type { Endpoint, RecordType } from '../../../engine/definition/endpoints.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { isOfOne, type Place, typesOf } from '../endpoints.ts'

/** What an operation does, and to what: its name, its summary and its description are made of it. */
export interface Subject {
  readonly verb: 'list' | 'count' | 'get' | 'create' | 'update' | 'delete'
  readonly isOfMany: boolean
  /** The XML name of the records, without the parent's name as prefix. */
  readonly inner: string
  /** The XML name of the records that contain them or refer to them; empty: they are the records of the service. */
  readonly parent: string
  /** Those of one parent, which the address names. */
  readonly isOfParent: boolean
  /** What people call one of the records and several, without the parent. */
  readonly nouns: readonly [one: string, many: string]
  /** The same of the parent; empty without one. */
  readonly whole: string
}

export function subjectOf({ resource, endpoints, endpoint, method }: Place): Subject {
  const isCount = endpoint.operations.GET?.gives.kind === 'count'
  const path = isCount ? endpoint.path.slice(0, -'/Count'.length) : endpoint.path
  const isItem = path.endsWith('Id') || path === '/:id'
  const reading = isCount ? 'count' : isItem || isOfOne(endpoint, endpoints) ? 'get' : 'list'
  const verb = ({ GET: reading, POST: 'create', PUT: 'update', DELETE: 'delete' } as const)[method]
  const isOfMany = verb === 'list' || verb === 'count' || (verb === 'update' && !isItem)
  const isOfParent = path.startsWith('/:id/')
  return { verb, isOfMany, isOfParent, ...recordsAt(resource, endpoint, path) }
}

function recordsAt(resource: Resource, { operations }: Endpoint, path: string) {
  const { typeName } = resource
  if (path === '' || path === '/:id') return { inner: typeName, parent: '', nouns: nounsOf(resource), whole: '' }
  const [type] = Object.values(operations).flatMap(typesOf)
  const inner = innerName(type?.typeName ?? '', typeName)
  return { inner, parent: typeName, nouns: nounsOf({ ...type, typeName: inner }), whole: nounsOf(resource)[0] }
}

/** The XML name of records inside others, without theirs as prefix. */
export function innerName(name: string, parent: string): string {
  return name.startsWith(parent) ? name.slice(parent.length) : name
}

/** What people call one record of a type, and several. */
export function nounsOf({ typeName, nouns }: Pick<RecordType, 'typeName' | 'nouns'>): readonly [string, string] {
  return nouns ?? [inWords(typeName), inWords(plural(typeName))]
}

/** What people call the records of an operation: beside their parent (`whose`) where the address names one, else with it. */
export function wordsOf({ nouns, whole, isOfParent }: Subject) {
  const of = isOfParent || whole === '' ? '' : `${whole} `
  const [one, many] = [of + nouns[0], of + nouns[1]]
  const whose = isOfParent ? whole : ''
  return { one, many, whose, missing: `the store has no such ${whose || one}` }
}

/** The operationId: a verb and a noun, such as `listProducts`, `countProducts`, `getProduct`, `updateProductFeatures`. */
export function operationName(place: Place): string {
  const { named } = place.operation
  if (named !== undefined) return named.id
  const { verb, isOfMany, inner, parent } = subjectOf(place)
  return verb + parent + (isOfMany ? plural(inner) : inner)
}

/** `Category` → `Categories`, `OrderStatus` → `OrderStatuses`, `Options` stays. */
export function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  if (/(us|ss|x|ch)$/.test(name)) return `${name}es`
  return name.endsWith('s') ? name : `${name}s`
}

/** `UpSellingItem` → `up selling item`, `RMAItems` → `RMA items` */
export function inWords(name: string): string {
  const apart = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z]{2})([A-Z][a-z]{2})/g, '$1 $2')
  return apart.replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase())
}

/** `a product`, `an order`, `an RMA`, `the sums` */
export function withArticle(noun: string): string {
  if (/[^su]s$/.test(noun)) return `the ${noun}`
  return `${/^([aeio]|up|[EIR][A-Z])/.test(noun) ? 'an' : 'a'} ${noun}`
}

export function possessive(noun: string): string {
  return noun.endsWith('s') ? `${noun}’` : `${noun}’s`
}

/** `Update several features of a product`, `Get a product`; for names of their own: `Resume webhook`. */
export function summaryOf(place: Place): string {
  const { named } = place.operation
  const words = named === undefined ? summaryOfSubject(subjectOf(place)) : (named.summary ?? inWords(named.id))
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function summaryOfSubject(subject: Subject): string {
  const { verb, isOfMany } = subject
  const { one, many, whose } = wordsOf(subject)
  if (verb === 'list' || verb === 'count') {
    return `${verb} ${whose === '' ? '' : `${possessive(withArticle(whose))} `}${many}`
  }
  const noun = verb === 'update' && isOfMany ? `several ${many}` : withArticle(one)
  return `${verb} ${noun}${whose === '' ? '' : ` of ${withArticle(whose)}`}`
}
