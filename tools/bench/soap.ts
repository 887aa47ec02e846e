import { request } from 'undici'
import { createProgress } from '../../src/cli/progress.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { startChild } from './child.ts'
import type { Load, Measurement } from './load.ts'
import { markdownTable } from './markdown-table.ts'
import { chosenOf } from './rest-cases.ts'
import { type BenchStore, type BenchStores, openBenchStores } from './rest-stores.ts'
import { median, number, share, size } from './rest-table.ts'
import { restUrl, untilIdle } from './rest-targets.ts'

/** An operation of cartAPI, and the REST request for the same records. */
interface SoapCase {
  readonly title: string
  readonly store: keyof BenchStores
  readonly operation: string
  /** XML; `{key}` and `{number}` become a SKU and a number. */
  readonly parameters: string
  readonly rest: (store: BenchStore) => Pick<Load, 'method' | 'paths' | 'change'>
}

const get = (path: string) => () => ({ method: 'GET' as const, paths: [path] })

const page = { operation: 'getProduct', parameters: '<batchSize>100</batchSize><startNum>1</startNum>' }

/** The change comes last, so that what it leaves behind slows down no read. */
const soapCases: readonly SoapCase[] = [
  {
    title: 'getProductCount',
    store: 'year',
    operation: 'getProductCount',
    parameters: '',
    rest: get('/Products?countonly=1'),
  },
  { title: 'getProduct, 100', store: 'year', ...page, rest: get('/Products?limit=100') },
  { title: 'getProduct, 100, sandbox', store: 'sandbox', ...page, rest: get('/Products?limit=100') },
  {
    title: 'updateProductInventory',
    store: 'year',
    operation: 'updateProductInventory',
    parameters: '<productId>{key}</productId><quantity>{number}</quantity><replaceStock>true</replaceStock>',
    rest: ({ productIds }) => ({
      method: 'PUT',
      paths: ['/Products'],
      change: { field: 'Stock', records: 1, productIds },
    }),
  },
]

const NAMESPACE = 'urn:store-platform:cartAPI'
const CONNECTIONS = [1, 16, 64]
const WARM_UP = { connections: 16, seconds: 1 }
const protocols = ['soap', 'rest'] as const
type Protocol = (typeof protocols)[number]

/** Measures operations of cartAPI beside REST for the same records, in turns within one run, and prints the table. */
export async function benchSoap(options: BenchOptions, stops: Stops): Promise<void> {
  const cases = chosenOf(soapCases, options)
  const server = await startBenchServer(stops)
  const stores = await openBenchStores(server, options.file)
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const progress = createProgress({
    label: 'Measuring',
    total: cases.length * protocols.length * (1 + CONNECTIONS.length * options.rounds),
  })
  const rows: string[][] = []
  for (const one of cases) {
    const store = stores[one.store]
    const loads: Record<Protocol, Omit<Load, 'connections' | 'seconds'>> = {
      soap: await soapLoad(server, store, one),
      rest: { url: restUrl(server), headers: store.headers, ...one.rest(store) },
    }
    const bytes = await answerBytes(loads.soap)
    const shoot = async (protocol: Protocol, how: Pick<Load, 'connections' | 'seconds'>) => {
      const measured = await load.ask<Measurement>({ ...loads[protocol], ...how })
      await untilIdle(server)
      progress.advance(1)
      return measured
    }
    for (const protocol of protocols) await shoot(protocol, WARM_UP)
    for (const connections of CONNECTIONS) {
      const rounds: Record<Protocol, Measurement>[] = []
      for (let round = 0; round < options.rounds; round++) {
        const how = { connections, seconds: options.seconds }
        rounds.push({ soap: await shoot('soap', how), rest: await shoot('rest', how) })
      }
      rows.push(rowOf(one.title, bytes, connections, rounds))
    }
    // Errors are answers too: what was measured must have been results.
    await answerBytes(loads.soap)
  }
  progress.done()
  const figures = protocols.flatMap((protocol) => [`${protocol} req/s`, 'p50 ms', 'p99 ms'])
  process.stdout.write(markdownTable(['operation', 'answer', 'at once', ...figures, 'of rest'], rows))
}

function rowOf(
  title: string,
  bytes: number,
  connections: number,
  rounds: readonly Record<Protocol, Measurement>[],
): string[] {
  const figures = protocols.flatMap((protocol) => {
    const of = (figure: keyof Measurement) => number(median(rounds.map((round) => round[protocol][figure])))
    return [of('perSecond'), of('p50Ms'), of('p99Ms')]
  })
  const ratio = median(rounds.map(({ soap, rest }) => soap.perSecond / rest.perSecond))
  return [title, size(bytes), String(connections), ...figures, share(ratio)]
}

async function soapLoad(
  server: BenchServer,
  { id, skus }: BenchStore,
  { operation, parameters }: SoapCase,
): Promise<Omit<Load, 'connections' | 'seconds'>> {
  const { SecureURL, UserKey } = await openCartApi(server, id)
  const inside = `<storeUrl>${SecureURL}</storeUrl><userKey>${UserKey}</userKey>${parameters}`
  const template = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><${operation} xmlns="${NAMESPACE}">${inside}</${operation}></soap:Body></soap:Envelope>`
  const keys = skus.map((sku) => sku.replace(/[&<]/g, (character) => `&#${character.charCodeAt(0)};`))
  return {
    url: restUrl(server).replace(/\/StoreWebAPI.*$/, ''),
    headers: { soapaction: `"${NAMESPACE}/${operation}"` },
    method: 'POST',
    paths: ['/cart.asmx'],
    text: { contentType: 'text/xml; charset=utf-8', template, keys },
  }
}

/** The store's address and key, with a bucket that no measurement fills. */
async function openCartApi({ baseUrl, operatorKey }: BenchServer, id: number): Promise<Record<string, string>> {
  const answer = await request(`${baseUrl}/admin/stores/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ Throttle: { Capacity: 1_000_000, LeakPerSecond: 10_000 } }),
  })
  if (answer.statusCode !== 200) throw new Error(`PUT /admin/stores/${id} answered ${answer.statusCode}`)
  return (await answer.body.json()) as Record<string, string>
}

async function answerBytes({ url, headers, paths, text }: Omit<Load, 'connections' | 'seconds'>): Promise<number> {
  const { contentType = '', template = '', keys = [] } = text ?? {}
  const body = template.replace('{key}', keys[0] ?? '').replace('{number}', '7')
  const answer = await request(`${url}${paths[0]}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': contentType },
    body,
  })
  const given = await answer.body.text()
  if (answer.statusCode !== 200 || given.includes('<Error'))
    throw new Error(`cartAPI answered: ${given.slice(0, 1_000)}`)
  return Buffer.byteLength(given)
}
