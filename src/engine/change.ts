import { inStoreTransaction } from '../database/client.ts'
import { isLockTimeout, outageOf } from '../database/outage.ts'
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

// A change of a record is a sequence of steps in one transaction: lock, precondition, merge, rules, write, effects
// (ledger rows, other records, raised events), events, remembered answer. Each step takes a list of records.

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
}

/**
 * Makes the changes of one request separately and in order, and answers one result item each (rest-resources §0.7,
 * §0.8). The status is 200 or 201 if all succeed, 206 if some do, and if none does the status that all share (an empty
 * body for 404), else 400. A defect makes its record a 500; the other changes stand. With an `Idempotency-Key`, results
 * of an earlier attempt are replayed and not repeated.
 */
export function changeRecords(
  call: Call,
  resource: Resource,
  requested: readonly RequestedChange[],
  { key = resource.resultKey, precondition }: { key?: string; precondition?: Conditions['precondition'] } = {},
): Promise<Answer> {
  const changes = requested.map((one) => ({
    make: (caller: Caller, answer?: PendingAnswer) => changeRecord(caller, resource, one, { precondition, answer }),
    done: doneBy[one.kind](key),
  }))
  return answerEach(call, changes)
}

/** Makes one change, not of a record, in its own transaction; only once with an `Idempotency-Key`. */
export function changeOnce(
  call: Call,
  change: (tx: Caller) => Promise<Scalar>,
  done: (key: Scalar) => ResultItem,
): Promise<Answer> {
  return answerEach(call, [{ make: (caller, answer) => inChange(caller, change, answer), done }])
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
  /** Makes the change and stores its answer in the same transaction. */
  readonly make: (caller: Caller, answer?: PendingAnswer) => Promise<Scalar>
  /** The answer to a successful change. */
  readonly done: (key: Scalar) => ResultItem
}

/** One blocked record of a list may take its time; others must not add up to more than a client waits. */
const LOCK_MS_AFTER_ONE = 100
/** How long the records of a list that end as a 503 may take together; the rest is not tried. */
const WAITED_MS_MAX = 15_000

const notTried = resultItem('Error', '', 503, 'Other records of the list waited too long; try again in a moment')

async function answerEach(call: Call, changes: readonly ChangeOfRequest[]): Promise<Answer> {
  const attempt = 'idempotency-key' in call.headers ? await beginAttempt(call) : null
  const { stored = new Map<number, ResultItem>() } = attempt ?? {}
  const replayed = stored.size === changes.length
  const items: ResultItem[] = []
  let { caller } = call
  let waitedMs = 0
  for (const [place, { make, done }] of changes.entries()) {
    const known = stored.get(place)
    const answer = attempt === null ? undefined : { attempt, place, records: changes.length, itemOf: done }
    const startedAt = performance.now()
    const tried = async () =>
      make(caller, answer).then(done, (error) => {
        if (isLockTimeout(error)) caller = { ...caller, lockMs: LOCK_MS_AFTER_ONE }
        return failed(call, error, answer)
      })
    const item = known ?? (waitedMs > WAITED_MS_MAX ? notTried : await tried())
    if (item.Status === '503') waitedMs += performance.now() - startedAt
    if (Number(item.Status) < 500) stored.set(place, item)
    items.push(item)
  }
  // Replaying stored items does not mark the key as answered, so the lease must end here.
  if (attempt?.claim && (replayed || stored.size < changes.length)) await endAttempt(call.caller, attempt, call.log)
  const status = statusOf(items)
  return status === 404 ? { kind: 'nothing', replayed } : { kind: 'results', status, items, replayed }
}

/** The answer to a failed change. A 5xx is not stored, because a retry should not repeat it. */
async function failed(
  { caller, log }: Pick<Call, 'caller' | 'log'>,
  error: unknown,
  answer?: PendingAnswer,
): Promise<ResultItem> {
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  // Another attempt has taken over the whole request.
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

/** The answer to a defect, without internals. */
export const defect = resultItem('Error', '', 500, 'Internal error')

function statusOf(items: readonly ResultItem[]): number {
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}

/** Options of a change. */
export interface Conditions {
  /** Receives the record's JSON text under the lock, before the change; throws to refuse the change. */
  readonly precondition?: ((record: string) => void) | undefined
  /** The answer to replay if the request is repeated. */
  readonly answer?: PendingAnswer | undefined
}

/**
 * Changes one record and returns its id, or the key of the changed item. Throws `bad-request` that names the field,
 * `not-found` for an unknown record or item, and whatever the conditions throw; nothing is changed then.
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
 * Runs the steps of a change in one transaction, then records the raised events, so that they exist exactly if the
 * change does, and stores the answer of the request. The answer is last, because repetitions of the request wait from
 * then on.
 */
export async function inChange<T>(
  caller: Caller,
  steps: (tx: Caller) => Promise<T>,
  answer?: PendingAnswer<T>,
): Promise<T> {
  // A retried transaction starts without raised events.
  let raised: RaisedEvents = new Map()
  const result = await inStoreTransaction(caller, async (db) => {
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

/** Locks the records in the given order. Throws `not-found`. */
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

/** Stamps LastUpdate while the lock is held. */
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
