import type { Operation } from '../operation.ts'
import { editCustomer } from './edit-customer.ts'
import { getCustomer } from './get-customer.ts'
import { getCustomerCount } from './get-customer-count.ts'
import { getCustomerLoginToken } from './get-customer-login-token.ts'
import { getOrder } from './get-order.ts'
import { getOrderCount } from './get-order-count.ts'
import { getOrderStatus } from './get-order-status.ts'
import { getProduct } from './get-product.ts'
import { getProductCount } from './get-product-count.ts'
import { getProductInventory } from './get-product-inventory.ts'
import { updateOrderShipment } from './update-order-shipment.ts'
import { updateOrderStatus } from './update-order-status.ts'
import { updateProductInventory } from './update-product-inventory.ts'

/** The operations by name. The WSDL declares their parameters. */
export const operations: Readonly<Record<string, Operation>> = {
  getProduct,
  getCustomer,
  editCustomer,
  getProductCount,
  getCustomerCount,
  getOrderStatus,
  getProductInventory,
  updateProductInventory,
  updateOrderStatus,
  updateOrderShipment,
  getOrder,
  getOrderCount,
  getCustomerLoginToken,
}
