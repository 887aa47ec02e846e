import { dateForms, instantText, readDate } from '../../foundation/values/dates.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { codeOfIssue } from '../../foundation/values/input.ts'
import { LongNumber } from '../../foundation/values/long-number.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import { runAtOnce, type Steps } from '../../foundation/values/slices.ts'
import { losesDecimals, STORED_DECIMALS } from '../../foundation/values/typed-number.ts'
import { type FieldSet, isHidden, isStamp, type ListField, type Scalar, type ValueField } from './fields.ts'
import { refused } from './refused.ts'

export type Json = Scalar | null | Json[] | { [name: string]: Json }

/** How a door shows texts, of stored ones and of those sent, and the refusals of a body in wire order. */
export interface Door {
  readonly shownAs: ((text: string) => string) | undefined
  readonly refusals: StoreFailure[]
}

/** A member that may be what the door showed. */
export interface SentBack {
  readonly field: ValueField
  /** Wire names, from the record or item inwards. */
  readonly path: readonly string[]
  readonly given: unknown
  readonly shownAs: Door['shownAs']
  /** Why it is refused unless it is; null: it was read. */
  readonly refusal: StoreFailure | null
}

/** Whether what was read of a value differs from what was sent, or may differ from it without being another value. */
function mayBeShown(field: ValueField, given: unknown, value: Scalar | null, { shownAs }: Door): boolean {
  const { kind, access } = field
  if (value === null || isHidden(field) || access === 'derived') return false
  if (kind === 'text') return value !== given || shownAs !== undefined
  return kind === 'date' && access !== 'key'
}

/** The checked input for one record or list item; members not given are absent. */
export interface Patch {
  /** The identifier in the input; identifies a record or an item, and never changes one. */
  key: number | string | undefined
  /** By column name. */
  columns: Record<string, Scalar | null>
  /** Members of the `details` document, by wire name. */
  details: Record<string, Json>
  /** By wire name; each replaces the stored list. */
  lists: Record<string, Patch[]>
  /** Fields that are accepted, and neither stored as they are nor shown, by wire name. */
  writeOnly: Record<string, Scalar>
  /** Of a body with a door: members that may be what the stored record shows. */
  sentBack?: SentBack[]
  /** Of the whole body, in wire order: why members are refused unless they are. */
  refusals?: readonly StoreFailure[]
}

/** What of a body a change ignores, as far as its text alone tells. */
export interface Notes {
  /** Whether invalid values are noted too, so that all of them are told. */
  readonly isStrict: boolean
  /** Members that no definition has; at most 100. */
  readonly unknown: UnknownMember[]
  /** Why values are refused, in the order of the definition. */
  readonly refusals: StoreFailure[]
  /** Paths of numbers of which rounding left nothing; at most 100. */
  readonly vanished: string[]
  /** Paths of identifiers that name another record or item than the one that is changed. */
  readonly otherKeys: string[]
  /** It gives members that only the platform writes, which may be what it shows of them. */
  hasReadOnly: boolean
}

export function notesFor({ isStrict }: Pick<Notes, 'isStrict'>): Notes {
  return { isStrict, unknown: [], refusals: [], vanished: [], otherKeys: [], hasReadOnly: false }
}

/** Whether nothing of the body is wrong or ignored. */
export function isAllTaken({ unknown, refusals, vanished, otherKeys, hasReadOnly }: Notes): boolean {
  return !hasReadOnly && unknown.length + refusals.length + vanished.length + otherKeys.length === 0
}

export interface UnknownMember {
  /** From the record inwards, such as `SKUInfo.Prise`. */
  readonly path: string
  /** The fields that there are in its place. */
  readonly within: FieldSet
}

const UNKNOWN_MAX = 100

export interface InputRules {
  /** `create` demands the required fields, `update` takes any subset, `import` keeps platform-written fields too. */
  mode: 'create' | 'update' | 'import'
  timeZone: string
  /** Of an update whose refusals wait for the stored record. Omitted: they are thrown at once. */
  door?: Door
  /** Where to note what is ignored. Omitted: nowhere. */
  notes?: Notes | undefined
}

/** Maximum items of one nested list. */
export const LIST_ITEMS_MAX = 10_000

/**
 * Reads a wire record: ignores case in names, ignores unknown names, treats null as absent (rest-resources §0.8).
 * Throws a 400 with the path of the first invalid field, such as `OrderItemList[2].ItemQuantity`.
 */
export function readPatch(fields: FieldSet, body: unknown, rules: InputRules): Patch {
  return runAtOnce(patchSteps(fields, body, rules))
}

/** The steps of `readPatch`, for a record that may be large. */
export function* patchSteps(fields: FieldSet, body: unknown, rules: InputRules, path = ''): Steps<Patch> {
  const patch: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }
  yield
  yield* readMembers(fields, body, path, rules, { patch, details: patch.details, names: [] })
  return patch
}

/** Where what is read of a record or of an object inside it goes. */
interface Into {
  readonly patch: Patch
  /** The document of `patch`, or the object inside it that contains the member. */
  readonly details: Record<string, Json>
  /** Of that object, from the record or item inwards. */
  readonly names: readonly string[]
}

/** Reads the members that are given; on create also the others, of which some are required. */
function* readMembers(fields: FieldSet, body: unknown, path: string, rules: InputRules, into: Into): Steps<void> {
  if (!isRecord(body)) throw refused(path, `${path || 'The record'} must be an object with fields`)
  const members = canonicalNames(fields, body, path, rules)
  for (const [name, field] of rules.mode === 'create' ? fields.entries : entriesFor(fields, members)) {
    const given = members.get(name)
    const at = path === '' ? name : `${path}.${name}`
    if (field.kind === 'object') {
      if (given === undefined && rules.mode !== 'create') continue
      const details: Record<string, Json> = {}
      const names = [...into.names, name]
      yield* readMembers(field.fields, given ?? {}, at, rules, { ...into, details, names })
      if (Object.keys(details).length > 0) into.details[name] = details
      continue
    }
    noteReadOnly(field, given, rules)
    if (field.kind !== 'list') readMember(field, name, given, at, rules, into)
    else if (given !== undefined && isTaken(field, rules)) {
      into.patch.lists[name] = yield* readList(field, given, rules, at)
    }
  }
}

const placesOf = remembered(({ entries }: FieldSet) => new Map(entries.map(([name], place) => [name, place])))

/** Those of the given members, in wire order: most changes give a few of more than a hundred. */
function entriesFor(fields: FieldSet, given: ReadonlyMap<string, unknown>): FieldSet['entries'] {
  const places = placesOf(fields)
  const wanted = [...given.keys()].flatMap((name) => places.get(name) ?? []).sort((a, b) => a - b)
  return wanted.map((place) => fields.entries[place] as FieldSet['entries'][number])
}

function readMember(
  field: ValueField,
  name: string,
  given: unknown,
  path: string,
  rules: InputRules,
  { patch, details, names }: Into,
): void {
  const value =
    rules.door || rules.notes?.isStrict
      ? readNoting(field, given, path, rules, { patch, names: [...names, name] })
      : readValue(field, given, rules, path)
  if (value === null) return
  if (field.access === 'key') patch.key = value as string | number
  else if (field.access === 'wo' || field.access === 'sent') {
    patch.writeOnly[name] = value
    if (field.fills !== undefined && value !== '') {
      details[field.fills] = value
      // It replaces what was sent back of that member.
      if (patch.sentBack) patch.sentBack = patch.sentBack.filter(({ path }) => path.at(-1) !== field.fills)
    }
  } else if (field.column === undefined) details[name] = value
  else patch.columns[field.column] = field.nullable && value === field.default ? null : value
}

function* readList(field: ListField, given: unknown, rules: InputRules, path: string): Steps<Patch[]> {
  if (!Array.isArray(given)) throw refused(path, `${path} must be a list`)
  if (given.length > LIST_ITEMS_MAX) {
    throw refused(path, `${path} has ${given.length} items; at most ${LIST_ITEMS_MAX} are allowed`, 'too-many-items')
  }
  // An item with a key may be a partial update of a stored one; whether it must be complete is known when it is stored.
  const itemRules: InputRules = { ...rules, mode: rules.mode === 'import' ? 'import' : 'update' }
  const items: Patch[] = []
  for (const [index, item] of given.entries()) {
    items.push(yield* patchSteps(field.fields, item, itemRules, `${path}[${index}]`))
  }
  if (field.keyFrom === 'caller' && field.key !== undefined) refuseMissingKeys(items, field.key, path)
  return items
}

function refuseMissingKeys(items: readonly Patch[], key: string, path: string): void {
  items.forEach((item, index) => {
    const at = `${path}[${index}].${key}`
    if (item.key === undefined || String(item.key).trim() === '' || item.key === 0)
      throw refused(at, `${at} is required`, 'missing-field')
  })
}

/** Refusals of one record that wait for the stored one. */
const REFUSALS_MAX = 100

/**
 * Reads a value, noting what may be sent back as it was shown, and refusals that wait or are told with all others. Which record or item
 * is meant must be known at once.
 */
function readNoting(
  field: ValueField,
  given: unknown,
  path: string,
  rules: InputRules,
  { patch, names }: Pick<Into, 'patch' | 'names'>,
): Scalar | null {
  const { door } = rules
  let value: Scalar | null = null
  let refusal: StoreFailure | null = null
  try {
    value = readValue(field, given, rules, path)
  } catch (error) {
    if (!(error instanceof StoreFailure) || (door && field.access === 'key')) throw error
    if (!door || isHidden(field)) return noteRefusal(error, rules)
    refusal = error
    door.refusals.push(error)
    // More than any record has that somebody sends back: each costs memory until the record is locked.
    if (door.refusals.length > REFUSALS_MAX) throw error
  }
  if (door && (refusal !== null || mayBeShown(field, given, value, door))) {
    patch.sentBack ??= []
    patch.sentBack.push({ field, path: names, given, shownAs: door.shownAs, refusal })
  }
  return value
}

/** Throws it where not all refusals are told, and beyond 100. */
function noteRefusal(refusal: StoreFailure, { notes }: InputRules): null {
  if (!notes?.isStrict || notes.refusals.length >= REFUSALS_MAX) throw refusal
  notes.refusals.push(refusal)
  return null
}

function noteReadOnly(field: ValueField | ListField, given: unknown, rules: InputRules): void {
  const { notes } = rules
  if (notes === undefined || notes.hasReadOnly || given === undefined) return
  notes.hasReadOnly = !isTaken(field, rules) && !isStamp(field)
}

/** Null: the input does not change the field. */
function readValue(field: ValueField, given: unknown, rules: InputRules, path: string): Scalar | null {
  const value = isGiven(field, given, rules) ? checked(field, given, rules, path) : null
  if (field.required && rules.mode !== 'import') {
    const isEmpty = value === null ? rules.mode === 'create' : typeof value === 'string' && value.trim() === ''
    if (isEmpty) throw refused(path, `${path} is required and must not be empty`, 'missing-field')
  }
  return value
}

/** Ignores the default of a write-only field, because clients send back what they read. */
function isGiven(field: ValueField, given: unknown, rules: InputRules): boolean {
  if (given === undefined || !isTaken(field, rules)) return false
  return field.access !== 'wo' || given !== field.default
}

function checked(field: ValueField, given: unknown, rules: InputRules, path: string): Scalar | null {
  const result = field.schema.safeParse(given)
  if (!result.success) {
    const [issue] = result.error.issues
    throw refused(path, `${path} ${issue?.message ?? 'is not valid'}`, issue && codeOfIssue(issue))
  }
  const { data } = result
  if (field.kind === 'decimal' && data !== null && losesDecimals(Number(given))) noteLost(data, rules, path)
  if (field.kind !== 'date' || data === null) return data
  // An empty date clears a nullable date, and is "not given" for any other.
  if (data === '') return field.nullable ? data : null
  const read = readDate(String(data), rules.timeZone)
  if (!read) throw refused(path, `${path} is not a date; allowed: ${dateForms}`)
  return instantText(read.instant)
}

/** Refuses (400) in a strict request what would lose decimals, and notes of another of what nothing is left. */
function noteLost(rounded: Scalar, { notes }: InputRules, path: string): void {
  if (notes?.isStrict) throw refused(path, `${path} must have at most ${STORED_DECIMALS} decimals`)
  if (rounded === 0 && notes && notes.vanished.length < UNKNOWN_MAX) notes.vanished.push(path)
}

/** Whether a change of this mode takes the member, and does not ignore it. */
export function isTaken(field: ValueField | ListField, { mode }: Pick<InputRules, 'mode'>): boolean {
  if (field.access === 'derived') return false
  if (field.access === 'new') return mode !== 'update'
  return field.access !== 'ro' || mode === 'import'
}

function canonicalNames(fields: FieldSet, body: Record<string, unknown>, path: string, { notes }: InputRules) {
  const given = new Map<string, unknown>()
  for (const [name, member] of Object.entries(body)) {
    const canonical = fields.byLowerName.get(name.toLowerCase())
    if (canonical === undefined) {
      if (notes && notes.unknown.length < UNKNOWN_MAX) {
        notes.unknown.push({ path: path === '' ? name : `${path}.${name}`, within: fields })
      }
    } else if (member !== null && member !== undefined) given.set(canonical, member)
  }
  return given
}

/** The member of a record, whatever the case of its name. */
export function memberOf(record: unknown, name: string): unknown {
  if (!isRecord(record)) return undefined
  return Object.entries(record).find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1]
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LongNumber)
}
