import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identifier, sql } from '../../../src/database/sql.ts'
import type { Filter, FilterKind, Filters } from '../../../src/engine/filters.ts'
import { servedResources } from '../../../src/registry.ts'
import { openClient } from '../../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'

/** Tables whose filters need no index of their own, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  Webhook: 'an application has at most 100 webhooks in a store, and the primary key finds those of a store',
}

/** A value that a filter of the kind reads; of flags the rare one, which has a partial index. */
const values: Readonly<Record<FilterKind, string>> = {
  text: 'lamp',
  part: 'lamp',
  integer: '5',
  number: '5',
  flag: '1',
  since: '2026-01-01',
  until: '2026-01-01',
}

const store = { id: 1, name: '', secureUrl: '', currency: 'USD', timeZone: 'UTC' }

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await cloneDatabase()
  client = await openClient(database.url)
  await client.query('SET enable_seqscan = off; BEGIN')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('every documented filter has an index that begins with the store and serves it', () => {
  test.each(documentedFilters())('$service: $name', async ({ table, name, filter }) => {
    const conditions = await indexConditions(table, name, filter)

    expect({ table, name, isServed: conditions.length > 0 }).toEqual({ table, name, isServed: !(table in exceptions) })
  })

  test('and one that is gone is noticed', async () => {
    await client.query('DROP INDEX "Order_storeId_statusId_id_idx"; DROP INDEX "Product_onSale_set"')

    expect(await indexConditions('Order', 'orderstatus', documented('orderstatus'))).toEqual([])
    expect(await indexConditions('Product', 'onsale', documented('onsale'))).toEqual([])
  })
})

function documentedFilters() {
  return servedResources.flatMap(({ service, table, filters, subResources }) => {
    const projected = Object.values(subResources).flatMap((sub) => (sub.kind === 'projected' ? [sub.filters] : []))
    return [filters, ...projected].flatMap((set: Filters) =>
      Object.entries(set).map(([name, filter]) => ({ service, table, name, filter })),
    )
  })
}

function documented(name: string): Filter {
  return documentedFilters().find((each) => each.name === name)?.filter as Filter
}

interface PlanNode {
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** The conditions by which an index finds records of a store by the filter; none: no index can. */
async function indexConditions(table: string, name: string, { kind, read }: Filter): Promise<string[]> {
  const condition = read(values[kind], name, store)
  if (condition === null) throw new Error(`${name} filters nothing`)
  // Named last: a condition on items leads from the record to them.
  const [column, filtered = table] = [/t\."(\w+)"/g, /FROM "(\w+)" t/g].map(
    (named) => [...condition.text.matchAll(named)].at(-1)?.[1],
  )
  const list = sql`EXPLAIN (FORMAT JSON) SELECT * FROM ${identifier(table)} t WHERE t."storeId" = ${store.id} AND ${condition}`
  await client.query('SAVEPOINT whole')
  await dropOtherIndexes(filtered, `\\m${column}\\M`)
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(list.text, list.values)
  const { rows: partial } = await client.query<{ name: string; condition: string }>(
    `SELECT indexrelid::regclass::text AS "name", pg_get_expr(indpred, indrelid) AS "condition"
     FROM pg_index WHERE indrelid = $1::regclass AND indpred IS NOT NULL`,
    [`"${filtered}"`],
  )
  await client.query('ROLLBACK TO whole')
  const predicates = new Map(partial.map((each) => [each.name.replaceAll('"', ''), each.condition]))
  return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan ?? {})
    .map((node) => `${node['Index Cond']} ${predicates.get(node['Index Name'] ?? '')}`)
    .filter((text) => /"storeId" =/.test(text) && new RegExp(`\\b${column}\\b`).test(text))
}

/** On an empty table any index is as good as another one; without the others it shows whether the one serves. */
async function dropOtherIndexes(table: string, column: string): Promise<void> {
  const { rows } = await client.query<{ drop: string }>(
    `SELECT CASE WHEN indisprimary THEN format('ALTER TABLE %s DROP CONSTRAINT %s CASCADE', indrelid::regclass, indexrelid::regclass)
       ELSE format('DROP INDEX %s', indexrelid::regclass) END AS "drop" FROM pg_index
     WHERE indrelid = $1::regclass AND pg_get_indexdef(indexrelid) !~ $2`,
    [`"${table}"`, column],
  )
  for (const { drop } of rows) await client.query(drop)
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
