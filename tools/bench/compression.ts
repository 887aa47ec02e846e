import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { request } from 'undici'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { median, number } from './rest-table.ts'

type Compress = (bytes: Buffer) => Buffer

const codings: readonly (readonly [name: string, compress: Compress])[] = [
  ...[1, 2, 3, 4, 5, 6].map((level) => [`gzip ${level}`, (bytes: Buffer) => gzipSync(bytes, { level })] as const),
  ...[0, 1, 2, 3, 4, 5].map((quality) => [`br ${quality}`, brotli(quality)] as const),
]

function brotli(quality: number): Compress {
  return (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
}

const RUNS = 20

/** Prints how long answers about the sandbox store are at each level, and the processor time that it takes. */
export async function benchCompression({ rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const answers = Object.entries(await sandboxAnswers(server)).filter(
    ([title]) => cases.length === 0 || cases.some((text) => title.includes(text)),
  )
  const rows = codings.map(([name, compress]) => [
    name,
    ...answers.flatMap(([, bytes]) => [kilobytes(compress(bytes)), number(processorMs(bytes, compress, rounds))]),
  ])
  const plain = ['plain', ...answers.flatMap(([, bytes]) => [kilobytes(bytes), '–'])]
  process.stdout.write(markdownTable(['', ...answers.flatMap(([title]) => [`${title}: KB`, 'ms'])], [plain, ...rows]))
}

function kilobytes({ length }: Buffer): string {
  return number(length / 1024)
}

/** Of one compression; the median of the rounds. */
function processorMs(bytes: Buffer, compress: Compress, rounds: number): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (let run = 0; run < RUNS; run++) compress(bytes)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / RUNS
  })
  return median(times)
}

async function sandboxAnswers({ baseUrl, operatorKey, post }: BenchServer): Promise<Record<string, Buffer>> {
  const { PublicKey, PrivateKey } = await post('/admin/applications', { Name: 'Bench' })
  const { Token } = await post('/admin/stores/1/subscriptions', { PublicKey: String(PublicKey) })
  const authorization = `Bearer ${operatorKey}`
  const stores = await request(`${baseUrl}/admin/stores`, { headers: { authorization } })
  const [store] = (await stores.body.json()) as Record<string, string>[]
  const { SecureURL = '', UserKey = '' } = store ?? {}
  const headers = { SecureURL, PrivateKey: String(PrivateKey), Token: String(Token) }
  const rest = (path: string, accept = 'application/json') =>
    bytesOf(`${baseUrl}/StoreWebAPI/v1${path}`, { headers: { ...headers, accept } })
  const parameters = `<storeUrl>${SecureURL}</storeUrl><userKey>${UserKey}</userKey><batchSize>100</batchSize>`
  const body = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><getProduct xmlns="urn:store-platform:cartAPI">${parameters}</getProduct></Body></Envelope>`
  return {
    'Products?limit=200': await rest('/Products?limit=200'),
    'Products?limit=200, XML': await rest('/Products?limit=200', 'application/xml'),
    'Products/1': await rest('/Products/1'),
    'getProduct, 100': await bytesOf(`${baseUrl}/cart.asmx`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body,
    }),
  }
}

async function bytesOf(url: string, options: Parameters<typeof request>[1]): Promise<Buffer> {
  const answer = await request(url, options)
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  if (answer.statusCode !== 200 || bytes.includes('<Error'))
    throw new Error(`${url} answered: ${bytes.subarray(0, 500)}`)
  return bytes
}
