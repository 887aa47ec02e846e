import { inTransaction } from '../database/client.ts'
import { outageOf } from '../database/outage.ts'
import { StoreFailure } from '../values/failure.ts'
import { type ResultItem, resultItem } from '../values/result-item.ts'
import { announce, eventsChannel } from './announce.ts'
import type { Caller, RaisedEvents } from './caller.ts'
import { refusalOf } from './constraints.ts'
import type { Resource } from './define.ts'
import type { Answer, Call } from './endpoints.ts'
import { recordEvents } from './events.ts'
import type { Scalar } from './fields.ts'
import { beginAttempt, endAttempt, type PendingAnswer, rememberAnswer, rememberItem } from './idempotency.ts'
import type { Patch } from './input.ts'
import { type PlannedChange, planChange, type RequestedChange } from './plan-change.ts'
import { getRecord } from './read.ts'
import { applyReferrers, lockDeletions } from './referrers.ts'
import {
  deleteRow,
  insertRows,
  lockRecord,
  mergeRecord,
  type RowIds,
  type Stored,
  storeLists,
  updateRow,
  withRowIds,
} from './write.ts'

// A change of a record is a list of steps in one transaction: lock, precondition, merge, rules, write, effects (the rows of a
// ledger, what follows in other records, events that are raised), events, remembered answer. Each step takes a list of records.

/** One change of one record, as `rules` and `effects` see it: inside the transaction, the record locked. */
export interface Change {
  readonly kind: 'create' | 'update' | 'delete' | 'import'
  /** Its `db` is the transaction. */
  readonly caller: Caller
  readonly resource: Resource
  readonly id: number
  /** What was given of it; of a record that is deleted nothing. */
  readonly patch: Patch
  /** Null: the record is new. */
  readonly before: Stored | null
  /** What is written; `rules` may still change it. Of a record that is deleted, what it was. */
  readonly after: Stored
}

/**
 * Makes the changes of one request, each for itself and in order, and answers one result item each (rest-resources §0.7, §0.8):
 * 200 or 201 when all succeeded, 206 when some did; when none did, an empty 404 if all are unknown, the status that all
 * share if it is a defect or a failed precondition, else 400. A defect at one record is that record's 500; the others stand.
 * With an `Idempotency-Key`, what an earlier attempt did is answered and not done again.
 */
export function changeRecords(
  call: Call,
  resource: Resource,
  requested: readonly RequestedChange[],
  { key = resource.resultKey, precondition }: { key?: string; precondition?: Conditions['precondition'] } = {},
): Promise<Answer> {
  const changes = requested.map((one) => ({
    make: (answer?: PendingAnswer) => changeRecord(call.caller, resource, one, { precondition, answer }),
    done: doneBy[one.kind](key),
  }))
  return answerEach(call, changes)
}

/** One change in a transaction of its own, which is no record's; with an Idempotency-Key made once. */
export function changeOnce(
  call: Call,
  change: (tx: Caller) => Promise<Scalar>,
  done: (key: Scalar) => ResultItem,
): Promise<Answer> {
  return answerEach(call, [{ make: (answer) => inChange(call.caller, change, answer), done }])
}

export function created(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 201, 'Created successfully')
}

export function updated(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 200, 'updated successfully')
}

export function deleted(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 200, 'Deleted successfully')
}

const doneBy = {
  create: created,
  'add-item': created,
  update: updated,
  patch: updated,
  'update-item': updated,
  delete: deleted,
}

interface ChangeOfRequest {
  /** Makes it, and stores its answer in the same transaction. */
  readonly make: (answer?: PendingAnswer) => Promise<Scalar>
  /** What is answered when it was made. */
  readonly done: (key: Scalar) => ResultItem
}

async function answerEach(call: Call, changes: readonly ChangeOfRequest[]): Promise<Answer> {
  const attempt = 'idempotency-key' in call.headers ? await beginAttempt(call) : null
  const { stored = new Map<number, ResultItem>() } = attempt ?? {}
  const replayed = stored.size === changes.length
  const items: ResultItem[] = []
  for (const [place, { make, done }] of changes.entries()) {
    const known = stored.get(place)
    const answer = attempt === null ? undefined : { attempt, place, records: changes.length, itemOf: done }
    const item = known ?? (await make(answer).then(done, (error) => failed(call, error, answer)))
    if (Number(item.Status) < 500) stored.set(place, item)
    items.push(item)
  }
  // A replay of single answers did not say that they are all.
  if (attempt?.claim && (replayed || stored.size < changes.length)) await endAttempt(call.caller, attempt, call.log)
  const status = statusOf(items)
  return status === 404 ? { kind: 'nothing', replayed } : { kind: 'results', status, items, replayed }
}

/** What is answered to a change that was not made. A 5xx is not stored: it is the one answer that a retry should not repeat. */
async function failed(
  { caller, log }: Pick<Call, 'caller' | 'log'>,
  error: unknown,
  answer?: PendingAnswer,
): Promise<ResultItem> {
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  // Another attempt at the whole request goes on with it.
  if (failure?.kind === 'in-progress') throw failure
  if (failure === null) {
    log.error({ err: error }, 'a record of the request failed')
    return defect
  }
  if (failure.logDetail) log.info({ detail: failure.logDetail }, failure.message)
  const item = resultItem('Error', failure.field, failure.status, failure.message)
  if (!answer || failure.status >= 500) return item
  return rememberItem(caller, answer, item).then(
    () => item,
    (cause) => failed({ caller, log }, cause),
  )
}

/** What a caller learns of a defect. */
export const defect = resultItem('Error', '', 500, 'Internal error')

function statusOf(items: readonly ResultItem[]): number {
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}

/** What a request asks of a change besides the change itself. */
export interface Conditions {
  /** Given the record's JSON text as it is under the lock, before it is changed; throws to refuse the change. */
  readonly precondition?: ((record: string) => void) | undefined
  /** What a repetition of the request is answered. */
  readonly answer?: PendingAnswer | undefined
}

/**
 * Changes one record and returns its id, or the key of the item that was changed in it. Throws `bad-request` that names the
 * field, `not-found` for a record or an item that is not there, and whatever the conditions throw; nothing is changed then.
 */
export async function changeRecord(
  caller: Caller,
  resource: Resource,
  requested: RequestedChange,
  { precondition, answer }: Conditions = {},
): Promise<Scalar> {
  const planned = await planChange(caller, resource, requested)
  const steps = async (tx: Caller, ids: RowIds): Promise<Scalar> => {
    const locked = await lock(tx, resource, [planned])
    if (precondition) await check(tx, resource, locked, precondition)
    const changes = merge(tx, resource, locked, ids)
    await resource.rules?.(changes)
    await write(resource, changes)
    await resource.effects?.(changes)
    const [{ after }] = changes as [Change]
    return planned.keyOf?.(after) ?? planned.id
  }
  try {
    return await withRowIds(caller, planned.newRows, (ids) => inChange(caller, (tx) => steps(tx, ids.anew()), answer))
  } catch (error) {
    throw refusalOf(error, resource, planned.kind === 'delete' ? 'deletion' : 'write') ?? error
  }
}

/**
 * Runs the steps of a change in one transaction, and the two that end each of them: it records the events that were raised,
 * each exactly if the change is made, and stores the answer of the request, last of all, since from then on whoever sends the
 * request again waits.
 */
export async function inChange<T>(
  caller: Caller,
  steps: (tx: Caller) => Promise<T>,
  answer?: PendingAnswer<T>,
): Promise<T> {
  // A transaction that is run again begins with none.
  let raised: RaisedEvents = new Map()
  const result = await inTransaction(caller.db, async (db) => {
    raised = new Map()
    const tx = { ...caller, db, raised }
    const result = await steps(tx)
    await recordEvents(tx, [...raised.values()])
    if (answer) await rememberAnswer(tx, answer, result)
    return result
  })
  if (raised.size > 0) announce(caller.db, eventsChannel)
  return result
}

interface Locked {
  readonly planned: PlannedChange
  readonly before: Stored | null
}

/** In the order in which they come. Throws `not-found`. */
async function lock(tx: Caller, resource: Resource, planned: readonly PlannedChange[]): Promise<Locked[]> {
  const locked: Locked[] = []
  for (const one of planned) {
    if (one.kind === 'delete') await lockDeletions(tx, resource)
    const before = one.kind === 'create' ? null : await lockRecord(tx, resource, one.id, one.lists, one.kind)
    locked.push({ planned: one, before })
  }
  return locked
}

async function check(
  tx: Caller,
  resource: Resource,
  locked: readonly Locked[],
  precondition: (record: string) => void,
): Promise<void> {
  for (const { planned, before } of locked) if (before) precondition(await getRecord(tx, resource, planned.id))
}

/** LastUpdate is stamped while the lock is held. */
function merge(tx: Caller, resource: Resource, locked: readonly Locked[], ids: RowIds): Change[] {
  return locked.map(({ planned: { kind, id, patch: given }, before }) => {
    const patch = typeof given === 'function' ? given(before as Stored) : given
    const after = kind === 'delete' ? (before as Stored) : mergeRecord(tx, resource, id, before, patch, ids)
    return { kind, caller: tx, resource, id, patch, before, after }
  })
}

async function write(resource: Resource, changes: readonly Change[]): Promise<void> {
  for (const { kind, caller, id, before, after } of changes) {
    if (kind === 'delete') {
      await applyReferrers(caller, resource, id)
      await deleteRow(caller, resource, id)
      continue
    }
    if (kind === 'create') await insertRows(caller, resource.table, [after.row])
    else await updateRow(caller, resource, after.row)
    await storeLists(caller, resource, id, before, after)
  }
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
