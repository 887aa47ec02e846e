/** The statuses that every store begins with, ids 1 to 12 in this order (order-statuses 1.1). */
const names = [
  'New',
  'Processing',
  'Partial',
  'Shipped',
  'Cancel',
  'Hold',
  'Not Completed',
  'Custom 1',
  'Custom 2',
  'Custom 3',
  'Unpaid',
  'Review',
]

/** The rows of a new store: the merchant's text is the built-in name; the custom ones are hidden until they have another. */
export function builtInOrderStatuses(storeId: number) {
  return names.map((name, index) => ({
    storeId,
    id: index + 1,
    sorting: index + 1,
    definition: name,
    text: name,
    visible: !name.startsWith('Custom'),
  }))
}
