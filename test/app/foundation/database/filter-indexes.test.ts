import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../../src/engine/caller.ts'
import { type FilterKind, type Filters, readFilter } from '../../../../src/engine/definition/filters.ts'
import type { Resource } from '../../../../src/engine/definition/resource.ts'
import { countRecords } from '../../../../src/engine/reading/read.ts'
import { identifier, type Sql, sql } from '../../../../src/foundation/database/sql.ts'
import { resourceNamed, servedResources } from '../../../../src/shop/registry.ts'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { shared } from '../../../support/shared.ts'

/** Tables whose filters need no index of their own, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  Webhook: 'an application has at most 100 webhooks in a store, and the primary key finds those of a store',
}

/** Values that a filter of the kind reads: the first alone, or both; of flags the rare one, which has a partial index. */
const values: Readonly<Record<FilterKind, readonly [string, string?]>> = {
  text: ['lamp', 'shade'],
  part: ['lamp'],
  integer: ['5', '7'],
  number: ['5'],
  flag: ['1'],
  since: ['2026-01-01'],
  until: ['2026-01-01'],
}

const store = { id: 1, name: '', secureUrl: '', currency: 'USD', timeZone: 'UTC', country: '', orderMails: [] }

const database = await shared(cloneDatabase())
const client = await shared(openClient(database.url))
await client.query('SET enable_seqscan = off; BEGIN')

describe('every documented filter has an index that begins with the store and serves it', () => {
  test.each(documentedFilters())('$service: $name = $given', async (documented) => {
    const { table, name } = documented
    const { conditions } = await plansOf(documented)

    expect({ table, name, isServed: conditions.length > 0 }).toEqual({ table, name, isServed: !(table in exceptions) })
  })

  test('and one that is gone is noticed', async () => {
    await client.query('SAVEPOINT complete')
    await client.query('DROP INDEX "Order_storeId_statusId_id_idx"; DROP INDEX "Product_onSale_set"')

    expect(await plansOf(documented('orderstatus'))).toMatchObject({ conditions: [] })
    expect(await plansOf(documented('onsale'))).toMatchObject({ conditions: [], visited: ['Product'] })
    await client.query('ROLLBACK TO complete')
  })
})

// A part of a text is looked up by trigrams, which PostgreSQL checks against the record.
describe('an index alone answers how many records match', () => {
  const counted = documentedFilters().filter(({ table, filter }) => filter.kind !== 'part' && !(table in exceptions))

  test.each(counted)('$service: $name = $given', async (documented) => {
    expect(await plansOf(documented)).toMatchObject({ visited: [] })
  })
})

function documentedFilters() {
  return servedResources.flatMap(({ service, table, filters, subResources }) => {
    const projected = Object.values(subResources).flatMap((sub) => (sub.kind === 'projected' ? [sub.filters] : []))
    return [filters, ...projected].flatMap((set: Filters) =>
      Object.entries(set).flatMap(([name, filter]) => {
        const [first, second] = values[filter.kind]
        const one = { service, table, name, filter, given: [first] }
        return filter.readAny && second !== undefined ? [one, { ...one, given: [first, second] }] : [one]
      }),
    )
  })
}

type Documented = ReturnType<typeof documentedFilters>[number]

function documented(name: string): Documented {
  return documentedFilters().find((each) => each.name === name) as Documented
}

interface PlanNode {
  readonly 'Node Type'?: string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * The conditions by which an index finds records of a store by the filter (none: no index can), and the tables of which a count
 * of them reads rows, without look-ups of a single one by a unique index.
 */
async function plansOf({ service, table, name, filter, given }: Documented) {
  const { condition } = readFilter(filter, name, given, store)
  if (condition === null) throw new Error(`${name} filters nothing`)
  // Named last: a condition on items leads from the record to them.
  const [column, filtered = table] = [/t\."(\w+)"/g, /FROM "(\w+)" t/g].map(
    (named) => [...condition.text.matchAll(named)].at(-1)?.[1],
  )
  const list = sql`EXPLAIN (FORMAT JSON) SELECT * FROM ${identifier(table)} t WHERE t."storeId" = ${store.id} AND ${condition}`
  await client.query('SAVEPOINT whole')
  await dropOtherIndexes(filtered, `\\m${column}\\M`)
  const listed = await explained(list)
  await client.query('SET LOCAL enable_bitmapscan = off')
  const count = await countStatement({ ...resourceNamed(service), filters: { [name]: filter } }, name, given)
  const counted = await explained(sql`EXPLAIN (FORMAT JSON) ${count}`)
  const { rows } = await client.query<{ name: string; condition: string | null; isUnique: boolean }>(
    `SELECT indexrelid::regclass::text AS "name", pg_get_expr(indpred, indrelid) AS "condition", indisunique AS "isUnique"
     FROM pg_index WHERE indrelid = $1::regclass`,
    [`"${filtered}"`],
  )
  await client.query('ROLLBACK TO whole')
  const indexes = new Map(rows.map((each) => [each.name.replaceAll('"', ''), each]))
  const indexOf = (node: PlanNode) => indexes.get(node['Index Name'] ?? '')
  const conditions = listed
    .map((node) => `${node['Index Cond']} ${indexOf(node)?.condition}`)
    .filter((text) => /"storeId" =/.test(text) && new RegExp(`\\b${column}\\b`).test(text))
  const visited = counted
    .filter((node) => node['Node Type'] !== 'Index Only Scan' && !indexOf(node)?.isUnique)
    .flatMap((node) => node['Relation Name'] ?? [])
    // Categories are walked through for those below one, however many products there are.
    .filter((name) => name !== 'Category' || name === table)
  return { conditions, visited }
}

/** The statement that a list with this filter and `countonly` runs. */
async function countStatement(resource: Resource, name: string, given: readonly string[]): Promise<Sql> {
  const statements: Sql[] = []
  const $queryRaw = async (statement: Sql) => {
    statements.push(statement)
    return []
  }
  const caller = { store, db: { $queryRaw } } as unknown as Caller
  const query = Object.assign(new Map([[name, given[0] ?? '']]), { repeated: new Map([[name, given]]) })
  await countRecords(caller, resource, query)
  return statements[0] as Sql
}

async function explained({ text, values }: Sql): Promise<PlanNode[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(text, values)
  return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan ?? {})
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
