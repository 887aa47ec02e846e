import { type Db, isClient } from '../../foundation/database/client.ts'
import { createBatches } from '../../foundation/values/batches.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import type { Caller } from '../caller.ts'
import type { Representation } from './representations.ts'
import { type Owned, readByIds } from './rows.ts'

// Reads of single records come by hundreds a second, and each of its own costs the process more to send than to answer. Those
// that come while others of their kind are under way wait for them and are read together: each by a statement that began
// after it had come.

/** With a single statement, a slow record would delay the others. */
const bounds = { underWayMax: 2, togetherMax: 100 }

interface Wanted {
  readonly caller: Caller
  readonly resource: Owned
  readonly id: number
  readonly as: Representation<object>
}

/** By representation and store. */
const laneOf = remembered((_db: Db) => createBatches<Wanted, object | undefined>(bounds, readTogether))

/** Reads one record; undefined: none that the caller may see. */
export async function readOne<Made extends object>(
  caller: Caller,
  resource: Owned,
  id: number,
  as: Representation<Made>,
): Promise<Made | undefined> {
  const { db, store } = caller
  // What only this caller may see, or sees within its transaction, is not shared.
  if (!isClient(db) || resource.owner?.(caller)) return (await readByIds(caller, resource, [id], as)).get(id)
  const wanted = { caller, resource, id, as: as as unknown as Representation<object> }
  return (await laneOf(db)(`${store.id} ${as.name}`, wanted)) as Made | undefined
}

async function readTogether(all: readonly Wanted[]): Promise<ReadonlyMap<Wanted, Promise<object | undefined>>> {
  const [{ caller, resource, as }] = all as [Wanted]
  // Others may still wait for the records when this client has gone.
  const ofAll = { ...caller, isGone: () => false }
  const ids = [...new Set(all.map(({ id }) => id))]
  const read = readByIds(ofAll, resource, ids, as)
  const isRead = await read.then(
    () => true,
    () => ids.length === 1,
  )
  // Otherwise a record that cannot be read would fail the others.
  const found = (id: number) =>
    (isRead ? read : readByIds(ofAll, resource, [id], as)).then((records) => records.get(id))
  return new Map(all.map((one) => [one, found(one.id)]))
}
