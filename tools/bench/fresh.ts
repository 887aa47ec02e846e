import { type Dispatcher, request } from 'undici'
import type { BenchOptions, Stops } from './bench.ts'
import { startChild } from './child.ts'
import type { Comparison, Side } from './compare.ts'
import type { Load, Measurement } from './load.ts'
import { cursorPaths } from './rest-cases.ts'
import type { BenchStore, BenchStores } from './rest-stores.ts'
import { restUrl, untilIdle } from './rest-targets.ts'

const CHANGED_AT_ONCE = 100
const CLIENTS = 8
const WARM_UP_S = 1

/**
 * The first readings of a store after a start, and readings while everything is changed. Each measurement has a process of its own,
 * which was just started. Changes come last.
 */
export async function freshComparisons({ seconds }: BenchOptions, stops: Stops): Promise<Comparison[]> {
  const reader = startChild('load.ts')
  await stops.add(reader.stop)
  const writer = startChild('load.ts')
  await stops.add(writer.stop)

  const first = (path: string, store: keyof BenchStores): Comparison => ({
    title: `pages of ${path}${store === 'sandbox' ? ', sandbox' : ''}, first reading after a start`,
    connections: 1,
    rate: (side) => inFreshProcess(side, (url) => readThrough(url, path, side.stores[store])),
  })
  const whileChanged = (of: 'reads' | 'changes', title: string): Comparison => ({
    title,
    connections: 2 * CLIENTS,
    rate: (side) =>
      inFreshProcess(side, async (url) => {
        const measure = async (length: number) => {
          const [reads, changes] = await Promise.all([
            reader.ask<Measurement>(pages(url, side.stores.year, length)),
            writer.ask<Measurement>(stocks(url, side.stores.year, length)),
          ])
          return { reads: reads.perSecond, changes: changes.perSecond * CHANGED_AT_ONCE }
        }
        await measure(WARM_UP_S)
        return (await measure(seconds))[of]
      }),
  })
  return [
    first('Products?limit=200', 'year'),
    first('Products?limit=20', 'sandbox'),
    first('Orders?limit=100', 'year'),
    whileChanged('reads', 'pages of Products?limit=200, while all stocks are changed'),
    whileChanged('changes', 'stocks changed, while all products are read'),
  ]
}

async function inFreshProcess({ server }: Side, measure: (url: string) => Promise<number>): Promise<number> {
  const started = await server.startAnother()
  try {
    return await measure(restUrl(started))
  } finally {
    await started.end()
    await untilIdle(server)
  }
}

/** Follows the cursors to the end of the store. */
async function readThrough(url: string, path: string, { headers }: BenchStore): Promise<number> {
  const startedAt = performance.now()
  let pages = 0
  let next: string | undefined = path
  while (next !== undefined) {
    const answer: Dispatcher.ResponseData = await request(`${url}/${next}`, { headers })
    const bytes = await answer.body.bytes()
    if (answer.statusCode !== 200) throw new Error(`${next} answered ${answer.statusCode}: ${Buffer.from(bytes)}`)
    pages++
    next = /\/v1\/([^>]*)>; rel="next"/.exec(String(answer.headers.link))?.[1]
  }
  return pages / ((performance.now() - startedAt) / 1000)
}

function pages(url: string, { headers, productIds }: BenchStore, seconds: number): Load {
  const paths = cursorPaths('Products', 200, productIds)
  return { url, headers, connections: CLIENTS, seconds, method: 'GET', paths }
}

function stocks(url: string, { headers, productIds }: BenchStore, seconds: number): Load {
  const change = { field: 'Stock', records: CHANGED_AT_ONCE, productIds } as const
  return { url, headers, connections: CLIENTS, seconds, method: 'PUT', paths: ['/Products'], change }
}
