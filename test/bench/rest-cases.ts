import type { Load } from './load.ts'
import type { BenchStores } from './rest-stores.ts'

export interface RestCase {
  readonly title: string
  readonly store: keyof BenchStores
  readonly load: Pick<Load, 'method' | 'paths' | 'stock'>
}

/** How many different products the requests for a single one ask for. */
const SINGLE_PRODUCTS = 200

/** Writes come last, so that what they leave behind slows down no read. */
export function restCases({ year }: BenchStores): RestCase[] {
  const { productIds } = year
  const singles = productIds.slice(0, SINGLE_PRODUCTS).map((id) => `/Products/${id}`)
  return [
    { title: 'GET Products?limit=200', store: 'year', load: get('/Products?limit=200') },
    { title: 'GET Products?limit=200, sandbox', store: 'sandbox', load: get('/Products?limit=200') },
    { title: 'GET Orders?limit=100', store: 'year', load: get('/Orders?limit=100') },
    { title: 'GET Products/{id}', store: 'year', load: get(...singles) },
    { title: 'GET Orders?countonly=1', store: 'year', load: get('/Orders?countonly=1') },
    { title: 'PUT Products, 1 stock', store: 'year', load: put(1, productIds) },
    { title: 'PUT Products, 100 stocks', store: 'year', load: put(100, productIds) },
  ]
}

function get(...paths: string[]): RestCase['load'] {
  return { method: 'GET', paths, stock: null }
}

function put(records: number, productIds: readonly number[]): RestCase['load'] {
  return { method: 'PUT', paths: ['/Products'], stock: { records, productIds } }
}
