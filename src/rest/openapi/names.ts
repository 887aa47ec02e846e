import type { Resource } from '../../engine/define.ts'
import type { Endpoint, Operation } from '../../engine/endpoints.ts'
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
  const name = subjectOf(resource, endpoint)
  switch (method) {
    case 'GET':
      return isItem || hasWholeList(endpoints, path) ? `get${name}` : `list${plural(name)}`
    case 'POST':
      return `create${name}`
    case 'PUT':
      return `update${isItem ? name : plural(name)}`
    case 'DELETE':
      return `delete${name}`
  }
}

/** Whether the same is listed for all records, as `/skuinfo` beside `/:id/skuinfo`; then this endpoint is a `get`. */
function hasWholeList(endpoints: readonly Endpoint[], path: string): boolean {
  return path.startsWith('/:id/') && endpoints.some((other) => other.path === path.slice('/:id'.length))
}

function subjectOf({ typeName }: Resource, { path, operations }: Endpoint): string {
  if (path === '' || path === '/:id') return typeName
  const inner = typeNameOf(Object.values(operations))
  return typeName + (inner.startsWith(typeName) ? inner.slice(typeName.length) : inner)
}

/** The XML name of the records in requests and answers, which all operations share. */
function typeNameOf(operations: readonly Operation[]): string {
  const [name] = operations.flatMap(({ takes, gives }) => {
    if (takes !== undefined) return [takes.type.typeName]
    return gives.kind === 'results' ? [] : [gives.type.typeName]
  })
  return name ?? ''
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
