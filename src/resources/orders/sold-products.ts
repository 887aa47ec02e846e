import { type Sql, sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Document } from '../../engine/merge.ts'

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
