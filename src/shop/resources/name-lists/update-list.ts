import { z } from 'zod'
import type { Actor } from '../../../access/audit/audit.ts'
import { changeStore } from '../../../access/stores/change-store.ts'
import type { Caller } from '../../../engine/caller.ts'
import { execute, inStoreTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { identifier } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { lowestFree } from '../lowest-free.ts'
import {
  auditMembers,
  CODES_MAX,
  type Code,
  NAME_LENGTH_MAX,
  type NameListName,
  NUMBER_MAX,
  nameLists,
  readNames,
  tooManyCodes,
} from './name-lists.ts'

const list = `must be a list of 1 to ${CODES_MAX} names`
const number = `must be a whole number from 1 to ${NUMBER_MAX}`

/** What changes a list: names that it has, and new ones. The number is called as in the definition. */
export function changedNames(name: NameListName) {
  const { resultKey } = nameLists[name]
  const row = namedObject({
    [resultKey]: z
      .int(number)
      .min(1, number)
      .max(NUMBER_MAX, number)
      .optional()
      .describe('The number to change or to add. Left out: the lowest free one is added.'),
    Name: text(NAME_LENGTH_MAX).optional().describe('The name as people read it. Required for a new number.'),
    Visible: z
      .boolean('must be true or false')
      .optional()
      .describe('Whether it is offered for new records. Left out of a new number: it is.'),
  }).transform(({ [resultKey]: id, Name, Visible }) => ({ id, name: Name, visible: Visible }) as Partial<Code>)
  return z.array(row, list).min(1, list).max(CODES_MAX, list)
}

type ChangedNames = z.output<ReturnType<typeof changedNames>>

/**
 * Changes the names and the visibility of a list and adds new ones, all or none. What has no number gets the lowest free one; a number
 * that the list does not have is new. Names are never removed, because records have their numbers. `precondition` may refuse the list
 * as it is under the lock. Refuses a new one without a name and more than 100 (400), and two equal names, ignoring case, or numbers (409).
 */
export async function updateList(
  caller: Caller,
  name: NameListName,
  changes: ChangedNames,
  { actor, precondition }: { readonly actor: Actor; readonly precondition?: (list: readonly Code[]) => void },
): Promise<void> {
  const work = async (db: Transaction) => {
    const stored = await readNames({ db, store: caller.store }, name)
    precondition?.(stored)
    const { table, resultKey } = nameLists[name]
    const before = new Map(stored.map((code) => [code.id, code]))
    const { codes, ids } = withChanges(before, changes)
    const twice = ids.findLastIndex((id, at) => ids.indexOf(id) < at)
    if (twice >= 0) {
      const field = `${twice}.${resultKey}`
      throw new StoreFailure('not-unique', `The list has number ${ids[twice]} already`, { field })
    }
    if (codes.size > CODES_MAX) throw tooManyCodes()
    refuseEqualNames(codes, ids)
    const isNew = ({ id, name, visible }: Code) => before.get(id)?.name !== name || before.get(id)?.visible !== visible
    const changed = ids.map((id) => codes.get(id) as Code).filter(isNew)
    if (changed.length === 0) return null
    await execute(db)`
      INSERT INTO ${identifier(table)} ("storeId", "id", "name", "visible")
      SELECT ${caller.store.id}::int, "id", "name", "visible"
      FROM json_populate_recordset(NULL::${identifier(table)}, ${JSON.stringify(changed)}::text::json)
      ON CONFLICT ("storeId", "id") DO UPDATE SET "name" = excluded."name", "visible" = excluded."visible"`
    return { [auditMembers[name]]: changed.map(({ id }) => id) }
  }
  const action = name === 'payment-methods' ? 'payment-methods.changed' : 'return-lists.changed'
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, { actor, action, work }))
}

/** The list after the changes, and the number of each of them. */
function withChanges(before: ReadonlyMap<number, Code>, changes: ChangedNames) {
  const codes = new Map(before)
  const given = new Set(changes.map(({ id }) => id))
  const ids = changes.map(({ id: number, name: newName, visible }, index) => {
    const id = number ?? lowestFree((free) => codes.has(free) || given.has(free))
    const former = codes.get(id)
    const name = newName ?? former?.name
    if (name === undefined) {
      const field = `${index}.Name`
      throw new StoreFailure('missing-field', `${field} is missing: a new number needs a name`, { field })
    }
    codes.set(id, { id, name, visible: visible ?? former?.visible ?? true })
    return id
  })
  return { codes, ids }
}

/** `ids` are those of the changes, of which the last with a name that another one has is refused. */
function refuseEqualNames(codes: ReadonlyMap<number, Code>, ids: readonly number[]): void {
  const folded = (id: number) => codes.get(id)?.name.toLowerCase()
  const holders = Map.groupBy(codes.keys(), folded)
  const index = ids.findLastIndex((id) => (holders.get(folded(id)) ?? []).length > 1)
  if (index < 0) return
  const name = codes.get(ids[index] as number)?.name
  const problem = `Two of the list would have the name ${name}; each needs one of its own`
  throw new StoreFailure('not-unique', problem, { field: `${index}.Name` })
}
