import type { Caller } from './caller.ts'
import type { Resource } from './define.ts'
import type { EventKind } from './event-kinds.ts'
import { raise } from './events.ts'
import { listedIds, thisStore } from './listed.ts'
import type { Document } from './merge.ts'
import { refused } from './refused.ts'

/** A relation of other records to those of a resource, and what becomes of it when one of these is deleted. */
export interface Referrer {
  /** The table of the referring records; it has `updatedAt` and `updatedBy`. */
  readonly table: string
  /** The wire paths of the reference, without indices: `CategoryList.CategoryID`. */
  readonly fields: readonly string[]
  /** SQL over `t`, the referring record, such as `refersBy` makes; `?` is the id of the one that is deleted, `$1` the store's. */
  readonly where: string
  /** `refuse`: the record stays as long as others refer to it. `clear`: the others lose the reference, and are stamped as changed. */
  readonly rule: 'refuse' | 'clear'
  /** What it raises when a reference is cleared. */
  readonly raises?: EventKind
  /** For a reference in the `details` document, where no foreign key clears it: the document without it. */
  readonly without?: (details: Document, id: number) => Document
}

/** Named in a refusal. */
const NAMED_MAX = 10
/** Documents that are rewritten at a time. */
const REWRITTEN_MAX = 200

/** The first of the two numbers of an advisory lock; the other is the store's. */
const DELETION_LOCK = 7_301_401

/**
 * To be called before the record is locked. Records that name one another in their documents are deleted one after the
 * other in a store: together, each would wait for one that another is about to delete.
 */
export async function lockDeletions(caller: Caller, { table, referrers }: Resource): Promise<void> {
  if (!referrers.some((referrer) => referrer.table === table && referrer.rule === 'clear')) return
  await caller.db.$executeRawUnsafe('SELECT pg_advisory_xact_lock($1::int, $2::int)', DELETION_LOCK, caller.store.id)
}

/**
 * Applies the rules of a resource's referrers to a record that is about to be deleted, inside the transaction that does it
 * and with the record locked against new references. Throws `bad-request` that says what refers to it.
 */
export async function applyReferrers(caller: Caller, resource: Resource, id: number): Promise<void> {
  for (const referrer of resource.referrers) {
    if (referrer.rule === 'refuse') await refuse(caller, resource, referrer, id)
  }
  for (const referrer of resource.referrers) {
    if (referrer.rule === 'clear') await clear(caller, resource.table, referrer, id)
  }
}

async function refuse(caller: Caller, resource: Resource, referrer: Referrer, id: number): Promise<void> {
  const found = await caller.db.$queryRawUnsafe<{ id: number }[]>(
    `SELECT t."id" FROM "${referrer.table}" t WHERE ${refersTo(resource.table, referrer, '$2')}
     ORDER BY t."id" LIMIT ${NAMED_MAX + 1}`,
    caller.store.id,
    id,
  )
  if (found.length === 0) return
  const named = found.slice(0, NAMED_MAX).map((row) => row.id)
  const ids = `${named.join(', ')}${found.length > NAMED_MAX ? ' and more' : ''}`
  const referring = `${referrer.fields.join(', ')} of ${referrer.table} ${ids}`
  throw refused(
    resource.resultKey,
    `This ${resource.typeName} cannot be deleted as long as others refer to it: ${referring}`,
  )
}

async function clear(caller: Caller, target: string, referrer: Referrer, id: number): Promise<void> {
  const ids = await lockReferring(caller, target, referrer, id)
  if (ids.length === 0) return
  const { without, raises } = referrer
  if (raises) for (const referring of ids) raise(caller, raises, Number(referring))
  if (without === undefined) return stamp(caller, target, referrer, id)
  for (let first = 0; first < ids.length; first += REWRITTEN_MAX) {
    await rewrite(caller, target, { ...referrer, without }, id, ids.slice(first, first + REWRITTEN_MAX))
  }
}

/** In the order of their ids, as everyone locks several records. The ids are one value: each one costs. */
async function lockReferring(caller: Caller, target: string, referrer: Referrer, id: number): Promise<string[]> {
  const [found] = await caller.db.$queryRawUnsafe<{ ids: string | null }[]>(
    `SELECT string_agg(o."id"::text, ',') AS "ids" FROM (
       SELECT t."id" FROM "${referrer.table}" t WHERE ${refersTo(target, referrer, '$2')}
       ORDER BY t."id" FOR NO KEY UPDATE) o`,
    caller.store.id,
    id,
  )
  return found?.ids?.split(',') ?? []
}

/** The foreign key clears the reference with the deletion; whoever asks for what changed must see it. */
async function stamp(caller: Caller, target: string, referrer: Referrer, id: number): Promise<void> {
  await caller.db.$executeRawUnsafe(
    `UPDATE "${referrer.table}" t SET "updatedAt" = greatest(t."updatedAt", $3::timestamptz), "updatedBy" = $4
     WHERE ${refersTo(target, referrer, '$2')}`,
    caller.store.id,
    id,
    caller.now().toISOString(),
    caller.actor,
  )
}

async function rewrite(
  caller: Caller,
  target: string,
  referrer: Referrer & Required<Pick<Referrer, 'without'>>,
  id: number,
  ids: readonly string[],
): Promise<void> {
  const rows = await caller.db.$queryRawUnsafe<{ id: number; details: Document }[]>(
    `SELECT t."id", t."details" FROM "${referrer.table}" t
     WHERE t."id" = ${listedIds} AND ${refersTo(target, referrer, '$3')}`,
    caller.store.id,
    ids.join(','),
    id,
  )
  const changed = rows.map((row) => ({ id: row.id, details: referrer.without(row.details, id) }))
  await caller.db.$executeRawUnsafe(
    `UPDATE "${referrer.table}" t
     SET "details" = n."details", "updatedAt" = greatest(t."updatedAt", $3::timestamptz), "updatedBy" = $4
     FROM json_to_recordset($2::text::json) AS n ("id" int, "details" json)
     WHERE t."storeId" = ${thisStore} AND t."id" = n."id"`,
    caller.store.id,
    JSON.stringify(changed),
    caller.now().toISOString(),
    caller.actor,
  )
}

/** A record that refers to itself goes with itself. */
function refersTo(target: string, { table, where }: Referrer, id: string): string {
  const isOther = table === target ? ` AND t."id" <> ${id}::int` : ''
  return `t."storeId" = ${thisStore}${isOther} AND ${where.replaceAll('?', id)}`
}
