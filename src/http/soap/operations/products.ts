import { countRecords, readPage } from '../../../engine/reading/read.ts'
import { shown } from '../../../foundation/xml/read.ts'
import { changeInventory, readInventory } from '../../../shop/resources/products/inventory.ts'
import { products } from '../../../shop/resources/products/products.ts'
import { readProductNames } from '../../../shop/resources/products/products-by-id.ts'
import { type Operation, readBatch, writePage } from '../operation.ts'
import { productTexts, writeProduct } from '../records/product.ts'
import { ResultError, refusing, writeResult } from '../result.ts'

/**
 * A page of the products, by CatalogID, hidden ones too; with productId the one that has this SKU, without regard to case
 * (soap-cartapi §4.10). Refuses (46) an empty page.
 */
export const getProduct: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const sku = parameters.text('productId')
  const query = new Map(sku === '' ? [] : [['sku', sku]])
  const source = { as: productTexts, filters: products.filters }
  const page = await readPage(caller, products, source, { query, ...batch })
  if (page.length === 0) {
    const what = sku === '' ? 'Product' : `Product ${shown(sku)}`
    throw new ResultError('productNotFound', `There is no ${what} from position ${batch.offset + 1} on`)
  }
  const relatedIds = page.flatMap((product) => product.relatedIds)
  const related = await readProductNames(caller, relatedIds)
  return writePage('GetProductDetailsResponse', page, (product) => writeProduct(product, related))
}

/** Counts the products of the store, hidden ones too. */
export const getProductCount: Operation = async ({ caller }) =>
  writeResult('GetProductCountResponse', { ProductQuantity: await countRecords(caller, products, new Map()) })

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
