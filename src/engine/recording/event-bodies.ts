import { LRUCache } from 'lru-cache'
import { type Db, queryRows, type Transaction } from '../../database/client.ts'
import { sql } from '../../database/sql.ts'
import { inFull, type Template } from '../definition/composed.ts'

// Most of a record's text are names of fields and defaults, and each change writes such a text. So the bodies of events are
// stored abridged, with the template from which they are made whole.

const TEMPLATES_MAX = 100

/** By id, and so of all databases. */
const known = new LRUCache<string, string>({ max: TEMPLATES_MAX })

/** An event's body as it is stored. */
export interface StoredBody {
  readonly body: string
  /** Null: the body is whole. */
  readonly templateId: string | null
}

/** Makes the bodies whole. */
export async function wholeBodies<Row extends StoredBody>(db: Db | Transaction, rows: readonly Row[]): Promise<Row[]> {
  const templates = await templatesOf(db, new Set(rows.flatMap(({ templateId }) => templateId ?? [])))
  return rows.map((row) => {
    if (row.templateId === null) return row
    const template = templates.get(row.templateId)
    if (template === undefined) throw new Error(`There is no template ${row.templateId}`)
    return { ...row, body: inFull(row.body, template) }
  })
}

async function templatesOf(db: Db | Transaction, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const id of ids) {
    const text = known.get(id)
    if (text !== undefined) texts.set(id, text)
  }
  const missing = [...ids].filter((id) => !texts.has(id))
  if (missing.length === 0) return texts
  const found = await queryRows<Template>(
    db,
    sql`SELECT "id"::text AS "id", "text" FROM "EventTemplate" WHERE "id" = ANY (string_to_array(${missing.join()}, ',')::bigint[])`,
  )
  for (const { id, text } of found) {
    known.set(id, text)
    texts.set(id, text)
  }
  return texts
}
