import { expect } from 'vitest'
import { createStore } from '../../../../src/access/people/create-store.ts'
import type { ImportCounts, Refusal, TransferLine } from '../../../../src/engine/transfer/import.ts'
import { storeInput } from '../../../support/access.ts'
import { subscribedStore, type TestServer, type TestStore } from '../../../support/store.ts'

export interface ImportAnswer {
  readonly counts: ImportCounts
  readonly refused: readonly Refusal[]
  readonly warned: readonly Refusal[]
}

/** Imports lines, given as records or as the text of a line, through the front door. */
export async function importInto(
  server: TestServer,
  { store }: Pick<TestStore, 'store'>,
  lines: readonly (TransferLine | object | string)[] | string | Buffer,
): Promise<ImportAnswer> {
  const payload = Array.isArray(lines) ? lines.map(lineText).join('') : (lines as string | Buffer)
  const answer = await server.app.inject({
    method: 'POST',
    url: `/admin/stores/${store.id}/import`,
    headers: { ...operator(server), 'content-type': 'application/x-ndjson' },
    payload,
  })
  expect(answer.statusCode, answer.body).toBe(200)
  const report = answer.body.trim().split('\n').map(parse)
  const refused = report.flatMap((line) => (line.refused ? [line.refused as Refusal] : []))
  const warned = report.flatMap((line) => (line.warned ? [line.warned as Refusal] : []))
  const counts = report.at(-1)?.done as ImportCounts | undefined
  if (!counts) throw new Error(`The import was not finished: ${answer.body}`)
  return { counts, refused, warned }
}

/** The whole file of an export. */
export async function exportOf(server: TestServer, { store }: Pick<TestStore, 'store'>): Promise<string> {
  const answer = await server.operate('GET', `/admin/stores/${store.id}/export`)
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  return answer.body
}

export function linesOf(file: string): TransferLine[] {
  return file
    .trim()
    .split('\n')
    .map((line) => parse(line) as unknown as TransferLine)
}

/** A product of a file, with a description of this length. */
export function productLine(id: number, length = 10) {
  return {
    service: 'Products',
    record: { SKUInfo: { CatalogID: id, SKU: `S-${id}`, Name: `Product ${id}` }, Description: 'd'.repeat(length) },
  }
}

export function operator({ services }: TestServer) {
  return { authorization: `Bearer ${services.operatorKey}` }
}

/** An empty store on another server, with the address and the time zone of this one. */
export async function openTwin(
  server: TestServer,
  { store: { name, secureUrl, timeZone } }: TestStore,
): Promise<TestStore> {
  const twin = { ...storeInput(), Name: name, SecureURL: secureUrl, TimeZone: timeZone }
  return subscribedStore(server, await createStore(server.services, twin))
}

/** Every row of a store's records, as text. The numbers of stock movements, which are the database's own, are left out. */
export async function rowsOf({ database: { db } }: TestServer, { store }: Pick<TestStore, 'store'>): Promise<string[]> {
  const tables = await db.$queryRawUnsafe<{ name: string }[]>(
    `SELECT c.table_name AS "name" FROM information_schema.columns c
     WHERE c.table_schema = 'public' AND c.column_name = 'storeId'
       AND c.table_name NOT IN (
       'StoreUser', 'StoreHost', 'Subscription', 'Counter', 'RecordCount', 'SalesSum', 'PaymentEntry', 'PaymentSum', 'ReferencedVersion', 'AuditEntry', 'HistoryEntry', 'Event', 'EventFeed', 'Webhook', 'Delivery') ORDER BY 1`,
  )
  const rows: string[] = []
  for (const { name } of tables) {
    const found = await db.$queryRawUnsafe<{ row: string }[]>(
      `SELECT (to_jsonb(t) - 'storeId'${name === 'StockMovement' ? ` - 'id'` : ''})::text AS "row"
       FROM "${name}" t WHERE t."storeId" = $1::int ORDER BY 1`,
      store.id,
    )
    rows.push(...found.map(({ row }) => `${name} ${row}`))
  }
  return rows
}

function lineText(line: object | string): string {
  return typeof line === 'string' ? `${line}\n` : `${JSON.stringify(line)}\n`
}

function parse(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>
}
