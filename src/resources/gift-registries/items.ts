import { identifier, type Sql, sql } from '../../database/sql.ts'
import { decimal, integer, type ListRows, LONG_TEXT, list, reference, text } from '../../engine/fields.ts'

export const giftRegistryItemRows: ListRows = {
  table: 'GiftRegistryItem',
  parent: 'registryId',
  position: 'position',
}

export const giftRegistryItemList = list(
  'GiftRegistryItem',
  {
    CatalogID: reference('productId'),
    SKU: text(300, { column: 'sku', trim: 'both' }),
    ItemName: text(LONG_TEXT, { column: 'name' }),
    Listed: integer({ column: 'listed', min: 0 }),
    Price: decimal({ column: 'price' }),
    Subtotal: decimal({ sql: sql`r."listed" * r."price"` }),
    Sold: integer({ column: 'sold', min: 0 }),
    SoldOffline: integer({ column: 'soldOffline', min: 0 }),
  },
  { rows: giftRegistryItemRows },
)

/** The sum over the items of the registry, at most 2147483647 because clients read 32 bits. */
export function sumOfItems(column: 'listed' | 'sold'): Sql {
  const { table, parent } = giftRegistryItemRows
  return sql`(SELECT least(coalesce(sum(i.${identifier(column)}), 0), 2147483647) FROM ${identifier(table)} i
    WHERE i."storeId" = t."storeId" AND i.${identifier(parent)} = t."id")`
}
