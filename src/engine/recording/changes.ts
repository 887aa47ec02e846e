import type { Change } from '../definition/resource.ts'
import { getRecord } from '../reading/read.ts'
import { type ComparedChange, differencesOf } from './differences.ts'
import { raise } from './events.ts'
import { recordHistory } from './history.ts'

// What is recorded of every change, from one comparison: its history, and the events that its definition names.

/**
 * Raises the events of records about to be deleted, which their events show as they were last. Reads them: call it before anything
 * is written.
 */
export async function raiseDeletions(changes: readonly Change[]): Promise<void> {
  for (const { kind, caller, resource, id } of changes) {
    const deleted = resource.events?.deleted
    if (kind !== 'delete' || deleted === undefined) continue
    raise(caller, deleted, resource, id, { body: await getRecord(caller, resource, id) })
  }
}

/** Raises the other events that the definition names at once, and records the history, in the transaction of the changes. */
export function recordChanges(changes: readonly Change[]): Promise<void> {
  const compared = changes.map((change): ComparedChange => {
    const { resource, kind, before, after } = change
    return { ...change, differences: before && differencesOf(resource, before, kind === 'delete' ? null : after) }
  })
  for (const change of compared) raiseOf(change)
  return recordHistory(compared)
}

function raiseOf({ kind, caller, resource, id, after, differences }: ComparedChange): void {
  const { events } = resource
  if (events === undefined || kind === 'delete') return
  if (differences === null) {
    if (events.new) raise(caller, events.new, resource, id)
    return
  }
  const others = events.toldBesides?.(after) ?? []
  const members = differences.members.filter((member) => !others.includes(member))
  if (events.changed && members.length > 0) raise(caller, events.changed, resource, id, { members })
}
