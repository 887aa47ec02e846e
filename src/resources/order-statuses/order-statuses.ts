import { defineResource } from '../../engine/definition/define.ts'
import { boolean, date, integer, text } from '../../engine/definition/fields.ts'
import { since, until } from '../../engine/definition/filters.ts'

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
  privateFields: { LastUpdate: date({ column: 'updatedAt' }) },
  filters: { lastupdatestart: since('updatedAt'), lastupdateend: until('updatedAt') },
})

/** A status of which only the number is known, such as one that orders of another store have. */
export function statusWithoutName(id: number): Record<string, unknown> {
  const name = `Status ${id}`
  return { OrderStatusID: id, Sorting: id, StatusDefinition: name, StatusText: name, Visible: true }
}
