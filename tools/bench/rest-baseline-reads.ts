import type { FastifyInstance } from 'fastify'
import type pg from 'pg'

interface StoreRoute {
  Params: { store: number }
  Querystring: { limit: number; cursor: number; countonly?: string; datestart?: string }
}

const schema = {
  params: { type: 'object', properties: { store: { type: 'integer' }, id: { type: 'integer' } } },
  querystring: {
    type: 'object',
    properties: { limit: { type: 'integer' }, cursor: { type: 'integer', default: 0 } },
  },
}

/**
 * The best plain program for these tables: prepared statements, one per table, rows nested in JavaScript and written by
 * JSON.stringify as `pg` gives them, without any of the wire format.
 */
export function answerFromRows(app: FastifyInstance, pool: pg.Pool): void {
  const page = (name: string, text: string, { params, query }: Pick<StoreRequest, 'params' | 'query'>) => ({
    name,
    text,
    values: [params.store, query.cursor, query.limit],
  })
  // A schema for the answer would make Fastify write it field by field; JSON.stringify is what there is without one.
  app.get<StoreRoute>('/pg/:store/Products', { schema }, (request) =>
    readProducts(pool, request.params.store, page('products', productPage, request)),
  )
  app.get<StoreRoute & { Params: { id: number } }>('/pg/:store/Products/:id', { schema }, ({ params }) =>
    readProducts(pool, params.store, { name: 'product', text: oneProduct, values: [params.store, params.id] }),
  )
  app.get<StoreRoute>('/pg/:store/Products/skuinfo', { schema }, async (request) => {
    const { rows } = await pool.query<Row>(page('skuinfo', skuPage, request))
    return rows
  })
  app.get<StoreRoute>('/pg/:store/Customers', { schema }, async (request) => {
    const { rows } = await pool.query<Row>(page('customers', customerPage, request))
    return rows
  })
  app.get<StoreRoute>('/pg/:store/Orders', { schema }, (request) => {
    const { params, query } = request
    if (query.countonly) return countOrders(pool, params.store, query.datestart)
    return readOrders(pool, params.store, page('orders', orderPage, request))
  })
}

interface StoreRequest {
  readonly params: StoreRoute['Params']
  readonly query: StoreRoute['Querystring']
}

type Row = Record<string, unknown> & { id: number }

const productColumns = `"id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
  "manufacturerId", "accessGroupId", "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial",
  "categorySpecial", "nonSearchable", "selfShip", "freeShipping", "disableRewards", "inventoryControl", "fileName",
  "createdAt", "updatedAt", "updatedBy", "details"`
const fromCursor = 'WHERE "storeId" = $1 AND "id" > $2 ORDER BY "id" LIMIT $3'
const productPage = `SELECT ${productColumns} FROM "Product" ${fromCursor}`
const oneProduct = `SELECT ${productColumns} FROM "Product" WHERE "storeId" = $1 AND "id" = $2`

const skuPage = `SELECT "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock"
  FROM "Product" ${fromCursor}`
const customerPage = `SELECT "id", "email", "firstName", "lastName", "city", "state", "country", "phone", "groupId",
  "enabled", "storeCredit", "details" FROM "Customer" ${fromCursor}`

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
  "discountPromotion", "details" FROM "Order" ${fromCursor}`

async function readOrders(pool: pg.Pool, storeId: number, page: pg.QueryConfig): Promise<Row[]> {
  const { rows } = await pool.query<Row>(page)
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

async function countOrders(pool: pg.Pool, storeId: number, since: string | undefined): Promise<{ TotalCount: number }> {
  const all = 'SELECT count(*)::int AS "count" FROM "Order" WHERE "storeId" = $1'
  const { rows } = await pool.query(
    since === undefined
      ? { name: 'count', text: all, values: [storeId] }
      : { name: 'count since', text: `${all} AND "orderDate" >= $2`, values: [storeId, since] },
  )
  return { TotalCount: rows[0].count }
}
