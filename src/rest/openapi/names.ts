import type { Resource } from '../../engine/definition/define.ts'
import type { Endpoint } from '../../engine/reading/endpoints.ts'
import { typesOf } from '../endpoints.ts'
import type { Place } from './describe.ts'

/**
 * The operationId: a verb and a noun, such as `listProducts`, `getProduct`, `updateProductFeatures`. The noun is the
 * XML name of the records, without the parent's name as prefix.
 */
export function operationName({ resource, endpoints, endpoint, method }: Place): string {
  const { path, operations } = endpoint
  const { named } = operations[method] ?? {}
  if (named !== undefined) return named.id
  const isItem = path.endsWith('Id') || path === '/:id'
  // The same may be listed for all records, as `/skuinfo` beside `/:id/skuinfo`: then this endpoint is a `get`.
  const isOfOne = path.startsWith('/:id/') && endpoints.some((other) => other.path === path.slice('/:id'.length))
  const verb = { GET: isItem || isOfOne ? 'get' : 'list', POST: 'create', PUT: 'update', DELETE: 'delete' }[method]
  const isOfMany = verb === 'list' || (verb === 'update' && !isItem)
  const subject = subjectOf(resource, endpoint)
  return verb + (isOfMany ? plural(subject) : subject)
}

function subjectOf({ typeName }: Resource, { path, operations }: Endpoint): string {
  if (path === '' || path === '/:id') return typeName
  const [inner = ''] = Object.values(operations)
    .flatMap(typesOf)
    .map((type) => type.typeName)
  return typeName + (inner.startsWith(typeName) ? inner.slice(typeName.length) : inner)
}

/** `Category` → `Categories`, `OrderStatus` → `OrderStatuses`, `Options` stays. */
function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  if (/(us|ss|x|ch)$/.test(name)) return `${name}es`
  return name.endsWith('s') ? name : `${name}s`
}

/** `updateProductFeatures` → `Update product features`, `listRMAItems` → `List RMA items` */
export function summaryOf(operationId: string): string {
  const apart = operationId.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z]{2})([A-Z][a-z]{2})/g, '$1 $2')
  const words = apart.replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}
