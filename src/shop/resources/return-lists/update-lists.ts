import { z } from 'zod'
import { type Actor, recordAudit } from '../../../access/audit/audit.ts'
import type { Caller } from '../../../engine/caller.ts'
import { inStoreTransaction } from '../../../foundation/database/client.ts'
import { identifier, sql } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { namedObject, text } from '../../../foundation/values/input.ts'
import { lowestFree } from '../lowest-free.ts'
import {
  CODES_MAX,
  type Code,
  NAME_LENGTH_MAX,
  NUMBER_MAX,
  type ReturnListName,
  readReturnList,
  returnLists,
  tooManyCodes,
} from './return-lists.ts'

const list = `must be a list of 1 to ${CODES_MAX} names`
const number = `must be a whole number from 1 to ${NUMBER_MAX}`

/** What a form changes in a list: names that it has, and new ones. */
export const changedCodes = z
  .array(
    namedObject({
      Number: z.int(number).min(1, number).max(NUMBER_MAX, number).optional(),
      Name: text(NAME_LENGTH_MAX),
      Visible: z.boolean('must be true or false'),
    }),
    list,
  )
  .min(1, list)
  .max(CODES_MAX, list)

/** What the audit log calls the lists. */
export const auditMembers = {
  reasons: 'returnReasons',
  methods: 'returnMethods',
  statuses: 'returnStatuses',
} as const satisfies Readonly<Record<ReturnListName, string>>

/**
 * Changes the names and the visibility of a list and adds new ones, all or none. What has no number gets the lowest free one; a number
 * that the list does not have is new. Names are never removed, because returns have their numbers. `precondition` may refuse the list
 * as it is under the lock. Refuses more than 100 (400), and two equal names, ignoring case (409).
 */
export async function updateReturnList(
  caller: Caller,
  name: ReturnListName,
  changes: z.output<typeof changedCodes>,
  { actor, precondition }: { actor: Actor; precondition: (list: readonly Code[]) => void },
): Promise<void> {
  await inStoreTransaction(caller, async (tx) => {
    const storeId = caller.store.id
    // Concurrent changes run one after the other.
    await tx.$queryRaw`SELECT 1 FROM "Store" WHERE "id" = ${storeId} FOR NO KEY UPDATE`
    const stored = await readReturnList({ db: tx, store: caller.store }, name)
    precondition(stored)
    const codes = new Map(stored.map((code) => [code.id, code]))
    const given = new Set(changes.map((change) => change.Number))
    const ids = changes.map(({ Number: number, Name, Visible }) => {
      const id = number ?? lowestFree((free) => codes.has(free) || given.has(free))
      codes.set(id, { id, name: Name, visible: Visible })
      return id
    })
    refuseEqualNumbers(ids)
    if (codes.size > CODES_MAX) throw tooManyCodes()
    refuseEqualNames(codes, ids)
    const before = new Map(stored.map((code) => [code.id, code]))
    const changed = [...codes.values()].filter(({ id, name, visible }) => {
      const former = before.get(id)
      return former === undefined || former.name !== name || former.visible !== visible
    })
    if (changed.length === 0) return
    for (const { id, name: called, visible } of changed) {
      await tx.$executeRaw(sql`
        INSERT INTO ${identifier(returnLists[name].table)} ("storeId", "id", "name", "visible")
        VALUES (${storeId}, ${id}, ${called}, ${visible})
        ON CONFLICT ("storeId", "id") DO UPDATE SET "name" = excluded."name", "visible" = excluded."visible"`)
    }
    await recordAudit(tx, caller.now, {
      actor,
      action: 'return-lists.changed',
      target: caller.store.name,
      storeId,
      details: { [auditMembers[name]]: changed.map(({ id }) => id) },
    })
  })
}

function refuseEqualNumbers(ids: readonly number[]): void {
  const index = ids.findLastIndex((id, at) => ids.indexOf(id) < at)
  if (index < 0) return
  throw new StoreFailure('not-unique', `The list has number ${ids[index]} already`, { field: `${index}.Number` })
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
