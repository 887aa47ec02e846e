import type pg from 'pg'
import { withConnection } from '../database/connection.ts'
import type { Login } from './folder.ts'

export const DATABASE = 'store_platform'
/** Owns the database. It cannot read files, run programs or change other roles. */
export const SERVER_ROLE = 'store_server'

/**
 * Creates the server's role and database if they are missing, and sets the role's password to that of `login`. `client` and
 * `databaseUrl` are the superuser's. Safe to repeat after an interruption at any point.
 */
export async function prepareDatabase(client: pg.Client, login: Login, databaseUrl: string): Promise<void> {
  if (!(await exists(client, 'SELECT FROM pg_roles WHERE rolname = $1', SERVER_ROLE))) {
    await client.query(`CREATE ROLE "${SERVER_ROLE}" LOGIN`)
  }
  await client.query(`ALTER ROLE "${SERVER_ROLE}" PASSWORD '${login.password}'`)
  if (!(await exists(client, 'SELECT FROM pg_database WHERE datname = $1', DATABASE))) {
    await client.query(`CREATE DATABASE "${DATABASE}" OWNER "${SERVER_ROLE}"`)
  }
  await withConnection(databaseUrl, (own) => own.query(handOver))
}

async function exists(client: pg.Client, sql: string, name: string): Promise<boolean> {
  return ((await client.query(sql, [name])).rowCount ?? 0) > 0
}

/**
 * Transfers what the superuser owns in the database to the server's role: everything in a database made by the first version,
 * and what an operator restored. All or nothing. (REASSIGN OWNED skips the bootstrap role. Extensions keep their owner.)
 */
const handOver = `
  DO $$
  DECLARE
    owned text;
  BEGIN
    FOR owned IN
      SELECT format('DATABASE %I', datname) FROM pg_database
        WHERE datname = current_database() AND datdba <> '${SERVER_ROLE}'::regrole
      UNION ALL
      SELECT format('TABLE %s', oid::regclass) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relowner <> '${SERVER_ROLE}'::regrole
          AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
          -- Members of extensions, and sequences of columns, which go with their table.
          AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
              AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
      UNION ALL
      SELECT format('ROUTINE %s', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proowner <> '${SERVER_ROLE}'::regrole
          AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
      UNION ALL
      SELECT format('TYPE %s', oid::regtype) FROM pg_type
        WHERE typnamespace = 'public'::regnamespace AND typowner <> '${SERVER_ROLE}'::regrole AND typtype IN ('d', 'e')
          AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_type'::regclass AND objid = pg_type.oid AND deptype = 'e')
    LOOP
      EXECUTE format('ALTER %s OWNER TO "${SERVER_ROLE}"', owned);
    END LOOP;
  END $$`
