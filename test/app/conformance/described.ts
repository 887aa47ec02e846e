import type { Field, FieldSet, ValueField } from '../../../src/engine/definition/fields.ts'
import type { Resource, SubResource } from '../../../src/engine/definition/resource.ts'
import { isValue } from './paths.ts'
import { boundsOf, longestText } from './samples.ts'

/**
 * A service as the engine treats it: its addresses, and a line for each field in wire order, such as
 * `SKUInfo.SKU: text to 255, required`. Kept in a file for each service, which stands for contract §4 and §8 and for the
 * tables of rest-resources: the tests read bounds off the definitions, and would follow a definition that is wrong.
 */
export function described(resource: Resource): string {
  const { names, typeName, methods, maxRecords, idParam, resultKey, filters, fields } = resource
  const lines = [
    `${names.join(', ')}: ${methods.join(', ')}; lists of at most ${maxRecords}`,
    `one by ${idParam}, answered as ${resultKey}; filters: ${Object.keys(filters).join(', ') || 'none'}`,
    ...Object.entries(resource.subResources).map(([name, sub]) => `/${name}: ${describedSub(sub)}`),
    '',
    typeName,
    ...linesOf(fields, ''),
  ]
  return `${lines.join('\n')}\n`
}

function describedSub(sub: SubResource): string {
  if (sub.kind === 'projected')
    return `${sub.object} of all and of one; filters: ${Object.keys(sub.filters).join(', ')}`
  if (sub.kind === 'computed')
    return `${sub.type.typeName} of all and of one; filters: ${Object.keys(sub.filters).join(', ')}`
  if (sub.kind === 'related') return `its ${sub.resource().service}`
  const answered = sub.resultKey === undefined ? '' : `, answered as ${sub.resultKey}`
  return `${sub.list}, ${sub.methods.join(', ')}; one by ${sub.idParam}${answered}`
}

function linesOf(fields: FieldSet, path: string): string[] {
  return fields.entries.flatMap(([name, field]) => [
    `${path}${name}: ${describedField(field)}`,
    ...linesWithin(field, path + name),
  ])
}

function linesWithin(field: Field, path: string): string[] {
  if (field.kind === 'object') return linesOf(field.fields, `${path}.`)
  return field.kind === 'list' ? linesOf(field.fields, `${path}[].`) : []
}

function describedField(field: Field): string {
  if (isValue(field)) return describedValue(field)
  if (field.kind === 'object') return field.typeName
  return [`${field.typeName}[]`, ...accessOf(field)].join(', ')
}

function describedValue(field: ValueField): string {
  const isRequired = field.required ? ['required'] : []
  const isUsual = field.default === { text: '', date: '', integer: 0, decimal: 0, boolean: false }[field.kind]
  const initial = isUsual ? [] : [`at first ${JSON.stringify(field.default)}`]
  const isOptional = field.isOptional ? ['answered only where it is set'] : []
  return [`${field.kind}${boundsIn(field)}`, ...accessOf(field), ...isRequired, ...initial, ...isOptional].join(', ')
}

function boundsIn(field: ValueField): string {
  const { maxLength, values } = field.bounds
  if (values !== undefined) return `: ${values.join(' or ')}`
  // Of one that is not any text, what its definition says.
  if (field.kind === 'text') return ` to ${longestText(field) || maxLength}`
  if (field.kind !== 'integer') return ''
  const { min, max } = boundsOf(field)
  return min === -2_147_483_648 && max === 2_147_483_647 ? '' : ` ${min} to ${max}`
}

function accessOf({ access }: { access: string }): string[] {
  return access === 'rw' ? [] : [access === 'derived' ? 'ro' : access]
}
