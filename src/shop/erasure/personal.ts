import type { FieldSet } from '../../engine/definition/fields.ts'
import type { Json } from '../../engine/definition/input.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import type { Document, Row, Stored } from '../../engine/definition/stored-row.ts'
import personal from './personal.json' with { type: 'json' }
import type { Words } from './words.ts'

// What is personal, by the table personal.json (docs/decisions/erasure.md).

/** The services whose records may be of a customer. */
export const services = ['Customers', 'Orders', 'GiftRegistries', 'RMA'] as const

type MemberTreatment = 'sought' | 'emptied' | 'fixed' | 'kept' | 'other'

type Named<Treatment extends string> = Readonly<Record<string, { readonly [T in Treatment]?: string }>>

const members = new Map<string, MemberTreatment>(
  Object.entries(personal.members as Named<MemberTreatment>).flatMap(([at, treatments]) =>
    Object.entries(treatments).flatMap(([treatment, names]) =>
      names.split(' ').map((name): [string, MemberTreatment] => [`${at}.${name}`, treatment as MemberTreatment]),
    ),
  ),
)

/** What erasure makes of a member, by service and path: `Orders.ShipmentList.ShipmentCity`; undefined: of no definition, or a list. */
export function treatmentOf(path: string): MemberTreatment | undefined {
  return members.get(path)
}

/** Whether erasure leaves nothing of a member, or of a list with such members. */
export function isErased(path: string): boolean {
  const treatment = members.get(path)
  if (treatment !== undefined) return treatment !== 'kept' && treatment !== 'other'
  return members.keys().some((each) => each.startsWith(`${path}.`) && isErased(each))
}

/** What erasure does with the texts of a column that no definition names: `searched` and `logged` differ in what they are searched for. */
type ColumnTreatment = 'searched' | 'logged' | 'opened' | 'goes' | 'keyed' | 'members' | 'kept' | 'staff' | 'other'

/** The columns of this treatment, by table. */
export function columnsTo(treatment: ColumnTreatment): ReadonlyMap<string, readonly string[]> {
  const found = Object.entries(personal.columns as Named<ColumnTreatment>).flatMap(([table, treatments]) => {
    const names = treatments[treatment]
    return names === undefined ? [] : [[table, names.split(' ')] as const]
  })
  return new Map(found)
}

/** What stands in place of a text that may not be empty, and of words in the midst of others. */
export const ERASED = '[erased]'

/** Takes the words of a person from a record as answers have it, of a service or list. */
export function takeWords(at: string, record: object, words: Words): void {
  for (const [name, value] of Object.entries(record)) {
    const path = `${at}.${name}`
    if (typeof value === 'object' && value !== null) {
      for (const item of Array.isArray(value) ? value : [value]) takeWords(path, item, words)
    } else if (typeof value === 'string' && isErased(path)) words.add(name, value, treatmentOf(path) === 'sought')
  }
  words.addNames(record)
}

/** Empties what is personal in a JSON text of a record, which may be of a former version. Throws for other texts. */
export function emptyText(service: string, text: string, words: Words): string {
  return JSON.stringify(emptyDocument(service, JSON.parse(text) as Document, words, unset))
}

/** The record as it is stored, emptied. */
export function emptyStored({ service, fields, storedFields }: Resource, stored: Stored, words: Words): Stored {
  const lists = Object.entries(stored.lists).map(([name, rows]) => {
    const list = fields.get(name)
    const inner = list?.kind === 'list' ? list.fields : storedFields
    return [name, rows.map((row) => emptyRow(`${service}.${name}`, inner, row, words))]
  })
  return { row: emptyRow(service, storedFields, stored.row, words), lists: Object.fromEntries(lists) }
}

function emptyRow(at: string, { leaves }: FieldSet, row: Row, words: Words): Row {
  const next = { ...row }
  for (const { path, field } of leaves) {
    if (field.kind === 'list' || field.column === undefined) continue
    const value = row[field.column] ?? null
    const isNull = field.nullable || field.kind === 'date'
    const without = (old: Json) => (isNull ? null : unset(old))
    next[field.column] = emptied(`${at}.${path.join('.')}`, value, words, without) ?? null
  }
  // What is not in the document has its default.
  if (row.details) next.details = emptyDocument(at, row.details as Document, words, () => undefined)
  return next
}

type Without = (value: Json) => Json | undefined

/** The empty value of the same kind. */
function unset(value: Json): Json {
  if (typeof value === 'number') return 0
  if (typeof value === 'boolean') return false
  return value === null ? null : ''
}

function emptyDocument(at: string, document: Document, words: Words, without: Without): Document {
  const next: Document = {}
  for (const [name, value] of Object.entries(document)) {
    const path = `${at}.${name}`
    const inside = (inner: Json) => emptyDocument(path, inner as Document, words, without)
    const after = Array.isArray(value)
      ? value.map((item) => (typeof item === 'object' ? inside(item) : item))
      : typeof value === 'object' && value !== null
        ? inside(value)
        : emptied(path, value, words, without)
    if (after !== undefined) next[name] = after
  }
  return next
}

function emptied(path: string, value: Json, words: Words, without: Without): Json | undefined {
  const treatment = treatmentOf(path)
  if (treatment === 'fixed') return ERASED
  if (isErased(path)) return without(value)
  return typeof value === 'string' && treatment !== 'other' ? words.without(value) : value
}
