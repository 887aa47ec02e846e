import { StartupError } from '../../src/process/startup-error.ts'
import type { BenchOptions } from './bench.ts'
import type { Load } from './load.ts'
import type { BenchStore, BenchStores } from './rest-stores.ts'

export interface RestCase {
  readonly title: string
  readonly store: keyof BenchStores
  readonly requests: (store: BenchStore) => Pick<Load, 'method' | 'paths' | 'stock'>
}

/** How many different products the requests for a single one ask for. */
const SINGLE_PRODUCTS = 200

/** Writes come last, so that what they leave behind slows down no read. */
const restCases: readonly RestCase[] = [
  { title: 'GET Products?limit=200', store: 'year', requests: get('/Products?limit=200') },
  { title: 'GET Products?limit=200, sandbox', store: 'sandbox', requests: get('/Products?limit=200') },
  { title: 'GET Orders?limit=100', store: 'year', requests: get('/Orders?limit=100') },
  { title: 'GET Products/{id}', store: 'year', requests: getSingles },
  { title: 'GET Orders?countonly=1', store: 'year', requests: get('/Orders?countonly=1') },
  { title: 'PUT Products, 1 stock', store: 'year', requests: putStocks(1) },
  { title: 'PUT Products, 100 stocks', store: 'year', requests: putStocks(100) },
]

/** The cases whose titles hold one of the wanted texts; all when none is wanted. */
export function chosenCases({ cases: wanted }: BenchOptions): RestCase[] {
  const chosen = restCases.filter(({ title }) => wanted.length === 0 || wanted.some((text) => title.includes(text)))
  if (chosen.length > 0) return chosen
  const titles = restCases.map(({ title }) => title)
  throw new StartupError(`No case is called ${wanted.join(' or ')}; there are: ${titles.join('; ')}`)
}

function get(path: string): RestCase['requests'] {
  return () => ({ method: 'GET', paths: [path], stock: null })
}

function getSingles({ productIds }: BenchStore): ReturnType<RestCase['requests']> {
  const paths = productIds.slice(0, SINGLE_PRODUCTS).map((id) => `/Products/${id}`)
  return { method: 'GET', paths, stock: null }
}

function putStocks(records: number): RestCase['requests'] {
  return ({ productIds }) => ({ method: 'PUT', paths: ['/Products'], stock: { records, productIds } })
}
