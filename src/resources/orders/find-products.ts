import { type Sql, sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Patch } from '../../engine/input.ts'
import { wrongField } from './wrong-field.ts'

/** The product that a line names. */
export interface NamedProduct {
  readonly productId: number
  /** The code of the advanced option whose SKU was given; null: none was. */
  readonly optionCode: string | null
}

/**
 * The products of lines that name them by CatalogID, or by ItemID: a SKU, or a SKU with the suffix of an advanced option,
 * without regard to case. Refuses (400) a SKU that no product has; whether a CatalogID is one shows when it is read.
 */
export async function findProducts(caller: Caller, items: readonly Patch[]): Promise<NamedProduct[]> {
  const skus = items.filter(({ columns }) => !columns.productId).map(({ columns }) => skuIn(columns.sku))
  const bySku = await findBySku(caller, [...new Set(skus)])
  return items.map(({ columns }, index) => {
    if (columns.productId) return { productId: Number(columns.productId), optionCode: null }
    const found = bySku.get(skuIn(columns.sku))
    if (found) return found
    throw wrongField(`OrderItemList[${index}].ItemID`, 'is not the SKU of a product in this store')
  })
}

function skuIn(value: unknown): string {
  return String(value).trim()
}

/** The products of these SKUs, by SKU; each of at most 150 characters that PostgreSQL takes. A SKU that no product has is left out. */
export async function findBySku(caller: Caller, skus: readonly string[]): Promise<Map<string, NamedProduct>> {
  const found = await query(caller, bySku, skus)
  const rest = skus.filter((sku) => !found.has(sku))
  return new Map([...found, ...(await query(caller, bySkuAndSuffix, rest))])
}

async function query(
  caller: Caller,
  statement: typeof bySku,
  skus: readonly string[],
): Promise<Map<string, NamedProduct>> {
  if (skus.length === 0) return new Map()
  const rows = await caller.db.$queryRaw<({ sku: string } & NamedProduct)[]>(statement(caller, skus))
  return new Map(rows.map(({ sku, productId, optionCode }) => [sku, { productId, optionCode }]))
}

function bySku({ store }: Caller, skus: readonly string[]): Sql {
  return sql`
    SELECT q."sku", p."id" AS "productId", NULL::text AS "optionCode"
    FROM json_array_elements_text(${JSON.stringify(skus)}::text::json) AS q("sku")
    JOIN "Product" p ON p."storeId" = ${store.id}::int AND lower(p."sku") = lower(q."sku")`
}

/** Every beginning of the text is looked up as a SKU, which the index of SKUs serves; the longest that fits stands. */
function bySkuAndSuffix({ store }: Caller, skus: readonly string[]): Sql {
  return sql`
    SELECT DISTINCT ON (q."sku") q."sku", p."id" AS "productId", a."code" AS "optionCode"
    FROM json_array_elements_text(${JSON.stringify(skus)}::text::json) AS q("sku")
    CROSS JOIN LATERAL generate_series(1, length(q."sku") - 1) AS l("length")
    JOIN "Product" p ON p."storeId" = ${store.id}::int AND lower(p."sku") = lower(left(q."sku", l."length"))
    JOIN "AdvancedOption" a ON a."storeId" = p."storeId" AND a."productId" = p."id"
      AND lower(a."suffix") IN (lower(substr(q."sku", l."length" + 1)), lower(q."sku"))
    ORDER BY q."sku", l."length" DESC, a."position"`
}
