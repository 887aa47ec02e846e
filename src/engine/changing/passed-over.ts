import { readDate } from '../../foundation/values/dates.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { roundNumbers } from '../../foundation/values/long-number.ts'
import type { Caller } from '../caller.ts'
import {
  type FieldSet,
  isStamp,
  type ListField,
  type ObjectType,
  type Scalar,
  type ValueField,
} from '../definition/fields.ts'
import { type Handling, shownName } from '../definition/handling.ts'
import {
  type InputRules,
  isRecord,
  isTaken,
  type Json,
  memberOf,
  type Notes,
  type Patch,
  readPatch,
  type UnknownMember,
} from '../definition/input.ts'
import { refused } from '../definition/refused.ts'
import type { Document } from '../definition/stored-row.ts'
import { isShown } from './sent-back.ts'
import { candidatesOf } from './stray-names.ts'

// What a body says that a change does not take: members that no definition has, and members that only the platform writes. Whether
// the latter say anything else than the record shows is known once it is locked, because clients send back what they read.

/** A body that was read, with what was noted. */
export interface ReadBody {
  readonly handling: Handling
  readonly notes: Notes
  readonly type: ObjectType
  readonly body: unknown
  readonly rules: InputRules
  /** What the stored record shows of what the body is of, which may be an item in it. */
  readonly shownIn: (record: Document) => Document | undefined
}

export function notesFor({ isStrict }: Handling): Notes {
  return { isStrict, unknown: [], refusals: [], vanished: [], otherKeys: [], hasReadOnly: false }
}

/** Reads a body that is no record. Throws `bad-request`; of a strict request it names all that is wrong. */
export function readWhole(
  type: ObjectType,
  body: unknown,
  { store }: Pick<Caller, 'store'>,
  handling: Handling,
): Patch {
  const notes = notesFor(handling)
  const rules = { mode: 'update', timeZone: store.timeZone, notes } as const
  const patch = readPatch(type.fields, body, rules)
  settleBody({ handling, notes, type, body, rules, shownIn: () => undefined }, null, [])
  return patch
}

/** Refusals that one names: more than anybody mends at once. */
const REFUSALS_MAX = 100

/**
 * Throws one refusal (400) of everything that is wrong: of a strict request what it says in vain too, of a lenient one the first of
 * `refusals`, and notes the rest. `record`: what is stored; null: it is new.
 */
export function settleBody(read: ReadBody, record: Document | null, refusals: readonly StoreFailure[]): void {
  const { handling, notes, type } = read
  const differing = [...notes.otherKeys, ...(notes.hasReadOnly ? differingPaths(read, record) : [])]
  if (handling.isStrict) {
    const unknown = notes.unknown.map((one) => unknownMember(one, type, handling))
    const all = [...handling.refusals, ...unknown, ...differing.map(readOnly), ...notes.refusals, ...refusals]
    if (all.length > 0) throw oneOf(all)
    return
  }
  for (const path of [...notes.unknown.map(({ path }) => path), ...notes.vanished, ...differing]) handling.ignore(path)
  if (refusals[0] !== undefined) throw refusals[0]
}

/** One refusal that stands for several of the same kind. */
export function oneOf(refusals: readonly StoreFailure[]): StoreFailure {
  const [first, ...others] = refusals
  if (first === undefined || others.length === 0) return first as StoreFailure
  const parts = refusals.slice(0, REFUSALS_MAX)
  const more = refusals.length > parts.length ? '; and more' : ''
  const inWords = (of: 'message' | 'logMessage') => parts.map((part) => part[of]).join('; ') + more
  const { field, kind } = first
  return new StoreFailure(kind, inWords('message'), { field, parts, logMessage: inWords('logMessage') })
}

function unknownMember({ path, within }: UnknownMember, type: ObjectType, handling: Handling): StoreFailure {
  const places = path.split('.')
  const name = places.at(-1) ?? ''
  const of = places.at(-2)?.replace(/\[\d+\]$/, '') ?? type.typeName
  return unknownName(path, {
    name,
    what: `a field of ${of}`,
    nearest: handling.nearest(name, candidatesOf(within), candidatesOf(type.fields)),
  })
}

/** The refusal (400) of a name that nobody knows, of a member or a parameter. */
export function unknownName(
  path: string,
  { name, what, nearest }: { readonly name: string; readonly what: string; readonly nearest: string | null },
): StoreFailure {
  const advice = nearest === null ? '' : `; nearest: ${nearest}`
  return refused(shownName(path), `"${shownName(name)}" is not ${what}${advice}`)
}

function readOnly(path: string): StoreFailure {
  return refused(path, `${path} is read only and differs from what is stored; leave it out, or send what was read`)
}

/** The paths of members that the change does not take, and that say something else than the record shows. */
function differingPaths(read: ReadBody, record: Document | null): string[] {
  const found: string[] = []
  const shown = record === null ? undefined : read.shownIn(record)
  compareMembers(found, read.type.fields, { given: read.body, shown, path: '' }, read.rules)
  return found.slice(0, REFUSALS_MAX)
}

interface Compared {
  readonly given: unknown
  /** Undefined: it is new. */
  readonly shown: Document | undefined
  readonly path: string
}

function compareMembers(found: string[], fields: FieldSet, { given, shown, path }: Compared, rules: InputRules): void {
  if (!isRecord(given)) return
  for (const [sent, member] of Object.entries(given)) {
    const name = fields.byLowerName.get(sent.toLowerCase())
    const field = name === undefined ? undefined : fields.get(name)
    if (name === undefined || field === undefined || member === null || member === undefined) continue
    const at = `${path}${name}`
    const value = shown?.[name]
    if (field.kind === 'object') {
      compareMembers(
        found,
        field.fields,
        { given: member, shown: value as Document | undefined, path: `${at}.` },
        rules,
      )
    } else if (!isTaken(field, rules)) {
      if (!isStamp(field) && !saysTheSame(field, member, value, rules)) found.push(at)
    } else if (field.kind === 'list' && Array.isArray(member)) {
      compareItems(found, field, { given: member, shown: (value ?? []) as Document[], path: at }, rules)
    }
  }
}

interface ComparedItems {
  readonly given: readonly unknown[]
  readonly shown: readonly Document[]
  readonly path: string
}

function compareItems(
  found: string[],
  field: ListField,
  { given, shown, path }: ComparedItems,
  rules: InputRules,
): void {
  const { fields, key } = field
  const ofItems: InputRules = { ...rules, mode: 'update' }
  const byKey = key === undefined ? null : itemsByKey(shown, key)
  for (const [index, item] of given.entries()) {
    const like = byKey === null ? shown[index] : shownByKey(field, byKey, String(memberOf(item, key ?? '')))
    const differing: string[] = []
    compareMembers(differing, fields, { given: item, shown: like, path: `${path}[${index}].` }, ofItems)
    if (differing.length > 0 && !(byKey === null && isLikeAny(fields, item, shown, ofItems))) found.push(...differing)
    if (found.length >= REFUSALS_MAX) return
  }
}

/** Items without a key that are compared with a sent one, whose place may have changed. */
const LIKE_MAX = 100

function isLikeAny(fields: FieldSet, given: unknown, shown: readonly Document[], rules: InputRules): boolean {
  return shown.slice(0, LIKE_MAX).some((item) => {
    const differing: string[] = []
    compareMembers(differing, fields, { given, shown: item, path: '' }, rules)
    return differing.length === 0
  })
}

/** The item with this key; 0 may name the only one. */
function shownByKey(
  { zeroKeyIsOnly }: ListField,
  byKey: ReadonlyMap<string, Document>,
  given: string,
): Document | undefined {
  const isOnly = zeroKeyIsOnly && given === '0' && byKey.size === 1
  return byKey.get(given) ?? (isOnly ? [...byKey.values()][0] : undefined)
}

export function shownItem(field: ListField, items: readonly Document[], given: unknown): Document | undefined {
  return shownByKey(field, itemsByKey(items, field.key ?? ''), String(given))
}

function itemsByKey(items: readonly Document[], key: string): ReadonlyMap<string, Document> {
  return new Map(items.map((item) => [String(item[key]), item]))
}

function saysTheSame(
  field: ValueField | ListField,
  given: unknown,
  shown: Json | undefined,
  rules: Pick<InputRules, 'timeZone' | 'door'>,
): boolean {
  const { timeZone, door } = rules
  if (field.kind === 'list') {
    const items = (shown ?? []) as Document[]
    if (!Array.isArray(given) || given.length !== items.length) return false
    return given.every((item, index) => haveSameMembers(field.fields, item, items[index], rules))
  }
  const value = (shown ?? field.default) as Scalar
  const sent = roundNumbers(given)
  if (isShown({ field, path: [], given: sent, shownAs: door?.shownAs, refusal: null }, value)) return true
  if (field.kind === 'date') return instantIn(sent, timeZone) === instantIn(value, timeZone)
  const read = field.schema.safeParse(sent)
  // An empty number is not given.
  return read.success && (read.data === null || read.data === value)
}

function haveSameMembers(
  fields: FieldSet,
  given: unknown,
  shown: Document | undefined,
  rules: Pick<InputRules, 'timeZone' | 'door'>,
): boolean {
  return (
    isRecord(given) &&
    Object.entries(given).every(([sent, member]) => {
      const name = fields.byLowerName.get(sent.toLowerCase())
      const field = name === undefined ? undefined : fields.get(name)
      if (name === undefined || field === undefined) return false
      if (member === null || member === undefined) return true
      const value = shown?.[name]
      if (field.kind === 'object') return haveSameMembers(field.fields, member, value as Document | undefined, rules)
      return saysTheSame(field, member, value, rules)
    })
  )
}

function instantIn(text: unknown, timeZone: string): number | null {
  return readDate(String(text), timeZone)?.instant.getTime() ?? null
}
