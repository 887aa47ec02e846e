import { isDeepStrictEqual } from 'node:util'
import { allInOrder, endWith, inStoreTransaction } from '../../database/client.ts'
import { StoreFailure } from '../../values/failure.ts'
import type { Caller, RaisedEvents } from '../caller.ts'
import { refusalOf } from '../definition/constraints.ts'
import type { Resource } from '../definition/define.ts'
import { hasRows, type Scalar } from '../definition/fields.ts'
import type { Patch } from '../definition/input.ts'
import { keyColumn, type Selected } from '../definition/reader.ts'
import type { Row } from '../definition/stored-row.ts'
import { getRecord } from '../reading/read.ts'
import { announce, eventsChannel } from '../recording/announce.ts'
import { stamps } from '../recording/differences.ts'
import { recordEvents } from '../recording/events.ts'
import { recordHistory } from '../recording/history.ts'
import { type PendingAnswer, rememberAnswer } from './idempotency.ts'
import { type PlannedChange, planChange, type RequestedChange } from './plan-change.ts'
import { applyReferrers, lockDeletions } from './referrers.ts'
import { settled } from './sent-back.ts'
import { changedColumns, freeNames, updateRows } from './update-rows.ts'
import {
  deleteRow,
  insertRows,
  lockRecord,
  mergeRecord,
  type RowIds,
  type Stored,
  storeLists,
  withRowIds,
} from './write.ts'

// A change of a record is a sequence of steps in one transaction: lock, merge, precondition, rules, write, history, effects
// (ledger rows, other records, raised events), events, remembered answer. Each step takes a list of records: sets of changes
// (change-sets.ts) take the same steps.

/** One change of one record, passed to `rules` and `effects` inside the transaction, with the record locked. */
export interface Change {
  readonly kind: 'create' | 'update' | 'delete' | 'import'
  /** Its `db` is the transaction. */
  readonly caller: Caller
  readonly resource: Resource
  readonly id: number
  /** The fields that the caller gave; empty for a deletion. */
  readonly patch: Patch
  /** Null for a new record. */
  readonly before: Stored | null
  /** The record to be written, which `rules` may still change. For a deletion, the stored record. */
  readonly after: Stored
  /** It is made together with others, and what is wrong with it must not refuse them. */
  readonly isOfSet?: boolean
  /** Why this change of a set is not made. */
  refusal?: StoreFailure
}

/**
 * Runs a rule that writes nothing for each change. What it refuses in a set it refuses in that change alone; otherwise it throws.
 */
export async function forEachChange(
  changes: readonly Change[],
  rule: (change: Change) => void | Promise<void>,
): Promise<void> {
  for (const change of changes) {
    try {
      await rule(change)
    } catch (error) {
      if (!change.isOfSet || !(error instanceof StoreFailure) || error.status >= 500) throw error
      change.refusal = error
    }
  }
}

/** Options of a change. */
export interface Conditions {
  /** Receives the record's JSON text under the lock, before the change; throws to refuse the change. */
  readonly precondition?: ((record: string) => void) | undefined
  /** The answer to replay if the request is repeated. */
  readonly answer?: PendingAnswer | undefined
  /** Instead of an answer, what else is stored at the end of the transaction. */
  readonly remember?: ((tx: Tx, key: Scalar) => Promise<void>) | undefined
  /** What was read of the input already. */
  readonly planned?: PlannedChange | undefined
}

/**
 * Changes one record and returns its id, or the key of the changed item. Throws `bad-request` that names the field,
 * `not-found` for an unknown record or item, and whatever the conditions throw; nothing is changed then.
 */
export async function changeRecord(
  caller: Caller,
  resource: Resource,
  requested: RequestedChange,
  { precondition, answer, remember = remembering(answer), planned: read }: Conditions = {},
): Promise<Scalar> {
  const planned = read ?? (await planChange(caller, resource, requested))
  const steps = async (tx: Tx, ids: RowIds): Promise<Scalar> => {
    if (planned.kind === 'delete') await lockDeletions(tx, resource)
    const before =
      planned.kind === 'create'
        ? null
        : await lockRecord(tx, resource, planned.id, planned.lists, planned.kind).catch((error) => {
            throw (isNotFound(error) ? planned.refusal : null) ?? error
          })
    const change = merge(tx, resource, { planned, before }, ids)
    if (precondition && before) precondition(await getRecord(tx, resource, planned.id))
    await writeAll(tx, resource, await ruled(resource, [change]))
    return keyOf(planned, change)
  }
  try {
    return await withRowIds(caller, planned.newRows, (ids) => inChange(caller, (tx) => steps(tx, ids.anew()), remember))
  } catch (error) {
    throw refusalOf(error, resource, planned.kind === 'delete' ? 'deletion' : 'write') ?? error
  }
}

/** A caller inside a change. */
export interface Tx extends Caller {
  readonly raised: RaisedEvents
  readonly written: Map<Resource, ReadonlyMap<number, Selected>>
}

function isNotFound(error: unknown): boolean {
  return error instanceof StoreFailure && error.kind === 'not-found'
}

/** Stores the answer of the request with its change. */
export function remembering<Key>(answer: PendingAnswer<Key> | undefined) {
  return answer && ((tx: Tx, key: Key) => rememberAnswer(tx, answer, key))
}

export function keyOf(planned: PlannedChange, { after }: Change): Scalar {
  return planned.keyOf?.(after) ?? planned.id
}

/**
 * Runs the steps of a change in one transaction, then records the raised events, so that they exist exactly if the
 * change does, and stores the answer of the request. The answer is last, because repetitions of the request wait from
 * then on.
 */
export async function inChange<T>(
  caller: Caller,
  steps: (tx: Tx) => Promise<T>,
  remember?: (tx: Tx, result: T) => Promise<void>,
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
    else await endWith(db, last())
    return result
  })
  if (raised.size > 0) announce(caller.db, eventsChannel)
  return result
}

/** Stamps LastUpdate while the lock is held. */
export function merge(
  tx: Caller,
  resource: Resource,
  { planned: { kind, id, patch: given }, before }: { planned: PlannedChange; before: Stored | null },
  ids: RowIds,
): Change {
  const sent = typeof given === 'function' ? given(before as Stored) : given
  const patch = settled(resource.storedFields, sent, before, tx.store.timeZone)
  const after = kind === 'delete' ? (before as Stored) : mergeRecord(tx, resource, id, before, patch, ids)
  return { kind, caller: tx, resource, id, patch, before, after }
}

/**
 * Applies the rules, and returns the changes that are left to be made: what leaves a record as it was is none, so that programs
 * that keep each other up to date come to rest.
 */
export async function ruled(resource: Resource, changes: readonly Change[]): Promise<Change[]> {
  const open = changes.filter((change) => !isUnchanged(change))
  if (open.length > 0) await resource.rules?.(open)
  return open.filter((change) => change.refusal === undefined && !isUnchangedRecord(change))
}

/** What is accepted and never shown may change something that only `rules` know. */
function isUnchanged(change: Change): boolean {
  return Object.keys(change.patch.writeOnly).length === 0 && isUnchangedRecord(change)
}

function isUnchangedRecord(change: Change): boolean {
  const { kind, before, after } = change
  if (kind !== 'update' || before === null) return false
  const columns = changedColumns({ before: before.row, after: after.row })
  const isChanged = (name: string) => isListChanged(change, name)
  return columns.every((column) => stamps.has(column)) && !Object.keys(after.lists).some(isChanged)
}

/** Whether the change gives a list other items than are stored. */
export function isListChanged({ resource, before, after }: Change, name: string): boolean {
  const field = resource.fields.get(name)
  const [stored, rows] = [before?.lists[name], after.lists[name]]
  return rows !== undefined && !(hasRows(field) && stored !== undefined && haveSameRows(keyColumn(field), stored, rows))
}

function haveSameRows(key: string, before: readonly Row[], after: readonly Row[]): boolean {
  if (before === after) return true
  const stored = new Map(before.map((row) => [row[key], row]))
  return before.length === after.length && after.every((row) => isDeepStrictEqual(stored.get(row[key]), row))
}

/** Writes the records, their history, then the effects. The statements leave at once, and run in this order. */
export async function writeAll(tx: Tx, resource: Resource, changes: readonly Change[]): Promise<void> {
  const writing = write(tx, resource, changes)
  // A deletion asks what refers to the record, before it is gone.
  if (changes.some(({ kind }) => kind === 'delete')) await writing
  await allInOrder([writing, recordHistory(changes), resource.effects?.(changes)])
}

async function write(tx: Tx, resource: Resource, changes: readonly Change[]): Promise<void> {
  for (const { kind, id } of changes) {
    if (kind !== 'delete') continue
    await applyReferrers(tx, resource, id)
    await deleteRow(tx, resource, id)
  }
  const created = changes.filter(({ kind }) => kind === 'create').map(({ after }) => after.row)
  const updated = changes.flatMap(({ kind, before, after }) =>
    kind === 'update' && before !== null ? { before: before.row, after: after.row } : [],
  )
  const stored = changes.filter(({ kind }) => kind !== 'delete')
  // A record's lists are written after it.
  const isFinal = ({ after }: Change) => resource.isFinalOnceWritten && Object.keys(after.lists).length === 0
  const final = new Set(stored.filter(isFinal).map(({ id }) => id))
  const [, , written] = await Promise.all([
    freeNames(tx, resource, updated, created),
    insertRows(tx, resource.table, created),
    updateRows(tx, resource, updated, final.size > 0 ? resource.reader.select : null),
    storeLists(tx, resource, stored),
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
