import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { productKinds, productStockChanged } from '../../src/engine/definition/event-kinds.ts'

interface ProductBody {
  readonly SKUInfo: { readonly CatalogID: number; readonly Stock?: number }
  readonly Description?: string
}

interface ChangesRoute {
  Params: { store: number }
  Body: ProductBody[]
}

type Change = (client: pg.PoolClient, storeId: number, body: readonly ProductBody[]) => Promise<void>

/** PUT of a list of stocks or descriptions: a transaction for each record (`/pg`), and one for all (`/set`). */
export async function answerChanges(app: FastifyInstance, pool: pg.Pool): Promise<void> {
  // A table of its own: nobody numbers and delivers its events while the next measurement runs.
  await pool.query('CREATE TABLE IF NOT EXISTS "BaselineEvent" (LIKE "Event" INCLUDING ALL)')
  const route = (address: string, change: Change) =>
    app.put<ChangesRoute>(address, { schema }, async ({ params, body }) => {
      const client = await pool.connect()
      try {
        await change(client, params.store, body)
      } finally {
        client.release()
      }
      return body.map(({ SKUInfo }) => ({ Key: 'CatalogID', Value: String(SKUInfo.CatalogID), Status: '200' }))
    })
  route('/pg/:store/Products', changeEach)
  route('/set/:store/Products', changeTogether)
}

const schema = { params: { type: 'object', properties: { store: { type: 'integer' } } } }

const setStock = `UPDATE "Product" t SET "stock" = $3, "updatedAt" = $4, "updatedBy" = 'bench'
  FROM (SELECT "stock" FROM "Product" WHERE "storeId" = $1 AND "id" = $2 FOR NO KEY UPDATE) o
  WHERE t."storeId" = $1 AND t."id" = $2 RETURNING o."stock"`
const logStock = `INSERT INTO "StockMovement"
  ("storeId", "productId", "quantity", "stockAfter", "cause", "actor", "createdAt")
  VALUES ($1, $2, $3, $4, 'set', 'bench', $5)`
const withDescription = (text: string) => `jsonb_set("details"::jsonb, '{Description}', to_jsonb(${text}::text))::json`
const setDescription = `UPDATE "Product" SET "details" = ${withDescription('$3')}, "updatedAt" = $4, "updatedBy" = 'bench'
  WHERE "storeId" = $1 AND "id" = $2`

/** A transaction per record, one after the other, as the interface asks for. Of events it knows nothing. */
async function changeEach(client: pg.PoolClient, storeId: number, body: readonly ProductBody[]): Promise<void> {
  for (const { SKUInfo, Description } of body) {
    const { CatalogID: id, Stock: stock } = SKUInfo
    const now = new Date()
    await client.query('BEGIN')
    if (stock === undefined) {
      await client.query({ name: 'description', text: setDescription, values: [storeId, id, Description, now] })
    } else {
      const { rows } = await client.query({ name: 'stock', text: setStock, values: [storeId, id, stock, now] })
      const quantity = stock - Number(rows[0].stock)
      await client.query({ name: 'movement', text: logStock, values: [storeId, id, quantity, stock, now] })
    }
    await client.query('COMMIT')
  }
}

const lockAll = `SELECT "id", "stock" FROM "Product" WHERE "storeId" = $1 AND "id" = ANY($2)
  ORDER BY "id" FOR NO KEY UPDATE`
const setStocks = `UPDATE "Product" t SET "stock" = n."stock", "updatedAt" = $4, "updatedBy" = 'bench'
  FROM unnest($2::int[], $3::numeric[]) n ("id", "stock") WHERE t."storeId" = $1 AND t."id" = n."id"`
const logStocks = `INSERT INTO "StockMovement"
  ("storeId", "productId", "quantity", "stockAfter", "cause", "actor", "createdAt")
  SELECT $1, n."id", n."quantity", n."stock", 'set', 'bench', $5
  FROM unnest($2::int[], $3::numeric[], $4::numeric[]) n ("id", "quantity", "stock")`
const setDescriptions = `UPDATE "Product" t SET "details" = ${withDescription('n."text"')}, "updatedAt" = $4,
  "updatedBy" = 'bench'
  FROM unnest($2::int[], $3::text[]) n ("id", "text") WHERE t."storeId" = $1 AND t."id" = n."id"`
const writeEvents = `INSERT INTO "BaselineEvent" ("storeId", "eventType", "recordId", "body", "createdAt")
  SELECT $1, $4, n."id", n."body", $5 FROM unnest($2::int[], $3::text[]) n ("id", "body")`

/** One transaction for all records: each table is locked, read and written by one statement. */
async function changeTogether(client: pg.PoolClient, storeId: number, body: readonly ProductBody[]): Promise<void> {
  const ids = body.map(({ SKUInfo }) => SKUInfo.CatalogID)
  const now = new Date()
  const isStock = body[0]?.SKUInfo.Stock !== undefined
  const { type } = isStock ? productStockChanged : productKinds.changed
  const bodies = await eventBodies(client, storeId, type)
  await client.query('BEGIN')
  const { rows } = await client.query<{ id: number; stock: string }>({
    name: 'lock all',
    text: lockAll,
    values: [storeId, ids],
  })
  if (isStock) {
    const stocks = body.map(({ SKUInfo }) => SKUInfo.Stock ?? 0)
    const before = new Map(rows.map(({ id, stock }) => [id, Number(stock)]))
    const quantities = stocks.map((stock, place) => stock - (before.get(ids[place] ?? 0) ?? 0))
    await client.query({ name: 'stocks', text: setStocks, values: [storeId, ids, stocks, now] })
    await client.query({ name: 'movements', text: logStocks, values: [storeId, ids, quantities, stocks, now] })
  } else {
    const texts = body.map(({ Description }) => Description)
    await client.query({ name: 'descriptions', text: setDescriptions, values: [storeId, ids, texts, now] })
  }
  const written = ids.map((_id, place) => bodies[place % bodies.length])
  await client.query({ name: 'events', text: writeEvents, values: [storeId, ids, written, type, now] })
  await client.query('COMMIT')
}

const BODIES = 100
const known = new Map<string, readonly string[]>()

/** The bodies of the last events of this type that our server wrote, read once. */
async function eventBodies(client: pg.PoolClient, storeId: number, type: number): Promise<readonly string[]> {
  const key = `${storeId} ${type}`
  const bodies = known.get(key) ?? (await readBodies(client, storeId, type))
  known.set(key, bodies)
  return bodies
}

async function readBodies(client: pg.PoolClient, storeId: number, type: number): Promise<string[]> {
  const { rows } = await client.query<{ body: string }>(
    `SELECT "body" FROM "Event" WHERE "storeId" = $1 AND "eventType" = $2 ORDER BY "id" DESC LIMIT $3`,
    [storeId, type, BODIES],
  )
  if (rows.length === 0) throw new Error(`The server has written no event of type ${type}`)
  return rows.map(({ body }) => body)
}
