import { lockInStore, locks } from '../../foundation/database/advisory-locks.ts'
import { anyOf, constant, identifier, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import { definedFor } from '../definition/define.ts'
import { linkedTo, type Referrer } from '../definition/links.ts'
import { refused } from '../definition/refused.ts'
import type { Resource } from '../definition/resource.ts'
import type { Document } from '../definition/stored-row.ts'
import { raise } from '../recording/events.ts'
import { recordReplaced } from '../recording/history.ts'

/** Referring records that are named. */
export const NAMED_MAX = 10
const REWRITTEN_MAX = 200

/**
 * Serializes deletions in a store of records that refer to one another in their documents, because concurrent deletions
 * could deadlock. Call it before locking the record.
 */
export async function lockDeletions(caller: Caller, { table, referrers }: Resource): Promise<void> {
  if (!referrers.some((referrer) => referrer.table === table && referrer.rule === 'clear')) return
  await lockInStore(caller, locks.deletions)
}

/** The record to be deleted. */
type Target = { readonly caller: Caller; readonly resource: Resource; readonly id: number }

/**
 * Applies the rules of a resource's referrers to a record about to be deleted, in the transaction of the deletion and
 * with the record locked against new references. Throws a 400 that names the referring records.
 */
export async function applyReferrers(caller: Caller, resource: Resource, id: number): Promise<void> {
  const target = { caller, resource, id }
  for (const referrer of resource.referrers) if (referrer.rule === 'refuse') await refuse(target, referrer)
  for (const referrer of resource.referrers) if (referrer.rule === 'clear') await clear(target, referrer)
}

/** Records that refer to one, by one of its resource's referrers. */
export interface References {
  readonly referrer: Referrer
  /** Their lowest ids, at most `NAMED_MAX` + 1. */
  readonly ids: readonly number[]
}

/** Returns which records refer to this one, by each referrer. */
export function referencesTo(caller: Caller, resource: Resource, id: number): Promise<References[]> {
  const target = { caller, resource, id }
  return Promise.all(
    resource.referrers.map(async (referrer) => ({ referrer, ids: await referringIds(target, referrer) })),
  )
}

async function referringIds(target: Target, referrer: Referrer): Promise<number[]> {
  // PostgreSQL cannot estimate what a function finds in documents, and would look for it through the store in the order of ids.
  const order = typeof referrer.by === 'function' ? sql`t."id" + 0` : sql`t."id"`
  const found = await target.caller.db.$queryRaw<{ id: number }[]>(sql`
    SELECT t."id" FROM ${identifier(referrer.table)} t WHERE ${refersTo(target, referrer)}
    ORDER BY ${order} LIMIT ${constant(NAMED_MAX + 1)}`)
  return found.map((row) => row.id)
}

async function refuse(target: Target, referrer: Referrer): Promise<void> {
  const { resource } = target
  const found = await referringIds(target, referrer)
  if (found.length === 0) return
  const named = found.slice(0, NAMED_MAX)
  const ids = `${named.join(', ')}${found.length > NAMED_MAX ? ' and more' : ''}`
  const referring = `${referrer.fields.join(', ')} of ${referrer.table} ${ids}`
  const message = `This ${resource.typeName} cannot be deleted as long as others refer to it: ${referring}`
  throw refused(resource.resultKey, message, 'in-use')
}

/** Stamps the referring records as changed, and tells of it. Where no `without` clears a reference, its foreign key does. */
async function clear(target: Target, referrer: Referrer): Promise<void> {
  const { caller, id } = target
  const { without, fields: members } = referrer
  const table = identifier(referrer.table)
  const condition = refersTo(target, referrer)
  // In the order of ids, as everywhere. The ids are one value, because each value has a cost.
  const [found] = await caller.db.$queryRaw<{ ids: string | null }[]>(sql`
    SELECT string_agg(o."id"::text, ',') AS "ids" FROM (
      SELECT t."id" FROM ${table} t WHERE ${condition} ORDER BY t."id" FOR NO KEY UPDATE) o`)
  const ids = found?.ids?.split(',').map(Number) ?? []
  if (ids.length === 0) return
  const referring = definedFor(referrer.table)
  if (!referrer.isUntold && referring?.events?.changed)
    for (const id of ids) raise(caller, referring.events.changed, referring, id, { members })
  const cleared = members.map((field) => [field, id, null] as const)
  await recordReplaced(caller, referrer.table, ids, cleared)
  const { now, actor } = caller
  const stamps = sql`"updatedAt" = greatest(t."updatedAt", ${now().toISOString()}::timestamptz), "updatedBy" = ${actor}`
  if (without === undefined) {
    await caller.db.$executeRaw(sql`UPDATE ${table} t SET ${stamps} WHERE ${condition}`)
    return
  }
  for (let first = 0; first < ids.length; first += REWRITTEN_MAX) {
    const batch = anyOf(ids.slice(first, first + REWRITTEN_MAX))
    const rows = await caller.db.$queryRaw<{ id: number; details: Document }[]>(sql`
      SELECT t."id", t."details" FROM ${table} t WHERE t."id" = ${batch} AND ${condition}`)
    const changed = rows.map((row) => ({ id: row.id, details: without(row.details, id) }))
    await caller.db.$executeRaw(sql`
      UPDATE ${table} t SET "details" = n."details", ${stamps}
      FROM json_to_recordset(${JSON.stringify(changed)}::text::json) AS n ("id" int, "details" json)
      WHERE t."storeId" = ${storeId(caller.store)} AND t."id" = n."id"`)
  }
}

/** Excludes the record itself: its reference is deleted with it. */
function refersTo({ caller: { store }, resource, id }: Target, { table, by }: Referrer): Sql {
  const condition = sql`t."storeId" = ${storeId(store)} AND ${typeof by === 'function' ? by(id) : linkedTo(by, store, id)}`
  return table === resource.table ? sql`${condition} AND t."id" <> ${id}::int` : condition
}
