import { isClient } from '../../database/client.ts'
import { isLockTimeout, outageOf } from '../../database/outage.ts'
import { StoreFailure } from '../../values/failure.ts'
import { type ResultItem, resultItem } from '../../values/result-item.ts'
import type { Caller } from '../caller.ts'
import type { Resource } from '../definition/define.ts'
import type { Scalar } from '../definition/fields.ts'
import type { Answer, Call } from '../reading/endpoints.ts'
import { type Conditions, changeRecord, inChange, remembering, type Tx } from './change.ts'
import { changeTogether, type Ended, type EndedSet, joinChanges } from './change-sets.ts'
import {
  type Attempt,
  beginAttempt,
  endAttempt,
  type PendingAnswer,
  rememberItem,
  rememberItems,
} from './idempotency.ts'
import { type PlannedChange, planChanges, type RequestedChange } from './plan-change.ts'

// The changes that one request asks for, and its answer.

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
    make: (caller: Caller, answer?: PendingAnswer, planned?: PlannedChange) =>
      changeRecord(caller, resource, one, { precondition, answer, planned }),
    done: doneBy[one.kind](key),
  }))
  return answerEach(call, changes, togetherFor(call, resource, { requested, changes, precondition }))
}

interface RequestedChanges {
  readonly requested: readonly RequestedChange[]
  readonly changes: readonly ChangeOfRequest[]
  readonly precondition: Conditions['precondition']
}

/** Bytes of the body of a list whose changes are made together, because a set is in memory several times. */
const LIST_BYTES_MAX = 1024 * 1024
/** Bytes of the body of a single change that goes with others. */
const JOINED_BYTES_MAX = 64 * 1024

/** How the changes of a request are made together: those of a list with one another, a single one with those of other requests. */
function togetherFor(
  { caller, log, headers }: Call,
  resource: Resource,
  { requested, changes, precondition }: RequestedChanges,
): Together | null {
  if (resource.isOneByOne || resource.owner) return null
  const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (requested.length > 1 && bytes <= LIST_BYTES_MAX) {
    return (places, attempt) => changeList({ caller, log }, resource, { requested, changes, places, attempt })
  }
  const [one] = requested
  const isPlain = one?.kind === 'update' || one?.kind === 'create'
  const { db } = caller
  // A large one would not leave the others the time that they need.
  const isSmall = requested.length === 1 && bytes <= JOINED_BYTES_MAX
  if (!isPlain || !isSmall || precondition || 'idempotency-key' in headers || !isClient(db)) return null
  return async () => {
    const plan = await planChanges(caller, resource, [one])
    const [planned] = plan
    if (planned === undefined || planned instanceof StoreFailure) return madeOf(new Map([[0, { error: planned }]]))
    const ended = await joinChanges(db, { caller, planned, resource, log })
    const plans = new Map([[0, planned]])
    return { ...madeOf(ended === undefined ? new Map() : new Map([[0, ended]])), plans }
  }
}

function madeOf(ended: EndedSet): Made {
  return { ended, isRemembered: () => false, plans: new Map(), waitedMs: 0 }
}

/** Makes what can be made together of a list. Left out are a record's second change, and what names an unknown record. */
async function changeList(
  { caller, log }: Pick<Call, 'caller' | 'log'>,
  resource: Resource,
  {
    requested,
    changes,
    places,
    attempt,
  }: Pick<RequestedChanges, 'requested' | 'changes'> & { places: readonly number[]; attempt: Attempt | null },
): Promise<Made> {
  const startedAt = performance.now()
  const wanted = places.map((place) => requested[place] as RequestedChange)
  const plans = new Map<number, PlannedChange>()
  const unreadable = new Map<number, Ended>()
  const ids = new Set<number>()
  for (const [at, plan] of (await planChanges(caller, resource, wanted)).entries()) {
    const place = places[at] as number
    if (plan instanceof StoreFailure) {
      // A change before it may give a record the name that is not there yet.
      if (plan.kind !== 'not-found') unreadable.set(place, { error: plan })
      continue
    }
    // A record's second change may name it as the first leaves it.
    if (!ids.has(plan.id)) plans.set(place, plan)
    ids.add(plan.id)
  }
  const itemAt = (place: number, ended: Ended) =>
    'key' in ended ? (changes[place] as ChangeOfRequest).done(ended.key) : itemOf(ended.error as StoreFailure)
  const remember = async (tx: Tx, ended: EndedSet) => {
    const items = [...ended].map(([place, one]): [number, ResultItem] => [place, itemAt(place, one)])
    if (attempt === null || items.length === 0) return
    await rememberItems(tx, { attempt, records: changes.length }, new Map(items))
  }
  const set = new Map([...plans].map(([place, planned]) => [place, { caller, planned }]))
  const ended = plans.size < 2 ? new Map<number, Ended>() : await changeTogether(resource, set, { log, remember })
  const all = new Map([...unreadable, ...ended])
  const waitedMs = [...plans.keys()].every((place) => ended.has(place)) ? 0 : performance.now() - startedAt
  return { ended: all, isRemembered: (place) => ended.has(place), plans, waitedMs }
}

/** Makes one change, not of a record, in its own transaction; only once with an `Idempotency-Key`. */
export function changeOnce(
  call: Call,
  change: (tx: Caller) => Promise<Scalar>,
  done: (key: Scalar) => ResultItem,
): Promise<Answer> {
  return answerEach(call, [{ make: (caller, answer) => inChange(caller, change, remembering(answer)), done }], null)
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
  readonly make: (caller: Caller, answer?: PendingAnswer, planned?: PlannedChange) => Promise<Scalar>
  /** The answer to a successful change. */
  readonly done: (key: Scalar) => ResultItem
}

/** One blocked record of a list may take its time; others must not add up to more than a client waits. */
const LOCK_MS_AFTER_ONE = 100
/** How long the records of a list that end as a 503 may take together; the rest is not tried. */
const WAITED_MS_MAX = 15_000

const notTried = resultItem('Error', '', 503, 'Other records of the list waited too long; try again in a moment')

/** A refusal that is stored already is not stored again. */
interface Made {
  readonly ended: EndedSet
  readonly isRemembered: (place: number) => boolean
  /** What was read of the input of those that have still to be made. */
  readonly plans: ReadonlyMap<number, PlannedChange>
  readonly waitedMs: number
}

/** Makes what can be made together of the changes at these places. */
type Together = (places: readonly number[], attempt: Attempt | null) => Promise<Made>

async function answerEach(call: Call, changes: readonly ChangeOfRequest[], together: Together | null): Promise<Answer> {
  const attempt = 'idempotency-key' in call.headers ? await beginAttempt(call) : null
  const { stored = new Map<number, ResultItem>() } = attempt ?? {}
  const replayed = stored.size === changes.length
  const items = new Map(stored)
  const open = [...changes.keys()].filter((place) => !stored.has(place))
  const answerAt = (place: number) => {
    const { done } = changes[place] as ChangeOfRequest
    return attempt === null ? undefined : { attempt, place, records: changes.length, itemOf: done }
  }
  const keep = (place: number, item: ResultItem) => {
    if (Number(item.Status) < 500) stored.set(place, item)
    items.set(place, item)
  }
  // What does not succeed together is tried one by one.
  const made = together && (await together(open, attempt).catch(throwInProgress))
  for (const [place, ended] of made?.ended ?? []) {
    const { done } = changes[place] as ChangeOfRequest
    const answer = made?.isRemembered(place) ? undefined : answerAt(place)
    keep(place, 'key' in ended ? done(ended.key) : await failed(call, ended.error, answer))
  }
  let { caller } = call
  let waitedMs = made?.waitedMs ?? 0
  for (const place of open) {
    if (items.has(place)) continue
    const { make, done } = changes[place] as ChangeOfRequest
    const answer = answerAt(place)
    const startedAt = performance.now()
    const tried = async () =>
      make(caller, answer, made?.plans.get(place)).then(done, (error) => {
        if (isLockTimeout(error)) caller = { ...caller, lockMs: LOCK_MS_AFTER_ONE }
        return failed(call, error, answer)
      })
    const item = waitedMs > WAITED_MS_MAX ? notTried : await tried()
    if (item.Status === '503') waitedMs += performance.now() - startedAt
    keep(place, item)
  }
  // Replaying stored items does not mark the key as answered, so the lease must end here.
  if (attempt?.claim && (replayed || stored.size < changes.length)) await endAttempt(call.caller, attempt, call.log)
  const inOrder = [...changes.keys()].map((place) => items.get(place) as ResultItem)
  const status = statusOf(inOrder)
  return status === 404 ? { kind: 'nothing', replayed } : { kind: 'results', status, items: inOrder, replayed }
}

function throwInProgress(error: unknown): null {
  if (error instanceof StoreFailure && error.kind === 'in-progress') throw error
  return null
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
  // The request's own line says what was refused.
  if (failure.logDetail) log.debug({ detail: failure.logDetail }, failure.message)
  const item = itemOf(failure)
  if (!answer || failure.status >= 500) return item
  return rememberItem(caller, answer, item).then(
    () => item,
    (cause) => failed({ caller, log }, cause),
  )
}

function itemOf({ field, status, message }: StoreFailure): ResultItem {
  return resultItem('Error', field, status, message)
}

/** The answer to a defect, without internals. */
export const defect = resultItem('Error', '', 500, 'Internal error')

function statusOf(items: readonly ResultItem[]): number {
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}
