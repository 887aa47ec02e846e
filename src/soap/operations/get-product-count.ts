import { countRecords } from '../../engine/read.ts'
import { products } from '../../resources/products/products.ts'
import type { Operation } from '../operation.ts'
import { element, rootElement } from '../result.ts'

/** Counts the products of the store, hidden ones too. */
export const getProductCount: Operation = async ({ caller }) => {
  return rootElement(
    'GetProductCountResponse',
    element('ProductQuantity', await countRecords(caller, products, new Map())),
  )
}
