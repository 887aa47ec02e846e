import { locks } from '../../../foundation/database/advisory-locks.ts'
import { withConnection } from '../../../foundation/database/connection.ts'
import { asStartupError } from '../../../foundation/database/migrations.ts'
import { type Query, qualified, queryOf } from '../../../foundation/database/query.ts'
import { services } from '../../../shop/personal/members.ts'
import { resourceNamed } from '../../../shop/registry.ts'
import { ERASED_TABLE } from './tables.ts'

// A restored database may be older than erasures. They come with the rows, and wait for their turn from then on.

const TABLE = qualified(ERASED_TABLE)

/** Stores the lines in the transaction of a restore, so that no kill separates them from its rows. */
export async function bringErasures({ query }: Query, lines: ReadonlySet<string>): Promise<void> {
  await query(`CREATE TABLE ${TABLE} ("line" jsonb NOT NULL)`)
  await query(`INSERT INTO ${TABLE} SELECT json_array_elements_text($1::json)::jsonb`, [JSON.stringify([...lines])])
}

/** Its records that were not erased in the database wait as an erasure with the former time; nothing waits for a store that is not there. */
const waitingOf = `
  WITH wanted AS (
    SELECT s."key" AS "service", i::int AS "recordId" FROM jsonb_each($1::jsonb) s,
      jsonb_array_elements_text(CASE jsonb_typeof(s."value") WHEN 'array' THEN s."value" ELSE '[]' END) i
    EXCEPT SELECT "service", "recordId" FROM "ErasedRecord" WHERE "storeId" = ($1::jsonb->>'store')::int),
  erasure AS (
    INSERT INTO "Erasure" ("storeId", "actorKind", "actor", "createdAt", "customerId")
    SELECT "id", 'operator', '', ($1::jsonb->>'at')::timestamptz, ($1::jsonb->>'customer')::int
    FROM "Store" WHERE "id" = ($1::jsonb->>'store')::int AND EXISTS (SELECT FROM wanted) RETURNING "storeId", "id")
  INSERT INTO "ErasedRecord" ("storeId", "service", "recordId", "erasureId")
  SELECT e."storeId", w."service", w."recordId", e."id" FROM erasure e, wanted w`

/** The numbers of the erased are never given to others, who would be erased by the next restore. */
const counters = `
  INSERT INTO "Counter" AS c ("storeId", "name", "value")
  SELECT r."storeId", $2, max(r."recordId") FROM "ErasedRecord" r WHERE r."service" = $1 GROUP BY r."storeId"
  ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = greatest(c."value", excluded."value")`
const storeNumbers = `
  SELECT setval('"Store_id_seq"', max(("line"->>'store')::int)) FROM ${TABLE}
  HAVING max(("line"->>'store')::int) > (SELECT "last_value" FROM "Store_id_seq")`

/** Lets the erasures that a restore has brought wait for their turn, once the database is migrated. All or none. */
export async function takeErasures(url: string): Promise<void> {
  await withConnection(url, async (client) => {
    const query = queryOf(client)
    // Another process may be at it.
    await query('BEGIN')
    await query('SELECT pg_advisory_xact_lock($1, 0)', [locks.erasedIds])
    const [table] = await query<{ name: string | null }>(`SELECT to_regclass('${TABLE}')::text AS "name"`)
    if (!table?.name) return
    for (const { line } of await query<{ line: string }>(`SELECT "line"::text AS "line" FROM ${TABLE}`))
      await query(waitingOf, [line])
    for (const service of services) await query(counters, [service, resourceNamed(service).table])
    await query(storeNumbers)
    await query(`DROP TABLE ${TABLE}`)
    await query('COMMIT')
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}
