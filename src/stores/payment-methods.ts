/** What every store begins with, ids from 1 on in this order. A store that has others renames or hides these. */
const names = [
  'Online Credit Card',
  'PayPal Express Checkout',
  'Check or Money Order',
  'Purchase Order',
  'Bank Transfer',
  'Cash on Delivery',
]

/** The rows of a new store. */
export function initialPaymentMethods(storeId: number) {
  return names.map((name, index) => ({ storeId, id: index + 1, name, visible: true }))
}
