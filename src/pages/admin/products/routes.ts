import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listRecords } from '../../../engine/read.ts'
import { pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, merchantCaller } from '../../../html/request.ts'
import { products } from '../../../resources/products/products.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { namedObject, readInput } from '../../../values/input.ts'

const PRODUCTS_SHOWN = 25
const TEXT_MAX = 255

const text = z.string().max(TEXT_MAX, `must have at most ${TEXT_MAX} characters`).trim().default('')
const asked = namedObject({ name: text, sku: text, stock: text, cursor: text })

/** Adds the page of the store's products and stock, listed and filtered like in REST. */
export function productPages(app: FastifyInstance, services: CallerServices): void {
  pagesFor(app, 'merchant').page('/admin/products', async (request) => {
    const caller = merchantCaller(request, services)
    const { name, sku, stock, cursor } = readInput(asked, request.query, 'The address')
    const filters = { ...(name && { name }), ...(sku && { sku }), ...(stock === 'out' && { stockto: '0' }) }
    const query = { ...filters, limit: String(PRODUCTS_SHOWN), ...(cursor && { cursor }) }
    const listing = await listRecords(caller, products, new Map(Object.entries(query))).catch(emptyPage)
    if ('count' in listing) throw new Error('A count was not asked for')
    const { records, next } = listing
    return {
      template: '/pages/admin/products/list',
      title: 'Products',
      values: { name, sku, stock },
      data: {
        products: records.map((record) => JSON.parse(String(record))),
        more: next === null ? null : `/admin/products?${new URLSearchParams({ name, sku, stock, cursor: next })}`,
        isFiltered: Object.keys(filters).length > 0,
      },
    }
  })
}

/** REST answers 404 because nothing matches. */
function emptyPage(error: unknown) {
  if (error instanceof StoreFailure && error.kind === 'not-found') return { records: [], next: null }
  throw error
}
