import { changeInventory } from '../../resources/products/inventory.ts'
import { rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { booleanParameter, integerParameter, type Parameters, textParameter } from '../parameters.ts'
import { plain, text } from '../records/format.ts'
import { ResultError, refusing } from '../result-errors.ts'
import { readProductId } from './product-id.ts'

/**
 * Sets the stock of a product (replaceStock), or adds to it; negative quantities take off. productId comes back as it was sent:
 * programs compare it, and NewInventory, with what they asked for (soap-cartapi 4.13).
 */
export const updateProductInventory: Operation = async ({ caller, parameters }) => {
  const productId = readProductId(parameters)
  const quantity = readQuantity(parameters)
  const replaceStock = booleanParameter(parameters, 'replaceStock')
  // Left out, or spelt in another way, it must not become false: each call would add what was meant to replace.
  if (replaceStock === null || !parameters.has('replaceStock'))
    throw new ResultError('invalidData', 'replaceStock must be true or false')
  const mode = replaceStock ? 'replace' : 'add'
  const stock = await refusing({ notFound: 'productNotFound', otherwise: 'invalidQuantity' }, () =>
    changeInventory(caller, productId, { quantity, mode }),
  )
  return rootElement('UpdateInventoryResponse', text('ProductID', productId) + plain('NewInventory', stock))
}

/** What is missing must not become 0, which would empty the stock. */
function readQuantity(parameters: Parameters): number {
  if (textParameter(parameters, 'quantity') === '') throw new ResultError('quantityMissing', 'quantity is missing')
  const quantity = integerParameter(parameters, 'quantity')
  if (Number.isNaN(quantity)) throw new ResultError('invalidQuantity', 'quantity must be a whole number of 32 bits')
  return quantity
}
