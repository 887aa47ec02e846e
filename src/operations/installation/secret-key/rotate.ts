import type { Db } from '../../../foundation/database/client.ts'
import { identifier, join, type Sql, sql } from '../../../foundation/database/sql.ts'
import { type Secrets, sealedBy } from '../../../foundation/values/secrets.ts'
import { type SealedTable, sealedTables } from './sealed-tables.ts'

/** Rows that are read at a time, and updates that run at a time, each a transaction of its own. */
const READ_MAX = 500
export const ROTATION_CONNECTIONS = 4
/** Each pass finds what requests changed meanwhile. */
const PASSES_MAX = 20

interface Rotating {
  readonly db: Db
  /** The current key is the new one. */
  readonly secrets: Secrets
}

/** Notes that from now on every process stores under the current key, unless that is noted already. Returns since when. */
export async function putInForce({ db, secrets }: Rotating, at: Date): Promise<Date> {
  await db.$executeRaw`
    INSERT INTO "SecretKey" ("id", "since") VALUES (${secrets.keyId}, ${at})
    ON CONFLICT ("id") DO UPDATE SET "since" = EXCLUDED."since", "finishedAt" = NULL
    WHERE "SecretKey"."since" < (SELECT max("since") FROM "SecretKey")`
  const { since } = await db.secretKey.findUniqueOrThrow({ where: { id: secrets.keyId } })
  return since
}

/** Counts the rows with something that is sealed under another key. */
export async function countFormer({ db, secrets }: Rotating): Promise<number> {
  const counts = sealedTables.map(
    (entry) => sql`(SELECT count(*) FROM ${identifier(entry.table)} WHERE ${isFormer(entry, secrets)})`,
  )
  const [row] = await db.$queryRaw<{ count: number }[]>`SELECT (${join(counts, ' + ')})::int AS "count"`
  return row?.count ?? 0
}

/**
 * Seals and hashes everything under the current key, while requests change what they like: a row is written only if its
 * secrets are still those that were read. Whatever a kill leaves is found by the next run. `onMoved` runs after each row.
 */
export async function sealAnew(rotating: Rotating, onMoved: () => void, at: () => Date): Promise<void> {
  for (let pass = 0; pass < PASSES_MAX; pass++) {
    let found = 0
    for (const entry of sealedTables) found += await sealTable(rotating, entry, onMoved)
    if (found > 0) continue
    const where = { id: rotating.secrets.keyId, finishedAt: null }
    await rotating.db.secretKey.updateMany({ where, data: { finishedAt: at() } })
    return
  }
  throw new Error('something still stores under the former key')
}

type Row = Readonly<Record<string, string | number | null>>

/** Returns how many rows there were. */
async function sealTable(rotating: Rotating, entry: SealedTable, onMoved: () => void): Promise<number> {
  const columns = join([...entry.key, ...entry.sealed].map(identifier))
  const key = join(entry.key.map(identifier))
  let found = 0
  for (let after: readonly unknown[] = entry.key.map(() => -1); ; ) {
    const rows = await rotating.db.$queryRaw<Row[]>`
      SELECT ${columns} FROM ${identifier(entry.table)}
      WHERE (${key}) > (${join(after.map((value) => sql`${value}::int`))}) AND ${isFormer(entry, rotating.secrets)}
      ORDER BY ${key} LIMIT ${READ_MAX}`
    found += rows.length
    for (let index = 0; index < rows.length; index += ROTATION_CONNECTIONS) {
      const group = rows.slice(index, index + ROTATION_CONNECTIONS)
      await Promise.all(group.map((row) => sealRow(rotating, entry, row).then(onMoved)))
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < READ_MAX) return found
    after = entry.key.map((name) => last[name])
  }
}

function isFormer({ sealed }: SealedTable, { keyId }: Secrets): Sql {
  const each = sealed
    .map(identifier)
    .map((column) => sql`(${column} ~ '^v[12][.]' AND ${column} NOT LIKE ${`${sealedBy(keyId)}%`})`)
  return sql`(${join(each, ' OR ')})`
}

async function sealRow({ db, secrets }: Rotating, { table, key, sealed, hash }: SealedTable, row: Row): Promise<void> {
  const columns = sealed.map((name) => ({ name: identifier(name), before: row[name] as string | null }))
  const changes = columns.map(({ name, before }) => {
    return sql`${name} = ${before === null ? null : secrets.seal(secrets.open(before))}`
  })
  const [first] = columns
  if (hash && first?.before) changes.push(sql`${identifier(hash)} = ${secrets.lookup(secrets.open(first.before))}`)
  const isRow = key.map((name) => sql`${identifier(name)} = ${row[name]}`)
  const isSame = columns.map(({ name, before }) => sql`${name} IS NOT DISTINCT FROM ${before}::text`)
  await db.$executeRaw`
    UPDATE ${identifier(table)} SET ${join(changes)} WHERE ${join([...isRow, ...isSame], ' AND ')}`
}
