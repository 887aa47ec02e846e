import { allInOrder, endWith, inStoreTransaction } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Caller, RaisedEvents } from '../caller.ts'
import { refusalOf } from '../definition/constraints.ts'
import { hasRows, type Scalar, stamps } from '../definition/fields.ts'
import type { Patch } from '../definition/input.ts'
import { keyColumn, type Selected } from '../definition/reader.ts'
import type { Change, Resource } from '../definition/resource.ts'
import type { Document, Stored } from '../definition/stored-row.ts'
import { getRecords, notFound } from '../reading/read.ts'
import { haveSameRows } from '../recording/differences.ts'
import { announce, eventsChannel, raiseDeletions, recordChanges, recordEvents } from '../recording/events.ts'
import { settleBody } from './ignored.ts'
import { type PlannedChange, planChange, type RequestedChange } from './plan-change.ts'
import { applyReferrers, lockDeletions } from './referrers.ts'
import { settled } from './sent-back.ts'
import { changedColumns, freeNames, updateRows } from './update-rows.ts'
import {
  deleteRow,
  insertRows,
  type Locked,
  type Locking,
  lockRecords,
  mergeRecord,
  type RowIds,
  storeLists,
  withRowIds,
} from './write.ts'

// A change is a sequence of steps in one transaction: lock, merge, precondition, rules, write, history, effects (ledger rows,
// other records, raised events), events, remembered answer. Each step takes a set of changes; one record is a set of one.

/** Runs a rule that writes nothing for each change. In a set, a refusal applies only to that change; otherwise it throws. */
export async function forEachChange(changes: readonly Change[], rule: (change: Change) => void | Promise<void>) {
  for (const change of changes) {
    try {
      await rule(change)
    } catch (error) {
      if (!change.isOfSet || !(error instanceof StoreFailure) || error.status >= 500) throw error
      change.refusal = error
    }
  }
}

/** A change of a set. No two changes of a set are of the same record. */
export interface Member {
  readonly caller: Caller
  readonly planned: PlannedChange
  /** Receives the record's JSON text under the lock, before the change; throws to refuse the change. */
  readonly precondition?: ((record: string) => void) | undefined
}

/** What became of a change: the key of its record or item, or why it was not made. */
export type Outcome = { readonly key: Scalar } | { readonly failure: StoreFailure }
/** By place. A change without an outcome is still to be made. */
export type Outcomes = ReadonlyMap<number, Outcome>

interface SetOptions {
  /**
   * A change that is refused before anything is written does not affect the others. Records that somebody else holds longer than
   * `waitMs` are left out, and all of them if their rows have more than `bytesMax`. Omitted: all changes or none.
   */
  readonly partly?: { readonly waitMs: number; readonly bytesMax: number } | undefined
  /** Runs at the end of the transaction. */
  readonly remember?: ((tx: Tx, outcomes: Outcomes) => Promise<void>) | undefined
}

/** Makes changes, by place, in one transaction. Throws what the whole of them is refused for; nothing is changed then. */
export async function changeSet(
  resource: Resource,
  set: ReadonlyMap<number, Member>,
  { partly, remember }: SetOptions = {},
): Promise<Outcomes> {
  const members = [...set.values()]
  const [{ caller }] = members as [Member]
  const newRows = { keyless: 0, all: 0 }
  for (const { planned } of members) {
    newRows.keyless += planned.newRows.keyless
    newRows.all += planned.newRows.all
  }
  const isDeletion = members.some(({ planned }) => planned.kind === 'delete')
  try {
    return await withRowIds(caller, newRows, (ids) =>
      inChange(caller, (tx) => stepsOf(tx, resource, set, { ids: ids(), isDeletion, partly }), remember),
    )
  } catch (error) {
    throw refusalOf(error, resource, isDeletion ? 'deletion' : 'write') ?? error
  }
}

async function stepsOf(
  tx: Tx,
  resource: Resource,
  set: ReadonlyMap<number, Member>,
  { ids, isDeletion, partly }: Pick<SetOptions, 'partly'> & { ids: RowIds; isDeletion: boolean },
): Promise<Outcomes> {
  const outcomes = new Map<number, Outcome>()
  if (isDeletion) await lockDeletions(tx, resource)
  const kind = isDeletion ? 'delete' : 'update'
  const locked = await lockPlanned(tx, resource, [...set.values()], { kind, ...partly })
  if (locked === null) return outcomes
  const shown = await readShown(tx, resource, set, locked)
  const changes = new Map<number, Change>()
  for (const [place, { caller, planned, precondition }] of set) {
    const before = storedOf(locked, planned)
    if (before === null && locked.ids.has(planned.id)) continue
    try {
      if (before === null && planned.kind !== 'create') throw planned.refusal ?? notFound(resource, planned.id)
      const inside = { ...caller, db: tx.db, raised: tx.raised, written: tx.written }
      const text = shown.get(planned.id)
      const change = merge(inside, resource, { planned, before, shown: text }, ids)
      if (precondition && text !== undefined) precondition(text)
      changes.set(place, { ...change, isOfSet: partly !== undefined })
    } catch (error) {
      if (partly === undefined || !(error instanceof StoreFailure)) throw error
      outcomes.set(place, { failure: error })
    }
  }
  await writeAll(tx, resource, await ruled(resource, [...changes.values()]))
  for (const [place, { refusal, after }] of changes) {
    const { planned } = set.get(place) as Member
    const key = planned.keyOf?.(after) ?? planned.id
    outcomes.set(place, refusal === undefined ? { key } : { failure: refusal })
  }
  return outcomes
}

/** What answers show of the records whose changes have a precondition, or give members that only the platform writes. */
async function readShown(tx: Tx, resource: Resource, set: ReadonlyMap<number, Member>, { stored }: Locked) {
  const compared = [...set.values()].flatMap(({ planned: { id, read }, precondition }) =>
    (read?.notes.hasReadOnly || precondition) && stored.has(id) ? id : [],
  )
  if (compared.length === 0) return new Map()
  const texts = await getRecords(tx, resource, compared)
  return new Map(texts.map((text, place) => [compared[place] as number, text]))
}

/** Locks the records that there are already, in the order of their ids, as everywhere. */
async function lockPlanned(tx: Tx, resource: Resource, members: readonly Member[], locking: Locking) {
  const existing = members.map(({ planned }) => planned).filter(({ kind }) => kind !== 'create')
  const ids = existing.map(({ id }) => id)
  const lists = [...new Set(existing.flatMap((planned) => planned.lists))]
  return ids.length === 0
    ? { stored: new Map(), ids: new Set<number>() }
    : lockRecords(tx, resource, ids, lists, locking)
}

/** The record with those lists that its own change touches. */
function storedOf({ stored }: Locked, planned: PlannedChange): Stored | null {
  const { row, lists = {} } = stored.get(planned.id) ?? {}
  if (row === undefined) return null
  return { row, lists: Object.fromEntries(Object.entries(lists).filter(([name]) => planned.lists.includes(name))) }
}

/** Options of a change. */
export interface Conditions extends Pick<Member, 'precondition'> {
  /** Stores something at the end of the transaction, such as the answer to repeat. */
  readonly remember?: ((tx: Tx, key: Scalar) => Promise<void>) | undefined
  /** What was read of the input already. */
  readonly planned?: PlannedChange | undefined
}

/**
 * Changes one record and returns its id, or the key of the changed item. Throws a 400 that names the field,
 * `not-found` for an unknown record or item, and whatever the conditions throw; nothing is changed then.
 */
export async function changeRecord(
  caller: Caller,
  resource: Resource,
  requested: RequestedChange,
  { precondition, remember, planned: read }: Conditions = {},
): Promise<Scalar> {
  const planned = read ?? (await planChange(caller, resource, requested))
  const keyIn = (outcomes: Outcomes) => (outcomes.get(0) as { key: Scalar }).key
  const outcomes = await changeSet(resource, new Map([[0, { caller, planned, precondition }]]), {
    remember: remember && ((tx, all) => remember(tx, keyIn(all))),
  })
  return keyIn(outcomes)
}

/** A caller inside a change. */
export interface Tx extends Caller {
  readonly raised: RaisedEvents
  readonly written: Map<Resource, ReadonlyMap<number, Selected>>
}

/**
 * Runs the steps of a change in one transaction, then records the raised events, so that they exist exactly if the
 * change does, and stores the answer of the request. The answer is last, because repetitions of the request wait from
 * then on. `close` sends a last statement that undoes the change by failing, so that the commit leaves with it.
 */
export async function inChange<T>(
  caller: Caller,
  steps: (tx: Tx) => Promise<T>,
  remember?: (tx: Tx, result: T) => Promise<void>,
  close?: (tx: Tx, result: T) => Promise<unknown>,
): Promise<T> {
  // A retried transaction starts without raised events.
  let raised: RaisedEvents = new Map()
  const result = await inStoreTransaction(caller, async (db) => {
    raised = new Map()
    const tx = { ...caller, db, raised, written: new Map() }
    const result = await steps(tx)
    const last = await recordEvents(tx, [...raised.values()])
    // Whether the answer is still this attempt's to store decides on the change.
    if (remember) await Promise.all([last(), remember(tx, result)])
    else await endWith(db, close ? allInOrder([last(), close(tx, result)]) : last())
    return result
  })
  if (raised.size > 0) announce(caller.db, eventsChannel)
  return result
}

interface Merged {
  readonly planned: PlannedChange
  readonly before: Stored | null
  /** What answers show of it; undefined: nobody asks. */
  readonly shown: string | undefined
}

/** Stamps LastUpdate while the lock is held. */
function merge(tx: Caller, resource: Resource, merged: Merged, ids: RowIds): Change {
  const { planned, before } = merged
  const { kind, id, patch: given, isStrict = false, read } = planned
  const sent = typeof given === 'function' ? given(before as Stored) : given
  const isPlain = !read && sent.sentBack === undefined && Object.keys(sent.lists).length === 0
  const patch = isPlain ? sent : settledPatch(tx, resource, merged, sent)
  const after = kind === 'delete' ? (before as Stored) : mergeRecord(tx, resource, id, before, patch, ids)
  return { kind, caller: tx, resource, id, patch, before, after, isStrict }
}

/** The patch with what stays as it is stored, because the caller was shown it. Throws what is refused beyond that. */
function settledPatch(tx: Caller, resource: Resource, { planned: { read }, before, shown }: Merged, sent: Patch) {
  const { patch, refusals } = settled(resource.storedFields, sent, before, tx.store.timeZone)
  if (read) {
    const record = read.notes.hasReadOnly && shown !== undefined ? (JSON.parse(shown) as Document) : null
    settleBody(read, record, refusals)
  } else if (refusals[0] !== undefined) throw refusals[0]
  return patch
}

/**
 * Applies the rules, and returns the changes that are left to be made: what leaves a record as it was is none, so that programs
 * that keep each other up to date settle.
 */
async function ruled(resource: Resource, changes: readonly Change[]): Promise<Change[]> {
  const givesOther = (change: Change) => isOther(change, [...Object.keys(change.patch.columns), 'details'])
  const open = changes.filter((change) => hasWriteOnly(change.patch) || givesOther(change))
  if (open.length > 0) await resource.check?.(open)
  return open.filter((change) => change.refusal === undefined && isOther(change))
}

/** What is accepted and neither stored nor shown may change something that only `check` knows. */
function hasWriteOnly({ writeOnly, lists }: Patch): boolean {
  return Object.keys(writeOnly).length > 0 || Object.values(lists).some((items) => items.some(hasWriteOnly))
}

/** Whether the change leaves another record than there was, as far as these columns and its lists tell. */
function isOther(change: Change, among?: readonly string[]): boolean {
  const { kind, before, after } = change
  if (kind !== 'update' || before === null) return true
  change.columns = changedColumns({ before: before.row, after: after.row }, among)
  const hasColumn = change.columns.some((column) => !stamps.has(column))
  return hasColumn || Object.keys(after.lists).some((name) => isListChanged(change, name))
}

/** Whether the change gives a list other items than are stored. */
export function isListChanged({ resource, before, after }: Change, name: string): boolean {
  const field = resource.fields.get(name)
  const [stored, rows] = [before?.lists[name], after.lists[name]]
  return rows !== undefined && !(hasRows(field) && stored !== undefined && haveSameRows(keyColumn(field), stored, rows))
}

/** Writes the records, their history, then the effects. The statements leave at once, and run in this order. */
async function writeAll(tx: Tx, resource: Resource, changes: readonly Change[]): Promise<void> {
  await raiseDeletions(changes)
  const writing = write(tx, resource, changes)
  // A deletion asks what refers to the record, before it is gone.
  if (changes.some(({ kind }) => kind === 'delete')) await writing
  await allInOrder([writing, recordChanges(changes), resource.effects?.(changes)])
}

async function write(tx: Tx, resource: Resource, changes: readonly Change[]): Promise<void> {
  for (const { kind, id } of changes) {
    if (kind !== 'delete') continue
    await applyReferrers(tx, resource, id)
    await deleteRow(tx, resource, id)
  }
  const created = changes.filter(({ kind }) => kind === 'create').map(({ after }) => after.row)
  const updated = changes.flatMap(({ kind, before, after, columns }) =>
    kind === 'update' && before !== null ? { before: before.row, after: after.row, columns } : [],
  )
  const stored = changes.filter(({ kind }) => kind !== 'delete')
  const listed = stored.filter(({ after }) => Object.keys(after.lists).length > 0)
  // A record's lists are written after it.
  const final = new Set(resource.isFinalOnceWritten ? stored.map(({ id }) => id) : [])
  for (const { id } of listed) final.delete(id)
  const [, , written] = await Promise.all([
    updated.length + created.length > 1 && freeNames(tx, resource, updated, created),
    insertRows(tx, resource.table, created),
    updateRows(tx, resource, updated, final.size > 0 ? resource.reader.select : null),
    listed.length > 0 && storeLists(tx, resource, listed),
  ])
  tx.written.set(resource, new Map([...written].filter(([id]) => final.has(id))))
}

export async function createRecord(caller: Caller, resource: Resource, body: unknown): Promise<number> {
  return Number(await changeRecord(caller, resource, { kind: 'create', body }))
}

export async function updateRecord(caller: Caller, resource: Resource, id: number, body: unknown): Promise<void> {
  await changeRecord(caller, resource, { kind: 'update', id, body })
}

export async function deleteRecord(caller: Caller, resource: Resource, id: number): Promise<void> {
  await changeRecord(caller, resource, { kind: 'delete', id })
}
