import { isDeepStrictEqual } from 'node:util'
import type { ValueField } from '../../../engine/definition/fields.ts'
import type { Fault } from '../../../foundation/values/failure.ts'
import { setIn, valueIn } from '../../../foundation/values/json.ts'
import { readTyped, type TypedNumber } from '../../../foundation/values/typed-number.ts'
import type { Writing } from '../../html/numbers.ts'
import { refusedFields } from '../../html/page-routes.ts'
import { type Form, textIn } from '../../html/request.ts'
import type { Wire } from '../frame/pages.ts'
import { mergePlain, withBreaksOf } from './plain-html.ts'
import type { List, Section, Value } from './services.ts'
import { hasLines, isTicked, isWritable, itemsIn, plainText, typedOf } from './values.ts'

// A form's fields have the wire names, with dots: `SKUInfo.Price`, and `FeatureList.2.FeatureTitle` for the row that the form
// shows in the third place. `FeatureList.2.at` says which stored item the row is, `FeatureList.2.gone` that it shall go.

/** Empty rows that a list of a form shows after the stored ones. */
const NEW_ROWS = 1

export interface Row {
  /** The names of its fields begin with this and a dot. */
  readonly name: string
  /** The place of the stored item; null: a new one. */
  readonly at: number | null
  readonly lists: readonly Rows[]
}

export interface Rows {
  readonly list: List
  readonly name: string
  readonly rows: readonly Row[]
}

/** The names and texts of a form for these values of a record. */
export function valuesTyped(
  values: readonly Value[],
  record: Wire,
  writing: Writing,
  prefix = '',
): Record<string, string> {
  return Object.fromEntries(
    values.map(({ path }) => [prefix + path.join('.'), typedOf(valueIn(record, path), writing)]),
  )
}

/** The names and texts of a form for a list of a record. */
export function listTyped(list: List, record: Wire, writing: Writing, prefix = ''): Record<string, string> {
  const items = itemsIn(record, list)
  const rows = items.map((item, at) => {
    const name = `${prefix}${list.name}.${at}.`
    const inner = list.lists.map((each) => listTyped(each, item, writing, name))
    return Object.assign({ [`${name}at`]: String(at) }, valuesTyped(list.values, item, writing, name), ...inner)
  })
  return Object.assign({}, ...rows)
}

/** The rows that a form shows: those that it holds, and an empty one after them. `more` names a list that gets another one. */
export function rowsOf(list: List, form: Form, more: string, prefix = ''): Rows {
  const name = prefix + list.name
  const places = placesIn(form, name)
  const next = (places.at(-1) ?? -1) + 1
  const added = Array.from({ length: NEW_ROWS + (more === name ? 1 : 0) }, (_, index) => next + index)
  const rows = [...places, ...added].map((place): Row => {
    const at = textIn(form, `${name}.${place}.at`)
    const rowName = `${name}.${place}`
    const lists = list.lists.map((each) => rowsOf(each, form, more, `${rowName}.`))
    return { name: rowName, at: at === '' ? null : Number(at), lists }
  })
  return { list, name, rows }
}

/** The places of the rows that a form holds. */
export function placesIn(form: Form, name: string): number[] {
  const places = new Set<number>()
  for (const key of Object.keys(form)) {
    if (!key.startsWith(`${name}.`)) continue
    const place = key.slice(name.length + 1).split('.', 1)[0] ?? ''
    if (/^\d{1,5}$/.test(place)) places.add(Number(place))
  }
  return [...places].sort((one, other) => one - other)
}

/** What a form changes in a record. */
export interface Changes {
  /** For `changeRecord`; empty: nothing. */
  readonly body: Wire
  /** The form's name for a field that a refusal names. */
  readonly nameOf: (field: string) => string
}

/**
 * The changes of a section's form, whose reader writes numbers by `writing`. A new record has none of its values yet. Throws (400, naming
 * the fields) for texts that are no numbers.
 */
export function changesOf(
  { values, list }: Pick<Section, 'values' | 'list'>,
  form: Form,
  record: Wire | null,
  writing: Writing,
): Changes {
  const faults: Fault[] = []
  const reading = { prefix: '', writing, faults }
  const body = membersOf(values, form, reading, record)
  const stored = list === null ? [] : itemsIn(record ?? {}, list)
  const { items, places } = list === null ? { items: [], places: [] } : itemsOf(list, form, stored, reading)
  if (faults.length > 0) throw refusedFields(faults)
  if (list === null) return { body, nameOf: (field) => field }
  const isSame = isDeepStrictEqual(items, stored)
  const nameOf = (field: string) =>
    field
      .replace(/^(\w+)\[(\d+)\]/, (_, name, index) => `${name}.${places[Number(index)] ?? index}`)
      .replaceAll(/\[(\d+)\]/g, '.$1')
  return { body: isSame ? body : { ...body, [list.name]: items }, nameOf }
}

interface Reading {
  /** The names of the fields begin with it. */
  readonly prefix: string
  readonly writing: Writing
  /** Where to note texts that cannot be read, so that all of them are told. */
  readonly faults: Fault[]
}

/** The items that a form's rows make: stored ones with what was typed over them, and new ones that are not empty. */
function itemsOf(list: List, form: Form, stored: readonly Wire[], { prefix, ...others }: Reading) {
  const name = prefix + list.name
  const items: Wire[] = []
  const places: number[] = []
  for (const place of placesIn(form, name)) {
    const row = `${name}.${place}.`
    if (textIn(form, `${row}gone`) !== '') continue
    const before = stored[Number(textIn(form, `${row}at`) || -1)] ?? null
    const reading = { ...others, prefix: row }
    const item = membersOf(list.values, form, reading, before, structuredClone(before ?? {}))
    for (const inner of list.lists) {
      const rows = itemsOf(inner, form, itemsIn(before ?? {}, inner), reading).items
      if (rows.length > 0 || before !== null) item[inner.name] = rows
    }
    if (before === null && Object.keys(item).length === 0) continue
    items.push(item)
    places.push(place)
  }
  return { items, places }
}

/** Puts the members that differ from what is stored into `members`, nested as on the wire. */
function membersOf(
  values: readonly Value[],
  form: Form,
  { prefix, writing, faults }: Reading,
  before: Wire | null,
  members: Record<string, unknown> = {},
): Record<string, unknown> {
  for (const value of values) {
    const { path, field } = value
    const isKeyOfNew = field.access === 'key' && before === null && prefix !== ''
    if (!isWritable(value, before === null ? 'create' : 'update') && !isKeyOfNew) continue
    const name = prefix + path.join('.')
    const { text: typed, problem } = typedIn(form, name, field, writing)
    const stored = before === null ? field.default : (valueIn(before, path) ?? field.default)
    if (typed !== null && isTypedAs(value, typed, plainText(stored))) continue
    if (typed === null || problem !== '') {
      faults.push({ field: name, problem })
      continue
    }
    // What is emptied is what it was before it was set; a key or a secret that nobody typed is not given.
    if (typed === '' && (field.access === 'wo' || isKeyOfNew || before === null)) continue
    const isEmptied = typed === '' && field.kind !== 'text'
    setIn(members, path, isEmptied ? field.default : withBreaksOf(plainText(stored), typed))
  }
  return members
}

/** The form with what its plain editors changed in the sources, which it carries beside them. */
export function withEdited(form: Form): Form {
  const edited = Object.keys(form).filter((name) => name.endsWith(EDITED))
  if (edited.length === 0) return form
  const merged = edited.map((name) => {
    const source = name.slice(0, -EDITED.length)
    return [source, mergePlain(breaks(textIn(form, source)), breaks(textIn(form, name)))] as const
  })
  return {
    ...Object.fromEntries(Object.entries(form).filter(([name]) => !edited.includes(name))),
    ...Object.fromEntries(merged),
  }
}

/** What the name of an editor's field ends in, behind the name of the source's. */
const EDITED = '.edited'

function breaks(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** As programs write it. */
function typedIn(form: Form, name: string, { kind, numberKind }: ValueField, writing: Writing): TypedNumber {
  if (kind === 'integer' || kind === 'decimal') return readTyped(textIn(form, name), writing, numberKind)
  return { text: kind === 'boolean' ? String(isTicked(form, name)) : breaks(textIn(form, name)), problem: '' }
}

/** Whether a form's field for the one text sends the other: browsers write every line break as CR LF, and in a field of one line none. */
export function isTypedAs({ field }: Value, typed: string, stored: string): boolean {
  const lineBreak = hasLines(field) ? '\n' : ''
  const sent = (text: string) => text.replace(/\r\n?|\n/g, lineBreak)
  return sent(typed) === sent(stored)
}
