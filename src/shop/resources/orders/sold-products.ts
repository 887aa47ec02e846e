import type { Caller } from '../../../engine/caller.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import type { RecordOf } from '../../../engine/definition/record-of.ts'
import type { Document } from '../../../engine/definition/stored-row.ts'
import { findByForms } from '../../../engine/reading/read.ts'
import { rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOfFew, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'
import type { optionSetList } from '../option-sets.ts'
import { skuForms } from '../products/sku.ts'

/** The fields of a product that orders need. */
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
  readonly nonTaxable: boolean
  readonly freeShipping: boolean
  /** The shop does not show it. */
  readonly hide: boolean
  readonly inventoryControl: number
  /** The fields without columns, by wire name; default values are omitted. */
  readonly details: Document
  readonly advancedOptions: readonly SoldVariant[]
  /** The product's own sets, then those of its categories unless it has DoNotUseCategoryOptions. */
  readonly optionSets: readonly OptionSet[]
}

/** An advanced option: options with their own stock. */
export interface SoldVariant {
  readonly code: string
  readonly suffix: string
  readonly name: string
  readonly stock: number
  /** Added to the product's price; cost and weight replace the product's. 0: not set. */
  readonly price: number
  readonly cost: number
  readonly weight: number
}

/** An item as stored: default values are omitted. */
type Stored<Item, Key extends keyof Item> = Pick<Item, Key> & Partial<Item>
type WholeSet = RecordOf<typeof optionSetList>

export type Option = Stored<WholeSet['OptionList'][number], 'OptionID'>
export type OptionSet = Stored<Omit<WholeSet, 'OptionList'>, 'OptionSetID'> & {
  readonly OptionList?: readonly Option[]
}

/** Returns the existing products with these ids. */
export async function readSoldProducts(
  caller: Caller,
  productIds: Iterable<number>,
): Promise<Map<number, SoldProduct>> {
  const ids = [...new Set(productIds)]
  if (ids.length === 0) return new Map()
  const found = await rowsInTurn<{ row: string }>(caller)`${selectProducts(caller, ids)}`
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
  FROM "Product" p WHERE p."storeId" = ${storeId(store)} AND p."id" = ${anyOfFew(ids)}`

function soldProduct({ product, advancedOptions, categorySets }: ProductRow): SoldProduct {
  const { OptionSetList: own, DoNotUseCategoryOptions: isOwnOnly } = product.details
  const sets = [own as unknown as OptionSet[] | undefined, ...(isOwnOnly === true ? [] : (categorySets ?? []))]
  return { ...product, advancedOptions: advancedOptions ?? [], optionSets: sets.flatMap((some) => some ?? []) }
}

interface ProductRow {
  product: Omit<SoldProduct, 'advancedOptions' | 'optionSets'>
  advancedOptions: SoldVariant[] | null
  categorySets: (OptionSet[] | null)[] | null
}

/**
 * Returns the advanced option for the chosen options: the one whose code has the most, all of them chosen. Other
 * options, such as an engraving, may be chosen as well. Null: the product's own stock applies.
 */
export function variantOf(product: SoldProduct, optionIds: readonly number[]): SoldVariant | null {
  const chosen = new Set(optionIds)
  const fitting = product.advancedOptions
    .map((variant) => ({ variant, ids: optionIdsIn(variant.code) }))
    .filter(({ ids }) => ids.length > 0 && ids.every((id) => chosen.has(id)))
    .sort((one, other) => other.ids.length - one.ids.length)
  return fitting[0]?.variant ?? null
}

/** Returns the option ids in an advanced option's code or in ItemOptions, with any separators. */
export function optionIdsIn(text: string): number[] {
  return (text.match(/\d{1,10}/g) ?? []).map(Number)
}

/** Returns the ItemID: the product's SKU plus the option's suffix. Some merchants write the whole SKU as the suffix. */
export function skuOf(product: Pick<SoldProduct, 'sku'>, variant: Pick<SoldVariant, 'suffix'> | null): string {
  const suffix = variant?.suffix ?? ''
  return suffix.toLowerCase().startsWith(product.sku.toLowerCase()) ? suffix : product.sku + suffix
}

/** The product that a line names. */
export interface NamedProduct {
  readonly productId: number
  /** The code of the advanced option that the SKU names; null: none. */
  readonly optionCode: string | null
}

/**
 * Returns the products that lines name by CatalogID, or by ItemID: a SKU, or a SKU plus an advanced option's suffix,
 * ignoring case. Null: there is no such SKU; a CatalogID is checked when the product is read.
 */
export async function findProducts(caller: Caller, items: readonly Patch[]): Promise<(NamedProduct | null)[]> {
  const skus = items.filter(({ columns }) => !columns.productId).map(({ columns }) => skuIn(columns.sku))
  const bySku = await findBySku(caller, [...new Set(skus)])
  return items.map(({ columns }) => {
    if (columns.productId) return { productId: Number(columns.productId), optionCode: null }
    return bySku.get(skuIn(columns.sku)) ?? null
  })
}

function skuIn(value: unknown): string {
  return String(value).trim()
}

/** Returns products by SKU, omitting unknown SKUs. Each SKU has at most 150 characters, all valid in PostgreSQL. */
export async function findBySku(caller: Caller, skus: readonly string[]): Promise<Map<string, NamedProduct>> {
  const found = await findByForms(skus, skuForms, (forms) => query(caller, bySku, forms))
  const rest = skus.filter((sku) => !found.has(sku))
  return new Map([...found, ...(await findByForms(rest, skuForms, (forms) => query(caller, bySkuAndSuffix, forms)))])
}

async function query(
  caller: Caller,
  statement: typeof bySku,
  skus: readonly string[],
): Promise<Map<string, NamedProduct>> {
  if (skus.length === 0) return new Map()
  const rows = await rowsInTurn<{ sku: string } & NamedProduct>(caller)`${statement(caller, skus)}`
  return new Map(rows.map(({ sku, productId, optionCode }) => [sku, { productId, optionCode }]))
}

function bySku({ store }: Caller, skus: readonly string[]): Sql {
  return sql`
    SELECT q."sku", p."id" AS "productId", NULL::text AS "optionCode"
    FROM json_array_elements_text(${JSON.stringify(skus)}::text::json) AS q("sku")
    JOIN "Product" p ON p."storeId" = ${store.id}::int AND lower(p."sku") = lower(q."sku")`
}

/** Looks up every beginning of the text as a SKU, through the index of SKUs; the longest match wins. */
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
