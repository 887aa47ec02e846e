import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createProgress } from '../../src/cli/progress.ts'
import { residentMb } from '../../test/support/resident-memory.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { processorTimeOf } from './processor-time.ts'

interface Case {
  readonly title: string
  readonly path: string
  readonly type: 'json' | 'xml' | 'x-www-form-urlencoded' | 'x-ndjson'
  readonly body: string
  /** How many are sent at the same time. */
  readonly times?: number
}

const MEGABYTE = 1_000_000
const filled = (piece: string, bytes = 9.5 * MEGABYTE) => piece.repeat(bytes / piece.length)
const listed = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => of(n)).join(',')
const named = (count: number, prefix = 'n') => listed(count, (index) => `"${prefix}${index}":1`)

const products = '/StoreWebAPI/v1/Products'
const xml = (title: string, inside: string, times = 1): Case => ({
  title: `XML: ${title}`,
  path: products,
  type: 'xml',
  body: `<Product>${inside}</Product>`,
  times,
})
const json = (title: string, body: string, times = 1): Case => ({
  title: `JSON: ${title}`,
  path: products,
  type: 'json',
  body,
  times,
})

/** A hundred products that are taken, of some 90 kB each. */
function fullProducts(series: string): object[] {
  const FeatureList = Array.from({ length: 400 }, (_, index) => ({
    FeatureTitle: `Title ${index}`,
    FeatureDescription: 'words',
  }))
  const Description = '<p>Some words</p>\n'.repeat(3_300)
  return Array.from({ length: 100 }, (_, index) => ({
    SKUInfo: { SKU: `${series}-${index}`, Name: 'Full' },
    Description,
    FeatureList,
  }))
}

/** The worst bodies of each form, at their limits, and the largest good ones. */
function* casesOf(round: number): Generator<Case> {
  const references = `<MFGID>${filled('&amp;')}</MFGID>`
  yield xml('references in a text', references)
  yield xml('references in a text, four at once', references, 4)
  yield xml('references', `<MFGID>${filled('&amp;', 450_000)}</MFGID>`.repeat(11))
  yield xml('empty elements', filled('<a/>'))
  yield xml('attributes', filled('<a b="1" c="2" d="3"/>'))
  yield xml('sections of CDATA', `<MFGID>${filled('<![CDATA[]]>')}</MFGID>`)
  yield xml('line ends', filled('\r\n'))
  yield {
    ...xml('100 records of unknown elements', ''),
    body: `<ArrayOfProduct>${`<Product>${'<a>1</a>'.repeat(4_900)}</Product>`.repeat(100)}</ArrayOfProduct>`,
  }
  yield json('unknown names', `{${named(600_000)}}`)
  yield json('unknown names, four at once', `{${named(600_000)}}`, 4)
  const records = listed(100, (n) => `{${listed(5, (m) => `"o${m}":{${named(950, `n${n}x${m}x`)}}`)}}`)
  yield json('unknown names within the bounds, four at once', `[${records}]`, 4)
  yield json('lists in lists', `{"a":[${filled('[[[[[[]]]]]],')}1]}`)
  yield json('a string of escapes', `{"MFGID":"${filled('\\u00e9')}"}`)
  yield json('blanks', `${filled(' ')}{}`)
  yield json(
    'a list of 10,000 items',
    JSON.stringify({
      SKUInfo: { SKU: `L-${round}`, Name: 'L' },
      FeatureList: Array.from({ length: 10_000 }, () => ({ FeatureTitle: 't', FeatureDescription: 'd' })),
    }),
  )
  yield json('100 full products', JSON.stringify(fullProducts(`J-${round}`)))
  yield {
    title: 'Sign-in: 100,000 names, ten at once',
    path: '/admin/sign-in',
    type: 'json',
    body: `{${named(80_000)}}`,
    times: 10,
  }
  yield {
    title: 'A token: a form of 64 kB',
    path: '/oauth/token',
    type: 'x-www-form-urlencoded',
    body: '&'.repeat(65_000),
  }
  const envelope = 'xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"'
  const call = `<getProductCount xmlns="urn:store-platform:cartAPI"><storeUrl>${filled('&amp;', 255_000)}</storeUrl></getProductCount>`
  yield {
    title: 'cartAPI: references, twenty at once',
    path: '/cart.asmx',
    type: 'xml',
    body: `<s:Envelope ${envelope}><s:Body>${call}</s:Body></s:Envelope>`,
    times: 20,
  }
  yield {
    title: 'Import: a line of unknown names',
    path: '/admin/stores/1/import',
    type: 'x-ndjson',
    body: `{"service":"Products","record":{${named(600_000)}}}`,
  }
}

/** Prints how long bodies keep others waiting: each is sent while another client asks for /healthz every 10 ms. */
export async function benchBodies({ rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const headers = await applicationOf(server)
  const chosen = (round: number) =>
    [...casesOf(round)].filter(({ title }) => cases.length === 0 || cases.some((text) => title.includes(text)))
  const progress = createProgress({ label: 'Measuring', total: chosen(0).length * rounds })
  const rows = new Map<string, string[]>()
  for (let round = 0; round < rounds; round++) {
    for (const one of chosen(round)) {
      const row = rows.get(one.title) ?? [one.title]
      rows.set(one.title, [...row, ...(await measure(server, one, headers))])
      progress.advance(1)
    }
  }
  progress.done()
  const head = Array.from({ length: rounds }, () => ['status', 'late ms', 'processor ms', 'RSS MB']).flat()
  process.stdout.write(markdownTable(['body', ...head], [...rows.values()]))
}

/** With credentials for the sandbox store, and the operator's for his routes. */
async function applicationOf({ post, operatorKey }: BenchServer) {
  const throttle = { Capacity: 1_000_000, LeakPerSecond: 10_000 }
  const { PublicKey, PrivateKey } = await post('/admin/applications', { Name: 'Bench', Throttle: throttle })
  const { Token } = await post('/admin/stores/1/subscriptions', { PublicKey: String(PublicKey) })
  const SecureURL = 'https://sandbox.store-platform.test'
  const rest = { SecureURL, PrivateKey: String(PrivateKey), Token: String(Token) }
  return (path: string): Record<string, string> => {
    if (path.startsWith('/StoreWebAPI')) return rest
    return path.startsWith('/admin/stores') ? { authorization: `Bearer ${operatorKey}` } : {}
  }
}

async function measure(
  server: BenchServer,
  { path, type, body, times = 1 }: Case,
  headersOf: (path: string) => Record<string, string>,
) {
  const mediaType = type === 'xml' && path === '/cart.asmx' ? 'text/xml' : `application/${type}`
  const headers = { ...headersOf(path), 'content-type': mediaType }
  const bytes = Buffer.from(body)
  const statuses = new Set<number>()
  const send = async () => {
    const answer = await request(server.baseUrl + path, { method: 'POST', headers, body: bytes })
    await answer.body.dump({ limit: Number.POSITIVE_INFINITY })
    statuses.add(answer.statusCode)
  }
  let lateMs = 0
  const work = async () => {
    lateMs = await latenessDuring(server, () => Promise.all(Array.from({ length: times }, send)))
  }
  const { node } = await processorTimeOf(server, work)
  return [[...statuses].join(', '), ...[lateMs, node, residentMb(server.pid)].map((figure) => figure.toFixed(0))]
}

/** The longest time, in milliseconds, that an answer of /healthz takes meanwhile. */
async function latenessDuring({ baseUrl }: BenchServer, work: () => Promise<unknown>): Promise<number> {
  const dispatcher = new Agent({ connections: 1 })
  let longest = 0
  let isOver = false
  const probe = async () => {
    while (!isOver) {
      const start = performance.now()
      const { body } = await request(`${baseUrl}/healthz`, { dispatcher })
      await body.dump()
      longest = Math.max(longest, performance.now() - start)
      await setTimeout(10)
    }
  }
  const probing = probe()
  await setTimeout(50)
  await work()
  isOver = true
  await probing
  await dispatcher.close()
  return longest
}
