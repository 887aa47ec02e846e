import { defineResource } from '../../../engine/definition/define.ts'
import { boolean, integer, text } from '../../../engine/definition/fields.ts'
import { changed, lastChange, recordNumber } from '../common-fields.ts'

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
    OrderStatusID: recordNumber(
      'Status number',
      'The number by which orders name the status. 1 to 12 exist in every store and keep their meaning, whatever their text; the merchant’s own begin at 13.',
    ),
    Sorting: integer({
      column: 'sorting',
      label: 'Position',
      description: 'The place of the status in the merchant’s list: lower numbers come first.',
    }),
    StatusDefinition: text(50, {
      column: 'definition',
      label: 'Original text',
      description: 'The original name of the status, which stays when the merchant changes StatusText.',
    }),
    StatusText: text(50, {
      column: 'text',
      label: 'Text',
      description:
        'The merchant’s name for the status: the one to show to people. No two statuses of a store have the same text, ignoring case, because cartAPI refers to statuses by it.',
    }),
    Visible: boolean({
      column: 'visible',
      description: 'False: the merchant does not use the status, and forms do not offer it. Orders may still have it.',
    }),
  },
  privateFields: {
    LastUpdate: lastChange('The time of the last change of the status itself. Orders that take it do not count.', 'rw'),
  },
  filters: { ...changed },
  pages: { calledBy: [['StatusText']], groups: { 'Text and position': 'OrderStatusID' } },
})

/** A status of which only the number is known, such as one that orders of another store have. */
export function statusWithoutName(id: number): Record<string, unknown> {
  const name = `Status ${id}`
  return { OrderStatusID: id, Sorting: id, StatusDefinition: name, StatusText: name, Visible: true }
}
