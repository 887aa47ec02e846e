import type pg from 'pg'
import type { Filter, FilterKind } from '../../src/engine/definition/filters.ts'

/** A value of a filter, and how much of the store it matches. */
export interface FilterValue {
  readonly share: string
  readonly value: string
}

interface Asked {
  readonly name: string
  readonly filter: Filter
  readonly table: string
  /** How many records the store has. */
  readonly count: number
}

const FEW = 20

/** Values of a filter, taken from what is stored: one that matches about twenty records, a twentieth of all, and most. */
export function valuesOf(client: pg.ClientBase, storeId: number, asked: Asked): Promise<readonly FilterValue[]> {
  const { kind, ofItems, column = ofItems?.column ?? '' } = asked.filter
  if (kind === 'flag') {
    return Promise.resolve([
      { share: 'set', value: '1' },
      { share: 'not set', value: '0' },
    ])
  }
  return isBound(asked)
    ? bounds(client, storeId, asked)
    : frequent(client, storeId, { ...asked, table: ofItems?.table ?? asked.table }, expressions[kind](column))
}

const expressions: Readonly<Record<FilterKind, (column: string) => string>> = {
  text: (column) => `lower("${column}")`,
  // Of several words, each is a part.
  part: (column) => `string_to_table(lower("${column}"), ' ')`,
  integer: (column) => `"${column}"`,
  number: (column) => `"${column}"`,
  flag: (column) => `"${column}"`,
  since: (column) => `to_char("${column}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')`,
  until: (column) => `to_char("${column}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')`,
}

function isBound({ name, filter: { kind } }: Asked): boolean {
  return kind !== 'part' && (kind === 'since' || kind === 'until' || /(from|to|start|end)$/.test(name))
}

async function bounds(
  client: pg.ClientBase,
  storeId: number,
  { name, filter: { kind, column = '' }, table, count }: Asked,
): Promise<FilterValue[]> {
  const isUpper = /(to|end)$/.test(name)
  const values: FilterValue[] = []
  for (const [share, matches] of [
    ['few', FEW],
    ['5 %', count / 20],
    ['90 %', count * 0.9],
  ] as const) {
    const rank = Math.floor(isUpper ? matches - 1 : count - matches)
    const { rows } = await client.query<{ value: string }>(
      `SELECT ${expressions[kind](column)}::text AS "value" FROM "${table}" WHERE "storeId" = $1
       ORDER BY "${column}" OFFSET $2 LIMIT 1`,
      [storeId, rank],
    )
    values.push({ share, value: rows[0]?.value ?? '' })
  }
  return values
}

async function frequent(
  client: pg.ClientBase,
  storeId: number,
  { table, count }: Asked,
  expression: string,
): Promise<FilterValue[]> {
  const { rows } = await client.query<{ few: string; some: string; most: string; isUnique: boolean }>(
    `WITH v AS MATERIALIZED (
       SELECT "value", count(*) AS "count" FROM (SELECT ${expression} AS "value" FROM "${table}" WHERE "storeId" = $1) e
       WHERE "value" IS NOT NULL GROUP BY 1)
     SELECT (SELECT "value"::text FROM v ORDER BY abs("count" - $2::int), md5("value"::text) LIMIT 1) AS "few",
       (SELECT "value"::text FROM v ORDER BY abs("count" - $3::int), md5("value"::text) LIMIT 1) AS "some",
       (SELECT "value"::text FROM v ORDER BY "count" DESC, "value" LIMIT 1) AS "most",
       (SELECT max("count") < 5 FROM v) AS "isUnique"`,
    [storeId, FEW, Math.floor(count / 20)],
  )
  const { few = '', some = '', most = '', isUnique = false } = rows[0] ?? {}
  if (isUnique) return [{ share: 'one', value: few }]
  return [
    { share: 'rare', value: few },
    { share: '5 %', value: some },
    { share: 'most frequent', value: most },
  ]
}
