import { readInventory } from '../../resources/products/inventory.ts'
import { shown } from '../../xml/read.ts'
import type { Operation } from '../operation.ts'
import { ResultError, writeResult } from '../result.ts'

/**
 * The stock of a product by its SKU in whole pieces, rounded down: Inventory is documented as an integer, and less than a piece
 * cannot be sold as one. productId comes back as it was sent. The SKU of an advanced option is no product's
 * (soap-cartapi §4.12).
 */
export const getProductInventory: Operation = async ({ caller, parameters }) => {
  const productId = parameters.required('productId', 'productIdMissing')
  const stock = await readInventory(caller, productId)
  if (stock === null) {
    throw new ResultError('productNotFound', `There is no Product ${shown(productId)}`, 'There is no such Product')
  }
  return writeResult('GetInventoryResponse', { ProductID: productId, Inventory: Math.floor(stock) })
}
