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

/** A second line of an address, such as `the billing address`. */
export function secondLine(label: string, address: string) {
  return text(50, { label, description: `A second line of ${address}, such as a floor.` })
}

/** The state of an address, likewise. */
export function state(length: number, address: string, options: { readonly column?: string } = {}) {
  const code = 'in the United States and Canada its code, such as `FL`'
  return text(length, { ...options, description: `The state, province or county of ${address}; ${code}.` })
}

/** The country of an address, likewise. */
export function country(length: number, address: string, options: { readonly column?: string } = {}) {
  const description = `The country of ${address} by its ISO 3166 code of two letters, such as \`US\`.`
  return text(length, { isCountry: true, ...options, description })
}

/** The address of a picture, such as `A small picture of the category`. */
export function imagePath(length: number, picture: string, label = '') {
  const description = `${picture}: a path below the store’s address, or a whole address.`
  return text(length, { isImage: true, label, description })
}

/** The place of something among others, such as `the picture in the gallery`. */
export function position(what: string, hint = '') {
  return integer({
    label: 'Position',
    hint,
    description: `The place of ${what}: the storefront shows lower numbers first.`,
  })
}

/** Filters by the last change. */
export const changed = { lastupdatestart: since('updatedAt'), lastupdateend: until('updatedAt') }
