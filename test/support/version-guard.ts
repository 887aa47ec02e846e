import { resources } from '../../src/shop/registry.ts'
import { openClient } from './client.ts'

/** The lists inside records that have a table of their own, and the column there that names the record. */
export const listTables = resources.flatMap(({ table, fields }) =>
  fields.leaves.flatMap(({ field }) =>
    field.kind === 'list' && field.rows !== undefined ? [{ ...field.rows, recordTable: table }] : [],
  ),
)

/**
 * Makes the database refuse, at its commit, a transaction that changes a row of a record's list and leaves the record's own
 * row as it is: the record's version is the transaction that wrote that row (docs/decisions/representations.md).
 */
export async function guardVersions(url: string): Promise<void> {
  const client = await openClient(url)
  for (const list of listTables) await client.query(guardOf(list))
  await client.end()
}

/** For what writes rows of lists by themselves: migrations of an earlier time, and deliberate damage. */
export async function dropVersionGuards(url: string): Promise<void> {
  const client = await openClient(url)
  for (const { table } of listTables) await client.query(`DROP FUNCTION "guard${table}" CASCADE`)
  await client.end()
}

function guardOf({ table, parent, recordTable }: (typeof listTables)[number]): string {
  // What others have not committed is not visible, so a visible row that is in progress was written by this transaction.
  const unchanged = (row: string) => `EXISTS (
    SELECT FROM "${recordTable}" WHERE "storeId" = ${row}."storeId" AND "id" = ${row}."${parent}"
      AND pg_xact_status(xmin::text::xid8) IS DISTINCT FROM 'in progress')`
  return `
    CREATE FUNCTION "guard${table}"() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'DELETE' AND ${unchanged('NEW')} OR TG_OP <> 'INSERT' AND ${unchanged('OLD')} THEN
        RAISE EXCEPTION '% of ${table} without a change of its row of ${recordTable}', TG_OP;
      END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER "${table}_guard" AFTER INSERT OR UPDATE OR DELETE ON "${table}"
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "guard${table}"()`
}
