import { date, type FieldAccess, integer, text } from '../../engine/definition/fields.ts'
import { since, until } from '../../engine/definition/filters.ts'

// Fields and filters that several resources have.

/** The key of a record. */
export function recordNumber(label: string, description: string) {
  return integer({ column: 'id', access: 'key', label, description })
}

/** The key of an item of a list that is stored with its record. */
export function itemNumber(label: string, description: string) {
  return integer({ access: 'key', label, description })
}

/** When a record was changed last; the description says what counts as a change. A private field, which files alone have, may be `rw`. */
export function lastChange(description: string, access: FieldAccess = 'ro') {
  return date({ column: 'updatedAt', access, label: 'Last change', description })
}

/** Who changed a record last, such as `the product`; likewise. */
export function lastEditor(record: string, access: FieldAccess = 'ro') {
  const description = `The last editor of ${record}: the name of an application, \`API\` for cartAPI, or the e-mail address of a person.`
  return text(50, { column: 'updatedBy', access, label: 'Last changed by', description })
}

/** Filters by the last change. */
export const changed = { lastupdatestart: since('updatedAt'), lastupdateend: until('updatedAt') }
