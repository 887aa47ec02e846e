import { type Parameters, textParameter } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'

/** The SKU that a call is about; refuses none (3). */
export function readProductId(parameters: Parameters): string {
  const sku = textParameter(parameters, 'productId')
  if (sku === '') throw new ResultError('productIdMissing', 'productId is missing')
  return sku
}
