import { isClient, type Transaction } from '../../foundation/database/client.ts'
import { anyOf, constant, empty, identifier, type Sql, sql } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import { columnPath } from '../definition/fields.ts'
import type { Selected } from '../definition/reader.ts'
import type { Ledger, Resource } from '../definition/resource.ts'
import { compileExtras, type Extras } from './extras.ts'

const PAGE_RECORDS = 200
const PIECE_ROWS = 1000
/** The time limit of one export. Its snapshot prevents PostgreSQL from removing rows replaced since. */
const TIMEOUT_MS = 6 * 60 * 60 * 1000

/**
 * Writes all records of a store, or those of `ids`, as transfer lines, as of one moment, in the order of `resources` and of ids,
 * and the end line. Those of `ids` come without their ledgers. Holds one page at a time and waits for `write`; if that throws, the
 * export fails with its error. `writeFirst` writes lines that stand before them, of the same moment, and returns how many.
 */
export async function exportRecords(
  caller: Caller,
  resources: readonly Resource[],
  write: (lines: string) => Promise<void>,
  ids: readonly number[] | null = null,
  writeFirst?: (db: Transaction) => Promise<number>,
): Promise<void> {
  const exportAll = async (db: Transaction) => {
    let count = (await writeFirst?.(db)) ?? 0
    for (const resource of resources) count += await exportResource({ ...caller, db }, resource, write, ids)
    await write(`{"end":{"records":${count}}}\n`)
  }
  const { db } = caller
  // A caller's own transaction has its isolation level.
  if (!isClient(db)) return exportAll(db)
  const options = { isolationLevel: 'RepeatableRead', maxWait: 10_000, timeout: TIMEOUT_MS } as const
  await db.$transaction(async (tx) => {
    await tx.$executeRaw`SET TRANSACTION READ ONLY`
    await exportAll(tx)
  }, options)
}

async function exportResource(
  caller: Caller,
  resource: Resource,
  write: (lines: string) => Promise<void>,
  ids: readonly number[] | null,
) {
  const ledger = ids === null ? resource.ledger : undefined
  const extras = compileExtras(resource)
  let count = 0
  for (let last = 0; ; ) {
    const page = await readPage(caller, resource, { extras, ledger, ids, last })
    let lines = ''
    for (const stored of page) {
      const pieces = ledger ? await readPieces(caller, ledger, stored) : []
      const recordLines = linesOf(resource, extras, stored, pieces)
      count += recordLines.length
      lines += recordLines.join('')
    }
    if (lines !== '') await write(lines)
    if (page.length < PAGE_RECORDS) return count
    last = page.at(-1)?.id ?? last
  }
}

/** JSON texts: the arrays of the three selects, and the first piece of the ledger, rows with their ids. */
type StoredRecord = { id: number; record: string; private: string; extras: string; ledger: string | null }

interface Page {
  readonly extras: Extras
  readonly ledger: Ledger | undefined
  readonly ids: readonly number[] | null
  /** The id of the last record before the page; 0: none. */
  readonly last: number
}

async function readPage(caller: Caller, resource: Resource, { extras, ledger, ids, last }: Page) {
  const { table, wholeReader: reader, privateReader } = resource
  const among = ids === null ? empty : sql`AND t."id" = ${anyOf(ids)}`
  return caller.db.$queryRaw<StoredRecord[]>(sql`
    SELECT p.*, ${ledger ? ledgerRows(caller, ledger, sql`p."id"`, sql`0`) : sql`NULL::text`} AS "ledger"
    FROM (
      SELECT t."id", ${reader.select}::text AS "record", ${privateReader.select}::text AS "private",
        ${extras.select}::text AS "extras"
      FROM (SELECT * FROM ${identifier(table)} t WHERE t."storeId" = ${caller.store.id}::int AND t."id" > ${last}::int ${among}
            ORDER BY t."id" LIMIT ${constant(PAGE_RECORDS)}) t
      JOIN "Store" s ON s."id" = t."storeId") p
    ORDER BY p."id"`)
}

type LedgerRow = readonly [id: string, row: Selected]

/** A json array of up to PIECE_ROWS pairs of id and row, as text; NULL if none. Ids are text: they have 64 bits. */
function ledgerRows(caller: Caller, { table, parent, reader }: Ledger, id: Sql, after: Sql): Sql {
  return sql`(SELECT json_agg(json_build_array(l."id"::text, l."row") ORDER BY l."id")::text FROM (
    SELECT t."id", ${reader.select} AS "row" FROM ${identifier(table)} t JOIN "Store" s ON s."id" = t."storeId"
    WHERE t."storeId" = ${caller.store.id}::int AND t.${identifier(parent)} = ${id} AND t."id" > ${after}
    ORDER BY t."id" LIMIT ${constant(PIECE_ROWS)}) l)`
}

/** The JSON texts of a record's ledger rows, in pieces. */
async function readPieces(caller: Caller, ledger: Ledger, stored: StoredRecord): Promise<string[][]> {
  const pieces: string[][] = []
  for (let text = stored.ledger; text !== null; ) {
    const rows = JSON.parse(text) as LedgerRow[]
    pieces.push(rows.map(([, row]) => ledger.reader.compose(row)))
    const last = rows.at(-1)
    if (!last || rows.length < PIECE_ROWS) break
    const more = ledgerRows(caller, ledger, sql`${stored.id}::int`, sql`${last[0]}::bigint`)
    const [found] = await caller.db.$queryRaw<{ rows: string | null }[]>(sql`SELECT ${more} AS "rows"`)
    text = found?.rows ?? null
  }
  return pieces
}

function linesOf(resource: Resource, extras: Extras, stored: StoredRecord, pieces: readonly string[][]): string[] {
  const { service, wholeReader: reader, privateReader, ledger } = resource
  const [first, ...others] = pieces.map((rows) => `"${ledger?.name}":[${rows.join(',')}]`)
  const members = [
    privateReader.compose(JSON.parse(stored.private) as Selected).slice(1, -1),
    ...extras.compose(JSON.parse(stored.extras) as Selected),
    first ?? '',
  ].filter((member) => member !== '')
  const hidden = members.length > 0 ? `,"private":{${members.join(',')}}` : ''
  const record = reader.compose(JSON.parse(stored.record) as Selected)
  const line = `{"service":"${service}","record":${record}${hidden}}\n`
  const path = columnPath(resource.fields, 'id') ?? []
  const identifier = path.reduceRight((value, name) => `{${JSON.stringify(name)}:${value}}`, String(stored.id))
  const continuations = others.map(
    (member, index) =>
      `{"service":"${service}","record":${identifier},"private":{${member}},"continues":${(index + 1) * PIECE_ROWS}}\n`,
  )
  return [line, ...continuations]
}
