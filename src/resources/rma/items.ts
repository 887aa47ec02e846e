import { decimal, type ListRows, LONG_TEXT, list, reference, text } from '../../engine/fields.ts'

/** `optionCode` is that of the order's line. */
export const rmaItemRows: ListRows = {
  table: 'RmaItem',
  parent: 'rmaId',
  position: 'position',
  hidden: { optionCode: null },
}

export const rmaItemList = list(
  'RMAItem',
  {
    CatalogID: reference('productId'),
    SKU: text(150, { column: 'sku', trim: 'both' }),
    ItemName: text(LONG_TEXT, { column: 'name' }),
    // Documented as integers, but products may be sold in fractions.
    ReturnQuantity: decimal({ column: 'returnQuantity', min: 0 }),
    ReceivedQuantity: decimal({ column: 'receivedQuantity', min: 0 }),
    RestockQuantity: decimal({ column: 'restockQuantity', min: 0 }),
  },
  { rows: rmaItemRows },
)
