import { execute } from '../../foundation/database/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import type { ArchivedTable } from '../../foundation/database/sweeper.ts'

/** The audit log, whose old entries are archived and then deleted. */
export const oldEntries: ArchivedTable = {
  table: 'AuditEntry',
  time: 'at',
  archived: sql`true`,
  remove: async (db, ids) => {
    await execute(db)`DELETE FROM "AuditEntry" WHERE "id" = ANY (string_to_array(${ids.join()}, ',')::bigint[])`
  },
}
