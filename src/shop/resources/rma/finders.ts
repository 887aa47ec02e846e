import { allows } from '../../../access/applications/privileges.ts'
import { anyItem, exactly } from '../../../engine/definition/filters.ts'
import { byFilter, byId, type Finder } from '../../../engine/definition/finders.ts'
import { constant, sql, storeId } from '../../../foundation/database/sql.ts'
import { orderFinders } from '../orders/finders.ts'
import { skuForms } from '../products/sku.ts'
import { rmaItemRows } from './items.ts'

/** Orders whose returns are looked for, the newest that were found. */
const ORDERS_MAX = 1_000

/** By what its order is found by, where orders may be read. */
function ofOrder({ rank, ids }: Finder): Finder {
  return {
    rank,
    ids: (text, seeker) => {
      const orders = allows(seeker.privileges, 'Orders', 'read') ? ids(text, seeker, ORDERS_MAX) : null
      return (
        orders &&
        sql`SELECT r."id" FROM "Rma" r WHERE r."storeId" = ${storeId(seeker.store)}
          AND r."orderId" = ANY (ARRAY (${orders} ORDER BY 1 DESC LIMIT ${constant(ORDERS_MAX)}))`
      )
    },
  }
}

/** How people find a return: by its number, the SKU of a line, and as its order. */
export const returnFinders: readonly Finder[] = [
  byId('Rma'),
  byFilter('Rma', anyItem(rmaItemRows, exactly('sku', skuForms))),
  ...orderFinders.map(ofOrder),
]
