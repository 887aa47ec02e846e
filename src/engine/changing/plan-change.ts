import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { runInSlices } from '../../foundation/values/slices.ts'
import type { Caller } from '../caller.ts'
import { fieldOf } from '../definition/constraints.ts'
import type { NestedSubResource, Resource } from '../definition/define.ts'
import {
  columnPath,
  type FieldSet,
  hasRows,
  type ListField,
  type ObjectType,
  type Scalar,
} from '../definition/fields.ts'
import type { Handling } from '../definition/handling.ts'
import { type Door, memberOf, type Patch, patchSteps } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import { wrongField } from '../definition/refused.ts'
import type { Document } from '../definition/stored-row.ts'
import { listField } from '../reading/nested.ts'
import { findByAlternateKeys } from '../reading/read.ts'
import { keep } from './merge.ts'
import { notesFor, type ReadBody, settleBody, shownItem } from './passed-over.ts'
import { storedKeys } from './sent-back.ts'
import { refuseStrayNames } from './stray-names.ts'
import { reserveIds, type Stored } from './write.ts'

interface Sent {
  readonly body: unknown
  /** How the request is read. Omitted: nobody asks what is passed over. */
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
  /** The body, where something in it depends on what the stored record shows. */
  readonly read?: ReadBody | undefined
}

export interface NewRows {
  /** Items without a key, which are always new. */
  readonly keyless: number
  readonly all: number
}

/** A patch that changes nothing. */
export const emptyPatch: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }

/** A change whose record's id is still to be found. */
interface Draft {
  /** The record is new and gets an id. */
  readonly isNew?: boolean
  /** The alternate key that names the record. */
  readonly named?: string
  /** Without `isNew` and `named`, the id is known already. */
  readonly plan: (id: number) => PlannedChange
}

/** Reads the input of a change. Throws `bad-request` that names the field, `not-found` for an unknown alternate key. */
export async function planChange(
  caller: Caller,
  resource: Resource,
  requested: RequestedChange,
): Promise<PlannedChange> {
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
  const known = drafts.filter((draft): draft is Draft => !(draft instanceof StoreFailure))
  const added = known.filter(({ isNew }) => isNew).length
  let nextId = added === 0 ? 0 : await reserveIds(caller, resource.table, added)
  const texts = known.flatMap(({ named }) => named ?? [])
  const byName = texts.length === 0 ? new Map<string, number>() : await findByAlternateKeys(caller, resource, texts)
  return drafts.map((draft) => {
    if (draft instanceof StoreFailure) return draft
    const { isNew, named, plan } = draft
    if (isNew) return plan(nextId++)
    if (named === undefined) return plan(0)
    const id = byName.get(named)
    if (id !== undefined) return plan(id)
    const { refusal } = plan(0)
    return refusal ?? new StoreFailure('not-found', `There is no ${resource.typeName} "${named}"`, { field: named })
  })
}

async function draftOf(caller: Caller, resource: Resource, requested: RequestedChange): Promise<Draft> {
  switch (requested.kind) {
    case 'create':
      return draftPatch(resource, null, await readNew(caller, resource, requested))
    case 'update': {
      if (!requested.handling?.isStrict) refuseStrayNames(resource, requested.body)
      const { patch, read } = await readUpdate(caller, resource, requested)
      if (requested.id === undefined) return draftNamed(resource, patch, requested.body, read)
      noteOtherKey(read, patch, requested.id, columnPath(resource.fields, 'id')?.join('.'))
      return draftPatch(resource, requested.id, patch, read)
    }
    case 'patch':
      return draftPatch(resource, requested.id, requested.patch)
    case 'delete': {
      const { id } = requested
      const newRows = { keyless: 0, all: 0 }
      return { plan: () => ({ kind: 'delete', id, patch: emptyPatch, lists: [], newRows, refusal: null }) }
    }
    case 'add-item': {
      const field = listField(resource, requested.list)
      const { patch: item, read } = await readUpdate(caller, field, requested)
      if (field.keyFrom !== 'caller') noteOtherKey(read, item, null, field.key)
      if (read) settleBody(read, null, item.refusals ?? [])
      else if (item.refusals?.[0]) throw item.refusals[0]
      return { plan: () => planNewItem(resource, requested.id, requested.list, item) }
    }
    case 'update-item': {
      const field = listField(resource, requested.list)
      if (!requested.handling?.isStrict) refuseStrayNames(field, requested.body)
      const { patch: item, read } = await readUpdate(caller, field, requested)
      if (requested.key !== undefined) noteOtherKey(read, item, requested.key, field.key)
      const planned = planItem(resource, requested, item, read)
      return { plan: () => planned }
    }
  }
}

/** Reads the body of a new record. */
async function readNew({ store: { timeZone } }: Caller, resource: Resource, { body, handling }: Sent): Promise<Patch> {
  const notes = handling && notesFor(handling)
  const rules = { mode: 'create', timeZone, notes } as const
  const patch = await runInSlices(patchSteps(resource.fields, body, rules))
  const read = handling && notes && { handling, notes, type: resource, body, rules, shownIn: () => undefined }
  noteOtherKey(read, patch, null, columnPath(resource.fields, 'id')?.join('.'))
  if (read) settleBody(read, null, [])
  return patch
}

/** Notes the identifier of a body that is not that of what is changed, which is new without one. 0 is none. */
function noteOtherKey(
  read: ReadBody | undefined,
  { key }: Patch,
  id: number | string | null,
  path: string | undefined,
): void {
  const isNone = key === undefined || key === 0 || key === '' || path === undefined
  if (!isNone && String(key) !== String(id)) read?.notes.otherKeys.push(path)
}

/** Reads a body whose refusals wait for the stored record (sent-back.ts). */
async function readUpdate(
  { store: { timeZone } }: Caller,
  type: ObjectType,
  { body, handling, shownAs }: UpdateBody,
): Promise<{ readonly patch: Patch; readonly read: ReadBody | undefined }> {
  const refusals: StoreFailure[] = []
  const notes = handling && notesFor(handling)
  const rules = { mode: 'update', timeZone, door: { shownAs, refusals }, notes } as const
  const patch = await runInSlices(patchSteps(type.fields, body, rules)).catch((error: unknown) => {
    // What cannot wait is refused in its turn.
    throw (error instanceof StoreFailure ? refusals[0] : undefined) ?? error
  })
  const read = handling && notes && { handling, notes, type, body, rules, shownIn: (record: Document) => record }
  return { patch: refusals.length > 0 ? { ...patch, refusals } : patch, read }
}

function draftPatch(resource: Resource, id: number | null, patch: Patch, read?: ReadBody): Draft {
  const refusal = patch.refusals?.[0] ?? null
  const plan = { patch, lists: Object.keys(patch.lists), newRows: countItems(resource.fields, patch), refusal, read }
  if (id !== null) return { plan: () => ({ kind: 'update', id, ...plan }) }
  return { isNew: true, plan: (newId) => ({ kind: 'create', id: newId, ...plan }) }
}

/** The alternate key identifies the record and is not changed (rest-resources §0.8). */
function draftNamed(resource: Resource, patch: Patch, body: unknown, noted: ReadBody | undefined): Draft {
  const { key } = patch
  if (key !== undefined && key !== 0) {
    if (typeof key !== 'number' || key < 0) throw unnamed(resource)
    return draftPatch(resource, key, patch, noted)
  }
  const { alternateKey = '' } = resource
  const { [alternateKey]: read, ...columns } = patch.columns
  if (typeof read !== 'string') {
    const refusal = patch.refusals?.[0] ?? unnamed(resource)
    // What the record shows of it nobody knows.
    if (noted) settleBody({ ...noted, notes: { ...noted.notes, hasReadOnly: false } }, null, [refusal])
    throw refusal
  }
  // As it was sent, because it may be stored in another form than a new one is.
  const sent = String(columnPath(resource.fields, alternateKey)?.reduce<unknown>(memberOf, body) ?? read).trim()
  const named = resource.keyForms?.(sent).includes(read) ? sent : read
  return { named, plan: (id) => draftPatch(resource, id, { ...patch, columns }, noted).plan(id) }
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
    read: read && ofItem(read, field, list, key),
  }
}

function ofItem(read: ReadBody, field: ListField, { list }: NestedSubResource, key: number | string): ReadBody {
  return { ...read, shownIn: (record) => shownItem(field, (record[list] ?? []) as Document[], key) }
}

function itemKey({ key: name = '' }: ListField, { key }: Patch): number | string {
  if (typeof key === 'string' && key !== '') return key
  if (typeof key === 'number' && key >= 0) return key
  throw wrongField(name, 'must say which item is meant')
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
