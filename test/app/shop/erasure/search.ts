import { sealedTables } from '../../../../src/operations/installation/secret-key/sealed-tables.ts'
import type { TestServer } from '../../../support/store.ts'

/** The columns of all tables in which a pattern is found, sealed values opened, with what was found: `Event.body` → `qz12z …`. */
export async function searchTables(
  { database: { db }, services: { secrets } }: Pick<TestServer, 'database' | 'services'>,
  pattern: string,
): Promise<Map<string, Set<string>>> {
  const columns = await db.$queryRawUnsafe<{ table: string; column: string }[]>(
    `SELECT table_name::text AS "table", column_name::text AS "column" FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type IN ('text', 'json', 'jsonb', 'ARRAY', 'character varying')`,
  )
  const sealed = new Set(sealedTables.flatMap(({ table, sealed }) => sealed.map((column) => `${table}.${column}`)))
  const found = new Map<string, Set<string>>()
  for (const { table, column } of columns) {
    const name = `${table}.${column}`
    const isSealed = sealed.has(name)
    const rows = await db.$queryRawUnsafe<{ text: string }[]>(
      `SELECT "${column}"::text AS "text" FROM "${table}" WHERE "${column}" IS NOT NULL ${isSealed ? '' : `AND "${column}"::text ~* '${pattern}'`}`,
    )
    for (const { text } of rows) {
      const opened = isSealed ? secrets.open(text) : text
      for (const [mark] of opened.matchAll(new RegExp(pattern, 'gi'))) {
        const marks = found.get(name) ?? new Set()
        found.set(name, marks.add(mark.toLowerCase()))
      }
    }
  }
  return found
}
