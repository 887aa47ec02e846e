import { queryRows } from '../../foundation/database/client.ts'
import type { DatabaseFigures } from '../../foundation/database/figures.ts'
import { Prisma } from '../../foundation/database/generated/client.ts'

/** Those of the data model, so that the labels are bounded whatever else the database holds. */
const tables = Object.keys(Prisma.ModelName)
const labelNames = ['table']

/** The room that the database and its tables take. PostgreSQL asks the file system; it reads no rows. */
export const sizeFigures: DatabaseFigures = {
  gauges: {
    database_size_bytes: { help: 'Disk space of the database, without the write-ahead log' },
    database_table_size_bytes: { help: 'Disk space of the table, with its indexes and long values', labelNames },
    database_table_rows: { help: "Rows of the table, as PostgreSQL's last ANALYZE estimated them", labelNames },
  },
  ask: async (tx, show) => {
    const [database] = await queryRows<{ bytes: number }>(tx)`
      SELECT pg_database_size(current_database())::float8 AS "bytes"`
    if (database) show('database_size_bytes', database.bytes)
    const sizes = await queryRows<{ table: string; bytes: number; rows: number }>(tx)`
      SELECT relname::text AS "table", pg_total_relation_size(oid)::float8 AS "bytes",
        (CASE WHEN reltuples < 0 THEN pg_stat_get_live_tuples(oid) ELSE reltuples END)::float8 AS "rows"
      FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname = ANY (string_to_array(${tables.join()}, ','))`
    for (const { table, bytes, rows } of sizes) {
      show('database_table_size_bytes', bytes, { table })
      show('database_table_rows', rows, { table })
    }
  },
}
