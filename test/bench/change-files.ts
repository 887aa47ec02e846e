import { once } from 'node:events'
import { request, WebSocket } from 'undici'
import { withStops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'

// Prints the files of src that run functions during one PUT /Products/{id} of a warm server, with the functions, by V8 coverage.

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly count: number }[]
    }[]
  }[]
}

const WARM_UPS = 20

await withStops(async (stops) => {
  const server = await startBenchServer(stops, ['--inspect=127.0.0.1:0'])
  const { PublicKey, PrivateKey } = await server.post('/admin/applications', { Name: 'Coverage' })
  const { Token } = await server.post('/admin/stores/1/subscriptions', { PublicKey: String(PublicKey) })
  const put = async (stock: number, key: string) => {
    const answer = await request(`${server.baseUrl}/StoreWebAPI/v1/Products/1`, {
      method: 'PUT',
      headers: {
        SecureURL: 'https://sandbox.store-platform.test',
        PrivateKey: String(PrivateKey),
        Token: String(Token),
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ SKUInfo: { Stock: stock } }),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`PUT answered ${answer.statusCode}: ${text}`)
  }
  const { call, close } = await inspect(server.inspectorUrl ?? '')
  await stops.add(close)
  await call('Profiler.enable')
  for (let stock = 0; stock < WARM_UPS; stock++) await put(stock, `warm-up-${stock}`)
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await call('Profiler.takePreciseCoverage')
  await put(WARM_UPS, 'measured')
  const { result } = (await call('Profiler.takePreciseCoverage')) as unknown as Coverage
  const files = result.flatMap(({ url, functions }) => {
    const [, file] = /\/src\/(?!database\/generated)(.*\.ts)$/.exec(url) ?? []
    const names = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName }) => functionName)
    return file === undefined || names.length === 0 ? [] : [`${file}: ${names.map((name) => name || '…').join(', ')}`]
  })
  process.stdout.write(`${files.sort().join('\n')}\n${files.length} files\n`)
})

/** Sends commands to a Node process that runs with `--inspect`. */
async function inspect(url: string) {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let lastId = 0
  const call = (method: string, params: object = {}) => {
    const id = ++lastId
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>()
    socket.addEventListener('message', function listen({ data }: { data: unknown }) {
      const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> }
      if (answer.id !== id) return
      socket.removeEventListener('message', listen)
      resolve(answer.result ?? {})
    })
    socket.send(JSON.stringify({ id, method, params }))
    return promise
  }
  return { call, close: async () => socket.close() }
}
