import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { runInSlices } from '../../foundation/values/slices.ts'
import type { Caller } from '../caller.ts'
import { fieldOf } from '../definition/constraints.ts'
import { columnPath, type FieldSet, hasRows, type ListField, type Scalar } from '../definition/fields.ts'
import type { Handling } from '../definition/handling.ts'
import {
  type Door,
  type InputRules,
  isAllTaken,
  memberOf,
  type Notes,
  notesFor,
  type Patch,
  patchSteps,
} from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import { wrongField } from '../definition/refused.ts'
import type { NestedSubResource, Resource } from '../definition/resource.ts'
import type { Document, Stored } from '../definition/stored-row.ts'
import { listField } from '../reading/nested.ts'
import { findByAlternateKeys } from '../reading/read.ts'
import { ignoredWhole, type ReadBody, settleBody, shownItem } from './ignored.ts'
import { keep } from './merge.ts'
import { storedKeys } from './sent-back.ts'
import { type NewRows, reserveIds } from './write.ts'

interface Sent {
  readonly body: unknown
  /** How the request is read. Omitted: nobody asks what is ignored. */
  readonly handling?: Handling | undefined
}

/** The body of an update, and how its door shows texts. Omitted: as JSON does, as they are. */
interface UpdateBody extends Sent {
  readonly shownAs?: Door['shownAs']
}

/** A change requested for one record. A patch is a body already read; it may hold more than wire fields. */
export type RequestedChange =
  | ({ readonly kind: 'create' } & Sent)
  /** Without an id, the body identifies the record, by its identifier or else by the alternate key. */
  | ({ readonly kind: 'update'; readonly id?: number } & UpdateBody)
  | { readonly kind: 'patch'; readonly id: number | null; readonly patch: Patch }
  | { readonly kind: 'delete'; readonly id: number }
  /** Adds an item to a list inside the record. */
  | ({ readonly kind: 'add-item'; readonly id: number; readonly list: NestedSubResource } & Sent)
  /** Without a key, the body identifies the item. */
  | ({
      readonly kind: 'update-item'
      readonly id: number
      readonly list: NestedSubResource
      readonly key?: number | string
    } & UpdateBody)

/** A change after reading its input, before any lock. */
export interface PlannedChange {
  readonly kind: 'create' | 'update' | 'delete'
  /** For a new record, its reserved id. */
  readonly id: number
  /** The members to change; a function if they depend on the stored record. */
  readonly patch: Patch | ((stored: Stored) => Patch)
  /** The table lists that the change touches. */
  readonly lists: readonly string[]
  /** The number of new nested rows that the change may add. */
  readonly newRows: NewRows
  /** The key of the changed item. Omitted: the result is the record's id. */
  readonly keyOf?: (after: Stored) => Scalar
  /** Why it is refused if the stored record does not show what was sent; null: for nothing. */
  readonly refusal: StoreFailure | null
  readonly isStrict?: boolean
  /** The body, where something in it depends on what the stored record shows. */
  readonly read?: ReadBody | undefined
}

/** A patch that changes nothing. */
export const emptyPatch: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }

/** A change whose record's id may still be to be found: it is new, or named by its alternate key. */
interface Draft extends PlannedChange {
  readonly named?: string
}

/** Reads the input of a change. Throws a 400 that names the field, `not-found` for an unknown alternate key. */
export async function planChange(caller: Caller, resource: Resource, requested: RequestedChange) {
  const [planned] = await planChanges(caller, resource, [requested])
  if (planned === undefined || planned instanceof StoreFailure) throw planned
  return planned
}

/** `planChange` for several, with their refusals. Reserves the ids of new records in one statement, and looks all names up in one. */
export async function planChanges(
  caller: Caller,
  resource: Resource,
  requested: readonly RequestedChange[],
): Promise<(PlannedChange | StoreFailure)[]> {
  const drafts: (Draft | StoreFailure)[] = []
  for (const one of requested) {
    const draft = await draftOf(caller, resource, one).catch((error: unknown) => {
      if (error instanceof StoreFailure) return error
      throw error
    })
    drafts.push(draft)
  }
  const added = drafts.filter((draft) => 'id' in draft && draft.kind === 'create').length
  let nextId = added === 0 ? 0 : await reserveIds(caller, resource.table, added)
  const names = drafts.flatMap((draft) => ('id' in draft && draft.named) || [])
  const byName = names.length === 0 ? new Map<string, number>() : await findByAlternateKeys(caller, resource, names)
  return drafts.map((draft, at) => {
    if (draft instanceof StoreFailure) return draft
    const asked = requested[at]
    const isStrict = asked !== undefined && 'handling' in asked && asked.handling?.isStrict === true
    if (draft.kind === 'create') return { ...draft, isStrict, id: nextId++ }
    const { named, refusal } = draft
    const id = named === undefined ? draft.id : byName.get(named)
    if (id !== undefined) return { ...draft, isStrict, id }
    return (
      refusal ?? new StoreFailure('not-found', `There is no ${resource.typeName} "${named}"`, { field: named ?? '' })
    )
  })
}

async function draftOf(caller: Caller, resource: Resource, requested: RequestedChange): Promise<Draft> {
  switch (requested.kind) {
    case 'create': {
      const { patch, read } = await readBody(caller, resource, requested, null)
      if (read) settleBody(read, null, [])
      return planPatch(resource, null, patch)
    }
    case 'update': {
      const { patch, read } = await readBody(caller, resource, requested, requested.id)
      if (requested.id === undefined) return planNamed(resource, patch, requested, read)
      return planPatch(resource, requested.id, patch, read)
    }
    case 'patch':
      return planPatch(resource, requested.id, requested.patch)
    case 'delete':
      return { ...planPatch(resource, requested.id, emptyPatch), kind: 'delete' }
    case 'add-item': {
      const { patch, read } = await readBody(caller, listField(resource, requested.list), requested, null)
      if (read) settleBody(read, null, patch.refusals ?? [])
      else if (patch.refusals?.[0]) throw patch.refusals[0]
      return planNewItem(resource, requested.id, requested.list, patch)
    }
    case 'update-item': {
      const field = listField(resource, requested.list)
      const { patch, read } = await readBody(caller, field, requested, requested.key)
      return planItem(resource, requested, patch, read)
    }
  }
}

/**
 * Reads the body of the record or item with this identifier; null: it is new, undefined: the body names it. Refusals of what is stored
 * already wait for it (sent-back.ts). `read` is there if anything in the body is ignored, or may be, or is wrong.
 */
async function readBody(
  { store: { timeZone } }: Caller,
  type: Resource | ListField,
  { body, handling, shownAs }: UpdateBody,
  id: number | string | null | undefined,
): Promise<{ patch: Patch; read: ReadBody | undefined }> {
  const refusals: StoreFailure[] = []
  const isStrict = handling?.isStrict ?? false
  const notes = notesFor({ isStrict })
  const isNewRecord = id === null && !('kind' in type)
  const rules: InputRules = isNewRecord
    ? { mode: 'create', timeZone, notes }
    : { mode: 'update', timeZone, notes, door: { shownAs, refusals } }
  const isRefusedWhole = id !== null && !isStrict
  const patch = await runInSlices(patchSteps(type.fields, body, rules)).catch((error: unknown) => {
    const whole = isRefusedWhole ? ignoredWhole(type, body) : null
    // What cannot wait is refused in its turn.
    throw whole ?? (error instanceof StoreFailure ? refusals[0] : undefined) ?? error
  })
  const isAllKnown = notes.unknown.length === 0 && !notes.hasReadOnly
  const whole = isRefusedWhole && !isAllKnown ? ignoredWhole(type, body) : null
  if (whole !== null) throw whole
  if (id !== undefined) noteOtherKey(notes, type, patch, id)
  if (refusals.length === 0 && isAllTaken(notes) && !handling?.refusals.length) return { patch, read: undefined }
  const shownIn = (record: Document) => (isNewRecord ? undefined : record)
  const read = handling && { handling, notes, type, body, rules, shownIn }
  return { patch: refusals.length > 0 ? { ...patch, refusals } : patch, read }
}

/** Notes the identifier of a body that is not that of what is changed, which is new without one. 0 is none. */
function noteOtherKey(notes: Notes, type: Resource | ListField, { key }: Patch, id: number | string | null): void {
  if (key === undefined || key === 0 || key === '' || String(key) === String(id)) return
  const isChosen = 'kind' in type && type.keyFrom === 'caller' && id === null
  const path = 'kind' in type ? type.key : columnPath(type.fields, 'id')?.join('.')
  if (path !== undefined && !isChosen) notes.otherKeys.push(path)
}

/** Plans a change of the record with this id; null: a new one. */
function planPatch(resource: Resource, id: number | null, patch: Patch, read?: ReadBody): PlannedChange {
  return {
    kind: id === null ? 'create' : 'update',
    id: id ?? 0,
    patch,
    lists: Object.keys(patch.lists),
    newRows: countItems(resource.fields, patch),
    refusal: patch.refusals?.[0] ?? null,
    read,
  }
}

/** The alternate key identifies the record and is not changed (rest-resources §0.8). */
function planNamed(resource: Resource, patch: Patch, { body }: Sent, read: ReadBody | undefined): Draft {
  const { key } = patch
  if (key !== undefined && key !== 0) {
    if (typeof key !== 'number' || key < 0) throw unnamed(resource)
    return planPatch(resource, key, patch, read)
  }
  const { alternateKey = '' } = resource
  const { [alternateKey]: name, ...columns } = patch.columns
  if (typeof name !== 'string') {
    const refusal = patch.refusals?.[0] ?? unnamed(resource)
    // What the record shows of it nobody knows.
    if (read) settleBody({ ...read, notes: { ...read.notes, hasReadOnly: false } }, null, [refusal])
    throw refusal
  }
  // As it was sent, because it may be stored in another form than a new one is.
  const sent = String(columnPath(resource.fields, alternateKey)?.reduce<unknown>(memberOf, body) ?? name).trim()
  const named = resource.keyForms?.(sent).includes(name) ? sent : name
  return { ...planPatch(resource, 0, { ...patch, columns }, read), named }
}

function unnamed(resource: Resource): StoreFailure {
  const field = fieldOf(resource, resource.table, 'id')
  const alternative = resource.alternateKey ? `, or ${fieldOf(resource, resource.table, resource.alternateKey)}` : ''
  return wrongField(field, `must be a whole number from 1 to ${INT32_MAX}${alternative}`)
}

/** Adds an item to a list inside a record; the result is its key. */
function planNewItem(resource: Resource, id: number, list: NestedSubResource, item: Patch): PlannedChange {
  const field = listField(resource, list)
  // A new item has no stored items, so that every key in it is unknown and replaced.
  const newRows = 1 + countItems(field.fields, item).all
  return {
    kind: 'update',
    id,
    patch: (stored) => listPatch(list, [...keysOf(field, list, stored).map(keep), { ...item, key: undefined }]),
    lists: [list.list],
    newRows: { keyless: newRows, all: newRows },
    keyOf: (after) => keysOf(field, list, after).at(-1) as Scalar,
    refusal: null,
  }
}

/** Changes one item of a list inside a record; its other fields and the other items stay. */
function planItem(
  resource: Resource,
  { id, list, key: addressed }: Extract<RequestedChange, { kind: 'update-item' }>,
  item: Patch,
  read: ReadBody | undefined,
): PlannedChange {
  const field = listField(resource, list)
  const key = addressed ?? itemKey(field, item)
  const refusal = item.refusals?.[0] ?? null
  const patch = (stored: Stored): Patch => {
    const keys = keysOf(field, list, stored)
    const rows = stored.lists[list.list] ?? []
    const named = addressed === undefined ? { ...item, key } : keep(key)
    const meant = hasRows(field) ? storedKeys(field, rows, keyColumn(field))(named) : key
    if (!keys.includes(meant as number | string)) {
      const problem = `${resource.typeName} ${id} has no ${field.typeName} ${key}`
      throw refusal ?? new StoreFailure('not-found', problem, { field: String(key) })
    }
    const items = keys.map((known) => (known === meant ? { ...item, key: known } : keep(known)))
    return { ...listPatch(list, items), ...(item.refusals && { refusals: item.refusals }) }
  }
  const newRows = countItems(field.fields, item)
  return {
    kind: 'update',
    id,
    patch,
    lists: [list.list],
    newRows,
    keyOf: () => key,
    refusal,
    read: read && { ...read, shownIn: (record) => shownItem(field, (record[list.list] ?? []) as Document[], key) },
  }
}

function itemKey({ key: name = '' }: ListField, { key }: Patch): number | string {
  if (typeof key === 'string' && key !== '') return key
  if (typeof key === 'number' && key >= 0) return key
  throw wrongField(name, 'must say which item is meant', 'missing-field')
}

function listPatch({ list }: NestedSubResource, items: Patch[]): Patch {
  return { ...emptyPatch, lists: { [list]: items } }
}

function keysOf(field: ListField, { list }: NestedSubResource, stored: Stored): (number | string)[] {
  if (hasRows(field)) {
    const column = keyColumn(field)
    return (stored.lists[list] ?? []).map((row) => row[column] as number | string)
  }
  const items = ((stored.row.details as Document | undefined)?.[list] ?? []) as Document[]
  return items.map((item) => item[field.key as string] as number | string)
}

/** Counts the items of a patch whose keys come from the counter. */
function countItems(fields: FieldSet, patch: Patch): NewRows {
  let keyless = 0
  let all = 0
  for (const [name, items] of Object.entries(patch.lists)) {
    const field = fields.get(name)
    if (field?.kind !== 'list') continue
    for (const item of items) {
      const counted = field.key !== undefined && field.keyFrom === 'counter' ? 1 : 0
      const inner = countItems(field.fields, item)
      keyless += (item.key === undefined || item.key === 0 ? counted : 0) + inner.keyless
      all += counted + inner.all
    }
  }
  return { keyless, all }
}
