import { type Db, isClient } from '../database/client.ts'
import type { Caller } from './caller.ts'
import type { Representation } from './representations.ts'
import { type Owned, readByIds } from './rows.ts'

// Reads of single records come by hundreds a second, and each of its own costs the process more to send than to answer. Those
// that come while others of their kind are under way wait for them and are read together: each by a statement that began
// after it had come.

/** Statements of a lane at a time; with one alone, a slow record would delay the others. */
const UNDER_WAY_MAX = 2
const TOGETHER_MAX = 100

interface Lane {
  underWay: number
  /** Those who wait for a record, by its id. */
  waiting: Map<number, Waiting>
}

interface Waiting {
  readonly found: Promise<unknown>
  readonly settle: (found: Promise<unknown>) => void
}

/** By representation and store. */
const lanes = new WeakMap<Db, Map<string, Lane>>()

/** Reads one record; undefined: there is none that the caller may know of. */
export async function readOne<Made>(
  caller: Caller,
  source: Owned,
  id: number,
  as: Representation<Made>,
): Promise<Made | undefined> {
  const { db, store } = caller
  // What the caller alone may know of, or sees within its transaction, is nobody else's.
  if (!isClient(db) || source.owned !== null) return (await readByIds(caller, source, [id], as)).get(id)
  const ofDb = lanes.get(db) ?? new Map<string, Lane>()
  lanes.set(db, ofDb)
  const name = `${store.id} ${as.name}`
  const lane = ofDb.get(name) ?? { underWay: 0, waiting: new Map() }
  ofDb.set(name, lane)
  const waiting = lane.waiting.get(id) ?? newWaiting()
  lane.waiting.set(id, waiting)
  if (lane.underWay < UNDER_WAY_MAX) {
    // Others may still wait for the records when this client has gone.
    const ofAll = { ...caller, isGone: () => false }
    void run(ofAll, source, as, lane).finally(() => lane.underWay === 0 && ofDb.delete(name))
  }
  return (await waiting.found) as Made | undefined
}

function newWaiting(): Waiting {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  return { found: promise, settle: resolve }
}

/** Reads for all who wait, until nobody does. */
async function run<Made>(caller: Caller, source: Owned, as: Representation<Made>, lane: Lane): Promise<void> {
  lane.underWay++
  while (lane.waiting.size > 0) {
    const batch = [...lane.waiting].slice(0, TOGETHER_MAX)
    for (const [id] of batch) lane.waiting.delete(id)
    const ids = batch.map(([id]) => id)
    const read = readByIds(caller, source, ids, as)
    const isRead = await read.then(
      () => true,
      () => batch.length === 1,
    )
    for (const [id, { settle }] of batch) {
      // Otherwise a record that cannot be read would fail the others.
      const found = isRead ? read : readByIds(caller, source, [id], as)
      settle(found.then((records) => records.get(id)))
    }
  }
  lane.underWay--
}
