import { type Db, execute, queryRows } from '../../foundation/database/client.ts'
import { constant, identifier } from '../../foundation/database/sql.ts'
import { inBatches } from '../../foundation/database/sweeper.ts'
import type { Files } from '../../foundation/files/files.ts'
import { filesOfPicture } from '../../shop/pictures/pictures.ts'

// Deletes every row of a store, whatever tables there are.

const BATCH_MAX = 500

/**
 * What outlives a store: what people did is the operator's to know, a token that ended must never work again, and applications are still
 * told that it is gone. The store's own row goes last.
 */
const kept = ['AuditEntry', 'EndedToken', 'RemovalNotice', 'TestStore']

interface Table {
  readonly name: string
  /** Those that its rows refer to. */
  readonly parents: readonly string[]
  /** That of the records whose parts its rows are: they go with these. Null: they are no parts. */
  readonly owner: string | null
}

async function readTables(db: Db): Promise<Table[]> {
  const found = await queryRows<{ name: string; parents: readonly { name: string; goes: boolean; isKey: boolean }[] }>(
    db,
  )`
    SELECT c.relname::text AS "name", coalesce(json_agg(json_build_object('name', p.relname, 'goes', k.confdeltype = 'c',
      'isKey', k.conkey = (i.indkey::int2[])[0:cardinality(k.conkey) - 1])) FILTER (WHERE p.oid <> c.oid), '[]') AS "parents"
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'storeId' AND NOT a.attisdropped
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f'
    LEFT JOIN pg_class p ON p.oid = k.confrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.relname ORDER BY c.relname`
  const names = new Set(found.map(({ name }) => name))
  return found.map(({ name, parents }) => {
    const owners = parents.filter((parent) => parent.goes && names.has(parent.name))
    // Of several, such as product and category, the one whose key its own key begins with.
    const owner = owners.length > 1 ? owners.find(({ isKey }) => isKey) : owners[0]
    return { name, parents: parents.map((parent) => parent.name), owner: owner?.name ?? null }
  })
}

/**
 * The tables with rows of stores, each before those that it or its parts refer to. What is left of parts comes last.
 */
async function tablesOfStores(db: Db): Promise<string[]> {
  const tables = (await readTables(db)).filter(({ name }) => !kept.includes(name))
  const parts = tables.filter(({ owner }) => owner !== null)
  const left = new Map(
    tables
      .filter(({ owner }) => owner === null)
      .map(({ name, parents }) => {
        const ofParts = parts.filter(({ owner }) => owner === name).flatMap((part) => part.parents)
        return [name, [...parents, ...ofParts].filter((parent) => parent !== name)]
      }),
  )
  const ordered: string[] = []
  while (left.size > 0) {
    const referredTo = new Set([...left.values()].flat())
    const free = [...left.keys()].filter((name) => !referredTo.has(name))
    if (free.length === 0) throw new Error(`The tables ${[...left.keys()].join(', ')} refer to one another in a circle`)
    for (const name of free) left.delete(name)
    ordered.push(...free)
  }
  return [...ordered, ...parts.map(({ name }) => name)]
}

/** Deletes the pictures of a store with their files, one after another, until `isOver`. */
export async function removePictures(db: Db, files: Files, storeId: number, isOver: () => boolean): Promise<void> {
  await inBatches(isOver, true, async () => {
    const picture = await db.picture.findFirst({ where: { storeId }, select: { name: true } })
    if (picture === null) return null
    for (const path of filesOfPicture(storeId, picture.name)) await files.remove(path)
    // Last, so that what a killed process leaves is found again.
    await db.picture.deleteMany({ where: { storeId, ...picture } })
    return true
  })
}

/**
 * Deletes the rows of a store, 500 in a statement and with rests between them, until `isOver`. Returns whether it came to the end and
 * found none: what requests add meanwhile is found by the next call.
 */
export async function removeRows(db: Db, storeId: number, isOver: () => boolean): Promise<boolean> {
  let count = 0
  for (const table of await tablesOfStores(db)) {
    const rows = identifier(table)
    await inBatches(isOver, true, async () => {
      const deleted = await execute(db)`DELETE FROM ${rows} WHERE ctid = ANY (ARRAY (
          SELECT ctid FROM ${rows} WHERE "storeId" = ${storeId}::int LIMIT ${constant(BATCH_MAX)}))`
      count += deleted
      return deleted === BATCH_MAX ? true : null
    })
  }
  return count === 0 && !isOver()
}
