import { date, text } from '../../engine/definition/fields.ts'

// What records say of their last change. The engine sets it.

/** When a record was changed last; the description says what counts as a change. */
export function lastChange(description: string) {
  return date({ column: 'updatedAt', access: 'ro', label: 'Last change', description })
}

/** Who changed a record last, such as `the product`. */
export function lastEditor(record: string) {
  const description = `The last editor of ${record}: the name of an application, \`API\` for cartAPI, or the e-mail address of a person.`
  return text(50, { column: 'updatedBy', access: 'ro', label: 'Last changed by', description })
}
