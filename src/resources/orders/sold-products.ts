import { type Sql, sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Patch } from '../../engine/input.ts'
import type { Document } from '../../engine/merge.ts'
import { wrongField } from '../../engine/refused.ts'

/** A product as the checkout sees it. */
export interface SoldProduct {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly cost: number
  readonly price: number
  readonly salePrice: number
  readonly onSale: boolean
  readonly stock: number
  readonly notForSale: boolean
  readonly inventoryControl: number
  /** The fields without columns, by wire name; those with their default value are absent. */
  readonly details: Document
  readonly advancedOptions: readonly SoldVariant[]
  /** What a shopper chooses among: the product's own sets, then those of its categories unless it does without. */
  readonly optionSets: readonly OptionSet[]
}

/** A combination of options with a stock of its own. */
export interface SoldVariant {
  readonly code: string
  readonly suffix: string
  readonly name: string
  readonly stock: number
  /** What it adds to the product's price; cost and weight stand for the product's. 0: not set. */
  readonly price: number
  readonly cost: number
  readonly weight: number
}

/** As stored: what equals the default is absent. */
export interface OptionSet {
  readonly OptionSetID: number
  readonly OptionSetName?: string
  readonly OptionRequired?: boolean
  readonly OptionType?: string
  readonly OptionList?: readonly Option[]
}

export interface Option {
  readonly OptionID: number
  readonly OptionName?: string
  readonly OptionValue?: number
}

/** The products with these ids that the store has. */
export async function readSoldProducts(
  caller: Caller,
  productIds: Iterable<number>,
): Promise<Map<number, SoldProduct>> {
  const ids = [...new Set(productIds)]
  if (ids.length === 0) return new Map()
  const found = await caller.db.$queryRaw<{ row: string }[]>(selectProducts(caller, ids))
  return new Map(found.map(({ row }) => soldProduct(JSON.parse(row))).map((product) => [product.id, product]))
}

const selectProducts = ({ store }: Caller, ids: readonly number[]): Sql => sql`
  SELECT json_build_object(
    'product', to_json(p),
    'advancedOptions', (
      SELECT json_agg(json_build_object('code', a."code", 'suffix', a."suffix",
        'name', coalesce(a."details" ->> 'AdvancedOptionName', ''), 'stock', a."stock", 'price', a."price",
        'cost', coalesce((a."details" ->> 'AdvancedOptionCost')::numeric, 0),
        'weight', coalesce((a."details" ->> 'AdvancedOptionWeight')::numeric, 0)) ORDER BY a."position")
      FROM "AdvancedOption" a WHERE a."storeId" = p."storeId" AND a."productId" = p."id"),
    'categorySets', (
      SELECT json_agg(c."details" -> 'OptionSetList' ORDER BY pc."position")
      FROM "ProductCategory" pc JOIN "Category" c ON c."storeId" = pc."storeId" AND c."id" = pc."categoryId"
      WHERE pc."storeId" = p."storeId" AND pc."productId" = p."id"))::text AS "row"
  FROM "Product" p WHERE p."storeId" = ${store.id}::int AND p."id" IN (SELECT json_array_elements_text(${JSON.stringify(ids)}::text::json)::int)`

interface ProductRow {
  product: Omit<SoldProduct, 'advancedOptions' | 'optionSets'>
  advancedOptions: SoldVariant[] | null
  categorySets: (OptionSet[] | null)[] | null
}

function soldProduct({ product, advancedOptions, categorySets }: ProductRow): SoldProduct {
  const { OptionSetList: own = [], DoNotUseCategoryOptions: ownAlone = false } = product.details
  const ofCategories = ownAlone ? [] : (categorySets ?? []).flatMap((sets) => sets ?? [])
  return {
    ...product,
    advancedOptions: advancedOptions ?? [],
    optionSets: [...(own as unknown as OptionSet[]), ...ofCategories],
  }
}

/**
 * The advanced option that a choice of options leads to: all options of its code are chosen (others, such as an
 * engraving, may be chosen as well); of several the one with the most. Null: the product's own stock is meant.
 */
export function variantOf(product: SoldProduct, optionIds: readonly number[]): SoldVariant | null {
  const chosen = new Set(optionIds)
  const fitting = product.advancedOptions
    .map((variant) => ({ variant, ids: optionIdsIn(variant.code) }))
    .filter(({ ids }) => ids.length > 0 && ids.every((id) => chosen.has(id)))
    .sort((one, other) => other.ids.length - one.ids.length)
  return fitting[0]?.variant ?? null
}

/** The option ids in an advanced option's code or in ItemOptions, whatever stands between them. */
export function optionIdsIn(text: string): number[] {
  return (text.match(/\d{1,10}/g) ?? []).map(Number)
}

/** What ItemID says: the product's SKU with the suffix of the option. Some merchants write the whole SKU as the suffix. */
export function skuOf(product: SoldProduct, variant: SoldVariant | null): string {
  const suffix = variant?.suffix ?? ''
  return suffix.toLowerCase().startsWith(product.sku.toLowerCase()) ? suffix : product.sku + suffix
}

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
