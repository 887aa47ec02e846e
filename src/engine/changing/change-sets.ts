import type { Db } from '../../database/client.ts'
import { databaseError, isLockTimeout, outageOf } from '../../database/outage.ts'
import { createBatches } from '../../values/batches.ts'
import { StoreFailure } from '../../values/failure.ts'
import type { Caller } from '../caller.ts'
import { refusalOf } from '../definition/constraints.ts'
import type { Resource } from '../definition/define.ts'
import type { Scalar } from '../definition/fields.ts'
import type { Log } from '../reading/endpoints.ts'
import { notFound } from '../reading/read.ts'
import { type Change, inChange, keyOf, merge, ruled, type Tx, writeAll } from './change.ts'
import type { NewRows, PlannedChange } from './plan-change.ts'
import { lockRecords, type RowIds, type Stored, withRowIds } from './write.ts'

// Changes of several records in one transaction, with a statement for each step: those of a list, and single ones that come
// while others are under way. What one of them is refused for leaves the others alone.

/** One change of a set. No two are of the same record. */
export interface Member {
  readonly caller: Caller
  readonly planned: PlannedChange
}

/** How a change of a set ended: the key of the record, or why it was not changed. */
export type Ended = { readonly key: Scalar } | { readonly error: unknown }

/** By place. A change without an entry has still to be made, by itself. */
export type EndedSet = ReadonlyMap<number, Ended>

/** Bytes that the stored rows of a set may have. */
const BYTES_MAX = 8 * 1024 * 1024
/** How long a set waits for a lock before it leaves out what is locked. Other sets are done sooner. */
const WAIT_MS = 300

interface Options {
  readonly log: Log
  readonly waitMs?: number
  /** Runs at the end of the transaction. */
  readonly remember?: (tx: Tx, ended: EndedSet) => Promise<void>
}

/**
 * Makes changes, by place, as far as that can be done together: not of records that somebody else holds, and none if a statement
 * fails, since it does not say for which of them.
 */
export async function changeTogether(
  resource: Resource,
  set: ReadonlyMap<number, Member>,
  { log, waitMs = WAIT_MS, remember }: Options,
): Promise<EndedSet> {
  const members = [...set.values()]
  const [first] = members
  if (first === undefined) return new Map()
  const make = (lockMs: number) =>
    withRowIds(first.caller, newRowsOf(members), (rowIds) =>
      inChange(first.caller, (tx) => changeSet(tx, resource, { set, rowIds: rowIds.anew(), waitMs: lockMs }), remember),
    )
  try {
    return await make(waitMs).catch((error) => {
      if (isLockTimeout(error)) return make(0)
      throw error
    })
  } catch (error) {
    const all = () => new Map([...set.keys()].map((place) => [place, { error }]))
    if (error instanceof StoreFailure) {
      // Another attempt at the request has taken over.
      if (error.kind === 'in-progress') throw error
      return set.size === 1 ? all() : new Map()
    }
    if (isSqlState(databaseError(error)?.code)) return new Map()
    // They may have been made, or not.
    if (outageOf(error) !== null) return all()
    log.warn({ err: error }, 'changes failed together, and are made one by one')
    return new Map()
  }
}

/**
 * Makes changes in one transaction, or none of them. Throws what one of them is refused for. `remember` runs at the end of the
 * transaction, with the keys of the records by place.
 */
export async function changeAsOne(
  resource: Resource,
  set: ReadonlyMap<number, Member>,
  remember: (tx: Tx, keys: ReadonlyMap<number, Scalar>) => Promise<void>,
): Promise<void> {
  const members = [...set.values()]
  const { caller } = members[0] as Member
  try {
    await withRowIds(caller, newRowsOf(members), (rowIds) =>
      inChange(
        caller,
        async (tx) => {
          const ended = await changeSet(tx, resource, { set, rowIds: rowIds.anew(), isWhole: true })
          // Callers go on with what has not ended, which would be the same changes for ever.
          if (ended.size < set.size) throw new Error(`${set.size - ended.size} changes of a whole set did not end`)
          return new Map([...ended].flatMap(([place, one]) => ('key' in one ? [[place, one.key]] : [])))
        },
        remember,
      ),
    )
  } catch (error) {
    throw refusalOf(error, resource) ?? error
  }
}

/** Whether it is PostgreSQL itself that refused a statement, and with it the transaction. */
function isSqlState(code: string | undefined): boolean {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code)
}

function newRowsOf(members: readonly Member[]): NewRows {
  const sum = (of: keyof NewRows) => members.reduce((all, { planned }) => all + planned.newRows[of], 0)
  return { keyless: sum('keyless'), all: sum('all') }
}

interface SetInTransaction {
  readonly set: ReadonlyMap<number, Member>
  readonly rowIds: RowIds
  /** Omitted: as long as any transaction. */
  readonly waitMs?: number
  /** All changes or none: throws the first refusal. */
  readonly isWhole?: boolean
}

/** The steps of a set, in the transaction `tx`. */
async function changeSet(tx: Tx, resource: Resource, options: SetInTransaction): Promise<EndedSet> {
  const { set, rowIds, waitMs, isWhole = false } = options
  const ended = new Map<number, Ended>()
  const existing = [...set.values()].map(({ planned }) => planned).filter(({ kind }) => kind !== 'create')
  const ids = existing.map(({ id }) => id)
  const lists = [...new Set(existing.flatMap((planned) => planned.lists))]
  // In the order of ids, as everywhere.
  const locked =
    ids.length === 0
      ? none
      : await lockRecords(tx, resource, ids, lists, { waitMs, bytesMax: isWhole ? null : BYTES_MAX })
  if (locked === null) return ended
  const changes = new Map<number, Change>()
  for (const [place, { caller, planned }] of set) {
    const stored = locked.stored.get(planned.id)
    const before = stored === undefined ? null : listsOf(stored, planned)
    if (planned.kind !== 'create' && before === null) {
      if (!locked.ids.has(planned.id)) ended.set(place, { error: planned.refusal ?? notFound(resource, planned.id) })
      continue
    }
    const inside = { ...caller, db: tx.db, raised: tx.raised, written: tx.written }
    try {
      changes.set(place, { ...merge(inside, resource, { planned, before }, rowIds), isOfSet: set.size > 1 })
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      ended.set(place, { error })
    }
  }
  const made = await ruled(resource, [...changes.values()])
  for (const [place, { refusal }] of changes) {
    if (refusal === undefined) continue
    ended.set(place, { error: refusal })
    changes.delete(place)
  }
  if (isWhole) for (const one of ended.values()) if ('error' in one) throw one.error
  await writeAll(tx, resource, made)
  for (const [place, change] of changes) ended.set(place, { key: keyOf((set.get(place) as Member).planned, change) })
  return ended
}

const none = { stored: new Map<number, Stored>(), ids: new Set<number>() }

/** The record with those lists that its own change touches. */
function listsOf({ row, lists }: Stored, planned: PlannedChange): Stored {
  return { row, lists: Object.fromEntries(Object.entries(lists).filter(([name]) => planned.lists.includes(name))) }
}

/** One transaction of ten changes is done sooner than two of five. */
const bounds = { underWayMax: 1, togetherMax: 50 }

interface Joining extends Member {
  readonly resource: Resource
  readonly log: Log
  readonly settle: (ended: Promise<Ended | undefined>) => void
}

const lanes = new WeakMap<Db, (key: string, joining: Joining) => void>()

/** Makes a change together with those of the store and service that come meanwhile. Undefined: it has still to be made, by itself. */
export async function joinChanges(db: Db, member: Omit<Joining, 'settle'>): Promise<Ended | undefined> {
  const add = lanes.get(db) ?? createBatches(bounds, makeJoined)
  lanes.set(db, add)
  const { promise, resolve } = Promise.withResolvers<Ended | undefined>()
  add(`${member.caller.store.id} ${member.resource.service}`, { ...member, settle: resolve })
  return promise
}

async function makeJoined(all: readonly Joining[]): Promise<void> {
  const [{ resource, log }] = all as [Joining]
  const ids = new Set<number>()
  const set = new Map<number, Member>()
  for (const [place, member] of all.entries()) {
    if (!ids.has(member.planned.id)) set.set(place, member)
    ids.add(member.planned.id)
  }
  // Whoever waits for a lock waits alone.
  const ended = changeTogether(resource, set, { log, waitMs: 0 })
  await ended.catch(() => {})
  for (const [place, { settle }] of all.entries()) settle(ended.then((found) => found.get(place)))
}
