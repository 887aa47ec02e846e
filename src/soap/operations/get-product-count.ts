import { countRecords } from '../../engine/read.ts'
import { products } from '../../resources/products/products.ts'
import { element, rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'

/** How many products the store has, hidden ones too. */
export const getProductCount: Operation = async ({ caller }) => {
  const count = await countRecords(caller, products, new Map())
  return rootElement('GetProductCountResponse', element('ProductQuantity', String(count)))
}
