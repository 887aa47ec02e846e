import { type Db, isClient } from '../../foundation/database/client.ts'
import { databaseError, failureOf, isLockTimeout } from '../../foundation/database/outage.ts'
import { createBatches } from '../../foundation/values/batches.ts'
import { type ResultItem, resultItem, StoreFailure } from '../../foundation/values/failure.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import type { Caller } from '../caller.ts'
import type { Answer, Call, Log } from '../definition/endpoints.ts'
import type { Scalar } from '../definition/fields.ts'
import type { Resource } from '../definition/resource.ts'
import { changeRecord, changeSet, inChange, type Member, type Outcome, type Outcomes } from './change.ts'
import { beginAttempt, endAttempt, type Remember, rememberItems } from './idempotency.ts'
import { planChanges, type RequestedChange } from './plan-change.ts'

// The changes that one request or one file asks for, until their records are locked (change.ts), and the answer to a request.

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
  { key = resource.resultKey, precondition }: { key?: string } & Pick<Member, 'precondition'> = {},
): Promise<Answer> {
  const { log, headers } = call
  const caller = { ...call.caller, isKeyed: isKeyed(call) }
  const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  const done = requested.map(({ kind }) => doneBy[kind](key))
  return answerTo(call, done, (open, note) => {
    const changes = new Map(open.map((place) => [place, requested[place] as RequestedChange]))
    return makeChanges({ caller, resource, log, precondition, note, bytes }, changes)
  })
}

/** Makes one change, not of a record, in its own transaction; only once with an `Idempotency-Key`. */
export function changeOnce(call: Call, change: (tx: Caller) => Promise<Scalar>, done: Done): Promise<Answer> {
  const { caller, log } = call
  return answerTo(call, [done], async ([place = 0], note) => {
    const made = await makeAlone({ caller, log, note }, place, (remember) => inChange(caller, change, remember))
    return new Map([[place, made]])
  })
}

/** The answer to a change that was made. */
type Done = (key: Scalar) => ResultItem

export function created(key: string): Done {
  return (id) => resultItem(key, String(id), 201, 'Created successfully')
}

export function updated(key: string): Done {
  return (id) => resultItem(key, String(id), 200, 'updated successfully')
}

export function deleted(key: string): Done {
  return (id) => resultItem(key, String(id), 200, 'Deleted successfully')
}

const doneBy = {
  create: created,
  'add-item': created,
  update: updated,
  patch: updated,
  'update-item': updated,
  delete: deleted,
}

export function refusalItem({ code, field, status, message }: StoreFailure): ResultItem {
  return { ...resultItem('Error', field, status, message), Code: code }
}

type Make = (open: readonly number[], note: Note | undefined) => Promise<Outcomes>
type Items = ReadonlyMap<number, ResultItem>

/** Answers the changes that `make` makes, by place: with an `Idempotency-Key` those that have no stored answer. */
async function answerTo(call: Call, done: readonly Done[], make: Make): Promise<Answer> {
  const places = [...done.keys()]
  if (isKeyed(call)) return answerOnce(call, done, make)
  const outcomes = await make(places, undefined)
  return answerOf(places, itemsOf(outcomes, done), outcomes)
}

function isKeyed({ headers }: Call): boolean {
  return 'idempotency-key' in headers
}

async function answerOnce(call: Call, done: readonly Done[], make: Make): Promise<Answer> {
  const attempt = await beginAttempt(call)
  const places = [...done.keys()]
  const open = places.filter((place) => !attempt.stored.has(place))
  const note: Note = async (tx, outcomes) => {
    const items = [...itemsOf(outcomes, done)].filter(([, item]) => !isToBeTriedAgain(item))
    if (items.length > 0) await rememberItems(tx, attempt, new Map(items), done.length)
  }
  const outcomes: Outcomes = open.length === 0 ? new Map() : await make(open, note)
  const items = new Map([...attempt.stored, ...itemsOf(outcomes, done)])
  const replayed = open.length === 0
  // Replaying stored items does not mark the key as answered, so the lease must end here.
  if (attempt.claim && (replayed || items.values().some(isToBeTriedAgain)))
    await endAttempt(call.caller, attempt, call.log)
  return answerOf(places, items, outcomes, replayed)
}

function itemsOf(outcomes: Outcomes, done: readonly Done[]): Items {
  return new Map(
    [...outcomes].map(([place, outcome]) => {
      const doneAt = done[place] as Done
      return [place, 'key' in outcome ? doneAt(outcome.key) : refusalItem(outcome.failure)]
    }),
  )
}

/** A 5xx is not stored, because a retry should not repeat it. */
function isToBeTriedAgain({ Status }: ResultItem): boolean {
  return Number(Status) >= 500
}

function answerOf(places: readonly number[], byPlace: Items, outcomes: Outcomes, replayed = false): Answer {
  const items = places.map((place) => byPlace.get(place) as ResultItem)
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared && first === 404) return { kind: 'nothing', replayed }
  const status = isShared ? first : items.some(({ Key }) => Key !== 'Error') ? 206 : 400
  const refused = [...outcomes].flatMap(([place, one]) =>
    'failure' in one ? [[place, one.failure.parts] as const] : [],
  )
  return { kind: 'results', status, items, replayed, parts: new Map(refused) }
}

/** Stores what became of changes: in the transaction of those that are made, and by itself what has no transaction. */
export type Note = (caller: Pick<Caller, 'db' | 'store' | 'now'>, outcomes: Outcomes) => Promise<void>

interface Making extends Pick<Member, 'caller' | 'precondition'> {
  readonly log: Log
  /** Throws `in-progress` if somebody else has taken over the changes: they are rolled back. */
  readonly note?: Note | undefined
}

interface MakingRecords extends Making {
  readonly resource: Resource
  /** Bytes of what was sent. */
  readonly bytes: number
}

/** Bytes of a list whose changes are made together, because a set is in memory several times. */
const LIST_BYTES_MAX = 1024 * 1024
/** Bytes of a single change that goes with others: a large one would not leave them the time that they need. */
const JOINED_BYTES_MAX = 64 * 1024
/** Bytes that the stored rows of a set may have. */
const STORED_BYTES_MAX = 8 * 1024 * 1024
/** How long a list waits for a lock before it leaves out what is locked. Other sets are done sooner. */
const LOCK_MS_TOGETHER = 300
/** One blocked record of a list may take its time; others must not add up to more than a client waits. */
const LOCK_MS_AFTER_ONE = 100
/** How long the records of a list that end as a 503 may take together; the rest is not tried. */
const WAITED_MS_MAX = 15_000

const notTried = new StoreFailure('unavailable', 'Other records of the list waited too long; try again in a moment')

/**
 * Makes changes by place, and returns the outcome of each. They are tried in one transaction: those of a list with one another, a
 * single one with single ones of other requests that come while one is under way. What is left is made one by one. A refused change
 * does not affect the others. Throws only `in-progress`.
 */
export async function makeChanges(making: MakingRecords, requested: ReadonlyMap<number, RequestedChange>) {
  const startedAt = performance.now()
  const set = mayGoTogether(making, requested) ? await planSet(making, requested) : new Map<number, Member>()
  const isList = requested.size > 1
  const outcomes = isList ? await makeList(making, set) : await joinOthers(making, set)
  if (outcomes.size === requested.size) return outcomes
  return makeOneByOne(making, requested, { set, outcomes, waitedMs: isList ? performance.now() - startedAt : 0 })
}

/** A single change that has a precondition, or is noted, goes alone. */
function mayGoTogether(
  { resource, precondition, note, bytes }: MakingRecords,
  requested: ReadonlyMap<number, RequestedChange>,
): boolean {
  if (resource.isOneByOne || resource.owner) return false
  if (requested.size > 1) return bytes <= LIST_BYTES_MAX
  const [one] = requested.values()
  const isPlain = one !== undefined && one.kind !== 'delete' && !precondition && !note
  return isPlain && bytes <= JOINED_BYTES_MAX
}

/** Reads the input of what can be made together. What is refused is read again alone: a change before it may give a record a name. */
async function planSet(
  { caller, resource, precondition }: MakingRecords,
  requested: ReadonlyMap<number, RequestedChange>,
): Promise<Map<number, Member>> {
  const places = [...requested.keys()]
  const plans = await planChanges(caller, resource, [...requested.values()]).catch(() => [])
  const members = plans.flatMap((planned, at): [number, Member][] =>
    planned instanceof StoreFailure ? [] : [[places[at] as number, { caller, planned, precondition }]],
  )
  return firstOfEach(members)
}

/** Leaves out the further changes of a record, which may name it as the first leaves it. */
function firstOfEach(members: Iterable<readonly [number, Member]>): Map<number, Member> {
  const set = new Map<number, Member>()
  const ids = new Set<number>()
  for (const [place, member] of members) {
    if (!ids.has(member.planned.id)) set.set(place, member)
    ids.add(member.planned.id)
  }
  return set
}

async function makeList(making: MakingRecords, set: ReadonlyMap<number, Member>): Promise<Outcomes> {
  return set.size < 2 ? new Map() : trySet(making, set, LOCK_MS_TOGETHER)
}

/** One transaction of ten changes is done sooner than two of five. */
const bounds = { underWayMax: 1, togetherMax: 50 }

interface Joining extends Member, Pick<MakingRecords, 'resource' | 'log'> {}

const laneOf = remembered((_db: Db) => createBatches<Joining, Outcome>(bounds, makeJoined))

/** Makes a single change together with those of the store and service that come meanwhile. */
async function joinOthers({ caller: { db, store }, resource, log }: MakingRecords, set: ReadonlyMap<number, Member>) {
  const [[place, member] = []] = set
  if (place === undefined || member === undefined || !isClient(db)) return new Map()
  const outcome = await laneOf(db)(`${store.id} ${resource.service}`, { ...member, resource, log })
  return new Map(outcome && [[place, outcome]])
}

async function makeJoined(joined: readonly Joining[]): Promise<ReadonlyMap<Joining, Outcome>> {
  // Whoever waits for a lock waits alone.
  const outcomes = await trySet(joined[0] as Joining, firstOfEach(joined.entries()), 0)
  return new Map([...outcomes].map(([at, outcome]) => [joined[at] as Joining, outcome]))
}

/**
 * Tries changes of different records in one transaction. None has an outcome if a statement fails, because PostgreSQL does not
 * say for which of them.
 */
async function trySet(
  { resource, log, note }: Pick<MakingRecords, 'resource' | 'log' | 'note'>,
  set: ReadonlyMap<number, Member>,
  waitMs: number,
): Promise<Outcomes> {
  const attempt = (lockMs: number) =>
    changeSet(resource, set, { partly: { waitMs: lockMs, bytesMax: STORED_BYTES_MAX }, remember: note })
  try {
    return await attempt(waitMs).catch((error) => {
      if (isLockTimeout(error)) return attempt(0)
      throw error
    })
  } catch (error) {
    const failure = failureOf(error)
    if (failure.code === 'in-progress') throw failure
    if (failure.code === 'internal-error') log.warn({ err: error }, 'changes failed together, and are made one by one')
    // With a lost connection they may have been made, or not.
    const isUncertain = failure !== error && failure.code === 'unavailable' && !isSqlState(databaseError(error)?.code)
    return new Map(isUncertain ? [...set.keys()].map((place) => [place, { failure }]) : [])
  }
}

/** Whether PostgreSQL itself refused a statement, and with it the transaction. */
function isSqlState(code: string | undefined): boolean {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code)
}

/** Makes the changes that have no outcome yet, each in its own transaction, and returns all outcomes. */
async function makeOneByOne(
  making: MakingRecords,
  requested: ReadonlyMap<number, RequestedChange>,
  tried: { set: ReadonlyMap<number, Member>; outcomes: Outcomes; waitedMs: number },
): Promise<Outcomes> {
  const { resource, precondition } = making
  const outcomes = new Map(tried.outcomes)
  let { caller } = making
  let { waitedMs } = tried
  for (const [place, one] of requested) {
    if (outcomes.has(place)) continue
    if (waitedMs > WAITED_MS_MAX) {
      outcomes.set(place, { failure: notTried })
      continue
    }
    const triedAt = performance.now()
    const outcome = await makeAlone({ ...making, caller }, place, (remember) =>
      changeRecord(caller, resource, one, { precondition, planned: tried.set.get(place)?.planned, remember }),
    )
    outcomes.set(place, outcome)
    if (!('failure' in outcome) || outcome.failure.code !== 'unavailable') continue
    waitedMs += performance.now() - triedAt
    if (isLockTimeout(outcome.failure.origin)) caller = { ...caller, lockMs: LOCK_MS_AFTER_ONE }
  }
  return outcomes
}

/** Makes a change in its own transaction. */
function makeAlone(
  { caller, note, log }: Making,
  place: number,
  change: (remember: Remember | undefined) => Promise<Scalar>,
): Promise<Outcome> {
  return change(note && ((tx, key) => note({ ...caller, ...tx }, new Map([[place, { key }]]))))
    .then((key): Outcome => ({ key }))
    .catch(async (error): Promise<Outcome> => {
      const failure = failureIn(error, log, place)
      await note?.(caller, new Map([[place, { failure }]]))
      return { failure }
    })
    .catch((error): Outcome => ({ failure: failureIn(error, log, place) }))
}

/** Why a change was not made. Throws `in-progress`: another attempt has taken over all of them. */
function failureIn(error: unknown, log: Log, place?: number): StoreFailure {
  const failure = failureOf(error)
  if (failure.code === 'in-progress') throw failure
  if (failure.code === 'internal-error') log.error({ err: error, place }, 'a change failed')
  else if (failure.logDetail) log.debug({ detail: failure.logDetail }, failure.message)
  return failure
}
