import { StartupError } from '../../src/foundation/process/startup-error.ts'
import type { BenchOptions } from './bench.ts'
import type { Change } from './change-body.ts'
import type { Load } from './load.ts'
import type { BenchStore, BenchStores } from './rest-stores.ts'

/** What our answers are measured against (rest-baselines.ts). For orders it is the operator's route, with a key for each and without. */
export const baselines = ['memory', 'authenticated', 'pg', 'set', 'operator', 'keyless'] as const
export type Baseline = (typeof baselines)[number]

export interface RestCase {
  readonly title: string
  readonly store: keyof BenchStores
  readonly baselines: readonly Baseline[]
  readonly requests: (store: BenchStore) => Pick<Load, 'method' | 'paths' | 'change'>
}

/** How many different products the requests for a single one ask for. */
const SINGLE_PRODUCTS = 200
/** How many different pages the requests by random cursor ask for. */
const RANDOM_PAGES = 400

const forReads: readonly Baseline[] = ['memory', 'authenticated', 'pg']

/** Writes come last, so that what they leave behind slows down no read. */
export const restCases: readonly RestCase[] = [
  read('GET Products?limit=200', '/Products?limit=200'),
  read('GET Products?limit=200, sandbox', '/Products?limit=200', 'sandbox'),
  read('GET Orders?limit=100', '/Orders?limit=100'),
  readAnywhere('GET Products?limit=200, random cursor', 'Products', 200),
  readAnywhere('GET Products?limit=200, sandbox, random cursor', 'Products', 200, 'sandbox'),
  readAnywhere('GET Orders?limit=100, random cursor', 'Orders', 100),
  { title: 'GET Products/{id}', store: 'year', baselines: forReads, requests: getSingles },
  read('GET Products/skuinfo?limit=100', '/Products/skuinfo?limit=100'),
  read('GET Customers?limit=100', '/Customers?limit=100'),
  read('GET Orders?countonly=1', '/Orders?countonly=1'),
  read('GET Orders?countonly=1&datestart', '/Orders?countonly=1&datestart=2011-10-01'),
  change('PUT Products, 1 stock', 'Stock', 1),
  change('PUT Products, 1 description', 'Description', 1),
  change('PUT Products, 100 stocks', 'Stock', 100),
  { title: 'POST Checkout', store: 'till', baselines: ['operator', 'keyless'], requests: placeOrders },
]

export function chosenCases(options: BenchOptions): RestCase[] {
  return chosenOf(restCases, options)
}

/** Those whose titles hold one of the wanted texts; all when none is wanted. */
export function chosenOf<T extends { readonly title: string }>(
  all: readonly T[],
  { cases: wanted }: BenchOptions,
): T[] {
  const chosen = all.filter(({ title }) => wanted.length === 0 || wanted.some((text) => title.includes(text)))
  if (chosen.length > 0) return chosen
  const titles = new Set(all.map(({ title }) => title))
  throw new StartupError(`No case is called ${wanted.join(' or ')}; there are: ${[...titles].join('; ')}`)
}

function read(title: string, path: string, store: keyof BenchStores = 'year'): RestCase {
  return { title, store, baselines: forReads, requests: () => ({ method: 'GET', paths: [path] }) }
}

/** Full pages from anywhere in the store. Those kept in memory by a baseline would show nothing but its memory. */
function readAnywhere(
  title: string,
  service: 'Products' | 'Orders',
  limit: number,
  store: keyof BenchStores = 'year',
): RestCase {
  const requests = ({ productIds, orderIds }: BenchStore): ReturnType<RestCase['requests']> => ({
    method: 'GET',
    paths: cursorPaths(service, limit, service === 'Products' ? productIds : orderIds),
  })
  return { title, store, baselines: ['pg'], requests }
}

export function cursorPaths(service: string, limit: number, ids: readonly number[]): string[] {
  const last = ids.toSorted((a, b) => a - b).at(-limit - 1) ?? 0
  const cursors = ids.filter((id) => id <= last).slice(0, RANDOM_PAGES)
  return cursors.map((cursor) => `/${service}?limit=${limit}&cursor=${cursor}`)
}

function getSingles({ productIds }: BenchStore): ReturnType<RestCase['requests']> {
  return { method: 'GET', paths: productIds.slice(0, SINGLE_PRODUCTS).map((id) => `/Products/${id}`) }
}

function change(title: string, field: Change['field'], records: number): RestCase {
  return {
    title,
    store: 'year',
    baselines: [...forReads, 'set'],
    requests: ({ productIds }) => ({ method: 'PUT', paths: ['/Products'], change: { field, records, productIds } }),
  }
}

function placeOrders({ productIds }: BenchStore): ReturnType<RestCase['requests']> {
  return { method: 'POST', paths: ['/Checkout'], change: { field: 'Order', records: 1, productIds } }
}
