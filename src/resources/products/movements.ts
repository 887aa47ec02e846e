import { date, decimal, reference, text } from '../../engine/fields.ts'
import { defineLedger } from '../../engine/ledger.ts'

/** Every change of a product's stock and of its advanced options', from the first on: in no answer, but moved with the store. */
export const stockMovements = defineLedger({
  name: 'StockMovements',
  table: 'StockMovement',
  parent: 'productId',
  fields: {
    /** Empty: the product's own stock. */
    AdvancedOptionCode: text(50, { column: 'optionCode', nullable: true }),
    Quantity: decimal({ column: 'quantity' }),
    StockAfter: decimal({ column: 'stockAfter' }),
    Cause: text(20, { column: 'cause', required: true }),
    OrderID: reference('orderId'),
    UserID: text(50, { column: 'actor' }),
    Date: date({ column: 'createdAt', defaultNow: true }),
  },
})
