import { countRecords } from '../../engine/read.ts'
import { products } from '../../resources/products/products.ts'
import type { Operation } from '../operation.ts'
import { writeResult } from '../result.ts'

/** Counts the products of the store, hidden ones too. */
export const getProductCount: Operation = async ({ caller }) => {
  return writeResult('GetProductCountResponse', { ProductQuantity: await countRecords(caller, products, new Map()) })
}
