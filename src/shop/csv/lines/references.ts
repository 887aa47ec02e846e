import { allows } from '../../../access/applications/privileges.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { FieldSet } from '../../../engine/definition/fields.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { anyOf, identifier, type Sql, sql } from '../../../foundation/database/sql.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import type { Cell } from './cells.ts'
import type { Column, Headings, ListColumn, OtherFile } from './columns.ts'
import { ITEMS_MAX, LEVELS_MAX } from './limits.ts'
import { type Made, NewNames, nameFieldOf } from './new-names.ts'
import type { Row } from './rows.ts'

// Columns that refer to records of other services take the number or the name, as the forms of pages do. In a file that is no export,
// lists may be given by names too, and names that the store does not have may be new.

/** What is remembered from batch to batch; most files name the same few records in every line. */
const REMEMBERED_MAX = 10_000

/** What a name stands for: a record, one to be made with the line, or none, and why. */
type Referent = { readonly id: number } | Made | { readonly problem: string }

/** What a cell gives a list: the keys of its items, or why it gives none. */
type Items = { readonly items: readonly ({ readonly id: number } | Made)[] } | { readonly problem: string }

/** The records that the cells of a file refer to. */
export class References {
  readonly #caller: Caller
  readonly #columns: readonly [place: number, column: Column, target: Resource][]
  readonly #other: OtherFile | undefined
  readonly newNames = new NewNames()
  /** The ids of the records that a text names, at most two, by column. */
  readonly #found = new Map<string, readonly number[]>()
  /** What the names of lists stand for, by column and the names above. */
  readonly #referents = new Map<string, Referent>()
  readonly #items = new Map<string, Items>()

  constructor(caller: Caller, { columns, other }: Headings) {
    this.#caller = caller
    this.#other = other
    this.#columns = columns.flatMap((column, place) =>
      // Names of records that the caller may not read name nothing.
      column?.target && allows(caller.privileges, column.target.privilege, 'read')
        ? [[place, column, column.target] as const]
        : [],
    )
  }

  /** Looks up what the cells of these rows refer to. */
  async read(rows: readonly Row[]): Promise<void> {
    for (const map of [this.#found, this.#referents, this.#items]) if (map.size > REMEMBERED_MAX) map.clear()
    for (const [place, column, target] of this.#columns) {
      const texts = new Set(rows.map(({ cells }) => this.#meantBy(column, cells[place] ?? '')))
      const unknown = [...texts].filter((text) => isName(column, text) && !this.#found.has(keyOf(column, text)))
      if (unknown.length === 0) continue
      const ids = await idsOf(this.#caller, target, unknown, this.#isNumber(column))
      for (const text of unknown) this.#found.set(keyOf(column, text), ids.get(text) ?? [])
    }
    for (const [place, column] of this.#other?.lists ?? []) {
      await this.#readList(column, new Set(rows.map(({ cells }) => (cells[place] ?? '').trim())))
    }
  }

  /** The number that the definition reads for a cell: that of the one record with this name, or else the cell as it is. */
  numberOf(column: Column, typed: string): string {
    const [id, other] = this.#idsOf(column, typed)
    return id === undefined || other !== undefined ? typed : String(id)
  }

  /** What is wrong with a cell that refers to no record, or to one of several; null: nothing. */
  problemOf({ column, typed }: Pick<Cell, 'column' | 'typed'>): string | null {
    const text = this.#meantBy(column, typed)
    if (column.target === null || !isName(column, text)) return null
    const [id, other] = this.#idsOf(column, typed)
    const { typeName } = column.target
    if (id === undefined)
      return `names no ${typeName} of the store, by ${this.#isByName(column) ? '' : 'number or by '}name`
    return other === undefined ? null : `${several(column.target, id, other)}. Give the number`
  }

  /** The record that is to be made for a cell, or why it cannot be; null: the cell names a record, or none can be made. */
  newFor(column: Column, typed: string): Made | { readonly problem: string } | null {
    const { target } = column
    const text = this.#meantBy(column, typed)
    if (target === null || !this.#mayMake(target) || !isName(column, text)) return null
    if (this.#isNumber(column)(text) || this.#idsOf(column, typed).length > 0) return null
    return this.newNames.add(target, text, { path: text, above: null })
  }

  itemsOf({ name }: ListColumn, typed: string): Items {
    return this.#items.get(`${name} ${typed.trim()}`) ?? { items: [] }
  }

  #mayMake({ privilege, methods }: Resource): boolean {
    return this.#other !== undefined && methods.includes('POST') && allows(this.#caller.privileges, privilege, 'write')
  }

  #isByName(column: Column): boolean {
    return this.#other?.byName.has(column) === true
  }

  #isNumber(column: Column): (text: string) => boolean {
    return this.#isByName(column) ? () => false : isNumber
  }

  /** A number in one spelling, or a name. */
  #meantBy(column: Column, typed: string): string {
    if (this.#isByName(column)) return typed.trim()
    const read = column.field.schema.safeParse(typed)
    return read.success ? String(read.data ?? '') : typed.trim()
  }

  #idsOf(column: Column, typed: string): readonly number[] {
    return this.#found.get(keyOf(column, this.#meantBy(column, typed))) ?? []
  }

  /** Looks up the names of cells level by level, because a name means a record by what it lies below. */
  async #readList(column: ListColumn, cells: ReadonlySet<string>): Promise<void> {
    const unread = [...cells].filter((cell) => cell !== '' && !this.#items.has(`${column.name} ${cell}`))
    const read = unread.map((cell) => ({ cell, paths: pathsIn(column, cell) }))
    const paths = read.flatMap(({ paths }) => ('problem' in paths ? [] : paths))
    const depth = Math.max(0, ...paths.map((path) => path.length))
    for (let level = 1; level <= depth; level++) {
      const unknown = new Map<string, readonly string[]>()
      for (const path of paths.filter(({ length }) => length >= level)) {
        const key = pathKey(column, path.slice(0, level))
        // A new record is spelt as the first cell spells it.
        if (!this.#referents.has(key) && !unknown.has(key)) unknown.set(key, path.slice(0, level))
      }
      if (unknown.size > 0) await this.#readLevel(column, [...unknown])
    }
    for (const { cell, paths } of read) this.#items.set(`${column.name} ${cell}`, this.#itemsOf(column, paths))
  }

  async #readLevel(column: ListColumn, open: readonly (readonly [key: string, path: readonly string[]])[]) {
    const above = (path: readonly string[]) =>
      path.length === 1 ? null : this.#referents.get(pathKey(column, path.slice(0, -1)))
    const wanted = open.flatMap(([, path], place) => {
      const parent = above(path)
      return parent && !('id' in parent) ? [] : [{ place, parent: parent?.id ?? 0, text: path.at(-1) ?? '' }]
    })
    const found = wanted.length === 0 ? new Map() : await idsBelow(this.#caller, column, wanted)
    for (const [place, [key, path]] of open.entries()) {
      const ids = found.get(place) ?? []
      this.#referents.set(key, this.#referentOf(column, path, { ids, above: above(path) ?? null }))
    }
  }

  #referentOf(
    { target, levels }: ListColumn,
    path: readonly string[],
    { ids: [id, other], above }: { ids: readonly number[]; above: Referent | null },
  ): Referent {
    if (above !== null && 'problem' in above) return above
    if (id !== undefined && other !== undefined) return { problem: `${several(target, id, other)}. Rename one of them` }
    if (id !== undefined) return { id }
    if (!this.#mayMake(target)) return { problem: `names no ${target.typeName} of the store, by name` }
    return this.newNames.add(target, path.at(-1) ?? '', { path: path.join(levels?.separator ?? ''), above })
  }

  #itemsOf(column: ListColumn, paths: Paths): Items {
    if ('problem' in paths) return paths
    const found = paths.map((path) => this.#referents.get(pathKey(column, path)) as Referent)
    const wrong = found.find((one) => 'problem' in one)
    if (wrong !== undefined) return wrong as { problem: string }
    const items = new Map(found.map((one) => [JSON.stringify(one), one as { id: number } | Made]))
    return { items: [...items.values()] }
  }
}

function several({ typeName }: Resource, id: number, other: number): string {
  return `is the name of several ${typeName} records, such as ${id} and ${other}`
}

type Paths = readonly (readonly string[])[] | { readonly problem: string }

/** The names of each item of a cell. */
function pathsIn({ between, levels }: ListColumn, cell: string): Paths {
  const items = between === undefined ? [cell] : cell.split(between)
  const paths = items.map((item) =>
    (levels === undefined ? [item] : item.split(levels.separator)).map((name) => name.trim()),
  )
  if (items.length > ITEMS_MAX) return { problem: `has ${items.length} items; at most ${ITEMS_MAX} are allowed` }
  if (paths.some((path) => path.length > LEVELS_MAX))
    return { problem: `has an item of more than ${LEVELS_MAX} levels` }
  if (paths.flat().some((name) => name === '' || name.includes('\0')))
    return { problem: 'has an item without a name, or with U+0000' }
  return paths
}

function pathKey({ name }: ListColumn, path: readonly string[]): string {
  return JSON.stringify([name, ...path.map((part) => part.toLowerCase())])
}

function keyOf({ name }: Column, text: string): string {
  return `${name} ${text}`
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
  isNumber: (text: string) => boolean,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const table = identifier(target.table)
  const numbers = texts.filter(isNumber)
  const names = JSON.stringify(texts.filter((text) => !isNumber(text)))
  const byNumber = queryRows<{ id: number }>(db)`
    SELECT t."id" FROM ${table} t WHERE t."storeId" = ${store.id}::int AND t."id" = ${anyOf(numbers)}`
  const byName = nameColumnsOf(target).map(
    (column) =>
      queryRows<{ text: string; least: number; most: number }>(db)`
      SELECT n."text", min(t."id") AS "least", max(t."id") AS "most" FROM json_array_elements_text(${names}::text::json) AS n ("text")
      JOIN ${table} t ON t."storeId" = ${store.id}::int AND lower(t.${identifier(column)}) = lower(n."text") GROUP BY n."text"`,
  )
  const found = new Map((await byNumber).map(({ id }) => [String(id), [id]]))
  for (const { text, least, most } of (await Promise.all(byName)).flat()) {
    const ids = new Set([...(found.get(text) ?? []), least, most])
    found.set(text, [...ids].slice(0, 2))
  }
  return found
}

/** The ids of the records of a list with these names below these records (0: none), ignoring case, at most two for each place. */
export async function idsBelow(
  { db, store }: Pick<Caller, 'db' | 'store'>,
  { target, levels }: Pick<ListColumn, 'target' | 'levels'>,
  wanted: readonly { readonly place: number; readonly parent: number; readonly text: string }[],
): Promise<Map<number, readonly number[]>> {
  const { column } = nameFieldOf(target).field
  const parent =
    levels === undefined ? sql`0` : sql`coalesce(t.${identifier(columnOf(target.fields, levels.parent))}, 0)`
  const found = await queryRows<{ place: number; least: number; most: number }>(db)`
    SELECT n."place", min(t."id") AS "least", max(t."id") AS "most"
    FROM json_to_recordset(${JSON.stringify(wanted)}::text::json) AS n ("place" int, "parent" int, "text" text)
    JOIN ${identifier(target.table)} t ON t."storeId" = ${store.id}::int AND lower(t.${identifier(column)}) = lower(n."text")
      AND ${parent} = n."parent"
    GROUP BY n."place"`
  return new Map(found.map(({ place, least, most }) => [place, [...new Set([least, most])]]))
}

/** What the items of a list name, by record. */
export async function itemsStored(
  { db, store }: Pick<Caller, 'db' | 'store'>,
  { field: { fields, rows }, key, target }: ListColumn,
  ids: readonly number[],
): Promise<{ id: number; ids: number[]; names: string }[]> {
  const [parent, named, called] = [rows.parent, columnOf(fields, key), nameFieldOf(target).field.column].map(
    identifier,
  ) as [Sql, Sql, Sql]
  return queryRows<{ id: number; ids: number[]; names: string }>(db)`
    SELECT r.${parent} AS "id", array_agg(t."id" ORDER BY r.${named}) AS "ids", string_agg(t.${called}, ', ' ORDER BY r.${named}) AS "names"
    FROM ${identifier(rows.table)} r JOIN ${identifier(target.table)} t ON t."storeId" = r."storeId" AND t."id" = r.${named}
    WHERE r."storeId" = ${store.id}::int AND r.${parent} = ${anyOf(ids)}
    GROUP BY r.${parent}`
}

function columnOf(fields: FieldSet, name: string): string {
  const field = fields.get(name)
  if (field === undefined || field.kind === 'object' || field.kind === 'list' || field.column === undefined) {
    throw new Error(`${name} has no column`)
  }
  return field.column
}
