import { queryRows } from '../../foundation/database/client.ts'
import { identifier, storeId } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import { fieldOf } from '../definition/constraints.ts'
import { tableLists } from '../definition/fields.ts'
import type { Json, Patch } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import type { Resource } from '../definition/resource.ts'
import type { TransferRecord } from './record.ts'

/** A column, of a resource's table or of a list's table, that holds the id of another record. */
export interface Reference {
  /** Its wire path, for messages. */
  readonly path: string
  readonly target: string
  readonly valuesOf: (record: TransferRecord) => readonly (Json | undefined)[]
}

/** Reads the references of a resource from the foreign keys of the database. */
export async function referencesOf(caller: Caller, resource: Resource): Promise<Reference[]> {
  const lists = tableLists(resource.fields)
  const tables = [resource.table, ...lists.map(({ field }) => field.rows.table)]
  const keys = await queryRows<{ table: string; column: string; target: string }>(caller.db)`
     SELECT f."relname" AS "table", a."attname" AS "column", r."relname" AS "target"
     FROM pg_constraint c
     JOIN pg_class f ON f."oid" = c."conrelid" JOIN pg_namespace n ON n."oid" = f."relnamespace"
     JOIN pg_class r ON r."oid" = c."confrelid"
     JOIN pg_attribute a ON a."attrelid" = c."conrelid" AND a."attnum" = ANY (c."conkey")
     WHERE c."contype" = 'f' AND n."nspname" = current_schema() AND a."attname" <> 'storeId'
       AND f."relname" IN (SELECT json_array_elements_text(${JSON.stringify(tables)}::text::json))`
  return keys.flatMap(({ table, column, target }) => {
    const list = lists.find(({ field }) => field.rows.table === table)
    const path = fieldOf(resource, table, column)
    if (!list) return [{ path, target, valuesOf: ({ patch }) => [patch.columns[column]] }]
    const { name, field } = list
    if (field.rows.parent === column) return []
    const memberOf = keyColumn(field) === column ? ({ key }: Patch) => key : ({ columns }: Patch) => columns[column]
    return [{ path, target, valuesOf: ({ patch }) => (patch.lists[name] ?? []).map(memberOf) }]
  })
}

/**
 * Finds the records that refer to a record neither stored nor among `records`, with the reason. The answer may be
 * outdated at once: the foreign keys decide.
 */
export async function findMissing(
  caller: Caller,
  references: readonly Reference[],
  records: readonly TransferRecord[],
): Promise<Map<TransferRecord, string>> {
  const unknown: Set<Json | undefined>[] = []
  // Sequential, because a transaction has one connection.
  for (const reference of references) unknown.push(await unknownIds(caller, reference, records))
  const missing = new Map<TransferRecord, string>()
  // A record with a missing target may itself be the target of others.
  for (let before = -1; before < missing.size; ) {
    before = missing.size
    const coming = new Set<Json | undefined>(records.flatMap((record) => (missing.has(record) ? [] : [record.id])))
    for (const record of records) {
      references.forEach(({ path, target, valuesOf }, index) => {
        const isAbsent = (id: Json | undefined) =>
          unknown[index]?.has(id) && !(target === record.resource.table && coming.has(id))
        const id = valuesOf(record).find(isAbsent)
        if (id !== undefined) missing.set(record, `${path} ${String(id)} refers to a record that does not exist`)
      })
    }
  }
  return missing
}

async function unknownIds(caller: Caller, { target, valuesOf }: Reference, records: readonly TransferRecord[]) {
  const ids = new Set(records.flatMap(valuesOf).filter((id) => id !== undefined && id !== null))
  if (ids.size === 0) return new Set<Json | undefined>()
  const rows = await queryRows<{ id: number }>(caller.db)`
    SELECT v."id" FROM unnest(string_to_array(${[...ids].join(',')}, ',')::int[]) AS v ("id")
    WHERE NOT EXISTS (
      SELECT 1 FROM ${identifier(target)} o WHERE o."storeId" = ${storeId(caller.store)} AND o."id" = v."id")`
  return new Set(rows.map(({ id }) => id))
}
