import { anyOf, identifier, type Sql, sql, storeId } from '../../database/sql.ts'
import type { Caller } from '../caller.ts'
import type { Resource } from '../define.ts'
import { type FieldSet, hasRows, type ListField, type ListRows } from '../fields.ts'
import type { Json, Patch } from '../input.ts'
import type { Document } from '../merge.ts'
import { keyColumn } from '../reader.ts'
import { isNewKey, type TransferRecord } from './record.ts'

/**
 * Gives items without an id, in order, the ids of stored items that the line does not name, so that a file without ids
 * can be imported again without changes. Locks the records; call it inside the transaction.
 */
export async function adoptKeys(
  caller: Caller,
  resource: Resource,
  records: readonly TransferRecord[],
): Promise<TransferRecord[]> {
  const keyless = records.filter(({ keys }) => keys.keyless > 0)
  if (keyless.length === 0) return [...records]
  const ids = keyless.map(({ id }) => id)
  const documents = await lockDocuments(caller, resource, ids)
  const rows = new Map<string, Map<number, Document[]>>()
  for (const [name, field] of resource.fields.entries) {
    if (hasRows(field) && field.keyFrom === 'counter') rows.set(name, await storedKeys(caller, field, field.rows, ids))
  }
  return records.map((record) => {
    const document = documents.get(record.id)
    if (record.keys.keyless === 0 || document === undefined) return record
    const storedOf = (name: string) => rows.get(name)?.get(record.id) ?? itemsOf(document, name)
    return { ...record, patch: withKeys(resource.fields, record.patch, storedOf) }
  })
}

async function lockDocuments(caller: Caller, { table, hasDetails }: Resource, ids: readonly number[]) {
  const found = await caller.db.$queryRaw<{ id: number; details: string | null }[]>(sql`
    SELECT t."id", ${hasDetails ? sql`t."details"::text` : sql`NULL::text`} AS "details" FROM ${identifier(table)} t
    WHERE t."storeId" = ${storeId(caller.store)} AND t."id" = ${anyOf(ids)}
    ORDER BY t."id" FOR NO KEY UPDATE`)
  return new Map(found.map(({ id, details }) => [id, JSON.parse(details ?? '{}') as Document]))
}

/** The keys of the items of a table list, by record, in the form of items of a document list. */
async function storedKeys(caller: Caller, field: ListField, rows: ListRows, ids: readonly number[]) {
  const [table, parent, column] = [rows.table, rows.parent, keyColumn(field)].map(identifier) as [Sql, Sql, Sql]
  const found = await caller.db.$queryRaw<{ parent: number; key: number }[]>(sql`
    SELECT r.${parent} AS "parent", r.${column} AS "key" FROM ${table} r
    WHERE r."storeId" = ${storeId(caller.store)} AND r.${parent} = ${anyOf(ids)} ORDER BY r.${column}`)
  const byParent = new Map<number, Document[]>()
  for (const row of found) {
    const items = byParent.get(row.parent) ?? []
    items.push({ [field.key as string]: row.key })
    byParent.set(row.parent, items)
  }
  return byParent
}

function withKeys(fields: FieldSet, patch: Patch, storedOf: (name: string) => Document[]): Patch {
  const lists = Object.entries(patch.lists).map(([name, items]) => {
    const field = fields.get(name)
    return [name, field?.kind === 'list' ? keyedItems(field, items, storedOf(name)) : items] as const
  })
  return { ...patch, lists: Object.fromEntries(lists) }
}

function keyedItems(field: ListField, items: Patch[], stored: Document[]): Patch[] {
  const { key, keyFrom } = field
  if (key === undefined || keyFrom !== 'counter') return items
  const byKey = new Map(stored.map((document) => [document[key], document]))
  const named = new Set<Json | undefined>(items.map((item) => item.key))
  const free = stored.filter((document) => !named.has(document[key] as Json))
  let next = 0
  return items.map((item) => {
    const own = isNewKey(item) ? free[next++] : byKey.get(item.key as Json)
    if (own === undefined) return item
    return withKeys(field.fields, { ...item, key: own[key] as number }, (name) => itemsOf(own, name))
  })
}

function itemsOf(document: Document, name: string): Document[] {
  const items = document[name]
  return Array.isArray(items) ? (items as Document[]) : []
}
