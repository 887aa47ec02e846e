import { readDate } from '../../foundation/values/dates.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { roundNumbers } from '../../foundation/values/long-number.ts'
import { type Candidate, candidateOf, nearestName } from '../../foundation/values/nearest.ts'
import { remembered } from '../../foundation/values/remembered.ts'
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
  notesFor,
  readPatch,
  type UnknownMember,
} from '../definition/input.ts'
import { refused } from '../definition/refused.ts'
import type { Document } from '../definition/stored-row.ts'
import { isShown } from './sent-back.ts'

// What is ignored of a body: members that no definition has, and members that only the platform writes. Whether the latter say anything
// else than the record shows is known once it is locked, because clients send back what they read.

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

/** Reads a body that is no record. Throws a 400; of a strict request it names all that is wrong. */
export function readWhole(type: ObjectType, body: unknown, { store }: Pick<Caller, 'store'>, handling: Handling) {
  const notes = notesFor(handling)
  const rules = { mode: 'update', timeZone: store.timeZone, notes } as const
  const patch = readPatch(type.fields, body, rules)
  settleBody({ handling, notes, type, body, rules, shownIn: () => undefined }, null, [])
  return patch
}

/** Refusals that one names: more than anybody mends at once. */
export const REFUSALS_MAX = 100

/**
 * Throws one refusal (400) of everything that is wrong: of a strict request also what it would ignore, of a lenient one the first of
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
  const { field, code, status } = first
  return new StoreFailure(code, inWords('message'), { field, status, parts, logMessage: inWords('logMessage') })
}

/** What some work is refused for; none: it was done. */
export async function refusalsOf(work: () => Promise<unknown>): Promise<readonly StoreFailure[]> {
  try {
    await work()
    return []
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.status >= 500) throw error
    return error.parts.length > 0 ? error.parts : [error]
  }
}

/** Makes each of `items`, and throws one refusal that names all that are refused; with `refused` it adds them there instead. */
export function allOrRefused<T, Made>(
  items: readonly T[],
  make: (item: T, index: number) => Made,
  refused?: StoreFailure[],
): Made[] {
  const refusals = refused ?? []
  const made = items.flatMap((item, index) => {
    try {
      return [make(item, index)]
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      refusals.push(error)
      return []
    }
  })
  if (refused === undefined && refusals.length > 0) throw oneOf(refusals)
  return made
}

function unknownMember({ path, within }: UnknownMember, type: ObjectType, handling: Handling): StoreFailure {
  const places = path.split('.')
  const name = places.at(-1) ?? ''
  const of = places.at(-2)?.replace(/\[\d+\]$/, '') ?? type.typeName
  const nearest = handling.nearest(name, candidatesOf(within), candidatesOf(type.fields))
  return unknownName(path, { name, what: `a field of ${of}`, nearest, code: 'unknown-field' })
}

interface UnknownName {
  readonly name: string
  readonly what: string
  readonly nearest: string | null
  readonly code: 'unknown-field' | 'unknown-parameter'
}

/** The refusal (400) of a name that nobody knows, of a member or a parameter. */
export function unknownName(path: string, { name, what, nearest, code }: UnknownName): StoreFailure {
  const advice = nearest === null ? '' : `; nearest: ${nearest}`
  return refused(shownName(path), `"${shownName(name)}" is not ${what}${advice}`, code)
}

function readOnly(path: string): StoreFailure {
  const rule = 'is read only and differs from what is stored; leave it out, or send what was read'
  return refused(path, `${path} ${rule}`, 'read-only-field')
}

/**
 * The refusal (400) of an update that names no known field at any depth, but others: to answer that it succeeded would say that
 * something was stored. An identifier counts as a field, and a record without members is allowed. Null: it is none.
 */
export function ignoredWhole({ typeName, fields }: ObjectType, body: unknown): StoreFailure | null {
  const unknown = onlyUnknown(fields, body)
  if (unknown === null) return null
  const candidates = candidatesOf(fields)
  const last = unknown.slice(unknown.lastIndexOf('.') + 1)
  const meant = nearestName(last, candidates) ?? nearestName(unknown, candidates)
  const advice = meant === null ? 'The fields are listed at /docs' : `Did you mean ${meant}?`
  const shown = shownName(unknown)
  const message = `"${shown}" is not a field of ${typeName}, and no other field is given. ${advice}`
  return refused(shown, message, 'unknown-field')
}

/** The path of the first unknown name, if no known one has a value; otherwise null. */
function onlyUnknown(fields: FieldSet, body: unknown): string | null {
  let unknown: string | null = null
  const hasKnown = (within: FieldSet, record: Record<string, unknown>, path: string): boolean =>
    Object.entries(record).some(([given, member]) => {
      const [name, field] = fieldNamed(within, given)
      if (field === undefined) {
        unknown ??= path + given
        return false
      }
      if (field.kind === 'object' && isRecord(member)) return hasKnown(field.fields, member, `${path}${name}.`)
      if (field.kind !== 'list' || !Array.isArray(member) || member.length === 0) return true
      const isKnown = (item: unknown, index: number) =>
        !isRecord(item) || Object.keys(item).length === 0 || hasKnown(field.fields, item, `${path}${name}[${index}].`)
      return member.some(isKnown)
    })
  return isRecord(body) && !hasKnown(fields, body, '') ? unknown : null
}

/** The field of a name in any case, and how the definition spells it. */
function fieldNamed(fields: FieldSet, given: string) {
  const name = fields.byLowerName.get(given.toLowerCase()) ?? ''
  return [name, fields.get(name)] as const
}

const candidatesOf = remembered((fields: FieldSet): readonly Candidate[] => candidatesIn(fields, ''))

/** Every field at every depth by its path: `SKUInfo.Price`, `FeatureList.FeatureTitle`. */
function candidatesIn({ entries }: FieldSet, path: string): Candidate[] {
  return entries.flatMap(([last, field]) => {
    const one = candidateOf(path + last, 'label' in field ? field.label : '')
    return 'fields' in field ? [one, ...candidatesIn(field.fields, `${path}${last}.`)] : [one]
  })
}

/** The paths of members that the change does not take, and that say something else than the record shows. */
function differingPaths({ type, body, rules, shownIn }: ReadBody, record: Document | null): string[] {
  const shown = record === null ? undefined : shownIn(record)
  return [...differing(type.fields, { given: body, shown, path: '' }, rules).take(REFUSALS_MAX)]
}

interface Compared {
  readonly given: unknown
  /** Undefined: it is new. */
  readonly shown: Document | undefined
  readonly path: string
  /** Whether all members are compared, and unknown ones differ too. Omitted: those that the change does not take. */
  readonly isWhole?: boolean
}

function* differing(
  fields: FieldSet,
  { given, shown, path, isWhole = false }: Compared,
  rules: InputRules,
): Generator<string, undefined> {
  if (!isRecord(given)) {
    if (isWhole) yield path
    return
  }
  for (const [sent, member] of Object.entries(given)) {
    const [name, field] = fieldNamed(fields, sent)
    const at = path + (name || sent)
    if (field === undefined) {
      if (isWhole) yield at
      continue
    }
    if (member === null || member === undefined) continue
    const value = shown?.[name]
    if (field.kind === 'object') {
      const inner = { given: member, shown: value as Document | undefined, path: `${at}.`, isWhole }
      yield* differing(field.fields, inner, rules)
    } else if (isWhole || !isTaken(field, rules)) {
      if ((isWhole || !isStamp(field)) && !saysTheSame(field, member, value, rules)) yield at
    } else if (field.kind === 'list' && Array.isArray(member)) {
      yield* differingItems(field, member, (value ?? []) as Document[], at, rules)
    }
  }
}

function* differingItems(
  field: ListField,
  given: readonly unknown[],
  shown: readonly Document[],
  path: string,
  rules: InputRules,
): Generator<string, undefined> {
  const { fields, key } = field
  const ofItems: InputRules = { ...rules, mode: 'update' }
  const byKey = key === undefined ? null : itemsByKey(shown, key)
  for (const [index, item] of given.entries()) {
    const like = byKey === null ? shown[index] : shownByKey(field, byKey, String(memberOf(item, key ?? '')))
    const compared = { given: item, shown: like, path: `${path}[${index}].` }
    if (isSame(fields, compared, ofItems)) continue
    const isLike = (other: Document) => isSame(fields, { given: item, shown: other, path: '' }, ofItems)
    if (byKey === null && shown.slice(0, LIKE_MAX).some(isLike)) continue
    yield* differing(fields, compared, ofItems)
  }
}

/** Items without a key that are compared with a sent one, whose place may have changed. */
const LIKE_MAX = 100

function isSame(fields: FieldSet, compared: Compared, rules: InputRules): boolean {
  return differing(fields, compared, rules).next().done === true
}

/** The item with this key; 0 may name the only one. */
function shownByKey({ zeroKeyIsOnly }: ListField, byKey: ReadonlyMap<string, Document>, given: string) {
  const isOnly = zeroKeyIsOnly && given === '0' && byKey.size === 1
  return byKey.get(given) ?? (isOnly ? [...byKey.values()][0] : undefined)
}

export function shownItem(field: ListField, items: readonly Document[], given: unknown): Document | undefined {
  return shownByKey(field, itemsByKey(items, field.key ?? ''), String(given))
}

function itemsByKey(items: readonly Document[], key: string): ReadonlyMap<string, Document> {
  return new Map(items.map((item) => [String(item[key]), item]))
}

function saysTheSame(field: ValueField | ListField, given: unknown, shown: Json | undefined, rules: InputRules) {
  const { timeZone, door } = rules
  if (field.kind === 'list') {
    const items = (shown ?? []) as Document[]
    if (!Array.isArray(given) || given.length !== items.length) return false
    return given.every((item, index) =>
      isSame(field.fields, { given: item, shown: items[index], path: '', isWhole: true }, rules),
    )
  }
  const value = (shown ?? field.default) as Scalar
  const sent = roundNumbers(given)
  if (isShown({ field, path: [], given: sent, shownAs: door?.shownAs, refusal: null }, value)) return true
  if (field.kind === 'date') return instantIn(sent, timeZone) === instantIn(value, timeZone)
  const read = field.schema.safeParse(sent)
  // An empty number is not given.
  return read.success && (read.data === null || read.data === value)
}

function instantIn(text: unknown, timeZone: string): number | null {
  return readDate(String(text), timeZone)?.instant.getTime() ?? null
}
