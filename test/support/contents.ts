import type { Db } from '../../src/foundation/database/client.ts'
import { openClient } from './client.ts'

/** The number and a digest of each table's rows, without the note that a backup leaves behind it, and the next number of each sequence. */
export async function contentsOf(url: string): Promise<Record<string, string>> {
  const client = await openClient(url)
  try {
    const { rows } = await client.query(`
      SELECT relname AS "name", relkind AS "kind" FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relname NOT IN ('_prisma_migrations', '_move', 'Backup')`)
    const contents: Record<string, string> = {}
    for (const { name, kind } of rows) {
      const { rows: found } = await client.query(
        kind === 'S'
          ? `SELECT last_value + is_called::int AS "content" FROM "${name}"`
          : `SELECT concat(count(*), ' ', md5(string_agg(t::text, ' ' ORDER BY t::text))) AS "content" FROM "${name}" t`,
      )
      contents[name] = found[0].content
    }
    return contents
  } finally {
    await client.end()
  }
}

/** What the database itself says of its tables, behind a restore or a move that took parts of it away. */
export async function schemaOf(url: string): Promise<unknown[]> {
  const client = await openClient(url)
  const { rows } = await client.query(`
    SELECT conrelid::regclass::text AS "table", conname AS "name", pg_get_constraintdef(oid) AS "what", convalidated::text AS "state"
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT tablename, indexname, indexdef, '' FROM pg_indexes WHERE schemaname = 'public'
    ORDER BY 1, 2, 3`)
  await client.end()
  return rows.filter(({ table }) => table !== '_move')
}

/** How many rows each table has of a store. */
export async function rowsOf(db: Db, storeId: number): Promise<Record<string, number>> {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT table_name::text AS "name" FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'storeId' ORDER BY 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await db.$queryRawUnsafe<{ count: number }[]>(
      `SELECT count(*)::int AS "count" FROM "${name}" WHERE "storeId" = ${storeId}`,
    )
    if (row && row.count > 0) counts[name] = row.count
  }
  return counts
}
