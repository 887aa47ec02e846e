import type { Caller } from '../../../engine/caller.ts'
import { reserveIds } from '../../../engine/changing/write.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { execute, inStoreTransaction, queryRows } from '../../../foundation/database/client.ts'
import type { CsvImport, CsvImportLine } from '../../../foundation/database/generated/client.ts'
import { isFree, leaseEnd, leases } from '../../../foundation/database/leases.ts'
import { empty, lines, sql } from '../../../foundation/database/sql.ts'
import { programVersion } from '../../../foundation/process/version.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { Line } from '../take-in/compare.ts'
import type { Meaning } from '../take-in/mapping.ts'
import { forgetParts } from '../take-in/parts.ts'
import { IMPORTS_MAX, KEPT_LINES_MAX } from './limits.ts'
import type { Difference, Problem } from './records.ts'
import type { Decimal } from './writing.ts'

// The rows of imports: of files, of records that were chosen in a list, and of what is put back. Those of a store are few (IMPORTS_MAX),
// and go after 30 days.

export type State = 'mapping' | 'reading' | 'ready' | 'applying' | 'done' | 'cancelled'
/**
 * Who named the columns of a file: an export, the platform that the merchant comes from, or somebody else. No file: records that were
 * chosen in a list (`bulk`), or what an earlier import or a change in the history replaced (`back`).
 */
export type Source = 'own' | 'former' | 'other' | 'bulk' | 'back'
export type Outcome = Line['outcome'] | 'changed' | 'added' | 'failed'

export type Import = Omit<CsvImport, 'state' | 'source' | 'mapping' | 'decimal'> & {
  readonly state: State
  readonly source: Source
  readonly mapping: readonly Meaning[] | null
  readonly decimal: Decimal | null
}

/** Whether it changes the records that somebody saw, as they were shown, and not those that a file names. */
export function isOfRecords({ source }: Pick<Import, 'source'>): boolean {
  return source === 'bulk' || source === 'back'
}

/** A reading of a file. Another one of the same file ends it. */
export interface OpenReading {
  readonly id: number
  readonly claim: number
}

export interface StoredLine extends Pick<CsvImportLine, 'line' | 'recordId' | 'name'> {
  readonly outcome: Outcome
  readonly changes: readonly Difference[]
  readonly problems: readonly Problem[]
}

/** How a file was read: to its end, or kept to its end until a person has said what its columns mean. */
interface Ended {
  readonly state: 'ready' | 'mapping'
  readonly isWindows?: boolean
}

/** Adds an import, which `fill` reads, and returns its id. Nothing stays of one that fails. */
export async function addFilled(
  caller: Caller,
  resource: Resource,
  file: NewImport,
  fill: (reading: OpenReading) => Promise<Ended>,
): Promise<number> {
  const reading = await addImport(caller, resource, file)
  const { db, store } = caller
  try {
    await endReading(caller, reading, await fill(reading))
    return reading.id
  } catch (error) {
    // A failure here must not hide the one that the caller is told; what stays shows as not read to its end.
    await db.csvImport.deleteMany({ where: { storeId: store.id, id: reading.id } }).catch(() => {})
    throw error
  }
}

type NewImport = Pick<Import, 'fileName' | 'ignored' | 'source' | 'headings' | 'mapping'> &
  Partial<Pick<Import, 'decimal' | 'locale'>> & { readonly change?: object }

async function addImport(caller: Caller, { service }: Resource, file: NewImport): Promise<OpenReading> {
  const { db, store, actor, now } = caller
  await makeRoom(caller)
  const id = await reserveIds(caller, 'CsvImport', 1)
  const { mapping, change, ...named } = file
  const own = { storeId: store.id, id, service, actor, version: programVersion, createdAt: now() }
  const read = { state: 'reading', leasedUntil: leaseEnd(leases.csvReading, now) }
  const said = { ...(mapping && { mapping: mapping.map((meaning) => [...meaning]) }), ...(change && { change }) }
  await db.csvImport.create({ data: { ...own, ...read, ...named, ...said } })
  return { id, claim: 0 }
}

/** Deletes the oldest imports that nobody works on, so that there is room for another one. */
async function makeRoom({ db, store, now }: Caller): Promise<void> {
  await execute(db)`
    DELETE FROM "CsvImport" WHERE "storeId" = ${store.id}::int AND "id" IN (
      SELECT "id" FROM (
        SELECT "id", row_number() OVER newest AS "place", sum("same" + "changes" + "creates" + "refused") OVER newest AS "lines"
        FROM "CsvImport" WHERE "storeId" = ${store.id}::int WINDOW newest AS (ORDER BY "id" DESC)) kept
      WHERE "place" >= ${IMPORTS_MAX}::int OR "lines" > ${KEPT_LINES_MAX}::int)
      AND "state" <> 'applying' AND ("state" <> 'reading' OR ${isFree(leases.csvReading, now)})`
  const kept = await db.csvImport.count({ where: { storeId: store.id } })
  if (kept < IMPORTS_MAX) return
  throw new StoreFailure('limit-reached', `${IMPORTS_MAX} changes are being made. Wait until one of them is done.`)
}

/** Stores lines with their counts. Write-only values are sealed. Throws `gone` if the import was deleted meanwhile. */
export async function addLines(
  { db, store, now, secrets }: Caller,
  { id, claim }: OpenReading,
  lines: readonly Line[],
): Promise<void> {
  const rows = lines.map(({ secret, made, ...line }) => ({
    ...line,
    marked: line.changes.some(([, , , mark]) => mark !== undefined),
    sealed: secret === null ? null : secrets.seal(JSON.stringify(secret)),
  }))
  const count = (outcome: Line['outcome']) => lines.filter((line) => line.outcome === outcome).length
  const marked = rows.filter((row) => row.marked).length
  const added = await execute(db)`
    WITH held AS (
      UPDATE "CsvImport" SET "same" = "same" + ${count('same')}::int, "changes" = "changes" + ${count('change')}::int,
        "creates" = "creates" + ${count('new')}::int, "refused" = "refused" + ${count('refused')}::int, "marked" = "marked" + ${marked}::int,
        "leasedUntil" = ${leaseEnd(leases.csvReading, now)}
      WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int AND "state" = 'reading' AND "claim" = ${claim}::int RETURNING "storeId", "id")
    INSERT INTO "CsvImportLine"
      ("storeId", "importId", "line", "outcome", "recordId", "name", "body", "sealed", "before", "etag", "changes", "marked", "problems")
    SELECT held."storeId", held."id", n."line", n."outcome", n."recordId", n."name", n."body", n."sealed", n."before", n."etag", n."changes",
      n."marked", n."problems"
    FROM held, json_to_recordset(${JSON.stringify(rows)}::text::json) AS n ("line" int, "outcome" text, "recordId" int,
      "name" text, "body" json, "sealed" text, "before" json, "etag" text, "changes" json, "marked" boolean, "problems" json)`
  if (added < lines.length)
    throw new StoreFailure('gone', 'The import was deleted, or read again, while its file was being read.')
}

/** Keeps an import whose file is still arriving from being taken for given up. */
export async function renewReading({ db, store, now }: Caller, reading: OpenReading): Promise<void> {
  const where = { storeId: store.id, ...reading, state: 'reading' }
  await db.csvImport.updateMany({ where, data: { leasedUntil: leaseEnd(leases.csvReading, now) } })
}

async function endReading({ db, store }: Caller, reading: OpenReading, ended: Ended): Promise<void> {
  const where = { storeId: store.id, ...reading, state: 'reading' }
  await db.csvImport.updateMany({ where, data: { ...ended, leasedUntil: null } })
}

const unread = { same: 0, changes: 0, creates: 0, refused: 0, marked: 0 }

/** What a person has said of an import that waits for it: what the headings of its file mean, or what is to be done. */
export type Said = { readonly mapping: readonly Meaning[] } | { readonly change: object }

/**
 * Reads what was kept of an import by what a person has said of it, instead of what was read of it before; not where its changes are being
 * made, or were, it is being read, or it was cancelled. What `read` fails at is left to be read again.
 */
export async function readKept(caller: Caller, id: number, said: Said, read: (reading: OpenReading) => Promise<void>) {
  const reading = await readAgain(caller, id, said)
  if (reading === null) return
  try {
    await read(reading)
    await endReading(caller, reading, { state: 'ready' })
  } catch (error) {
    await endReading(caller, reading, { state: 'mapping' }).catch(() => {})
    throw error
  }
}

/** Claims an import for a new reading. */
export async function readAgain({ db, store, now }: Caller, id: number, said: Said): Promise<OpenReading | null> {
  return inStoreTransaction({ db, store }, async (tx) => {
    const [found] = await queryRows<OpenReading>(tx)`
        UPDATE "CsvImport" SET "state" = 'reading', "version" = ${programVersion}, "claim" = "claim" + 1,
          "leasedUntil" = ${leaseEnd(leases.csvReading, now)}
        WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int AND "source" NOT IN ('own', 'back')
          AND ("state" IN ('mapping', 'ready') OR ("state" = 'reading' AND ${isFree(leases.csvReading, now)}))
        RETURNING "id", "claim"`
    if (found === undefined) return null
    const where = { storeId: store.id, importId: id }
    await tx.csvImportLine.deleteMany({ where })
    await tx.csvImportName.deleteMany({ where })
    await tx.csvImport.update({
      where: { storeId_id: { storeId: store.id, id } },
      data: { ...unread, ...(said as { readonly mapping: string[][] } | { readonly change: object }) },
    })
    return found
  })
}

/** Throws `not-found`. */
export async function findImport({ db, store }: Caller, id: number): Promise<Import> {
  const found = await db.csvImport.findUnique({ where: { storeId_id: { storeId: store.id, id } } })
  if (found === null) throw new StoreFailure('not-found', 'There is no such import. They are kept for 30 days.')
  return found as unknown as Import
}

/** Those of these services, the latest first, from behind `before` on; null: from the latest. */
export async function listImports(
  { db, store }: Caller,
  { services, before, limit }: { services: readonly string[]; before: number | null; limit: number },
): Promise<Import[]> {
  const where = { storeId: store.id, service: { in: [...services] }, ...(before !== null && { id: { lt: before } }) }
  const found = await db.csvImport.findMany({ where, orderBy: { id: 'desc' }, take: limit })
  return found as unknown as Import[]
}

/** Lines with one of these outcomes behind the line `after`, in the order of the file; `isMarked`: only those with a mark. */
export async function listLines(
  { db, store }: Caller,
  importId: number,
  wanted: { outcomes: readonly Outcome[]; isMarked?: boolean; after: number; limit: number },
): Promise<StoredLine[]> {
  const { outcomes, isMarked = false, after, limit } = wanted
  // The lines of each outcome are in the order of an index; those of several are not.
  return queryRows<StoredLine>(db)`
    SELECT l."line", l."outcome", l."recordId", l."name", l."changes", l."problems"
    FROM json_array_elements_text(${JSON.stringify(outcomes)}::text::json) AS o ("outcome")
    CROSS JOIN LATERAL (
      SELECT * FROM "CsvImportLine" n WHERE n."storeId" = ${store.id}::int AND n."importId" = ${importId}::int
        AND n."outcome" = o."outcome" AND n."line" > ${after}::int ${isMarked ? sql`AND n."marked"` : empty}
      ORDER BY n."line" LIMIT ${limit}::int) l
    ORDER BY l."line" LIMIT ${limit}::int`
}

/** Whether lines of the file change one of these columns. Walks through all lines, unless there are no columns. */
export async function changesColumns({ db, store }: Caller, id: number, columns: readonly string[]): Promise<boolean> {
  if (columns.length === 0) return false
  const [row] = await queryRows<{ found: boolean }>(db)`
    SELECT EXISTS (
      SELECT 1 FROM "CsvImportLine" l CROSS JOIN json_array_elements(l."changes") c
      WHERE l."storeId" = ${store.id}::int AND l."importId" = ${id}::int AND c ->> 0 = ANY (${lines(columns)})) AS "found"`
  return row?.found === true
}

/** How many of the records to be changed have each value of a member that is replaced. */
export async function countFormer({ db, store }: Caller, id: number, member: string): Promise<Map<string, number>> {
  const rows = await queryRows<{ value: string | null; count: number }>(db)`
    SELECT "before" ->> ${member}::text AS "value", count(*)::int AS "count" FROM "CsvImportLine"
    WHERE "storeId" = ${store.id}::int AND "importId" = ${id}::int AND "outcome" = 'change' GROUP BY 1`
  return new Map(rows.map(({ value, count }) => [value ?? '', count]))
}

/** Has the changes made. False: they are being made, or were, or the import was cancelled. */
export async function startImport({ db, store, actor, now }: Caller, id: number): Promise<boolean> {
  const data = { state: 'applying', appliedBy: actor, startedAt: now() }
  const { count } = await db.csvImport.updateMany({ where: { storeId: store.id, id, state: 'ready' }, data })
  if (count > 0) await forgetParts({ db, store }, id)
  return count > 0
}

/** Ends an import. Changes that were made stand; a batch that is being made is not. Passwords that were not used go. */
export async function cancelImport({ db, store, now }: Caller, id: number): Promise<void> {
  const where = { storeId: store.id, id, state: { in: ['mapping', 'ready', 'applying'] } }
  const { count } = await db.csvImport.updateMany({ where, data: { state: 'cancelled', endedAt: now() } })
  if (count === 0) return
  const unused = { storeId: store.id, importId: id, sealed: { not: null } }
  await db.csvImportLine.updateMany({ where: unused, data: { sealed: null } })
  await forgetParts({ db, store }, id)
}
