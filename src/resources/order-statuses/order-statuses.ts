import { defineResource } from '../../engine/definition/define.ts'
import { boolean, integer, text } from '../../engine/definition/fields.ts'

/** The order statuses of a store (rest-resources §11), read-only, under the privilege Orders. */
export const orderStatuses = defineResource({
  service: 'OrderStatus',
  privilege: 'Orders',
  typeName: 'OrderStatus',
  description: 'A status that orders and shipments of the store may have.',
  idParam: 'id',
  methods: ['GET'],
  maxRecords: 500,
  fields: {
    OrderStatusID: integer({
      column: 'id',
      access: 'key',
      description:
        'The number by which orders name the status. 1 to 12 exist in every store and keep their meaning, whatever their text; the merchant’s own begin at 13.',
    }),
    Sorting: integer({
      column: 'sorting',
      description: 'The place of the status in the merchant’s list: lower numbers come first.',
    }),
    StatusDefinition: text(50, {
      column: 'definition',
      description: 'What the status is called from the start; it stays when the merchant changes StatusText.',
    }),
    StatusText: text(50, {
      column: 'text',
      description:
        'What the merchant calls the status: show this one to people. No two statuses have the same text without regard to case, because cartAPI names them by it.',
    }),
    Visible: boolean({
      column: 'visible',
      description:
        'False: the merchant does not use the status, and forms do not offer it. Orders may have it all the same.',
    }),
  },
})

/** A status of which only the number is known, such as one that orders of another store have. */
export function statusWithoutName(id: number): Record<string, unknown> {
  const name = `Status ${id}`
  return { OrderStatusID: id, Sorting: id, StatusDefinition: name, StatusText: name, Visible: true }
}
