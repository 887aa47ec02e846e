import { queryRows } from '../../../foundation/database/client.ts'
import { withConnection } from '../../../foundation/database/connection.ts'
import type { DatabaseFigures } from '../../../foundation/database/figures.ts'

/** Who makes backups: a server with BACKUP_DIR, or `npm run backup`. */
const makers = ['schedule', 'command'] as const

interface MadeBackup {
  readonly by: (typeof makers)[number]
  readonly createdAt: Date
  readonly bytes: number
  readonly seconds: number
}

const NOTE_MS_MAX = 10_000

/**
 * Notes in the database that a whole backup exists, for the figures of every process. Kept there because a server knows neither
 * the folders of others nor what a command did, and must not forget either when it restarts.
 */
export async function noteBackup(url: string, { by, createdAt, bytes, seconds }: MadeBackup): Promise<void> {
  const text = `
    INSERT INTO "Backup" ("by", "createdAt", "bytes", "seconds") VALUES ($1, $2, $3, $4)
    ON CONFLICT ("by") DO UPDATE
      SET ("createdAt", "bytes", "seconds") = (EXCLUDED."createdAt", EXCLUDED."bytes", EXCLUDED."seconds")
      WHERE "Backup"."createdAt" < EXCLUDED."createdAt"`
  const statement = { text, values: [by, createdAt, bytes, seconds], query_timeout: NOTE_MS_MAX }
  await withConnection(url, (client) => client.query(statement))
}

export const backupFigures: DatabaseFigures = {
  gauges: {
    backup_last_success_timestamp_seconds: {
      help: 'The moment that the newest whole backup shows, by who made it: schedule (a server with BACKUP_DIR), command (npm run backup). 0: there was none',
      labelNames: ['by'],
    },
    backup_last_size_bytes: { help: 'The size of that backup', labelNames: ['by'] },
    backup_last_duration_seconds: { help: 'How long it took to make that backup', labelNames: ['by'] },
  },
  ask: async (tx, show) => {
    const made = await queryRows<Omit<MadeBackup, 'createdAt'> & { epoch: number }>(tx)`
      SELECT "by", extract(epoch FROM "createdAt")::float8 AS "epoch", "bytes"::float8 AS "bytes", "seconds" FROM "Backup"`
    for (const by of makers) {
      const last = made.find((backup) => backup.by === by)
      show('backup_last_success_timestamp_seconds', last?.epoch ?? 0, { by })
      show('backup_last_size_bytes', last?.bytes ?? 0, { by })
      show('backup_last_duration_seconds', last?.seconds ?? 0, { by })
    }
  },
}
