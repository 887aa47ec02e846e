import pg from 'pg'
import { StartupError } from '../process/startup-error.ts'
import type { Query } from './query.ts'

// Whether a database can hold a store. What it is made with cannot be changed later, so it is looked at while it is empty.

/** Those of the migrations. */
const extensions = ['pg_trgm', 'btree_gin']

/**
 * Returns what is wrong with how the database was made, each a clause about it. Asks the database to fold a letter, because neither
 * its locale nor its provider says whether it does.
 */
export async function findFaults({ query }: Query): Promise<readonly string[]> {
  const [made] = await query<{ encoding: string }>(
    `SELECT pg_encoding_to_char("encoding") AS "encoding" FROM pg_database WHERE "datname" = current_database()`,
  )
  // Another encoding may lack the letter.
  if (made?.encoding !== 'UTF8') return [`its encoding is ${made?.encoding}, and UTF8 is needed`]
  const [letters] = await query<{ areFolded: boolean }>(`SELECT lower('ÉMILE') = 'émile' AS "areFolded"`)
  if (letters?.areFolded) return []
  return ['its lower() leaves É as it is, so that names, SKUs and e-mail addresses beyond ASCII would not be found']
}

/** SQL of the faults, in a column "found". */
export async function selectFaults(database: Query): Promise<string> {
  const faults = (await findFaults(database)).map((fault) => pg.escapeLiteral(fault))
  return `SELECT "found" FROM unnest(ARRAY[${faults.join(', ')}]::text[]) "found"`
}

/** Whether the database has a store, which then stays in it. */
export async function hasStores({ query }: Query): Promise<boolean> {
  const [table] = await query<{ exists: boolean }>(`SELECT to_regclass('"public"."Store"') IS NOT NULL AS "exists"`)
  if (!table?.exists) return false
  const [store] = await query<{ exists: boolean }>(`SELECT EXISTS (SELECT FROM "public"."Store") AS "exists"`)
  return store?.exists ?? false
}

/**
 * Throws `StartupError`, with the statement that makes a fit database, for one that cannot hold a store. Call it in a transaction that
 * is rolled back behind it, because it creates the extensions. `name` is the host and the name of the database.
 */
export async function refuseNewDatabase(database: Query, name: string): Promise<void> {
  const faults = [...(await findFaults(database))]
  if (faults.length === 0) faults.push(...(await findMissingRights(database)))
  if (faults.length === 0) return
  throw new StartupError(
    `The database at ${name} is empty and cannot hold a store: ${faults.join('; ')}. Make another one as a role that may create databases, and name it in place of this one:\n  ${await createStatement(database)}`,
  )
}

/** Throws `StartupError` for an extension that the server does not have, which no other database of it has either. */
async function findMissingRights({ query }: Query): Promise<string[]> {
  const [rights] = await query<{ mayCreate: boolean }>(
    `SELECT coalesce(bool_or(has_schema_privilege("oid", 'CREATE')), false) AS "mayCreate" FROM pg_namespace WHERE "nspname" = 'public'`,
  )
  if (!rights?.mayCreate) return ['this role may not create tables in its schema public']
  for (const extension of extensions) {
    await query('SAVEPOINT "extension"')
    try {
      await query(`CREATE EXTENSION IF NOT EXISTS ${extension}`)
    } catch (error) {
      await query('ROLLBACK TO "extension"')
      const { code, message } = error as { code?: string; message: string }
      if (code === INSUFFICIENT_PRIVILEGE) return [`this role may not create the extension ${extension} in it`]
      throw new StartupError(
        `The PostgreSQL server cannot create the extension ${extension}: ${message.split('\n', 1)[0]}. Install the contrib modules of its version on it (postgresql-contrib)`,
      )
    }
  }
  return []
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** From this version on PostgreSQL folds by Unicode itself, whatever locales the machine has. */
const BUILTIN_SINCE = 17

interface ServerRow {
  readonly role: string
  readonly version: number
  readonly names: readonly string[]
  readonly locale: string | null
  readonly hasIcu: boolean
}

/** SQL that makes a fit database for this role on this server, under a name that is free. */
async function createStatement({ query }: Query): Promise<string> {
  const [server] = await query<ServerRow>(`
    SELECT current_user::text AS "role", current_setting('server_version_num')::int / 10000 AS "version",
      (SELECT array_agg("datname"::text ORDER BY "datname" <> current_database()) FROM pg_database) AS "names",
      (SELECT "collcollate"::text FROM pg_collation WHERE "collprovider" = 'c' AND "collencoding" = pg_char_to_encoding('UTF8')
         AND "collcollate" NOT IN ('C', 'POSIX')
       ORDER BY "collcollate" !~* '^C\\.', "collcollate" !~ '^en_US', 1 LIMIT 1) AS "locale",
      EXISTS (SELECT FROM pg_collation WHERE "collprovider" = 'i') AS "hasIcu"`)
  if (!server) throw new Error('A SELECT without FROM gave no row')
  return [
    `CREATE DATABASE ${pg.escapeIdentifier(freeName(server.names))} OWNER ${pg.escapeIdentifier(server.role)}`,
    `TEMPLATE template0 ENCODING 'UTF8' ${localeOptions(server)};`,
  ].join(' ')
}

/** A name that no database has, from the first of `names`. PostgreSQL keeps 63 bytes of one. */
function freeName(names: readonly string[]): string {
  const [name = ''] = names
  const base = Buffer.from(name)
    .subarray(0, 50)
    .toString()
    .replace(/\uFFFD+$/, '')
  for (let number = 1; ; number++) {
    const free = `${base}_utf8${number === 1 ? '' : `_${number}`}`
    if (!names.includes(free)) return free
  }
}

/** `locale`: one of the machine's with UTF-8, which besides tells trigram indexes which characters are letters. */
function localeOptions({ version, locale, hasIcu }: ServerRow): string {
  const letters = locale === null ? '' : ` LC_CTYPE ${pg.escapeLiteral(locale)}`
  if (version >= BUILTIN_SINCE) return `LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'${letters}`
  if (locale !== null || !hasIcu) return `LOCALE_PROVIDER libc LOCALE ${pg.escapeLiteral(locale ?? 'C.UTF-8')}`
  return `LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C'`
}
