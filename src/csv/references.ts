import { allows } from '../applications/privileges.ts'
import { queryRows } from '../database/client.ts'
import { anyOf, identifier, sql } from '../database/sql.ts'
import type { Caller } from '../engine/caller.ts'
import type { Resource } from '../engine/definition/define.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { Cell } from './cells.ts'
import type { Column, Headings } from './columns.ts'
import type { Row } from './rows.ts'

// Columns that refer to records of other services take the number or the name, as the forms of pages do.

/** What is remembered from batch to batch; most files name the same few records in every line. */
const REMEMBERED_MAX = 10_000

/** The records that the cells of a file refer to. */
export class References {
  readonly #caller: Caller
  readonly #columns: readonly [place: number, column: Column, target: Resource][]
  /** The ids of the records that a text names, at most two, by column. */
  readonly #found = new Map<string, readonly number[]>()

  constructor(caller: Caller, { columns }: Headings) {
    this.#caller = caller
    this.#columns = columns.flatMap((column, place) =>
      // Names of records that the caller may not read name nothing.
      column?.target && allows(caller.privileges, column.target.privilege, 'read')
        ? [[place, column, column.target] as const]
        : [],
    )
  }

  /** Looks up what the cells of these rows refer to. */
  async read(rows: readonly Row[]): Promise<void> {
    if (this.#found.size > REMEMBERED_MAX) this.#found.clear()
    for (const [place, column, target] of this.#columns) {
      const texts = new Set(rows.map(({ cells }) => meantBy(column, cells[place] ?? '')))
      const unknown = [...texts].filter((text) => isName(column, text) && !this.#found.has(keyOf(column, text)))
      if (unknown.length === 0) continue
      const ids = await idsOf(this.#caller, target, unknown)
      for (const text of unknown) this.#found.set(keyOf(column, text), ids.get(text) ?? [])
    }
  }

  /** The number that the definition reads for a cell: that of the one record with this name, or else the cell as it is. */
  numberOf(column: Column, typed: string): string {
    const [id, other] = this.#idsOf(column, typed)
    return id === undefined || other !== undefined ? typed : String(id)
  }

  /** What is wrong with a cell that refers to no record, or to one of several; null: nothing. */
  problemOf({ column, typed }: Pick<Cell, 'column' | 'typed'>): string | null {
    if (column.target === null || !isName(column, meantBy(column, typed))) return null
    const [id, other] = this.#idsOf(column, typed)
    const { typeName } = column.target
    if (id === undefined) return `names no ${typeName} of the store, by number or by name`
    return other === undefined
      ? null
      : `is the name of several ${typeName} records, such as ${id} and ${other}. Give the number`
  }

  #idsOf(column: Column, typed: string): readonly number[] {
    return this.#found.get(keyOf(column, meantBy(column, typed))) ?? []
  }
}

function keyOf({ name }: Column, text: string): string {
  return `${name} ${text}`
}

/** A number in one spelling, or a name. */
function meantBy({ field }: Column, typed: string): string {
  const read = field.schema.safeParse(typed)
  return read.success ? String(read.data ?? '') : typed.trim()
}

/** Whether it is the number of a record. */
function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= INT32_MAX
}

/** Whether it has to be the number or name of a record. 0 is none where there may be none, and empty cells say nothing. */
function isName({ field }: Column, text: string): boolean {
  return text !== '' && !(text === '0' && field.nullable) && !text.includes('\0')
}

/** The texts by which people name a record: what they search by, or else the required ones, or else all. */
function nameColumnsOf({ fields, filters, searchedBy }: Resource): readonly string[] {
  if (searchedBy !== undefined) return searchedBy.flatMap((name) => filters[name]?.column ?? [])
  const texts = fields.leaves.flatMap(({ field }) => (field.kind === 'text' && field.access !== 'wo' ? field : []))
  const required = texts.filter((field) => field.required)
  return (required.length > 0 ? required : texts).flatMap(({ column }) => column ?? [])
}

/** The ids of the records with these numbers and names, ignoring case, at most two for each. */
async function idsOf(
  { db, store }: Caller,
  target: Resource,
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const table = identifier(target.table)
  const numbers = texts.filter(isNumber)
  const names = JSON.stringify(texts.filter((text) => !isNumber(text)))
  const byNumber = queryRows<{ id: number }>(
    db,
    sql`SELECT t."id" FROM ${table} t WHERE t."storeId" = ${store.id}::int AND t."id" = ${anyOf(numbers)}`,
  )
  const byName = nameColumnsOf(target).map((column) =>
    queryRows<{ text: string; least: number; most: number }>(
      db,
      sql`
      SELECT n."text", min(t."id") AS "least", max(t."id") AS "most" FROM json_array_elements_text(${names}::text::json) AS n ("text")
      JOIN ${table} t ON t."storeId" = ${store.id}::int AND lower(t.${identifier(column)}) = lower(n."text") GROUP BY n."text"`,
    ),
  )
  const found = new Map((await byNumber).map(({ id }) => [String(id), [id]]))
  for (const { text, least, most } of (await Promise.all(byName)).flat()) {
    const ids = new Set([...(found.get(text) ?? []), least, most])
    found.set(text, [...ids].slice(0, 2))
  }
  return found
}
