import type { Caller } from '../../../engine/caller.ts'
import { changeSet, type Member } from '../../../engine/changing/change.ts'
import { type PlannedChange, planChanges } from '../../../engine/changing/plan-change.ts'
import { announce, eventsChannel } from '../../../engine/recording/events.ts'
import { lockInStore, locks } from '../../../foundation/database/advisory-locks.ts'
import { execute, inStoreTransaction } from '../../../foundation/database/client.ts'
import type { CsvImportName } from '../../../foundation/database/generated/client.ts'
import { leaseEnd, leases } from '../../../foundation/database/leases.ts'
import { failureOf } from '../../../foundation/database/outage.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { resourceNamed } from '../../registry.ts'
import { listColumnsOf } from '../lines/columns.ts'
import { BATCH_LINES_MAX } from '../lines/limits.ts'
import { listNames, nameFieldOf } from '../lines/new-names.ts'
import { idsBelow } from '../lines/references.ts'
import type { Run } from './apply.ts'

/**
 * Makes the records of these new names that there are not yet, and of those above, and returns, by number, the ids of all, or why one was
 * not made.
 * A name is made once, whatever files and processes name it: it is looked up and made under a lock of the store, and noted in the same
 * transaction. Throws `in-progress` when the import was cancelled or another process took over, and any error that stops the import.
 */
export async function makeNames(run: Run, numbers: readonly number[]) {
  const ids = new Map<number, number>()
  const failures = new Map<number, StoreFailure>()
  if (numbers.length === 0) return { ids, failures }
  const names = new Map((await listNames(run.caller, run.id)).map((name) => [name.number, name]))
  for (const { number, recordId } of names.values()) if (recordId !== null) ids.set(number, recordId)
  const wanted = new Set<number>()
  const want = (number: number | null) => {
    const name = number === null || wanted.has(number) ? undefined : names.get(number)
    if (name === undefined) return
    wanted.add(name.number)
    want(name.parent)
  }
  for (const number of numbers) want(number)
  const isOpen = ({ number }: CsvImportName) => wanted.has(number) && !ids.has(number) && !failures.has(number)
  for (let open = [...names.values()].filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
    const [first] = open as [CsvImportName]
    const failed = first.parent === null ? undefined : failures.get(first.parent)
    if (failed !== undefined) failures.set(first.number, failed)
    else {
      // Those above have lower numbers, so they are made or have failed.
      const isNext = ({ service, parent }: CsvImportName) =>
        service === first.service && (parent === null || ids.has(parent))
      await makeOrFail(run, open.filter(isNext).slice(0, BATCH_LINES_MAX), { ids, failures })
    }
  }
  return { ids, failures }
}

async function makeOrFail(
  run: Run,
  names: readonly CsvImportName[],
  made: { readonly ids: Map<number, number>; readonly failures: Map<number, StoreFailure> },
): Promise<void> {
  try {
    for (const [number, id] of await makeSome(run, names, made.ids)) made.ids.set(number, id)
  } catch (error) {
    const failure = failureOf(error)
    if (failure.code === 'in-progress' || (failure.status >= 500 && failure.code !== 'internal-error')) throw error
    if (names.length > 1) for (const name of names) await makeOrFail(run, [name], made)
    else {
      if (failure.code === 'internal-error')
        run.log.error({ err: error }, 'a record that a CSV file names could not be made')
      made.failures.set(names[0]?.number ?? 0, failure)
    }
  }
}

/** Makes the records of names of one service whose records above are there. */
async function makeSome(run: Run, names: readonly CsvImportName[], ids: ReadonlyMap<number, number>) {
  const { caller, resource } = run
  const target = resourceNamed(names[0]?.service ?? '')
  const { levels } = listColumnsOf(resource).find((column) => column.target === target) ?? {}
  const above = ({ parent, parentId }: CsvImportName) => (parent === null ? parentId : (ids.get(parent) ?? null))
  const bodies = names.map((name) => {
    const parent = above(name)
    return { [nameFieldOf(target).name]: name.name, ...(levels && parent !== null && { [levels.parent]: parent }) }
  })
  const wanted = names.map((name, place) => ({ place, parent: above(name) ?? 0, text: name.name }))
  const find = (db: Caller['db']) => idsBelow({ ...caller, db }, { target, ...(levels && { levels }) }, wanted)
  const missing = await find(caller.db).then((found) => wanted.filter(({ place }) => !found.has(place)))
  const creates = missing.map(({ place }) => ({ kind: 'create', body: bodies[place] ?? {} }) as const)
  // Reserves ids outside of the transaction, so that nobody waits for them.
  const plans = creates.length === 0 ? [] : await planChanges(caller, target, creates)
  for (const planned of plans) if (planned instanceof StoreFailure) throw planned
  const made = await inStoreTransaction(caller, async (db) => {
    await holdImport(run, db)
    await lockInStore({ ...caller, db }, locks.csvNames)
    const found = new Map([...(await find(db))].map(([place, [id = 0]]) => [place, id]))
    const set = new Map<number, Member>()
    for (const [at, { place }] of missing.entries()) {
      const planned = plans[at] as PlannedChange
      if (found.has(place)) continue
      set.set(place, { caller: { ...caller, db }, planned })
      found.set(place, planned.id)
    }
    if (set.size > 0) await changeSet(target, set)
    const noted = names.map(({ number }, place) => ({ number, recordId: found.get(place) ?? 0 }))
    await execute(db)`
      UPDATE "CsvImportName" n SET "recordId" = m."recordId"
      FROM json_to_recordset(${JSON.stringify(noted)}::text::json) AS m ("number" int, "recordId" int)
      WHERE n."storeId" = ${caller.store.id}::int AND n."importId" = ${run.id}::int AND n."number" = m."number"`
    return new Map(noted.map(({ number, recordId }) => [number, recordId]))
  })
  announce(caller.db, eventsChannel)
  return made
}

/** Renews the lease. Throws `in-progress` unless the import is still this process's. */
async function holdImport({ id, claim, caller: { store, now } }: Run, db: Caller['db']): Promise<void> {
  const held = await execute(db)`
    UPDATE "CsvImport" SET "leasedUntil" = ${leaseEnd(leases.csvApplying, now)}
    WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int AND "state" = 'applying' AND "claim" = ${claim}::int`
  if (held === 0) throw new StoreFailure('in-progress', 'The import was cancelled, or another process continues it')
}
