import type { FastifyInstance } from 'fastify'
import { products } from '../../../../shop/resources/products/products.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { recordPages } from '../../frame/pages.ts'
import type { PagesOfPictures } from '../../records/routes.ts'
import { productBulkPages } from './bulk-page.ts'
import { categoriesPage, saveCategories } from './categories-page.ts'
import { optionsPage, saveOptions } from './options-page.ts'
import { picturePages } from './pictures-page.ts'
import { pricesPage, savePrices } from './prices-page.ts'
import { correct, stockPage } from './stock-page.ts'

const address = '/admin/products/:id'

/** Adds the forms of a product's parts that deserve more than their fields. */
export function productPages(app: FastifyInstance, services: PagesOfPictures): void {
  productBulkPages(app, services)
  const withRecord = recordPages(adminPages(app, ['Products', 'write']), services, products)
  const { pair, again } = withRecord
  pair(`${address}/stock`, stockPage, correct)
  pair(`${address}/options`, optionsPage, saveOptions)
  pair(`${address}/prices`, pricesPage, savePrices)
  again(`${address}/prices/rows`, pricesPage)
  picturePages(services, withRecord)
  // The form shows the categories of the store.
  const withCategories = adminPages(app, ['Products', 'write'], ['Category', 'read'])
  const ofCategories = recordPages(withCategories, services, products)
  ofCategories.pair(`${address}/categories`, categoriesPage, saveCategories)
  ofCategories.again(`${address}/categories/find`, categoriesPage)
}
