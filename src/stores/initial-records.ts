/** The statuses that every store begins with, ids 1 to 12 in this order (order-statuses §1.1). */
const statuses = [
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

/** The statuses of a new store: the merchant's text is the built-in name; the custom ones are hidden until they have another. */
export function builtInOrderStatuses(storeId: number) {
  return statuses.map((name, index) => ({
    storeId,
    id: index + 1,
    sorting: index + 1,
    definition: name,
    text: name,
    visible: !name.startsWith('Custom'),
  }))
}

/** What every store begins with, ids from 1 on in this order. A store that has others renames or hides these. */
const methods = [
  'Online Credit Card',
  'PayPal Express Checkout',
  'Check or Money Order',
  'Purchase Order',
  'Bank Transfer',
  'Cash on Delivery',
]

/** The payment methods of a new store. */
export function initialPaymentMethods(storeId: number) {
  return methods.map((name, index) => ({ storeId, id: index + 1, name, visible: true }))
}
