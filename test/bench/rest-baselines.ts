import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { answerMessages } from './child.ts'

/*
 * What our answers are measured against: the same addresses, answered by a bare Fastify server without authentication,
 * throttle, log or checks.
 * - `/memory/{store}/…`: the very bytes that our server answered, from memory: what HTTP alone costs.
 * - `/pg/{store}/…`: the best plain program for these tables: prepared statements, one per table, rows nested in
 *   JavaScript and written by JSON.stringify as `pg` gives them, without any of the wire format.
 */

export interface BaselineSettings {
  readonly databaseUrl: string
  readonly poolMax: number
  /** Our answers: of a GET by path, with the store; of a PUT by store and number of records. */
  readonly recorded: ReadonlyMap<string, Buffer>
}

answerMessages<BaselineSettings>(async ({ databaseUrl, poolMax, recorded }) => {
  const app = Fastify({ bodyLimit: 10 * 1024 * 1024 })
  answerFromMemory(app, recorded)
  answerFromRows(app, new pg.Pool({ connectionString: databaseUrl, max: poolMax }))
  return await app.listen({ host: '127.0.0.1', port: 0 })
})

function answerFromMemory(app: FastifyInstance, recorded: ReadonlyMap<string, Buffer>): void {
  const keyOf = (url: string, body: unknown) => {
    const path = url.slice('/memory'.length)
    return Array.isArray(body) ? `${path} ${body.length}` : path
  }
  app.route({
    method: ['GET', 'PUT'],
    url: '/memory/*',
    handler: async ({ url, body }, reply) => {
      const bytes = recorded.get(keyOf(url, body))
      if (!bytes) return reply.code(404).send()
      return reply.type('application/json; charset=utf-8').send(bytes)
    },
  })
}

interface StoreRoute {
  Params: { store: number }
  Querystring: { limit: number; countonly?: string }
}

function answerFromRows(app: FastifyInstance, pool: pg.Pool): void {
  const schema = {
    params: { type: 'object', properties: { store: { type: 'integer' }, id: { type: 'integer' } } },
    querystring: { type: 'object', properties: { limit: { type: 'integer' } } },
  }
  // A schema for the answer would make Fastify write it field by field; JSON.stringify is what there is without one.
  app.get<StoreRoute>('/pg/:store/Products', { schema }, ({ params, query }) =>
    readProducts(pool, params.store, { name: 'products', text: productPage, values: [params.store, query.limit] }),
  )
  app.get<StoreRoute & { Params: { id: number } }>('/pg/:store/Products/:id', { schema }, ({ params }) =>
    readProducts(pool, params.store, { name: 'product', text: oneProduct, values: [params.store, params.id] }),
  )
  app.get<StoreRoute>('/pg/:store/Orders', { schema }, ({ params, query }) =>
    query.countonly ? countOrders(pool, params.store) : readOrders(pool, params.store, query.limit),
  )
  app.put<StoreRoute & { Body: StockBody[] }>('/pg/:store/Products', { schema }, ({ params, body }) =>
    setStocks(pool, params.store, body),
  )
}

type Row = Record<string, unknown> & { id: number }

const productColumns = `"id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
  "manufacturerId", "accessGroupId", "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial",
  "categorySpecial", "nonSearchable", "selfShip", "freeShipping", "disableRewards", "inventoryControl", "fileName",
  "createdAt", "updatedAt", "updatedBy", "details"`
const productPage = `SELECT ${productColumns} FROM "Product" WHERE "storeId" = $1 ORDER BY "id" LIMIT $2`
const oneProduct = `SELECT ${productColumns} FROM "Product" WHERE "storeId" = $1 AND "id" = $2`

/** The lists are read at the same time, on as many connections as are free. */
async function readProducts(pool: pg.Pool, storeId: number, page: pg.QueryConfig): Promise<Row[]> {
  const { rows } = await pool.query<Row>(page)
  const [distributors, categories, options] = await Promise.all([
    readLists(pool, storeId, rows, {
      name: 'distributors',
      text: `SELECT l."productId", l."distributorId", d."company", l."itemCost", l."details" FROM "ProductDistributor" l
        JOIN "Distributor" d ON d."storeId" = l."storeId" AND d."id" = l."distributorId"
        WHERE l."storeId" = $1 AND l."productId" = ANY($2) ORDER BY l."productId", l."position"`,
    }),
    readLists(pool, storeId, rows, {
      name: 'categories',
      text: `SELECT l."productId", l."categoryId", c."name" FROM "ProductCategory" l
        JOIN "Category" c ON c."storeId" = l."storeId" AND c."id" = l."categoryId"
        WHERE l."storeId" = $1 AND l."productId" = ANY($2) ORDER BY l."productId", l."position"`,
    }),
    readLists(pool, storeId, rows, {
      name: 'options',
      text: `SELECT "productId", "code", "suffix", "stock", "price", "details" FROM "AdvancedOption"
        WHERE "storeId" = $1 AND "productId" = ANY($2) ORDER BY "productId", "position"`,
    }),
  ])
  return rows.map((row) => ({
    ...row,
    distributors: distributors.get(row.id) ?? [],
    categories: categories.get(row.id) ?? [],
    options: options.get(row.id) ?? [],
  }))
}

const orderPage = `SELECT "id", "invoicePrefix", "invoiceNumber", "customerId", "orderDate", "statusId", "updatedAt",
  "updatedBy", "billingEmail", "orderAmount", "salesTax", "salesTax2", "salesTax3", "discountCoupon",
  "discountPromotion", "details" FROM "Order" WHERE "storeId" = $1 ORDER BY "id" LIMIT $2`

async function readOrders(pool: pg.Pool, storeId: number, limit: number): Promise<Row[]> {
  const { rows } = await pool.query<Row>({ name: 'orders', text: orderPage, values: [storeId, limit] })
  const [shipments, items, transactions] = await Promise.all([
    readLists(pool, storeId, rows, {
      name: 'shipments',
      text: `SELECT "orderId", "id", "statusId", "updatedAt", "updatedBy", "cost", "weight", "shippedDate",
        "trackingCode", "number", "details" FROM "OrderShipment"
        WHERE "storeId" = $1 AND "orderId" = ANY($2) ORDER BY "orderId", "id"`,
    }),
    readLists(pool, storeId, rows, {
      name: 'items',
      text: `SELECT "orderId", "id", "productId", "sku", "shipmentId", "quantity", "unitPrice", "optionPrice",
        "unitCost", "weight", "unitStock", "addedAt", "description", "details" FROM "OrderItem"
        WHERE "storeId" = $1 AND "orderId" = ANY($2) ORDER BY "orderId", "id"`,
    }),
    readLists(pool, storeId, rows, {
      name: 'transactions',
      text: `SELECT "orderId", "id", "occurredAt", "type", "amount", "captured", "details" FROM "OrderTransaction"
        WHERE "storeId" = $1 AND "orderId" = ANY($2) ORDER BY "orderId", "id"`,
    }),
  ])
  return rows.map((row) => ({
    ...row,
    shipments: shipments.get(row.id) ?? [],
    items: items.get(row.id) ?? [],
    transactions: transactions.get(row.id) ?? [],
  }))
}

/** The items of these records' lists by record; the first column names it. */
async function readLists(
  pool: pg.Pool,
  storeId: number,
  records: readonly Row[],
  statement: { name: string; text: string },
): Promise<Map<number, Record<string, unknown>[]>> {
  const { rows, fields } = await pool.query({ ...statement, values: [storeId, records.map(({ id }) => id)] })
  const parent = fields[0]?.name ?? ''
  const lists = new Map<number, Record<string, unknown>[]>()
  for (const row of rows) {
    const list = lists.get(row[parent])
    if (list) list.push(row)
    else lists.set(row[parent], [row])
  }
  return lists
}

async function countOrders(pool: pg.Pool, storeId: number): Promise<{ TotalCount: number }> {
  const text = 'SELECT count(*)::int AS "count" FROM "Order" WHERE "storeId" = $1'
  const { rows } = await pool.query({ name: 'count', text, values: [storeId] })
  return { TotalCount: rows[0].count }
}

interface StockBody {
  SKUInfo: { CatalogID: number; Stock: number }
}

const setStock = `UPDATE "Product" t SET "stock" = $3, "updatedAt" = $4, "updatedBy" = 'bench'
  FROM (SELECT "stock" FROM "Product" WHERE "storeId" = $1 AND "id" = $2 FOR NO KEY UPDATE) o
  WHERE t."storeId" = $1 AND t."id" = $2 RETURNING o."stock"`
const logStock = `INSERT INTO "StockMovement"
  ("storeId", "productId", "quantity", "stockAfter", "cause", "actor", "createdAt")
  VALUES ($1, $2, $3, $4, 'set', 'bench', $5)`

/** A transaction per record, one after the other, as the interface asks for. */
async function setStocks(pool: pg.Pool, storeId: number, body: readonly StockBody[]) {
  const client = await pool.connect()
  try {
    for (const { SKUInfo } of body) {
      const { CatalogID: id, Stock: stock } = SKUInfo
      const now = new Date()
      await client.query('BEGIN')
      const { rows } = await client.query({ name: 'stock', text: setStock, values: [storeId, id, stock, now] })
      const quantity = stock - Number(rows[0].stock)
      await client.query({ name: 'movement', text: logStock, values: [storeId, id, quantity, stock, now] })
      await client.query('COMMIT')
    }
  } finally {
    client.release()
  }
  return body.map(({ SKUInfo }) => ({ Key: 'CatalogID', Value: String(SKUInfo.CatalogID), Status: '200' }))
}
