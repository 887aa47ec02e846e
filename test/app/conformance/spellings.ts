import type { Field, FieldSet } from '../../../src/engine/definition/fields.ts'
import { isValue, isWritable } from './paths.ts'
import type { Wire } from './samples.ts'

/**
 * The same body as tolerated clients write it: names in another case, numbers as text, 1 and 0 for booleans, members that
 * nobody knows, and in the items of lists what only the platform writes (rest-resources §0.2, §0.8).
 */
export function tolerated(fields: FieldSet, body: Wire): Wire {
  const members = Object.entries(body).map(([name, value], index) => {
    const field = fields.get(name)
    return [index % 2 === 0 ? name.toUpperCase() : name.toLowerCase(), field ? respelt(field, value, index) : value]
  })
  return { CanadaStock: 5, ...Object.fromEntries(members), Nonsense: { a: [1] } }
}

function respelt(field: Field, value: unknown, index: number): unknown {
  if (field.kind === 'object') return tolerated(field.fields, value as Wire)
  if (field.kind === 'list') {
    return (value as Wire[]).map((item) => ({ ...platformMembers(field.fields), ...tolerated(field.fields, item) }))
  }
  if (field.kind === 'boolean') return (value ? [1, '1', 'true', 'True'] : [0, '0', 'false', 'FALSE'])[index % 4]
  return typeof value === 'number' ? ` ${value} ` : value
}

/** No record ever gets this identifier. */
export const ignoredId = 424_242

/** A body with all that only the platform writes, each of the right type, as of a client that sends back what it read. */
export function ignoredBy(fields: FieldSet): Wire {
  return Object.fromEntries(
    fields.shown.entries.flatMap(([name, field]) => {
      if (field.kind === 'object') return [[name, ignoredBy(field.fields)]]
      if (isWritable(field)) return []
      return [[name, foreignValue(field)]]
    }),
  )
}

function foreignValue(field: Field): unknown {
  if (!isValue(field)) return [{ ID: 1 }]
  if (field.access === 'key') return ignoredId
  return { text: 'ignored', integer: 77, decimal: 77.5, boolean: !field.default, date: '2001-01-01T00:00:00' }[
    field.kind
  ]
}

function platformMembers(fields: FieldSet): Wire {
  const members = fields.shown.entries.filter(([, field]) => !isWritable(field, true))
  return Object.fromEntries(members.map(([name]) => [name, { not: 'even a value' }]))
}
