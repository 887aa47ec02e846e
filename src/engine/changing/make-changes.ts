import { type Db, isClient } from '../../foundation/database/client.ts'
import { databaseError, failureOf, isLockTimeout } from '../../foundation/database/outage.ts'
import { createBatches } from '../../foundation/values/batches.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import type { Caller } from '../caller.ts'
import type { Resource } from '../definition/define.ts'
import type { Scalar } from '../definition/fields.ts'
import type { Log } from '../reading/endpoints.ts'
import { changeRecord, changeSet, type Member, type Outcome, type Outcomes } from './change.ts'
import type { Remember } from './idempotency.ts'
import { planChanges, type RequestedChange } from './plan-change.ts'

// Makes the changes that a request or a file asks for. They are tried in one transaction: those of a list with one another, a single
// one with single ones of other requests that come while one is under way. What is left is made one by one. A refused change
// does not affect the others.

/** Stores what became of changes: in the transaction of those that are made, and by itself what has no transaction. */
export type Note = (caller: Pick<Caller, 'db' | 'store' | 'now'>, outcomes: Outcomes) => Promise<void>

export interface Making extends Pick<Member, 'caller' | 'precondition'> {
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

/** Makes changes by place, and returns the outcome of each. Throws only `in-progress`. */
export async function makeChanges(
  making: MakingRecords,
  requested: ReadonlyMap<number, RequestedChange>,
): Promise<Outcomes> {
  const { resource, precondition } = making
  const startedAt = performance.now()
  const set = mayGoTogether(making, requested) ? await planSet(making, requested) : new Map<number, Member>()
  const outcomes = new Map(requested.size > 1 ? await makeList(making, set) : await joinOthers(making, set))
  let { caller } = making
  let waitedMs = requested.size > 1 ? performance.now() - startedAt : 0
  for (const [place, one] of requested) {
    if (outcomes.has(place)) continue
    if (waitedMs > WAITED_MS_MAX) {
      outcomes.set(place, { failure: notTried })
      continue
    }
    const triedAt = performance.now()
    const outcome = await makeAlone({ ...making, caller }, place, (remember) =>
      changeRecord(caller, resource, one, { precondition, planned: set.get(place)?.planned, remember }),
    )
    outcomes.set(place, outcome)
    if (!('failure' in outcome) || outcome.failure.kind !== 'unavailable') continue
    waitedMs += performance.now() - triedAt
    if (isLockTimeout(outcome.failure.origin)) caller = { ...caller, lockMs: LOCK_MS_AFTER_ONE }
  }
  return outcomes
}

/** Makes a change in its own transaction. */
export function makeAlone(
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
    if (failure.kind === 'in-progress') throw failure
    if (failure.kind === 'defect') log.warn({ err: error }, 'changes failed together, and are made one by one')
    // With a lost connection they may have been made, or not.
    const isUncertain = failure !== error && failure.kind === 'unavailable' && !isSqlState(databaseError(error)?.code)
    return new Map(isUncertain ? [...set.keys()].map((place) => [place, { failure }]) : [])
  }
}

/** Whether PostgreSQL itself refused a statement, and with it the transaction. */
function isSqlState(code: string | undefined): boolean {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code)
}

/** Why a change was not made. Throws `in-progress`: another attempt has taken over all of them. */
function failureIn(error: unknown, log: Log, place?: number): StoreFailure {
  const failure = failureOf(error)
  if (failure.kind === 'in-progress') throw failure
  if (failure.kind === 'defect') log.error({ err: error, place }, 'a change failed')
  else if (failure.logDetail) log.debug({ detail: failure.logDetail }, failure.message)
  return failure
}

/** One transaction of ten changes is done sooner than two of five. */
const bounds = { underWayMax: 1, togetherMax: 50 }

interface Joining extends Member, Pick<MakingRecords, 'resource' | 'log'> {
  readonly settle: (outcome: Promise<Outcome | undefined>) => void
}

const laneOf = remembered((_db: Db) => createBatches<Joining>(bounds, makeJoined))

/** Makes a single change together with those of the store and service that come meanwhile. */
async function joinOthers(
  { caller: { db, store }, resource, log }: MakingRecords,
  set: ReadonlyMap<number, Member>,
): Promise<Outcomes> {
  const [[place, member] = []] = set
  if (place === undefined || member === undefined || !isClient(db)) return new Map()
  const outcome = await new Promise<Outcome | undefined>((settle) => {
    laneOf(db)(`${store.id} ${resource.service}`, { ...member, resource, log, settle })
  })
  return new Map(outcome && [[place, outcome]])
}

async function makeJoined(joined: readonly Joining[]): Promise<void> {
  // Whoever waits for a lock waits alone.
  const made = trySet(joined[0] as Joining, firstOfEach(joined.entries()), 0)
  await made.catch(() => {})
  for (const [at, { settle }] of joined.entries()) settle(made.then((outcomes) => outcomes.get(at)))
}
