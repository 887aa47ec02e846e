import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../../../engine/caller.ts'
import { listRecords } from '../../../engine/read.ts'
import { pagesFor } from '../../../html/page-routes.ts'
import { type CallerServices, merchantCaller } from '../../../html/principals.ts'
import { products } from '../../../resources/products/products.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { namedObject, readInput } from '../../../values/input.ts'

const PRODUCTS_SHOWN = 25
const TEXT_MAX = 255

const text = z.string().max(TEXT_MAX, `must have at most ${TEXT_MAX} characters`).trim().default('')
const asked = namedObject({ name: text, sku: text, stock: text, cursor: text })

/** Adds the page of the store's products and stock, listed and filtered like in REST. */
export async function productPages(app: FastifyInstance, services: CallerServices): Promise<void> {
  pagesFor(app, 'merchant').page('/admin/products', async (request) => {
    const caller = merchantCaller(request, services)
    const { name, sku, stock, cursor } = readInput(asked, request.query, 'The address')
    const filters = { ...(name && { name }), ...(sku && { sku }), ...(stock === 'out' && { stockto: '0' }) }
    const { records, next } = await pageOf(caller, {
      ...filters,
      limit: String(PRODUCTS_SHOWN),
      ...(cursor && { cursor }),
    })
    const more = new URLSearchParams({ name, sku, stock, cursor: next ?? '' })
    return {
      template: '/pages/admin/products/list',
      title: 'Products',
      values: { name, sku, stock },
      data: {
        products: records.map((record) => JSON.parse(record)),
        more: next === null ? null : `/admin/products?${more}`,
        isFiltered: Object.keys(filters).length > 0,
        currency: caller.store.currency,
      },
    }
  })
}

/** Returns an empty page where REST answers 404 because nothing matches. */
async function pageOf(caller: Caller, query: Record<string, string>) {
  try {
    const listing = await listRecords(caller, products, new Map(Object.entries(query)))
    if ('count' in listing) throw new Error('A count was not asked for')
    return listing
  } catch (error) {
    if (error instanceof StoreFailure && error.kind === 'not-found') return { records: [], next: null }
    throw error
  }
}
