import { defineResource } from '../../engine/definition/define.ts'
import { boolean, integer, text } from '../../engine/definition/fields.ts'

/** The order statuses of a store (rest-resources §11), read-only, under the privilege Orders. */
export const orderStatuses = defineResource({
  service: 'OrderStatus',
  privilege: 'Orders',
  typeName: 'OrderStatus',
  idParam: 'id',
  methods: ['GET'],
  maxRecords: 500,
  fields: {
    OrderStatusID: integer({ column: 'id', access: 'key' }),
    Sorting: integer({ column: 'sorting' }),
    StatusDefinition: text(50, { column: 'definition' }),
    StatusText: text(50, { column: 'text' }),
    Visible: boolean({ column: 'visible' }),
  },
})
