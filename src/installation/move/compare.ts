import pg from 'pg'
import { type Query, qualified } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import { findSequences, type Sequence, type Table } from '../backup/tables.ts'
import { inOne, type Side } from './session.ts'

interface Contents {
  readonly rows: number
  readonly sum: string
}

/**
 * Throws `StartupError` unless both databases have the same rows of the table. Each computes the SHA-256 of every row and adds 64
 * bits of them up, so that the order of the rows does not matter.
 */
export async function compareTable(source: Side, target: Side, table: Table): Promise<number> {
  const [one, other] = await Promise.all([contentsOf(source, table), contentsOf(target, table)])
  if (one.rows === other.rows && one.sum === other.sum) return one.rows
  throw new StartupError(
    `The table ${table.name} is not the same in both databases (${one.rows} and ${other.rows} rows). Give the move up (npm run move -- --cancel --to …), and find out what else writes to the target, or how its disk is`,
  )
}

async function contentsOf(side: Side, table: Table): Promise<Contents> {
  const [contents] = await inOne(side, () =>
    side.query<Contents>(`
      SELECT count(*)::float8 AS "rows", coalesce(sum(('x' || encode(substring("hash" FOR 8), 'hex'))::bit(64)::bigint), 0)::text AS "sum"
      FROM (SELECT sha256(convert_to(${rowText(table)}, 'UTF8')) AS "hash" FROM ${qualified(table.name)}) r`),
  )
  return contents as Contents
}

/**
 * SQL of a text that only equal rows have in common: of each value its length and its text. Not the text of the whole row,
 * because what PostgreSQL quotes in it depends on the locale.
 */
function rowText({ columns }: Table): string {
  return columns
    .map((column) => pg.escapeIdentifier(column))
    .map((column) => `coalesce(octet_length(${column}::text) || ':' || ${column}::text, '-')`)
    .join(' || ')
}

/** Throws `StartupError` when a sequence of the target would give a number that was given before `sequences` were read. */
export async function compareSequences(target: Query, sequences: readonly Sequence[]): Promise<void> {
  const nextOf = new Map((await findSequences(target)).map(({ name, next }) => [name, next]))
  const behind = sequences.find(({ name, next }) => (nextOf.get(name) ?? 0) < next)
  if (behind)
    throw new StartupError(
      `The sequence ${behind.name} of the target is behind that of the source. Run the command again`,
    )
}
