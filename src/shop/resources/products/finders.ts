import { exactly } from '../../../engine/definition/filters.ts'
import { byFilter, byId, byWords, type Finder, RANK_NAME } from '../../../engine/definition/finders.ts'
import { sql, storeId } from '../../../foundation/database/sql.ts'
import { skuForms } from './sku.ts'

/** By the SKU of a combination of options, which begins with that of the product. */
const byOptionSku: Finder = {
  rank: RANK_NAME,
  ids: (text, { store }) => {
    const beginnings = [...text].map((_, length) => [...text].slice(0, length).join('')).filter((each) => each !== '')
    return sql`SELECT t."id" FROM "Product" t JOIN "AdvancedOption" o ON o."storeId" = t."storeId" AND o."productId" = t."id"
      WHERE t."storeId" = ${storeId(store)}
        AND lower(t."sku") = ANY (ARRAY (SELECT lower("text") FROM unnest(${beginnings}::text[]) AS "text"))
        AND (lower(t."sku" || o."suffix") = lower(${text}) OR lower(o."suffix") = lower(${text}))`
  },
}

/** How people find a product: by its SKU or that of a combination, its barcodes, and words of its name. */
export const productFinders: readonly Finder[] = [
  byFilter('Product', exactly('sku', skuForms)),
  byOptionSku,
  byFilter('Product', exactly('gtin')),
  byFilter('Product', exactly('mfgId')),
  byId('Product'),
  ...byWords('Products'),
]
