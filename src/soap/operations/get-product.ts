import { readPage } from '../../engine/read.ts'
import { products } from '../../resources/products/products.ts'
import { readProductNames } from '../../resources/products/products-by-id.ts'
import { shown } from '../../xml/read.ts'
import type { Operation } from '../operation.ts'
import { textParameter } from '../parameters.ts'
import { productReader, relatedIdsOf, writeProduct } from '../records/product.ts'
import { ResultError } from '../result-errors.ts'
import { readBatch, writePage } from './batch.ts'

/** Products by CatalogID, hidden ones too; with productId the one that has this SKU, without regard to case (soap-cartapi 4.10). */
export const getProduct: Operation = async ({ caller, parameters }) => {
  const page = readBatch(parameters)
  const sku = textParameter(parameters, 'productId')
  const query = new Map(sku === '' ? [] : [['sku', sku]])
  const source = { reader: productReader, filters: products.filters }
  const found = await readPage(caller, products, source, { query, ...page })
  if (found.length === 0) {
    const what = sku === '' ? 'Product' : `Product ${shown(sku)}`
    throw new ResultError('productNotFound', `There is no ${what} from position ${page.offset + 1} on`)
  }
  const related = await readProductNames(caller, found.flatMap(relatedIdsOf))
  return writePage('GetProductDetailsResponse', found, (product) => writeProduct(product, related))
}
