import { changeInventory } from '../../resources/products/inventory.ts'
import type { Operation } from '../operation.ts'
import { ResultError, refusing, writeResult } from '../result.ts'

/**
 * Sets the stock of a product (replaceStock), or adds to it; negative quantities take off. productId comes back as it was sent:
 * programs compare it and NewInventory with what they sent (soap-cartapi §4.13).
 */
export const updateProductInventory: Operation = async ({ caller, parameters }) => {
  const productId = parameters.required('productId', 'productIdMissing')
  // Taken as 0, a missing quantity would empty the stock.
  parameters.required('quantity', 'quantityMissing')
  const quantity = parameters.integer('quantity', 'invalidQuantity', 'a whole number of 32 bits')
  // Taken as false, a missing replaceStock would add with each call what was meant to replace.
  if (!parameters.has('replaceStock')) throw new ResultError('invalidData', 'replaceStock must be true or false')
  const mode = parameters.boolean('replaceStock', 'invalidData') ? 'replace' : 'add'
  const stock = await refusing('productNotFound', 'invalidQuantity', () =>
    changeInventory(caller, productId, { quantity, mode }),
  )
  return writeResult('UpdateInventoryResponse', { ProductID: productId, NewInventory: stock })
}
