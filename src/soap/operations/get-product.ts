import { readPage } from '../../engine/read.ts'
import { products } from '../../resources/products/products.ts'
import { readProductNames } from '../../resources/products/products-by-id.ts'
import { shown } from '../../xml/read.ts'
import type { Operation } from '../operation.ts'
import { productElements, productReader, relatedIdsOf } from '../records/product.ts'
import { ResultError } from '../result.ts'
import { readBatch, writePage } from './page.ts'

/**
 * A page of the products, by CatalogID, hidden ones too; with productId the one that has this SKU, without regard to case
 * (soap-cartapi §4.10). Refuses (46) an empty page.
 */
export const getProduct: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const sku = parameters.text('productId')
  const query = new Map(sku === '' ? [] : [['sku', sku]])
  const source = { reader: productReader, filters: products.filters }
  const page = await readPage(caller, products, source, { query, ...batch })
  if (page.length === 0) {
    const what = sku === '' ? 'Product' : `Product ${shown(sku)}`
    throw new ResultError('productNotFound', `There is no ${what} from position ${batch.offset + 1} on`)
  }
  const related = await readProductNames(caller, page.flatMap(relatedIdsOf))
  return writePage('GetProductDetailsResponse', page, (product) => productElements.write(product, related))
}
