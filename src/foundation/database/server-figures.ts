import { queryRows } from './client.ts'
import type { DatabaseFigures } from './figures.ts'

interface FiguresRow {
  readonly version: string
  readonly connections: number
  readonly connectionsMax: number
  readonly migrations: number
  readonly epoch: number
}

/** What the database server says of itself. */
export const serverFigures: DatabaseFigures = {
  gauges: {
    database_info: { help: '1, with the version of PostgreSQL', labelNames: ['version'] },
    database_server_connections: { help: 'Sessions of the PostgreSQL server, of all its databases and clients' },
    database_server_connections_max: { help: 'The most sessions of the PostgreSQL server (max_connections)' },
    database_migrations_applied: { help: 'Migrations that the database has' },
    database_clock_offset_seconds: {
      help: "How far the database's clock is ahead of this process's; negative: behind. Processes that differ by seconds disagree about what is due",
    },
  },
  ask: async (tx, show) => {
    const beforeMs = Date.now()
    const [answer] = await queryRows<FiguresRow>(tx)`
      SELECT extract(epoch FROM clock_timestamp())::float8 AS "epoch", current_setting('server_version') AS "version",
        (SELECT sum("numbackends")::int FROM pg_stat_database WHERE "datname" IS NOT NULL) AS "connections",
        current_setting('max_connections')::int AS "connectionsMax",
        (SELECT count(*)::int FROM "_prisma_migrations" WHERE "finished_at" IS NOT NULL AND "rolled_back_at" IS NULL) AS "migrations"`
    const afterMs = Date.now()
    if (answer === undefined) return
    const { version, connections, connectionsMax, migrations, epoch } = answer
    show('database_info', 1, { version })
    show('database_server_connections', connections)
    show('database_server_connections_max', connectionsMax)
    show('database_migrations_applied', migrations)
    show('database_clock_offset_seconds', epoch - (beforeMs + afterMs) / 2_000)
  },
}
