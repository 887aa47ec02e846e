/** The statuses of every new store, ids 1 to 12 in this order (order-statuses §1.1). */
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

/** The statuses of a new store. The merchant's text is the built-in name; custom statuses are hidden until renamed. */
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

/** The payment methods of a new store, ids from 1 in this order. A store with other methods renames or hides these. */
const methods = [
  'Online Credit Card',
  'PayPal Express Checkout',
  'Check or Money Order',
  'Purchase Order',
  'Bank Transfer',
  'Cash on Delivery',
]

export function initialPaymentMethods(storeId: number) {
  return methods.map((name, index) => ({ storeId, id: index + 1, name, visible: true }))
}
