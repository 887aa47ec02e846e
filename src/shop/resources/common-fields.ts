import { date, integer, text } from '../../engine/definition/fields.ts'
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

/** When a record was changed last; the description says what counts as a change. */
export function lastChange(description: string) {
  return date({ column: 'updatedAt', access: 'ro', label: 'Last change', description })
}

/** Who changed a record last, such as `the product`. */
export function lastEditor(record: string) {
  const description = `The last editor of ${record}: the name of an application, \`API\` for cartAPI, or the e-mail address of a person.`
  return text(50, { column: 'updatedBy', access: 'ro', label: 'Last changed by', description })
}

/** Filters by the last change. */
export const changed = { lastupdatestart: since('updatedAt'), lastupdateend: until('updatedAt') }
