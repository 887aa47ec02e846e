import { anyItem, type Filter, readWholeNumber } from '../../../engine/definition/filters.ts'
import { anyOf, sql, storeId } from '../../../foundation/database/sql.ts'

/** Stored categories may form a circle, which early versions did not refuse: UNION visits each once. */
const inAny: NonNullable<Filter['readAny']> = (given, name, store) => {
  const ids = anyOf(given.map((one) => readWholeNumber(one, name)))
  return sql`t."categoryId" = ANY (ARRAY (
    WITH RECURSIVE below AS (
      SELECT c."id" FROM "Category" c WHERE c."storeId" = ${storeId(store)} AND c."id" = ${ids}
      UNION
      SELECT c."id" FROM below b JOIN "Category" c ON c."storeId" = ${storeId(store)} AND c."parentId" = b."id")
    SELECT "id" FROM below))`
}

/** Matches products of a category and of those below it, at any depth (rest-resources §1.1). */
export const inCategory = anyItem(
  { table: 'ProductCategory', parent: 'productId' },
  {
    kind: 'integer',
    column: 'categoryId',
    note: 'Products of the categories below it match too.',
    read: (given, name, store) => inAny([given], name, store),
    readAny: inAny,
  },
)
